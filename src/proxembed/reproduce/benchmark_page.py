"""What the benchmark found: tables, paired counts over the sets, failures, figures, and the Markdown page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proxembed.evaluate.results import AVERAGE_PRECISION, MACRO_F1
from proxembed.evaluate.statistics import ROPE, wilcoxon_holm

from .benchmark_entrants import OURS
from .dots import dot_plot
from .markdown import QUICK_WARNING, table
from .tuned import value_of

CHOSEN = "the k chosen inside the training part"
Table = dict[str, dict[str, float]]


def conclusions(record: Mapping[str, Any]) -> dict:
    """Tables and paired counts, as plain data.

    Returns
    -------
    dict
        ``all labels`` and, for each share, its percentage: each with ``values`` (entrant -> set -> test value at the
        chosen k) and ``paired``; and ``failures``.
    """
    found: dict[str, Any] = {}
    for title, parts in _groups(record).items():
        values = _values(parts)
        names = {entry["entrant"]: entry["group"] for entries in parts.values() for entry in entries}
        found[title] = {"values": values, "paired": paired(values, [n for n, group in names.items() if group == OURS])}
    found["failures"] = failures(record["parts"])
    return found


def _groups(record: Mapping[str, Any]) -> dict[str, dict[str, list[dict]]]:
    """Parts by how many rows have labels: title -> set -> entries."""
    groups: dict[str, dict[str, list[dict]]] = {}
    for part, entries in record["parts"].items():
        name, _, share = part.partition(" at ")
        groups.setdefault(f"{share} of the labels" if share else "all labels", {})[name] = entries
    return groups


def _values(parts: Mapping[str, list[dict]], k: Any = None, measure: str = AVERAGE_PRECISION) -> Table:
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
    """Each of ours against each other entrant, over the sets: wins, ties and losses, and Wilcoxon's test with Holm's.

    Differences of at most 0.01 are ties; the test takes them as they are.

    Examples
    --------
    >>> from proxembed.reproduce.benchmark_page import paired
    >>> values = {"MOPE": {"a": 0.5, "b": 0.4}, "PCA": {"a": 0.3, "b": 0.395}}
    >>> found = paired(values, ["MOPE"])[0]
    >>> found["b"], found["wins"], found["ties"], found["losses"]
    ('PCA', 1, 1, 0)
    """
    found, differences = [], []
    for a in ours:
        for b in values:
            sets = [name for name in values.get(a, {}) if name in values[b]]
            if b in ours or not sets:
                continue
            each = [values[a][name] - values[b][name] for name in sets]
            wins, losses = sum(d > ROPE for d in each), sum(d < -ROPE for d in each)
            differences.append(each)
            counts = {"wins": wins, "ties": len(each) - wins - losses, "losses": losses}
            found.append({"a": a, "b": b, **counts, "sets": len(each), "mean": sum(each) / len(each)})
    if found:
        p, adjusted = wilcoxon_holm(differences)
        for entry, each_p, each_holm in zip(found, p, adjusted, strict=True):
            entry |= {"p": float(each_p), "p_holm": float(each_holm)}
    return found


def failures(parts: Mapping[str, list[dict]]) -> list[dict]:
    """What failed: trials inside the training part, and last fits, each with its first reason."""
    found = []
    for part, entries in parts.items():
        for entry in entries:
            lost = [each["failure"] for each in entry["tried"] if each["failure"]]
            if entry["failure"] or lost:
                reason = entry["failure"] or lost[0]
                facts = {"last_fit": bool(entry["failure"]), "trials": len(lost), "of": len(entry["tried"])}
                found.append({"part": part, "entrant": entry["entrant"], **facts, "reason": reason})
    return found


def figures(record: Mapping[str, Any]) -> dict[str, str]:
    """SVG files by name."""
    sets, found = list(record["sets"]), record["conclusions"]
    axis = f"macro average precision on the test rows, at {CHOSEN}"
    drawn = {"all-labels.svg": dot_plot("All labels known", axis, found["all labels"]["values"], sets)}
    shares = [title for title in found if title.endswith("of the labels")]
    means: Table = {}
    for title in shares:
        for entrant, values in found[title]["values"].items():
            means.setdefault(entrant, {})[title] = sum(values.values()) / len(values)
    if shares:
        drawn["partly-labelled.svg"] = dot_plot(f"Some labels known, mean of {len(sets)} sets", axis, means, shares)
    return drawn


def benchmark_page(record: Mapping[str, Any]) -> str:
    """The page: how it was made, tables, paired counts, seconds, failures."""
    found, groups = record["conclusions"], _groups(record)
    lines = _head(record)
    for title, parts in groups.items():
        lines += [f"## {title[0].upper()}{title[1:]}", ""]
        lines += [f"Macro average precision on the test rows, at {CHOSEN}.", "", _grid(found[title]["values"], parts)]
        if title == "all labels":
            labels = {name: facts["labels"] for name, facts in record["sets"].items()}
            for k in (2, 5, 10):
                lines += [f"At k = {k}.", "", _grid(_values(parts, k), parts)]
            lines += ["At as many components as labels.", "", _grid(_values(parts, labels), parts)]
            lines += ["Macro F1 at the chosen k, cut by the one shared rule.", ""]
            lines += [_grid(_values(parts, measure=MACRO_F1), parts)]
        lines += [_paired_table(found[title]["paired"])]
    lines += ["## Seconds", "", "An entrant's tuning, last fit and read-outs, in its process.", ""]
    lines += [_seconds(groups), *_failed(found["failures"])]
    return "\n".join(lines)


def _head(record: Mapping[str, Any]) -> list[str]:
    plan, quick = record["plan"]["effort"], record["quick"]
    sets = [
        (name, facts["train"], facts["test"], facts["d"], facts["labels"], f"{facts['cardinality']:.2f}")
        for name, facts in record["sets"].items()
    ]
    return [
        "# Benchmark on multi-label sets",
        "",
        *([QUICK_WARNING, ""] if quick else []),
        f"Made by `{record['command']}`, {record['created'][:10]}, seed {record['seed']}, {record['jobs']} processes.",
        "",
        f"Every entrant tries at most {plan['configurations']} configurations ({plan['configurations_partly']} with "
        f"some labels) on {plan['tuning_rows']:,} training rows at most, its defaults among them, in at most half of "
        f"its {plan['seconds']:g} seconds ({plan['seconds_large']:g} on the two large sets; with some labels "
        f"{plan['seconds_partly']:g} and {plan['seconds_partly_large']:g}, on {plan['rows_partly']:,} training rows at "
        "most). The best on a quarter of these rows is fitted on the whole training part, and the test rows are scored "
        "once. A fit that the clock stops counts 0. Read-out: ridge, its penalty by leave-one-out, for all but the "
        "propagation methods, whose own scores count; the single-label SELF takes part as MESD(LFDA) + PCA.",
        "",
        table(("set", "training rows", "test rows", "features", "labels", "labels a row"), sets),
    ]


def _grid(values: Table, sets: Iterable[str]) -> str:
    """Entrants by sets; the best of each set in bold."""
    sets = list(sets)
    best = {name: max((row[name] for row in values.values() if name in row), default=None) for name in sets}
    rows = [(entrant, *(_cell(row.get(name), best[name]) for name in sets)) for entrant, row in values.items()]
    return table(("", *sets), rows)


def _cell(value: float | None, best: float | None) -> str:
    if value is None:
        return "–"
    return f"**{value:.3f}**" if value == best else f"{value:.3f}"


def _paired_table(entries: list[dict]) -> str:
    """Others by ours: wins, ties and losses of ours, with the mean difference and, where it is below 0.05, p."""
    if not entries:
        return ""
    ours, others = (list(dict.fromkeys(entry[side] for entry in entries)) for side in "ab")
    cells = {(entry["a"], entry["b"]): _paired_cell(entry) for entry in entries}
    rows = [(other, *(cells.get((each, other), "–") for each in ours)) for other in others]
    sets = max(entry["sets"] for entry in entries)
    words = [
        f"Wins / ties / losses of each column against each row over the sets (at most {sets}),",
        f"and the mean difference; differences of at most {ROPE:g} are ties. p (Wilcoxon, Holm) is given below 0.05.",
    ]
    return "\n".join([*words, "", table(("against", *ours), rows)])


def _paired_cell(entry: Mapping[str, Any]) -> str:
    told = f"{entry['wins']} / {entry['ties']} / {entry['losses']} ({entry['mean']:+.3f})"
    return told + (f", p = {entry['p_holm']:.3f}" if entry["p_holm"] < 0.05 else "")


def _seconds(groups: Mapping[str, Mapping[str, list[dict]]]) -> str:
    sets = list(dict.fromkeys(name for parts in groups.values() for name in parts))
    rows = []
    for title, parts in groups.items():
        for number, entry in enumerate(next(iter(parts.values()))):
            spent = [f"{parts[name][number]['seconds']:.1f}" if name in parts else "–" for name in sets]
            rows.append((title, entry["entrant"], *spent))
    return table(("", "entrant", *sets), rows)


def _failed(entries: list[dict]) -> list[str]:
    lines = ["## Failures", ""]
    if not entries:
        return [*lines, "None.", ""]
    rows = [
        (e["part"], e["entrant"], "yes" if e["last_fit"] else "no", f"{e['trials']} of {e['of']}", e["reason"][:160])
        for e in entries
    ]
    return [*lines, table(("part", "entrant", "last fit failed", "failed trials", "first reason"), rows)]
