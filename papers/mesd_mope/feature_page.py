"""The Markdown page of the experiment on matrices, relation features and seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from papers.markdown import DASH, QUICK_WARNING, claims_table, failures, made_lines, rule_words, table
from papers.mesd_mope.claims import NEAR
from papers.mesd_mope.draws import by_share
from papers.mesd_mope.feature_claims import (
    FEWER,
    KINDS,
    NO_EMBEDDING,
    ORIGINAL,
    PUBLISHED_TERMS,
    RELATED,
    Held,
    gaps,
    span,
)
from papers.mesd_mope.fit_seconds import LARGEST, square_entrants, square_name, timed_entrants
from papers.mesd_mope.matrices import FEATURES, HYPERGRAPHS, LABELS, SCHEMES, TOGETHER, ordered
from papers.mesd_mope.matrix_figure import BLOCKS, CLIPPED, matrix_figure
from papers.mesd_mope.page import has_groups
from papers.mesd_mope.reuters_ten import Stage, related

FIGURE = "proximity-matrices.svg"
SCORED_AS = {FEATURES: "OLPP", TOGETHER: "MOPE G3 and W, priority"}
DIFFERENCES = """## How it was done, and what differs from the paper

- Figure 3 of the paper and its other figures on EEP have no counterpart: these documents are not public. The figures
  themselves stand in pictures, which the text at hand lacks; its words are checked.
- The draws are those of `mesd-mope-reuters` with the same seed. Here an entrant tries at most {limit} settings (its
  own, and others drawn from its grid), and k is one of {sizes}, so that scores differ from that page's.
- Rows of the figure are in the order that coVAT gives the label matrix Y (Bezdek, Hathaway and Huband 2007), as in the
  paper. Each panel shows means of {blocks} x {blocks} blocks, light at 0 and below, darkest from the {clipped:g}th
  percentile of its blocks on. Y and the combined Psi are added; of HSL's three versions those with the highest and the
  lowest score are shown, as in the paper.
- "Sharper class structure" is judged in the paper by eye. Here it is the correlation, over pairs of training
  documents, of the matrix with whether both share a category: 1 where the matrix says just that, whatever its unit.
- W is the Gaussian kernel of the relation features, of all pairs, as wide as the median squared distance. OLPP links
  the nearest rows of that alone.
{rule}
- "Similar" scores are those within {near:g} of macro F1. On each kind of features all is chosen anew on the validation
  part: settings, k, and the cut and ridge of the discriminants.
- CPU seconds are those of one fit of fixed settings with at most {largest:,} components, as many as in the paper, on
  one BLAS thread, after a fit on a few rows that loads the code. Those on relation features hold the making of the
  features. Ranges of seconds are the smallest and the largest of the draws; claims of cost are judged by the natural
  logarithms of the ratios of seconds, whose intervals the table has.
- The paper's seconds are of MATLAB on a 3.06 GHz CPU with 2 GB, ours of a later machine: that a fit stays below its
  bounds says little. Each ratio is of one machine, not all draws; CPU seconds grow where other work shares its
  caches, and the fits of a ratio ran one after another, not at once.
- The paper solves d x d problems on the original features. This package does not need to: it solves in the space of
  the rows where d > n, and methods on labels alone by problems as small as the labels. The d x d problems are those of
  `solver="primal"` on the most frequent terms; the seconds for all terms follow from the largest by d^3.
