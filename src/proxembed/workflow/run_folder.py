"""The folder of a run: what each phase has finished is in it before the next begins, and nothing of an earlier run."""

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from proxembed.execute.atomic_files import alone_in, check_place, write_whole, written_place

LEADERBOARD, PREDICTIONS, RECORD, PAGE = "leaderboard.csv", "predictions.npz", "results.json", "index.html"
UNFINISHED = "unfinished.json"  # of a run that has no summary yet
EVIDENCE = (LEADERBOARD, PREDICTIONS, RECORD, PAGE, UNFINISHED)
MODEL, CARD, EMBEDDING = "model.skops", "model.md", "embedding.npz"
SAVED = (MODEL, CARD, EMBEDDING)


class RunFolder:
    """A folder that holds, of the names that are a run's own, what this run has written.

    Parameters
    ----------
    folder : Path
    names : sequence of str
        The files that the run may write. Those of an earlier run leave the folder with the first one that is written;
        other files are let alone.

    Attributes
    ----------
    written : list of str
        What the run has written, in the order of the names.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from proxembed.workflow.run_folder import RunFolder
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = (Path(place) / "b").write_text("of an earlier run")
    ...     run = RunFolder(Path(place), ["a", "b"])
    ...     run.write({"a": b"new"})
    ...     [path.name for path in Path(place).iterdir()], run.written
    (['a'], ['a'])
    """

    def __init__(self, folder: Path, names: Sequence[str] = ()):
        self.folder, self.names = folder, tuple(names)
        self.written: list[str] = []

    def write(self, files: Mapping[str, bytes], without: Sequence[str] = ()) -> None:
        """Write what a phase has finished, all of it or nothing; what it supersedes (``without``) leaves the folder."""
        written = [name for name in self.names if (name in files or name in self.written) and name not in without]
        older = [self.folder / name for name in self.names if name not in written]
        write_whole({self.folder / name: content for name, content in files.items()}, remove=older)
        self.written = written

    def note(self, name: str) -> None:
        """Count a file that was written elsewhere among those of this run."""
        self.written = [each for each in self.names if each == name or each in self.written]

    @property
    def paths(self) -> list[Path]:
        """What the run has written."""
        return [self.folder / name for name in self.written]

    @property
    def listing(self) -> str:
        """The folder and what the run has written there, in words."""
        return f"{self.folder}: {', '.join(self.written)}"


@contextmanager
def note_written(run: RunFolder) -> Iterator[None]:
    """Add to an error or an interruption a note of what the run has written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from proxembed.workflow.run_folder import RunFolder, note_written
    >>> with note_written(RunFolder(Path("out"))):
    ...     pass
    """
    try:
        yield
    except BaseException as error:
        note = f"kept in {run.listing}"
        if run.written and note not in getattr(error, "__notes__", ()):
            error.add_note(note)
        raise


@contextmanager
def run_folder(folder: Path, names: Sequence[str] = ()) -> Iterator[RunFolder]:
    """The folder of a run, made and proven writable before the long part starts, and this run's alone until its end.

    Where nothing is put in it, a folder that was made goes again. An error or an interruption that ends the run gets a
    note of what it has written.

    Parameters
    ----------
    folder : Path
    names : sequence of str
        The files that the run may write; see ``RunFolder``.

    Raises
    ------
    OSError
        The folder cannot be made or written, or one of the names is that of a folder.
    ValueError
        Another run that has not ended writes there.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from proxembed.workflow.run_folder import run_folder
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with run_folder(Path(place) / "new" / "out") as run:
    ...         made = run.folder.is_dir()
    ...     made, (Path(place) / "new").exists()
    (True, False)
    """
    made = written_place(folder)
    new = [path for path in (made, *made.parents) if not path.exists()]
    try:
        made.mkdir(parents=True, exist_ok=True)
        for name in names:
            check_place(folder / name)
        with alone_in(folder):
            run = RunFolder(folder, names)
            with note_written(run):
                yield run
    finally:
        for path in new:
            with suppress(OSError):  # it holds results, or was never made
                path.rmdir()


def npz_bytes(arrays: Mapping[str, Any]) -> bytes:
    """Arrays as a compressed .npz file; text is stored as fixed-width text, never as objects.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> from proxembed.workflow.run_folder import npz_bytes
    >>> np.load(io.BytesIO(npz_bytes({"Z": [[1.0]]})))["Z"].tolist()
    [[1.0]]
    """
    buffer = io.BytesIO()
    stored: Any = {name: np.asarray(values) for name, values in arrays.items()}
    np.savez_compressed(buffer, **stored)
    return buffer.getvalue()
