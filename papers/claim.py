"""A sentence or number of a paper beside what came out, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from papers.rule import Verdict


def claim(published: str, where: str, labels: str, verdict: Verdict, own: bool = False) -> dict:
    """What the paper says and where, of which data or labels, and the verdict on it.

    ``own``: it is a check of ours, of data of which the paper does not say it, and is counted apart.

    Examples
    --------
    >>> from papers.claim import claim
    >>> from papers.rule import Verdict
    >>> claim("A beats B", "Table 1", "yeast", Verdict(True, "A 0.9, B 0.8", "+0.1"))["came_out"]
    True
    """
    told = {"published": published, "where": where, "labels": labels, "came_out": verdict.came_out}
    return {**told, "ours": verdict.ours, "interval": verdict.interval, "decided_by": verdict.decided_by, "own": own}


def opposed(claim: Mapping[str, Any]) -> bool:
    """Whether a claim that random splits decide came out on them and did not on the published one, or the reverse.

    Examples
    --------
    >>> from papers.claim import opposed
    >>> opposed({"came_out": True, "given": {"came_out": False}}), opposed({"came_out": True})
    (True, False)
    """
    return {claim["came_out"], claim.get("given", {}).get("came_out")} == {True, False}
