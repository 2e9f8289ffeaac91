"""The page of the benchmark, its figures and its table of intervals: a pure function of what is stored."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks import MOST_COMPONENTS, N_FOLDS, NAME, OUTPUTS, PROTOCOLS, RESULTS, TRACKS, VERSION
from benchmarks.cell import FEW, FOLDS, KEPT, SHARE, Effort, K
from benchmarks.entrants import DECLARED, LEFT_OUT
from benchmarks.figures import cost_figure, rank_figure
from benchmarks.findings import (
    CERTAIN,
    LEVEL,
    MEASURES,
    PAIRS,
    REFERENCES,
    Interval,
    by_fold,
    mean_ranks,
    means,
    pairs,
    ranks,
    within,
)
from benchmarks.folds import LEAST, MOST_ROWS, stored_facts, tracks_of
from benchmarks.load import load
from benchmarks.sets import ON_OPENML, SETS
from papers.markdown import DASH, REASON, table
from proxembed.estimator.catalogue import estimators
from proxembed.execute.atomic_files import write_whole
from proxembed.measures.statistics import ROPE

TITLES = {
    "all": "All labels known", "fifth": "A fifth of the training rows labelled", OUTPUTS: "Outputs that are numbers",
}  # fmt: skip
WORDS = {"average_precision": "macro average precision", "q2": "Q2"}
FURTHER = {  # ranked beside the first measure: column -> words
    "average_precision": {"jaccard": f"Jaccard@{K}", "micro_f1": "micro F1"},
    "q2": {"agreement": f"A@{K}"},
}
SIDES = {1: " ▲", -1: " ▼", 0: ""}
CLOCK = "OutOfBudget"
INTERVALS = "intervals.csv"


def write_page(home: Path, out: Path) -> None:
    """Write the page, the figures and the table of intervals into a folder."""
    rows, facts = load(home), stored_facts(home)
    out.mkdir(parents=True, exist_ok=True)
    files = {"README.md": page(rows, facts), INTERVALS: intervals(rows, facts), **figures(rows)}
    kept = {out / name for name in files}
    write_whole(
        {out / name: text.encode("utf-8") for name, text in files.items()},
        remove=[path for path in out.glob("*.svg") if path not in kept],
    )


def part_of(rows: pd.DataFrame, track: str, protocol: str) -> pd.DataFrame:
    """The rows of one track and protocol."""
    return rows[(rows["track"] == track) & (rows["protocol"] == protocol)]


def figures(rows: pd.DataFrame) -> dict[str, str]:
    """SVG files by name, of the tracks that have results."""
    kinds, found = dict(zip(rows["method"], rows["kind"], strict=True)), {}
    for track in TRACKS:
        part = part_of(rows, track, PROTOCOLS[0])
        ranked = ranks(means(by_fold(part, MEASURES[track]))) if len(part) else pd.DataFrame()
        if ranked.empty:
            continue
        placed, seconds = mean_ranks(ranked), part.groupby("method")["seconds"].median().to_dict()
        title = f"{TITLES[track]}, {PROTOCOLS[0]} folds"
        found[f"ranks-{track}.svg"] = rank_figure(title, placed, kinds, ranked.shape[1])
        found[f"seconds-{track}.svg"] = cost_figure(title, placed, seconds, kinds, ranked.shape[1])
    return found


def intervals(rows: pd.DataFrame, facts: Mapping[str, dict]) -> str:
    """CSV of every difference from the references on every set, with its corrected interval."""
    sizes = {name: each["sample"] for name, each in facts.items()}
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("track", "protocol", "method", "reference", "set", "difference", "low", "high"))
    for track in TRACKS:
        for protocol in PROTOCOLS:
            values = by_fold(part_of(rows, track, protocol), MEASURES[track])
            for method in sorted(values):
                for reference in REFERENCES:
                    if method != reference:
                        for name, each in _ordered(within(values, method, reference, sizes)).items():
                            ends = (f"{end:.5f}" for end in each)
                            lines.writerow((track, protocol, method, reference, name, *ends))
    return text.getvalue()


def _ordered(by_set: Mapping[str, Any]) -> dict[str, Any]:
    """In the order of the declared sets, then of names."""
    order = list(SETS)
    return {
        name: by_set[name]
        for name in sorted(by_set, key=lambda each: (order.index(each) if each in order else len(order), each))
    }


def page(rows: pd.DataFrame, facts: Mapping[str, dict]) -> str:
    """The page as Markdown."""
    lines = [*_head(rows), *_short(rows), *_rules(), *_data(facts)]
    for track in TRACKS:
        lines += _track(rows, facts, track)
    lines += [*_failures(rows), *_missing(rows, facts), *_joining()]
    return "\n".join(lines)


def _head(rows: pd.DataFrame) -> list[str]:
    versions = ", ".join(sorted(set(rows["version"])))
    return [
        "# The benchmark",
        "",
        f"**{NAME} {VERSION}**. Methods and rivals on named data sets: {len(rows):,} folds of "
        f"{rows['method'].nunique()} methods on {rows['set'].nunique()} sets, by proxembed {versions}. Every figure "
        "comes from `benchmarks/results`, one file per method, which `benchmarks.load.load()` returns as one table; "
        "`python -m benchmarks page` makes this page from it, and `make benchmark` runs what is missing. Any "
        "transformer can enter by one command: [Enter the benchmark](../../howto/benchmark.md).",
        "",
    ]


def _short(rows: pd.DataFrame) -> list[str]:
    """Of each track the lowest mean rank and what the declared pairs say, stratified folds."""
    lines = []
    for track in TRACKS:
        values = means(by_fold(part_of(rows, track, PROTOCOLS[0]), MEASURES[track]))
        ranked = ranks(values) if len(values) else values
        if ranked.empty:
            continue
        first, best = next(iter(mean_ranks(ranked).items()))
        count = f"the lowest of {ranked.shape[0]} mean ranks on {ranked.shape[1]} sets"
        words = [f"- {TITLES[track]}: {count} is that of {first}, {_ranked(best)}."]
        verdicts: dict[str, list[str]] = {}
        for entry in pairs(values, PAIRS[track]):
            verdicts.setdefault(entry["verdict"], []).append(f"{entry['a']} – {entry['b']} ({entry['mean']:+.3f})")
        words += [
            f"{verdict[0].upper()}{verdict[1:]}: {'; '.join(held)}." for verdict, held in sorted(verdicts.items())
        ]
        lines.append(" ".join(words))
    return ["## In short", "", *lines, ""] if lines else []


def _rules() -> list[str]:
    """How methods are tuned and scored, in words."""
    effort = Effort()
    return [
        "## How it is measured",
        "",
        f"- Folds are stored in `benchmarks/splits`: {N_FOLDS} iteratively stratified ones, and {N_FOLDS} random ones. "
        f"A set has at most {MOST_ROWS:,} rows, drawn once, and the labels that at least {LEAST} of them have and "
        f"{LEAST} lack. A hash of the data stands beside the folds; other data are refused.",
        f"- Every method has at most {effort.configurations} configurations (its defaults, then draws from the search "
        "ranges that it declares; methods without parameters have one), all tried on the same rows: a quarter "
        f"({SHARE:.0%}) of the labelled training rows, or each of {FOLDS} folds of them in turn where fewer than {FEW} "
        f"are labelled. The number of components, at most {MOST_COMPONENTS}, is chosen there too, by the macro average "
        "precision. Logistic regression chooses its penalty among three values by folds of the training rows.",
        f"- The clock gives every method {effort.tuning:g} CPU seconds for tuning and {effort.last:g} for the last fit "
        "and its read-outs. What it ends in the last fit, and what fails, counts as the worst value. umap-learn "
        "compiles its code before the clock starts.",
        "- Held-out rows are scored once: by a ridge read-out whose penalty is chosen by leave-one-out (macro average "
        f"precision, F1 by one shared rule of thresholds), and by the {K} nearest training rows by cosine (Jaccard). "
        "Classifiers, label propagation and logistic regression count with their own scores.",
        f"- Structure is what an embedding keeps of the features: the share of the {K} nearest training rows of a "
        f"held-out row, by the scaled features, that are among its {K} nearest in the embedding. The features "
        "themselves keep all, but for ties of distances.",
        "- Outputs that are numbers have a track of their own. Its measures are Q2 of a ridge read-out or of the "
        "method's own predictions (1 - squared error over squared deviations from the training mean, mean over "
        f"outputs) and A@{K}, how alike the outputs of a row and of its {K} nearest training rows are. Configurations "
        f"are chosen by Q2. Its iterative folds take one of every {N_FOLDS} rows that follow each other along the "
        "first principal component of the standardised outputs. Five sets are too few for a test over sets: no pairs "
        "are declared.",
        "- Single-label methods enter through MESD, which on one class per row is the method itself.",
        f"- Within a set, differences over the folds have the 95 % interval of Nadeau and Bengio, not adjusted for the "
        "number of sets. Over the sets, only the pairs declared in `benchmarks/findings.py` are tested: Wilcoxon's "
        "signed-rank test with Holm's adjustment for the pairs of a table, and Bayesian signed ranks with a region of "
        f"±{ROPE:g} in which differences do not matter. A side is called better where Holm's p is below {LEVEL:g} and "
        f"the posterior probability of that side above {CERTAIN:g}; both are called level where that of the region is; "
        "anything else cannot be told.",
        "",
    ]


def _data(facts: Mapping[str, dict]) -> list[str]:
    sizes = {name: tuple(f"{each[key]:,}" for key in ("rows", "sample", "features")) for name, each in facts.items()}
    labels, numbers = [], []
    for name, each in _ordered(facts).items():
        if OUTPUTS in each:
            numbers.append((name, *sizes[name], each[OUTPUTS]))
        else:
            used = f"{len(each['kept'])} of {each['labels']}", f"{each['labels_per_row']:.2f}"
            labels.append((name, *sizes[name], *used))
    head = ("set", "rows", "rows used", "features")
    return [
        "## Data",
        "",
        table((*head, "labels used", "labels per row"), labels),
        *([table((*head, "outputs"), numbers)] if numbers else []),
        "Left out: banana, which has two features; linnerud, which has 20 rows, and diabetes, which has one output.",
        "",
    ]


def _track(rows: pd.DataFrame, facts: Mapping[str, dict], track: str) -> list[str]:
    """The section of a track: ranks, declared pairs, differences from the references."""
    lines = [f"## {TITLES[track]}", ""]
    measure = MEASURES[track]
    tables = {protocol: by_fold(part_of(rows, track, protocol), measure) for protocol in PROTOCOLS}
    if tables[PROTOCOLS[0]].empty:
        return [*lines, "Not run yet.", ""]
    lines += [f"![Mean ranks](ranks-{track}.svg)", "", *_rank_table(rows, tables, track)]
    lines += [f"![Mean ranks against CPU seconds](seconds-{track}.svg)", ""]
    for protocol, values in tables.items():
        if not values.empty and PAIRS[track]:
            lines += _pair_table(means(values), track, protocol)
    return [*lines, *_against(tables, facts, WORDS[measure]), *_by_set(tables[PROTOCOLS[0]], facts, WORDS[measure])]


def _rank_table(rows: pd.DataFrame, tables: Mapping[str, pd.DataFrame], track: str) -> list[str]:
    part = part_of(rows, track, PROTOCOLS[0])
    values = {protocol: means(each) for protocol, each in tables.items() if not each.empty}
    ranked = {protocol: ranks(each) for protocol, each in values.items()}
    placed = {protocol: mean_ranks(each) for protocol, each in ranked.items()}
    measure = MEASURES[track]
    further = FURTHER[measure]
    others = {m: mean_ranks(ranks(means(by_fold(part, m)))) for m in (*further, KEPT)}
    kinds, seconds = part.groupby("method")["kind"].first(), part.groupby("method")["seconds"].median()
    lines = []
    for name, at in placed[PROTOCOLS[0]].items():
        second = placed.get(PROTOCOLS[1], {}).get(name)
        cells = [_ranked(at), DASH if second is None else _ranked(second)]
        cells += [f"{each[name].mean:.1f}" if name in each else DASH for each in others.values()]
        kept = part.loc[part["method"] == name, KEPT].mean(skipna=False)
        cells.insert(-1, DASH if pd.isna(kept) else f"{kept:.3f}")
        mean = values[PROTOCOLS[0]].loc[name].mean()
        lines.append((name, kinds[name], f"{mean:.3f}", *cells, f"{seconds[name]:.2f}"))
    first = ranked[PROTOCOLS[0]]
    counts = {protocol: f"{each.shape[0]} methods, {each.shape[1]} sets" for protocol, each in ranked.items()}
    head = ("method", "learns from", f"mean {WORDS[measure].removeprefix('macro ')}")
    head += tuple(f"mean rank, {protocol} ({counts.get(protocol, 'not run')})" for protocol in PROTOCOLS)
    words = (
        f"Mean ranks by {WORDS[measure]}, 1 being best, with the 95 % interval of drawing the sets again; "
        f"methods with a value on every set take part. {', '.join(further.values())} and neighbours kept: mean ranks "
        "of their own, stratified folds; methods without an embedding, or with lines from before it was measured, have "
        "none of the last. CPU seconds: the median over folds. "
        f"Folds per set: {'; '.join(f'{_folds(each)} {name}' for name, each in tables.items() if not each.empty)}."
    )
    head += (*(f"rank by {word}" for word in further.values()), "neighbours kept", "rank by neighbours kept", "CPU s")
    words_of_ranks = [*_leaders(placed[PROTOCOLS[0]]), *_left_out(values[PROTOCOLS[0]], first)]
    return [words, "", *words_of_ranks, table(head, lines)]


def _folds(values: pd.DataFrame) -> str:
    """How many folds the sets have."""
    counts = values.groupby(level="set").size()
    return str(counts.min()) if counts.min() == counts.max() else f"{counts.min()} to {counts.max()}"


def _ranked(at: Interval) -> str:
    return f"{at.mean:.1f} ({at.low:.1f} to {at.high:.1f})"


def _leaders(placed: Mapping[str, Interval]) -> list[str]:
    """The methods whose intervals reach below the mean rank of the first: among these the order is open."""
    if not placed:
        return []
    first, best = next(iter(placed.items()))
    level = [name for name, at in placed.items() if at.low <= best.high and name != first]
    words = f"The lowest mean rank is that of {first}. "
    words += (
        f"The intervals of {len(level)} others overlap with its own ({', '.join(level[:5])}"
        f"{', ...' if len(level) > 5 else ''}): which of them is best cannot be told from ranks."
        if level
        else "No other interval overlaps with its own."
    )
    return [words, ""]


def _left_out(values: pd.DataFrame, ranked: pd.DataFrame) -> list[str]:
    lacking = [name for name in values.index if name not in ranked.index]
    return [f"Not on every set yet, so without a rank: {', '.join(lacking)}.", ""] if lacking else []


def _pair_table(values: pd.DataFrame, track: str, protocol: str) -> list[str]:
    """The declared pairs of a track."""
    found = pairs(values, PAIRS[track])
    lines = [
        (
            f"{e['a']} – {e['b']}", e["sets"], f"{e['wins']} / {e['ties']} / {e['losses']}", f"{e['mean']:+.3f}",
            f"{e['p']:.3f}", f"{e['p_holm']:.3f}", f"{e['better']:.2f} / {e['rope']:.2f} / {e['worse']:.2f}",
            e["verdict"],
        )
        for e in found
    ]  # fmt: skip
    head = ("pair", "sets", "wins / ties / losses", "mean difference", "p", "p (Holm)", "P(better / same / worse)", "")
    held = {(e["a"], e["b"]) for e in found}
    absent = [f"{a} – {b}" for a, b in PAIRS[track] if (a, b) not in held]
    words = [f"Without results of both: {', '.join(absent)}.", ""] if absent else []
    return [f"### Declared pairs, {protocol} folds", "", *words, *([table(head, lines)] if lines else [])]


def _against(tables: Mapping[str, pd.DataFrame], facts: Mapping[str, dict], measure: str) -> list[str]:
    """On how many sets the interval of a method lies above, around and below that of each reference."""
    sizes = {name: each["sample"] for name, each in facts.items()}
    columns = [(protocol, reference) for protocol, each in tables.items() if not each.empty for reference in REFERENCES]
    lines = []
    for method in sorted(set().union(*tables.values()), key=str.lower):
        cells = []
        for protocol, reference in columns:
            sides = [each.side for each in within(tables[protocol], method, reference, sizes).values()]
            told = f"{sides.count(1)} / {sides.count(0)} / {sides.count(-1)}"
            cells.append(told if sides and method != reference else DASH)
        if set(cells) != {DASH}:
            lines.append((method, *cells))
    head = ("method", *(f"{reference}, {protocol}" for protocol, reference in columns))
    words = (
        f"On how many sets the interval of the difference in {measure} lies above 0 / holds 0 / lies "
        f"below 0. All intervals: [{INTERVALS}]({INTERVALS})."
    )
    return [f"### Against {' and '.join(REFERENCES)}", "", words, "", table(head, lines)]


def _by_set(values: pd.DataFrame, facts: Mapping[str, dict], measure: str) -> list[str]:
    """Means by set, stratified folds, marked where the interval against the first reference leaves out 0."""
    sizes = {name: each["sample"] for name, each in facts.items()}
    found = means(values).dropna(how="all")
    sets = list(_ordered(dict.fromkeys(found.columns)))
    best = found.max()
    lines = []
    for method in sorted(found.index, key=lambda name: (found.loc[name].isna().any(), -found.loc[name].mean())):
        apart = within(values, method, REFERENCES[0], sizes)
        cells = []
        for name in sets:
            value = found.loc[method, name]
            mark = SIDES[apart[name].side] if name in apart and method != REFERENCES[0] else ""
            text = f"{value:.3f}"
            shown = f"**{text}**{mark}" if value == best[name] else f"{text}{mark}"
            cells.append(DASH if pd.isna(value) else shown)
        lines.append((method, *cells))
    words = (
        f"{measure[0].upper()}{measure[1:]} by set, {PROTOCOLS[0]} folds; the best of each set in bold. ▲ and ▼: the "
        f"interval of the difference from {REFERENCES[0]} lies above or below 0; without a mark it cannot be told."
    )
    return ["### By set", "", words, "", table(("method", *sets), lines)]


def _failures(rows: pd.DataFrame) -> list[str]:
    """Methods and sets with folds that failed or were ended by the clock, with the first reason."""
    lost = rows[rows["failure"] != ""]
    lines = ["## Failures", ""]
    if lost.empty:
        return [*lines, "None.", ""]
    grouped = lost.groupby(["track", "method", "set"], sort=True)
    found = [
        (
            track, method, name, len(each), int(each["failure"].str.startswith(CLOCK).sum()),
            each["failure"].iloc[0][:REASON],
        )
        for (track, method, name), each in grouped
    ]  # fmt: skip
    words = "Folds that count as the worst value: the last fit failed, or the clock ended it."
    return [*lines, words, "", table(("track", "method", "set", "folds", "by the clock", "first reason"), found)]


def _missing(rows: pd.DataFrame, facts: Mapping[str, dict]) -> list[str]:
    """What has not been run: sets without folds, methods without results, folds that are not stored."""
    unread = [f"{name} (id {ON_OPENML[name]})" for name in ON_OPENML if name not in facts]
    lines = ["## What is missing", ""]
    if unread:
        lines += [
            f"- {', '.join(unread)} of OpenML stand in no table until they have been run: their folds, with the hash "
            "of the data, are made where a network is there (`python -m benchmarks splits`).",
        ]
    for track in TRACKS:
        only = [name for name in DECLARED[track, PROTOCOLS[0]] if name not in DECLARED[track, PROTOCOLS[1]]]
        if only:
            lines += [f"- {TITLES[track]}, {PROTOCOLS[1]} folds: not declared are {', '.join(only)}, for their cost."]
        for protocol in PROTOCOLS:
            part = part_of(rows, track, protocol)
            lines += _missing_of(part, facts, track, protocol)
    run = {method.partition("(")[2].rstrip(")") or method for method in rows["method"]} | set(rows["method"])
    heads = {method.partition("(")[0] for method in rows["method"]}
    others = [name for name in estimators("method") if name not in run | heads]
    lines += [f"- Methods without any result: {', '.join(others)}."] if others else []
    return [*lines, ""]


def _missing_of(part: pd.DataFrame, facts: Mapping[str, dict], track: str, protocol: str) -> list[str]:
    """A line on what a track lacks with one kind of folds."""
    where = f"{TITLES[track]}, {protocol} folds"
    counts = part.groupby("method").size()
    declared = DECLARED[track, protocol]
    absent = [name for name in declared if name not in counts]
    if len(absent) == len(declared):
        return [f"- {where}: not run."]
    left_out = LEFT_OUT.get((track, protocol), ())
    whole = N_FOLDS * sum(track in tracks_of(each) and name not in left_out for name, each in facts.items())
    short = {name: int(count) for name, count in counts.items() if count < whole}
    lines = [f"- {where}: not declared are the sets {', '.join(left_out)}, for their cost."] if left_out else []
    lines += [f"- {where}: not run are {', '.join(absent)}."] if absent else []
    if short:
        least, most = min(short.values()), max(short.values())
        span = f"{least}" if least == most else f"{least} to {most}"
        lines += [f"- {where}: {len(short)} of {len(counts)} methods have {span} of {whole} folds."]
    return lines


def _joining() -> list[str]:
    return [
        "## Adding a method",
        "",
        'A method joins by one command, in its own time: `python -m benchmarks run "MESD(LFDA)"` (any name that '
        f"`proxembed search -m` takes) writes its file in `benchmarks/{RESULTS}` and touches no other; then "
        "`python -m benchmarks page`. A transformer from outside is judged by `python -m benchmarks run module:Class`, "
        "and its lines stay out of these: [Enter the benchmark](../../howto/benchmark.md).",
        "",
    ]
