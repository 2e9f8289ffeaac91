"""The guard against hidden allocations: a dense array above the limit is refused with its size, never made silently."""

from __future__ import annotations

import math

MAX_DENSE_BYTES = 2 << 30


def dense_side() -> int:
    """The side of the largest square float64 array that is within MAX_DENSE_BYTES.

    >>> dense_side()
    16384
    """
    return math.isqrt(MAX_DENSE_BYTES // 8)


def guard_dense(
    shape: tuple[int, ...],
    what: str,
    max_dense_bytes: int = MAX_DENSE_BYTES,
    itemsize: int = 8,
    *,
    remedy: str = "Use fewer rows or features, prototypes, or a method with a sparse form.",
) -> None:
    """Raise a ValueError when an array of this shape would take more than ``max_dense_bytes``."""
    size = math.prod(map(int, shape)) * itemsize
    if size > max_dense_bytes:
        dims = " x ".join(f"{s:,}" for s in shape)
        raise ValueError(
            f"{what} would be a dense {dims} array of {size / 2**30:.1f} GiB, above max_dense_bytes = "
            f"{max_dense_bytes / 2**30:.1f} GiB. {remedy}"
        )
