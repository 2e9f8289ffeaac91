"""The text files of a run: the leaderboard as CSV, and text written whole or not at all."""

import csv
import io
from pathlib import Path

from proxembed.persist import write_whole

COLUMNS = (
    "arm", "kind", "k", "components", "readout", "measure", "mean", "standard_error", "folds", "labels", "test",
    "seconds", "failures",
)  # fmt: skip


def write_atomic(path: str | Path, text: str) -> Path:
    """Write a text file so that readers see the old file or the new one, never a part.

    Parameters
    ----------
    path : str or Path
        Its folder must exist.
    text : str

    Returns
    -------
    Path

    Raises
    ------
    OSError
        The folder cannot be written; an earlier file stays as it was.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from proxembed.report.files import write_atomic
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomic(Path(folder) / "note.txt", "whole").read_text()
    'whole'
    """
    path = Path(path)
    write_whole({path: text.encode("utf-8")})
    return path


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def leaderboard_csv(summary: dict) -> str:
    """The leaderboard as CSV text: one line for each arm, k and measure.

    Parameters
    ----------
    summary : dict
        From ``summarise``.

    Returns
    -------
    str

    Examples
    --------
    >>> from proxembed.report.files import leaderboard_csv
    >>> leaderboard_csv({"leaderboard": [], "folds": []}).strip().split(",")[:3]
    ['arm', 'kind', 'k']
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for entry in summary["leaderboard"]:
        for name, score in entry["scores"].items():
            measure, readout = name.removesuffix(")").rsplit(" (", 1)
            writer.writerow(
                {
                    "arm": entry["arm"],
                    "kind": "rival" if entry["rival"] else "method",
                    "k": entry["k"],
                    "components": entry["components"],
                    "readout": readout,
                    "measure": measure,
                    "mean": _rounded(score["mean"]),
                    "standard_error": _rounded(score["standard_error"]),
                    "folds": len(summary["folds"]),
                    "labels": entry["labels"],
                    "test": _rounded(score["test"]),
                    "seconds": round(entry["seconds"], 3),
                    "failures": " | ".join(entry["failures"]),
                }
            )
    return out.getvalue()
