"""What the benchmark found: values by set, paired counts and tests over the sets, failures; all as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from papers.benchmark.entrants import OURS
from papers.part_names import set_and_share
from papers.tuned import TIMED_OUT, value_of
from proxembed.evaluate.measures import AVERAGE_PRECISION
from proxembed.evaluate.statistics import ROPE, wilcoxon_holm

ALL, SOME = "all labels", "some labels"
Table = dict[str, dict[str, float]]


def conclusions(record: Mapping[str, Any]) -> dict:
    """Tables and paired counts, as plain data.

    Returns
    -------
    dict
        ``all labels`` and, for each share, its percentage: each with ``values`` (entrant -> set -> test value at the
        chosen k) and ``paired``; ``contrasts``, the tests that the plan declares; and ``failures``.
    """
    found: dict[str, Any] = {}
    for title, parts in groups(record).items():
        values = values_of(parts)
        names = {entry["entrant"]: entry["group"] for entries in parts.values() for entry in entries}
        found[title] = {"values": values, "paired": paired(values, [n for n, group in names.items() if group == OURS])}
    found["contrasts"] = contrasted(record["plan"]["effort"]["contrasts"], found)
    found["failures"] = failures(record["parts"])
    return found


def groups(record: Mapping[str, Any]) -> dict[str, dict[str, list[dict]]]:
    """Parts by how many rows have labels: title -> set -> entries."""
    made: dict[str, dict[str, list[dict]]] = {}
    for part, entries in record["parts"].items():
        name, share = set_and_share(part)
        made.setdefault(ALL if share is None else f"{share:g} % of the labels", {})[name] = entries
    return made


def values_of(parts: Mapping[str, list[dict]], k: Any = None, measure: str = AVERAGE_PRECISION) -> Table:
    """Entrant -> set -> test value at a size: a number, a mapping of sets to numbers, or None for the chosen one."""
    found: Table = {}
    for name, entries in parts.items():
        for entry in entries:
            at = entry["k"] if k is None else k[name] if isinstance(k, Mapping) else k
            value = value_of(entry, at, measure)
            if value is not None:
                found.setdefault(entry["entrant"], {})[name] = value
    return found


def paired(values: Table, ours: Sequence[str]) -> list[dict]:
    """Each of ours against each other entrant, over the sets: wins, ties and losses.

    Differences of at most 0.01 are ties. A set where one of the two has no value is left out.

    Examples
    --------
    >>> from papers.benchmark.findings import paired
    >>> values = {"MOPE": {"a": 0.5, "b": 0.4}, "PCA": {"a": 0.3, "b": 0.395}}
    >>> found = paired(values, ["MOPE"])[0]
    >>> found["b"], found["wins"], found["ties"], found["losses"]
    ('PCA', 1, 1, 0)
    """
    found = []
    for a in ours:
        for b in values:
            each = [values[a][name] - values[b][name] for name in values.get(a, {}) if name in values[b]]
            if b not in ours and each:
                found.append({"a": a, "b": b, **_counts(each)})
    return found


def _counts(differences: Sequence[float]) -> dict:
    wins, losses = sum(d > ROPE for d in differences), sum(d < -ROPE for d in differences)
    n = len(differences)
    return {"wins": wins, "ties": n - wins - losses, "losses": losses, "sets": n, "mean": sum(differences) / n}


def contrasted(declared: Sequence[Sequence[str]], found: Mapping[str, Any]) -> list[dict]:
    """The declared contrasts (labels, a, b) over the sets: Wilcoxon's test, with Holm's adjustment for their number.

    With some labels, the difference on a set is the mean over the shares at which both have a value there.

    Examples
    --------
    >>> from papers.benchmark.findings import contrasted
    >>> values = {"MOPE": {"a": 0.5, "b": 0.4}, "PCA": {"a": 0.3, "b": 0.3}}
    >>> entry = contrasted([("all labels", "MOPE", "PCA")], {"all labels": {"values": values}})[0]
    >>> entry["wins"], entry["p"]
    (2, 0.5)
    """
    made, differences = [], []
    for labels, a, b in declared:
        titles = [title for title in found if (title == ALL) == (labels == ALL)]
        each = list(_by_set([found[title]["values"] for title in titles], a, b).values())
        if each:
            differences.append(each)
            made.append({"labels": labels, "a": a, "b": b, **_counts(each)})
    if made:
        for entry, p, adjusted in zip(made, *wilcoxon_holm(differences), strict=True):
            entry |= {"p": float(p), "p_holm": float(adjusted)}
    return made


def _by_set(tables: Sequence[Table], a: str, b: str) -> dict[str, float]:
    """Set -> mean over the tables of the difference of two entrants."""
    held: dict[str, list[float]] = {}
    for values in tables:
        for name, value in values.get(a, {}).items():
            if name in values.get(b, {}):
                held.setdefault(name, []).append(value - values[b][name])
    return {name: sum(each) / len(each) for name, each in held.items()}


def failures(parts: Mapping[str, list[dict]]) -> list[dict]:
    """What failed: trials inside the training part, and last fits at the chosen size and at others; first reasons."""
    found = []
    for part, entries in parts.items():
        for entry in entries:
            lost = [each["failure"] for each in entry["tried"] if each["failure"]]
            others = entry["other_sizes"]
            reasons = [entry["failure"], *others.values(), *lost]
            reason = next((reason for reason in reasons if reason), None)
            if reason:
                facts = {"last_fit": bool(entry["failure"]), "other_sizes": list(others), "trials": len(lost)}
                ended = sum(each.startswith(TIMED_OUT) for each in lost)
                facts |= {"trials_timed_out": ended, "of": len(entry["tried"])}
                found.append({"part": part, "entrant": entry["entrant"], **facts, "reason": reason})
    return found
