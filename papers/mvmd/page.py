"""The Markdown page and the figures of the experiment on MVMD: published words beside what came out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from papers.markdown import DASH, QUICK_WARNING, RULE, claims_table, failures, made_lines, table
from papers.mvmd.claims import LOSS, MEASURES, RIVALS, entry_of
from papers.mvmd.contenders import FEATURES, OURS
from papers.panels import Panel, line_panels

BY_SIZE, BY_BETA = "sizes.svg", "beta.svg"
ACROSS = 4
DIFFERENCES = """## What differs from the paper

- The text at hand lacks the paper's section 7, so its sets, splits and tables are not known; the sets are ours, {draws}
  draws of two thirds of the rows each.
{rule}
- The claims speak of many sets: a set is a block, by the mean of its draws. Six measures of a set go together, so that
  a method's mean rank over them is its value there; components and seconds are compared by natural logarithms, and
  spectra are those of the first draw.
- At most {rows:,} rows of a set take part. The paper's eight sets are not named in the text at hand. Labels of wq say
  which of 14 species are in a sample of river water (counts above 0).
- Dense features are standardised by the training rows; the paper centres them.
- The ridge of the classifier is .1 (that of the authors' package); a parameter and t are chosen by the F1 of a quarter
  of the training rows. The paper does not say how it chose them.
- CCA has the ridge that its leave-one-out error chooses; MDDMf's constant is tuned; MLSI is the ratio form, centred.
- A spectrum is that part of it which holds 99.9 % of its sum; "many" eigenvalues are more than there are labels.
- The curves are of the held-out rows of the first draw: nothing is chosen by them.
"""


def page(record: Mapping[str, Any]) -> str:
    """The page of the experiment, from its record."""
    parts, plan = record["parts"], record["plan"]
    made = figures(record)
    lines = [
        "# MVMD beside seven methods",
        "",
        *([QUICK_WARNING, ""] if record["quick"] else []),
        *made_lines(record),
        "Multi-output ridge on the components of each method; measures of instances, mean of the draws.",
        "",
        "## What the paper says, and what came out",
        "",
        claims_table(record["claims"]),
    ]
    for measure in MEASURES:
        lines += [f"## {measure[0].upper()}{measure[1:]}{', smaller is better' if measure == LOSS else ''}", ""]
        lines += [_values(parts, measure)]
    lines += ["## Components chosen, and CPU seconds of a fit", "", _sizes(parts)]
    for name, words in ((BY_SIZE, "F1 against the number of components"), (BY_BETA, "F1 of MVMD against beta")):
        lines += [f"## {words}", "", f"![{words}]({name})", ""] if name in made else []
    told = DIFFERENCES.format(rule=RULE, draws=plan["draws"], rows=plan["rows"])
    return "\n".join([*lines, *failures(parts), told])


def figures(record: Mapping[str, Any]) -> dict[str, str]:
    """File name -> SVG; a figure without data is left out."""
    parts, found = record["parts"], {}
    note = "Held-out rows of the first draw: " + ", ".join(
        f"{name} n = {facts['n'] - 2 * facts['n'] // 3:,}" for name, facts in record["sets"].items()
    )
    lines = {part: _curves(parts, part, "by_size") for part in parts}
    if any(lines.values()):
        panels = [
            Panel(part, "components", "F1 of instances", each, _level(parts, part), xscale="log")
            for part, each in lines.items()
            if each
        ]
        found[BY_SIZE] = line_panels(panels, ACROSS, note, marks=False)
    curves = {part: each for part in parts if (each := _curves(parts, part, "by_beta"))}
    if curves:
        panels = [Panel(part, "beta", "F1 of instances", each, _level(parts, part)) for part, each in curves.items()]
        found[BY_BETA] = line_panels(panels, ACROSS, note)
    return found


def _curves(parts: Mapping[str, list[dict]], part: str, key: str) -> dict[str, tuple[list[float], list[float]]]:
    known = {title: entry_of(parts, part, title) for title in (OURS, *RIVALS)}
    return {
        title: ([float(x) for x in entry[key]], list(entry[key].values()))
        for title, entry in known.items()
        if entry and entry.get(key)
    }


def _level(parts: Mapping[str, list[dict]], part: str) -> dict[str, float]:
    entry = entry_of(parts, part, FEATURES)
    return {FEATURES: entry["F1"][0]} if entry else {}


def _values(parts: Mapping[str, list[dict]], measure: str) -> str:
    titles, rows = (OURS, *RIVALS, FEATURES), []
    for part in parts:
        means = {t: float(np.mean(e[measure])) for t in titles if (e := entry_of(parts, part, t))}
        own = [value for title, value in means.items() if title != FEATURES]
        best = (min(own) if measure == LOSS else max(own)) if own else None
        rows.append((part, *(_cell(means.get(title), best, title) for title in titles)))
    return table(("set", *titles), rows)


def _cell(value: float | None, best: float | None, title: str) -> str:
    if value is None:
        return DASH
    return f"**{value:.3f}**" if value == best and title != FEATURES else f"{value:.3f}"


def _sizes(parts: Mapping[str, list[dict]]) -> str:
    rows = []
    for part in parts:
        known = [entry_of(parts, part, title) for title in (OURS, *RIVALS)]
        cells = [f"{np.mean(e['k']):.0f}; {np.mean(e['fit_seconds']):.2g} s" if e else DASH for e in known]
        rows.append((part, *cells))
    return table(("set", OURS, *RIVALS), rows)
