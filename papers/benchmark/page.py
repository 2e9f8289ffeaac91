"""The page of the benchmark: tables, paired counts over the sets, tests, seconds, failures; and its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from papers.benchmark.findings import ALL, Table, groups, values_of
from papers.dots import dot_plot
from papers.entrants import OLPP_WORDS
from papers.markdown import DASH, QUICK_WARNING, REASON, made_lines, table
from papers.tuned import FEW, FOLDS, timed_out
from proxembed.evaluate.measures import MACRO_F1
from proxembed.evaluate.statistics import ROPE

CHOSEN = "the k chosen inside the training part"
Parts = Mapping[str, list[dict]]


def figures(record: Mapping[str, Any]) -> dict[str, str]:
    """SVG files by name."""
    sets, found = list(record["sets"]), record["conclusions"]
    axis = f"macro average precision on the test rows, at {CHOSEN}"
    drawn = {"all-labels.svg": dot_plot("All labels known", axis, found[ALL]["values"], sets)}
    shares = [title for title in found if title.endswith("of the labels")]
    means: Table = {}
    for title in shares:
        for entrant, values in found[title]["values"].items():
            if len(values) == len(sets):
                means.setdefault(entrant, {})[title] = sum(values.values()) / len(values)
    if shares:
        title = f"Some labels known: mean of {len(sets)} sets, of entrants with a value on each"
        drawn["partly-labelled.svg"] = dot_plot(title, axis, means, shares)
    return drawn


def benchmark_page(record: Mapping[str, Any]) -> str:
    """The page: how it was made, tables, paired counts, seconds, failures."""
    found, parted = record["conclusions"], groups(record)
    lines = _head(record) + _tested(found["contrasts"])
    for title, parts in parted.items():
        lines += [f"## {title[0].upper()}{title[1:]}", ""]
        lines += [f"Macro average precision on the test rows, at {CHOSEN}.", "", _grid(parts)]
        if title == ALL:
            labels = {name: facts["labels"] for name, facts in record["sets"].items()}
            for k in (2, 5, 10):
                lines += [f"At k = {k}.", "", _grid(parts, dict.fromkeys(parts, k))]
            lines += ["At as many components as labels.", "", _grid(parts, labels)]
            lines += ["Macro F1 at the chosen k, cut by the one shared rule.", ""]
            lines += [_grid(parts, measure=MACRO_F1)]
        lines += [_paired_table(found[title]["paired"])]
    lines += ["## CPU seconds", "", "An entrant's tuning, last fit and read-outs, in its process.", ""]
    lines += [_seconds(parted), *_failed(found["failures"])]
    return "\n".join(lines)


def _head(record: Mapping[str, Any]) -> list[str]:
    quick = record["quick"]
    sets = [
        (name, facts["train"], facts["test"], facts["d"], facts["labels"], f"{facts['cardinality']:.2f}")
        for name, facts in record["sets"].items()
    ]
    return [
        "# Benchmark on multi-label sets",
        "",
        *([QUICK_WARNING, ""] if quick else []),
        *made_lines(record),
        *_rules(record["plan"]["effort"]),
        table(("set", "training rows", "test rows", "features", "labels", "labels per row"), sets),
    ]


def _rules(plan: Mapping[str, Any]) -> list[str]:
    """How entrants are tuned and scored, in words."""
    return [
        f"Every entrant may try {plan['configurations']} configurations ({plan['configurations_partly']} with some "
        "labels), its defaults among them; those with a smaller grid try fewer, and so do those whose tuning the clock "
        f"ends, after {plan['seconds']:g} CPU seconds ({plan['seconds_large']:g} on the two large sets; with some "
        f"labels {plan['seconds_partly']:g} and {plan['seconds_partly_large']:g}). All tune on the same rows: "
        f"{plan['tuning_rows']:,} of the training part at most, of which labelled ones fill up to half before any is "
        f"left out. A quarter of the labelled ones is scored on, or each of {FOLDS} folds in turn where fewer than "
        f"{FEW} are labelled. With some labels the training part has {plan['rows_partly']:,} rows at most, drawn at "
        f"random; Reuters has {plan['rows_reuters']:,} with all labels and {plan['rows_reuters_partly']:,} with some, "
        "as it has more terms than rows, so that a fit costs the cube of the rows.",
        "",
        "The best configuration is fitted on the whole training part and finished; the test rows are scored once. "
        f'"timed out" stands where this took more than {plan["last_seconds"]:g} CPU seconds: such a set is left out of '
        "that entrant's means, pairs and tests, and the same command tries it again. What fails otherwise counts 0.",
        "",
        "Read-out: ridge, its penalty by leave-one-out, for all but the propagation methods, whose own scores count: "
        "they rank rows by their share of the score that they would have if every labelled row had the label. "
        "MESD(SELF) is the single-label SELF with the labels shared out by MESD; SSDR(MESD(LFDA), PCA) is a pair of "
        f"the general method and not SELF. {OLPP_WORDS}",
        "",
    ]


def _tested(entries: list[dict]) -> list[str]:
    """The tests that were declared before the run."""
    rows = [
        (
            f"{e['a']} – {e['b']}",
            e["labels"],
            f"{e['wins']} / {e['ties']} / {e['losses']}",
            f"{e['mean']:+.3f}",
            f"{e['p']:.3f}",
            f"{e['p_holm']:.3f}",
        )
        for e in entries
    ]
    words = (
        "These pairs were named before the run, and no others are tested (Wilcoxon over the sets, Holm over the "
        f"pairs). With some labels the difference on a set is the mean over the shares; at most {ROPE:g} is a tie."
    )
    head = ("pair", "labels", "wins / ties / losses", "mean difference", "p", "p (Holm)")
    return ["## Tests", "", words, "", table(head, rows)] if rows else []


def _grid(parts: Parts, k: Mapping[str, int] | None = None, **measure: str) -> str:
    """Entrants by sets, at a size of each set or at the chosen one; the best of each set in bold."""
    values = values_of(parts, k, **measure)
    best = {name: max((row[name] for row in values.values() if name in row), default=None) for name in parts}
    entries = {(entry["entrant"], name): entry for name, held in parts.items() for entry in held}
    rows = []
    for entrant in dict.fromkeys(entrant for entrant, _ in entries):
        cells = []
        for name in parts:
            value, entry = values.get(entrant, {}).get(name), entries.get((entrant, name))
            ended = entry is not None and timed_out(entry, entry["k"] if k is None else k[name])
            cells.append("timed out" if ended else _cell(value, best[name]))
        rows.append((entrant, *cells))
    return table(("", *parts), rows)


def _cell(value: float | None, best: float | None) -> str:
    if value is None:
        return DASH
    return f"**{value:.3f}**" if value == best else f"{value:.3f}"


def _paired_table(entries: list[dict]) -> str:
    """Others by ours: wins, ties and losses of ours, with the mean difference."""
    if not entries:
        return ""
    ours, others = (list(dict.fromkeys(entry[side] for entry in entries)) for side in "ab")
    cells = {(entry["a"], entry["b"]): _paired_cell(entry) for entry in entries}
    rows = [(other, *(cells.get((each, other), DASH) for each in ours)) for other in others]
    sets = max(entry["sets"] for entry in entries)
    words = [
        f"Wins / ties / losses of each column against each row over the sets (at most {sets}),",
        f"and the mean difference; differences of at most {ROPE:g} are ties. Nothing is tested here.",
    ]
    return "\n".join([*words, "", table(("against", *ours), rows)])


def _paired_cell(entry: Mapping[str, Any]) -> str:
    return f"{entry['wins']} / {entry['ties']} / {entry['losses']} ({entry['mean']:+.3f})"


def _seconds(parted: Mapping[str, Mapping[str, list[dict]]]) -> str:
    sets = list(dict.fromkeys(name for parts in parted.values() for name in parts))
    rows = []
    for title, parts in parted.items():
        spent = {(entry["entrant"], name): entry["cpu_seconds"] for name, held in parts.items() for entry in held}
        for entrant in dict.fromkeys(entrant for entrant, _ in spent):
            cells = [f"{spent[entrant, name]:.1f}" if (entrant, name) in spent else DASH for name in sets]
            rows.append((title, entrant, *cells))
    return table(("", "entrant", *sets), rows)


def _failed(entries: list[dict]) -> list[str]:
    lines = ["## Failures", ""]
    if not entries:
        return [*lines, "None.", ""]
    rows = [
        (
            e["part"],
            e["entrant"],
            "yes" if e["last_fit"] else "no",
            ", ".join(e["other_sizes"]) or DASH,
            f"{e['trials']} of {e['of']} ({e['trials_timed_out']} by the clock)",
            e["reason"][:REASON],
        )
        for e in entries
    ]
    head = ("part", "entrant", "last fit failed", "at other k", "failed trials", "first reason")
    return [*lines, table(head, rows)]