"""


def page(record: Mapping[str, Any]) -> str:
    """The page, from the record."""
    plan, held = record["plan"], Held.of(record)
    lines = [f"# {record['title']}", "", *([QUICK_WARNING, ""] if record["quick"] else []), *made_lines(record)]
    lines += ["## What the paper says, and what came out", ""]
    lines += [claims_table(record["claims"], "of"), _sizes(record)]
    lines += ["## Proximity matrices (Figure 2)", "", f"![Proximity matrices]({FIGURE})", "", _matrices(held)]
    lines += ["## Relation features and the tf-idf rows", "", _scores(record, held)]
    lines += ["## CPU seconds of a fit", "", _seconds(held), _square(held)]
    told = DIFFERENCES.format(
        limit=plan["limit"], sizes=", ".join(map(str, plan["sizes"])), blocks=BLOCKS, clipped=CLIPPED, near=NEAR,
        largest=LARGEST, rule=rule_words(has_groups(record)),
    )  # fmt: skip
    return "\n".join([*lines, *failures(record["parts"]), told])


def figures(record: Mapping[str, Any], first: Stage) -> dict[str, str]:
    """File name -> SVG: the matrices of the first draw, whose tf-idf rows are given."""
    values = Held.of(record).scores[RELATED].values
    scores = {name: float(each.mean()) for name, each in values.items()}
    names = (FEATURES, "CCA", *_ends(scores), *SCHEMES, TOGETHER)
    columns, matrices = ordered(names, related(first).R, first.Y)
    told = {name: f"{scores[by]:.3f}" for name in names if (by := SCORED_AS.get(name, name)) in scores}
    if FEATURES in told:
        told[FEATURES] = f"OLPP {told[FEATURES]}"
    draws = len(record["stages"])
    note = (
        f"n = {len(first.Y):,} training documents of draw 1 in the order of coVAT of the label matrix {LABELS}; in "
        f"brackets macro F1 of the test part, mean of {draws} draws"
    )
    return {FIGURE: matrix_figure(matrices, [first.names[j] for j in columns], told, note)}


def _ends(scores: Mapping[str, float]) -> list[str]:
    """The versions of HSL with the highest and the lowest score."""
    by_score = sorted(HYPERGRAPHS, key=lambda name: -scores.get(name, -1.0))
    return [by_score[0], by_score[-1]]


def _sizes(record: Mapping[str, Any]) -> str:
    stages = list(record["stages"].values())
    first, terms = stages[0], sorted(stage["terms"] for stage in stages)
    of = f" of {record['planned']} planned" if len(stages) < record["planned"] else ""
    return (
        f"{len(stages)}{of} draws of {first['training']:,} training, {first['validation']:,} validation and "
        f"{first['test']:,} test documents of {len(first['categories'])} categories, {terms[0]:,} to {terms[-1]:,} "
        f"terms. Features: {ORIGINAL}; {RELATED}, the Euclidean distances to all training rows; {FEWER}, those to "
        f"{first['prototypes']:,} training rows drawn at random.\n"
    )


def _matrices(held: Held) -> str:
    """A line a matrix, the sharpest first."""
    head = ("matrix", "of", "sharpness", "standard deviation", "sharpness less that of W (95 % interval)", "macro F1")
    rows, scores = [], held.scores[RELATED].values
    for name, values in sorted(held.sharpness.values.items(), key=lambda item: -item[1].mean()):
        score = scores.get(SCORED_AS.get(name, name))
        against = DASH if name == FEATURES else held.sharpness.less(name, FEATURES).words
        source = "features" if name == FEATURES else "labels and features" if name == TOGETHER else "labels"
        rows.append((name, source, f"{values.mean():.4f}", _spread(values), against, _mean(score)))
    return table(head, rows)


def _scores(record: Mapping[str, Any], held: Held) -> str:
    """A line an entrant: its scores on each kind of features, and their differences."""
    head = ("entrant", *(f"{kind}: macro F1 (k)" for kind in KINDS), f"{RELATED} less {ORIGINAL} (95 % interval)",
            f"{FEWER} less {ORIGINAL}")  # fmt: skip
    differences, chosen = {kind: gaps(held, kind) for kind in (RELATED, FEWER)}, _sizes_chosen(record)
    original, rows = held.scores[ORIGINAL].values, []
    for stated in record["plan"]["entrants"]:
        name = stated["name"]
        cells = [f"{_mean(held.scores[kind].values.get(name))} ({chosen[kind].get(name, DASH)})" for kind in KINDS]
        told = [differences[kind][name].words if name in differences[kind] else DASH for kind in (RELATED, FEWER)]
        rows.append((float(original[name].mean()) if name in original else -1.0, (name, *cells, *told)))
    return table(head, [cells for _, cells in sorted(rows, key=lambda row: -row[0])])


def _sizes_chosen(record: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Kind of features -> entrant -> the numbers of components that the draws chose, or of features."""
    parts, found = by_share(record["parts"]), {}
    for kind in KINDS:
        held: dict[str, set[int]] = {}
        for entry in (entry for entries in parts[kind] for entry in entries if entry["k"]):
            held.setdefault(entry["entrant"], set()).add(entry["k"])
        found[kind] = {
            name: "all" if name == NO_EMBEDDING else "/".join(map(str, sorted(ks))) for name, ks in held.items()
        }
    return found


def _seconds(held: Held) -> str:
    """A line a method: CPU seconds of a fit on each kind of features, the mean of the draws."""
    head = ("method", "eigenproblem", *KINDS, f"{ORIGINAL} / {RELATED}", f"{RELATED} / {FEWER}")
    rows = []
    for each in timed_entrants():
        cells = [_of_draws(held.seconds[kind].get(each.name), ".2f") for kind in KINDS]
        pairs = (ORIGINAL, RELATED), (RELATED, FEWER)
        ratios = [_of_draws(held.ratios(*pair).get(each.name), ".3g") for pair in pairs]
        rows.append((each.name, each.group, *cells, *ratios))
    return table(head, rows)


def _square(held: Held) -> str:
    """A line a method: CPU seconds of the d x d problem at each number of terms, and for all by d^3."""
    head = ("d x d problem", *(f"{width:,} terms" for width in held.widths), "power of d from the last two",
            "all terms, by d^3", f"{PUBLISHED_TERMS:,} terms, by d^3")  # fmt: skip
    rows = []
    for each in square_entrants():
        known = [held.square.get(square_name(each.name, width)) for width in held.widths]
        cells = [_of_draws(values, ".2f") for values in known]
        power = DASH
        if len(known) > 1 and known[-1] is not None and known[-2] is not None:
            step = np.log(held.widths[-1] / held.widths[-2])
            power = f"{np.log(known[-1].mean() / known[-2].mean()) / step:.2f}"
        ends = [_of_draws(held.predicted(each.name, terms), ",.0f") for terms in (held.terms, PUBLISHED_TERMS)]
        rows.append((each.name, *cells, power, *ends))
    return table(head, rows)


def _of_draws(values: np.ndarray | None, form: str) -> str:
    return DASH if values is None else f"{values.mean():{form}} ({span(values, form)})"


def _spread(values: Sequence[float]) -> str:
    return DASH if len(values) < 2 else f"{np.std(values, ddof=1):.4f}"


def _mean(values: np.ndarray | None) -> str:
    return DASH if values is None else f"{values.mean():.4f}"
