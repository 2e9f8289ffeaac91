"""A sentence or number of a paper beside what came out, as plain data."""

from __future__ import annotations


def claim(
    published: str, where: str, labels: str, came_out: bool | None, ours: str, interval: str | None = None
) -> dict:
    """What the paper says and where, of which data or labels; whether it came out (None: cannot be told), and how.

    ``interval``, in words, is that of the number which decides.

    Examples
    --------
    >>> from papers.claim import claim
    >>> claim("A beats B", "Table 1", "yeast", True, "A 0.9, B 0.8")["came_out"]
    True
    """
    told = {"published": published, "where": where, "labels": labels, "came_out": came_out, "ours": ours}
    return told if interval is None else {**told, "interval": interval}
