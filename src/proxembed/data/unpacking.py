"""Bytes of data files, plain or packed, and their text; the size of packed files is checked before unpacking."""

import bz2
import gzip
import io
import lzma
import math
import os
import re
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any, BinaryIO

from numpy.lib import format as npy

from proxembed.data.errors import DataError
from proxembed.tables.notes import shorten

PACKED_NAME = re.compile(r"\.(?:gz|bz2|xz|zst|zip)$", re.IGNORECASE)
COPIED_BYTES = 1 << 20
SHARE = 2  # of the memory: the program holds the rows and at least one copy
CONTAINER = Path("/sys/fs/cgroup/memory.max")
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
DEFLATE64 = 9
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
BUFFER_BYTES, LINE_BYTES = 1 << 20, 1 << 28
AS_UTF8 = "save the file as UTF-8 (from Latin-1: iconv -f latin1 -t utf-8)"
SMALLER = "give fewer rows, sparse ones, or float32"
UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


def memory_limit() -> int:
    """Bytes of the memory of the machine, or of what its container may use."""
    sizes = [math.inf]
    if hasattr(os, "sysconf"):
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    if CONTAINER.is_file() and (limit := CONTAINER.read_text().strip()).isdigit():
        sizes.append(int(limit))
    return int(min(min(sizes), 1 << 62))


def most_unpacked() -> int:
    """Bytes that a file may unpack to: half of the memory."""
    return memory_limit() // SHARE


