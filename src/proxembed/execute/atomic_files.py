"""Files written together, whole or not at all: staged beside their targets, then exchanged for the earlier ones."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # a system without them: no folder of another process is ever cleared
    fcntl = None  # type: ignore[assignment]  # looked at before it is used

WRITING, RUNNING = ".writing-", ".running-"
LOCK, NEW, EARLIER, READY = "lock", "new", "earlier", "ready"


def write_whole(files: Mapping[Path, bytes], remove: Iterable[Path] = ()) -> None:
    """Write files so that readers see the old ones or the new ones, never a part, and never old beside new."""
    leaving = list(dict.fromkeys([*files, *remove]))
    for path in leaving:
        check_place(path)
    if len({path.parent for path in leaving}) > 1:
        raise ValueError(f"files={[str(path) for path in leaving]} must all be in one folder.")
    targets = {written_place(path): content for path, content in files.items()}
    gone = [*targets, *(path for path in leaving if path not in files)]
    with ExitStack() as stack:
        folders = dict.fromkeys(path.parent for path in gone)
        first = {folder: next(path for path in gone if path.parent == folder) for folder in folders}
        places = {folder: stack.enter_context(claimed(folder, file=first[folder])) for folder in folders}
        for place in places.values():
            (place / NEW).mkdir()
        for path, content in targets.items():
            with _named(path):
                _stage(places[path.parent] / NEW / path.name, content)
        for folder, place in places.items():
            own = [path for path in targets if path.parent == folder]
            _exchange(place, own, [path for path in gone if path.parent == folder] if len(gone) > 1 else [])


@contextmanager
def staged(path: Path) -> Iterator[Path]:
    """The place of a file that is written step by step in the block, and takes its name at the end of it."""
    check_place(path)
    target = written_place(path)
    with claimed(target.parent, file=path) as place:
        (place / NEW).mkdir()
        new = place / NEW / path.name
        yield new
        with _named(path), open(new, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(new, place / NEW / target.name)
        _exchange(place, [target], [])


@contextmanager
def claimed(folder: Path, prefix: str = WRITING, file: Path | None = None) -> Iterator[Path]:
    """A new folder inside ``folder`` that is this process's for the block, and is removed after it."""
    with _named(folder if file is None else file):
        clear_abandoned(folder)
        place, lock = _locked_place(folder, prefix)
    try:
        yield place
    finally:
        lock.close()
        with suppress(OSError):  # what cannot be removed now, the next writer removes
            _settle(place)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """The folder for one run alone until the end of the block, or of its process."""
    with claimed(folder, RUNNING) as own:
        for other in claims(folder, RUNNING):
            if other.name != own.name:  # one may be absolute, the other relative
                raise ValueError(
                    f"{folder} is being written by another run{_process_of(other)}; wait for its end, or name another "
                    "folder."
                )
        yield


def _process_of(place: Path) -> str:
    """The number of the process that holds a folder, in words."""
    try:
        number = (place / LOCK).read_text()
    except OSError:
        return ""
    return f" (process {number})" if number else ""


def claims(folder: Path, prefix: str) -> list[Path]:
    """The folders of this prefix that living processes hold."""
    return [place for place in folder.glob(f"{prefix}*") if _held(place)]


def clear_abandoned(folder: Path) -> None:
    """Remove what killed processes have left in a folder; finish or undo an exchange that one of them had begun."""
    for prefix in (WRITING, RUNNING):
        for place in folder.glob(f"{prefix}*"):
            with suppress(OSError):  # another user's, or cleared by another process meanwhile
                _clear(place)


def check_writable(path: str | Path) -> Path:
    """Prove that a file of this name can be written, before the long part starts; nothing is left behind."""
    path = Path(path)
    check_place(path)
    with claimed(written_place(path).parent, file=path):
        return path


def written_place(path: Path) -> Path:
    """Where a file or a folder of this name is written: what a link leads to, even if it does not exist yet."""
    found = Path(os.path.realpath(path)) if path.is_symlink() else path
    if found.is_symlink():
        raise OSError(errno.ELOOP, "this link leads back to itself; remove it, or give another name", str(path))
    return found


def check_place(path: Path) -> None:
    """Raise an OSError where a file cannot have this name: it is a folder, or its folder does not exist."""
    target = written_place(path)
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; name a file in it", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder does not exist; make it first", str(target))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Errors name the file that was wanted, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _stage(path: Path, content: bytes) -> None:
    with open(path, "xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _exchange(place: Path, files: list[Path], leaving: list[Path]) -> None:
    """Move earlier files away, then new ones in; where a step fails, every step is taken back."""
    (place / EARLIER).mkdir()
    steps = [(path, place / EARLIER / path.name) for path in leaving if os.path.lexists(path)]
    steps += [(place / NEW, place / READY), *((place / READY / path.name, path) for path in files)]
    begun: list[tuple[Path, Path]] = []
    try:
        for source, target in steps:
            begun.append((source, target))
            with _named(source if source in leaving else target):
                os.replace(source, target)
    except BaseException:
        for source, target in reversed(begun):
            if not os.path.lexists(source):  # the last step may not have been taken
                os.replace(target, source)
        raise
    shutil.rmtree(place / EARLIER, ignore_errors=True)


def _locked_place(folder: Path, prefix: str) -> tuple[Path, BinaryIO]:
    """A new folder with a locked file in it; another process may clear it until the file is locked."""
    while True:
        place = Path(tempfile.mkdtemp(dir=folder, prefix=prefix))
        try:
            lock = open(place / LOCK, "xb")
        except FileNotFoundError:
            continue
        except BaseException:
            place.rmdir()
            raise
        _lock(lock, wait=True)
        if (place / LOCK).exists():
            lock.write(str(os.getpid()).encode())
            lock.flush()
            return place, lock
        lock.close()


def _lock(file: BinaryIO, wait: bool = False) -> bool | None:
    """Lock an open file: True where it is this process's then, False where another holds it, None without locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def _held(place: Path) -> bool:
    """Whether a living process holds the lock in a folder."""
    try:
        with open(place / LOCK, "rb+") as lock:
            return _lock(lock) is False
    except OSError:
        return False


def _clear(place: Path) -> None:
    """Remove a folder unless its owner may live. The lock is held meanwhile, or was never there."""
    try:
        with open(place / LOCK, "rb+") as lock:
            if _lock(lock):
                _settle(place)
    except FileNotFoundError:
        try:
            place.rmdir()  # an owner who has not locked it yet makes another
        except OSError:
            if not (place / LOCK).exists():
                shutil.rmtree(place, ignore_errors=True)


def _settle(place: Path) -> None:
    """Remove a folder; of an exchange that was begun in it, put every file where it belongs."""
    begun = next((place / name for name in (READY, EARLIER) if (place / name).is_dir()), None)
    for path in () if begun is None else begun.iterdir():
        if not os.path.lexists(place.parent / path.name):
            os.replace(path, place.parent / path.name)
    shutil.rmtree(place, ignore_errors=True)
