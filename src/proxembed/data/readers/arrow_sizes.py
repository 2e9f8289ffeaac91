"""What the batches of an Arrow file or stream take unpacked, from their headers (FlatBuffers), before one is read."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO

CONTINUATION = 0xFFFFFFFF  # before the length of a header; older files have the length alone
MOST_HEADER = 1 << 28
PLAIN = -1  # in the place of the length of a packed buffer that is stored as it is
BATCHES = {
    2: 1,
    3: None,
}  # kinds of messages that hold buffers: dictionaries, with the field of their batch, and batches
FORMER_PACKING = b"ARROW:experimental_compression"
END = b"ARROW1"


def unpacked_sizes(stream: BinaryIO, is_file: bool) -> Iterator[int]:
    """The bytes of each message of an Arrow file, or else stream, that holds rows. Raises struct.error for damage."""
    end = stream.seek(0, os.SEEK_END)
    places: Iterator[int] | None = iter(_blocks(stream)) if is_file else None
    place = 0
    while True:
        if places is not None and (place := next(places, -1)) < 0:
            return
        header, body = _header(stream, place)
        if not header:
            return
        message = _offset(header, 0)
        yield _batch_size(stream, header, message, body)
        place = body + _number(header, _field(header, message, 3), "<q")
        if not body <= place <= end:
            raise struct.error("a message does not end inside the file")


def _blocks(stream: BinaryIO) -> list[int]:
    """Where the messages of a file begin, by its footer."""
    end = stream.seek(-len(END) - 4, os.SEEK_END)
    (size,) = struct.unpack("<i", stream.read(4))
    stream.seek(max(0, end - size))
    footer = stream.read(size)
    table = _offset(footer, 0)
    return [
        struct.unpack_from("<q", footer, start + 24 * i)[0]
        for field in (2, 3)
        for count, start in [_vector(footer, table, field)]
        for i in range(count)
    ]


def _header(stream: BinaryIO, place: int) -> tuple[bytes, int]:
    """The header of the message at a place, empty at the end, and where its body begins."""
    stream.seek(place)
    prefix = stream.read(8)
    if len(prefix) < 4:
        return b"", place
    (size,) = struct.unpack_from("<I", prefix)
    start = place + 4
    if size == CONTINUATION:
        (size,) = struct.unpack_from("<I", prefix, 4)
        start = place + 8
    if size > MOST_HEADER:
        raise struct.error("a header is too long")
    stream.seek(start)
    return stream.read(size), start + size


def _batch_size(stream: BinaryIO, header: bytes, message: int, body: int) -> int:
    """The bytes of the buffers of a message, those of packed ones by the length that stands before them."""
    kind = _number(header, _field(header, message, 1), "<B")
    if kind not in BATCHES:
        return 0
    batch = _offset(header, _field(header, message, 2))
    inner = BATCHES[kind]
    batch = batch if inner is None else _offset(header, _field(header, batch, inner))
    packed = _field(header, batch, 3) is not None or FORMER_PACKING in header
    count, start = _vector(header, batch, 2)
    total = 0
    for i in range(count):
        place, size = struct.unpack_from("<qq", header, start + 16 * i)
        if packed and size:
            stream.seek(body + place)
            (claim,) = struct.unpack("<q", stream.read(8))
            size = size if claim == PLAIN else claim
        total += max(size, 0)
    return total


def _field(data: bytes, table: int, number: int) -> int | None:
    """Where a field of a table stands; None where it is left out."""
    place = table - int(struct.unpack_from("<i", data, table)[0])
    (size,) = struct.unpack_from("<H", data, place)
    held = 4 + 2 * number
    offset = struct.unpack_from("<H", data, place + held)[0] if held < size else 0
    return table + offset if offset else None


def _number(data: bytes, place: int | None, form: str) -> int:
    return 0 if place is None else int(struct.unpack_from(form, data, place)[0])


def _offset(data: bytes, place: int | None) -> int:
    """Where a table begins to which the offset at a place leads."""
    if place is None:
        raise struct.error("a table is missing")
    return place + int(struct.unpack_from("<I", data, place)[0])


def _vector(data: bytes, table: int, number: int) -> tuple[int, int]:
    """The number of items of a vector, and where the first stands."""
    place = _field(data, table, number)
    if place is None:
        return 0, 0
    start = _offset(data, place)
    return int(struct.unpack_from("<I", data, start)[0]), start + 4