def size_text(size: int) -> str:
    """A number of bytes in words."""
    power = min(max(size.bit_length() - 1, 0) // 10, len(UNITS) - 1)
    return f"{size:,} bytes" if power == 0 else f"{size / 1024**power:,.1f} {UNITS[power]}"


def is_packed(path: Path) -> bool:
    """Whether a file is packed, by its name."""
    return PACKED_NAME.search(path.name) is not None


def plain_name(path: Path) -> str:
    """The name of a file without the suffix of its packing; that of the only file of an archive such as archive.zip."""
    name = PACKED_NAME.sub("", path.name)
    if path.suffix.lower() != ".zip" or Path(name).suffix or len(members := _members(path)) != 1:
        return name
    return Path(members[0].filename).name


def _members(path: Path) -> list[zipfile.ZipInfo]:
    """The files of a zip archive; none of what is not one."""
    try:
        with open(path, "rb") as raw:
            return _files(zipfile.ZipFile(raw))
    except (OSError, zipfile.BadZipFile):
        return []


def _files(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    return [each for each in archive.infolist() if not each.is_dir() and not each.filename.startswith("__MACOSX/")]


class Unpacked(io.BufferedReader):
    """What a packed stream unpacks to, up to a limit of bytes, and of bytes a line."""

    def __init__(self, packed: Any, path: Path, most: int) -> None:
        super().__init__(_Counted(packed, path, most), BUFFER_BYTES)
        self._path = path

    def readline(self, size: int | None = -1, /) -> bytes:
        """Read the next line."""
        line = super().readline(LINE_BYTES if size is None or size < 0 else size)
        if len(line) == LINE_BYTES:
            reason = f"it unpacks to a line of more than {size_text(LINE_BYTES)}"
            raise DataError.at(self._path, None, reason, "write one row per line")
        return line


class _Counted(io.RawIOBase):
    """The bytes of a packed stream, counted."""

    def __init__(self, packed: Any, path: Path, most: int) -> None:
        self._packed, self._path, self._most = packed, path, most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = self._packed.readinto(buffer)
        self._check(self._packed.tell())
        return found

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._check(self._packed.seek(offset, whence))

    def _check(self, place: int) -> int:
        if place > self._most:
            reason = f"it unpacks to more than {size_text(self._most)}, the most that may be unpacked here"
            raise DataError.at(self._path, None, reason, "give fewer rows, or unpack it if it is meant to be so large")
        return place


def check_exists(path: Path) -> None:
    """Refuse a path where nothing is."""
    if not path.exists():
        raise DataError.at(path, None, "no such file", "check the path")


def _zstd(raw: BinaryIO) -> IO[bytes]:
    """A file packed by Zstandard, unpacked into a temporary one up to the limit."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise DataError("files packed by zstd need pyarrow: pip install 'proxembed[data]'.") from error
    with ExitStack() as stack:
        file: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
        packed = pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
        while file.tell() <= most_unpacked() and (part := packed.read(COPIED_BYTES)):
            file.write(part)
        file.seek(0)
        stack.pop_all()
    return file


def _zip(raw: BinaryIO) -> IO[bytes]:
    """The only file of a zip archive."""
    archive = zipfile.ZipFile(raw)
    members = _files(archive)
    if len(members) != 1 or members[0].flag_bits & 1:
        held = f"{len(members):,} files" if len(members) != 1 else "a file with a password"
        raise DataError(f"the zip archive holds {held}; unpack it and give one file.")
    try:
        return archive.open(members[0])
    except NotImplementedError as error:
        packing = "Deflate64" if members[0].compress_type == DEFLATE64 else "a way that Python does not read"
        raise DataError(f"the zip archive is packed by {packing}; unpack it and give one file.") from error


UNPACKERS: dict[bytes, Any] = {  # by the first bytes
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
    b"\x28\xb5\x2f\xfd": _zstd,
}


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Binary stream of a file; gzip, bzip2, xz and zstd are recognised by their first bytes, whatever the name, a zip
    archive by its name, and unpacked up to a limit."""
    check_exists(path)
    if not path.is_file() and not path.is_dir():
        remedy = "write what it gives to a file first"
        raise DataError.at(path, None, "it is a pipe or a device, which cannot be read twice", remedy)
    try:
        with open(path, "rb") as raw:
            start = raw.peek(6)
            unpacker = next((unpack for magic, unpack in UNPACKERS.items() if start.startswith(magic)), None)
            if path.suffix.lower() == ".zip" and start.startswith(b"PK"):
                unpacker = _zip
            if unpacker is None:
                yield raw
            else:
                with unpacker(raw) as packed:
                    yield Unpacked(packed, path, most_unpacked())
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise _damaged(path) from error
    except OSError as error:
        if error.errno is None:  # of bzip2
            raise _damaged(path) from error
        reason = f"it cannot be read ({error.strerror})"
        raise DataError.at(path, None, reason, "check the path and the right to read it") from error


def _damaged(path: Path) -> DataError:
    return DataError.at(path, None, "the packed data are cut short or damaged", "fetch the file again")


def check_array(stream: IO[bytes], size: int, path: Path, name: str, most: int, remedy: str = SMALLER) -> int:
    """Refuse an array in NumPy's form whose header does not fit the bytes after it, or that is too large."""
    start = stream.tell()
    version = npy.read_magic(stream)
    if version not in HEADERS:
        raise ValueError(f"{name} is of NumPy's form {version[0]}.{version[1]}")
    try:
        shape, _, dtype = HEADERS[version](stream)
    except (SyntaxError, TokenError, TypeError, KeyError, RecursionError, UnicodeError) as error:
        raise ValueError(f"the header of {name} is damaged") from error
    held = size - (stream.tell() - start)
    wanted = math.prod(shape) * dtype.itemsize
    if wanted != held and not dtype.hasobject:  # objects are refused by NumPy
        reason = f"{name} claims {' x '.join(map(str, shape))} values of {dtype} ({size_text(wanted)}), "
        raise DataError.at(path, None, f"{reason}but holds {size_text(held)}", "fetch or write the file again")
    if held > most:
        raise too_large(path, name, held, most, remedy)
    return held


def check_arrays(
    stream: BinaryIO, path: Path, most: int, names: Collection[str] | None = None, remedy: str = SMALLER
) -> None:
    """Refuse an archive of NumPy's arrays that is not what it claims, or that would unpack to too many bytes."""
    total = 0
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            if names is not None and name not in names:
                continue
            if member.compress_type not in PACKINGS:
                reason = f"{shorten(name)} is packed in another way than NumPy's"
                raise DataError.at(path, None, reason, "save it with numpy.savez_compressed")
            with archive.open(member) as part:
                total += check_array(part, member.file_size, path, name, most, remedy)
    if total > most:
        raise too_large(path, "its arrays", total, most, remedy)


def too_large(path: Path, what: str, size: int, most: int, remedy: str = SMALLER) -> DataError:
    """The error for data that would not leave room for work on them."""
    reason = f"{what} would take {size_text(size)}, above {size_text(most)}, the most that may be unpacked here"
    return DataError.at(path, None, reason, remedy)


def decode(line: bytes, path: Path, number: int, remedy: str = AS_UTF8) -> str:
    """Line as text, UTF-8 only."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = f"byte {error.start + 1} of the line is not UTF-8"
        raise DataError.at(path, number, reason, remedy) from error
