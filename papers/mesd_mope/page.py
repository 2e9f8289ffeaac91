"""The Markdown page of the experiments of the MESD and MOPE paper: published words beside what came out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from papers.entrants import OLPP_WORDS
from papers.markdown import DASH, QUICK_WARNING, REASON, claims_table, made_lines, table

DIFFERENCES = """## What differs from the paper

- A document with several categories is one row with several labels. The paper's 9,980 articles equal the number of
  pairs of a document and one of its ten categories, so that it probably counts such a document once a category.
- The tokens are those of the data file (every stem, no stop list); the paper's 24,012 terms cannot be rebuilt exactly.
- The random parts are stratified by all ten categories together, near equal in every category.
- Methods built on labels alone have only as many components as their proximity matrix has rank; the paper's k adds
  arbitrary vectors of its null space, which this package refuses. Such methods take part with all that they have, and
  every k is chosen on the validation part.
- W and the graphs are made from the relation features, from which every method starts. One cut and one ridge of the
  discriminants serve all entrants, chosen on the validation part with no embedding.
- ML-LGC predicts new rows by one propagation step over the training graph; the paper does not say how it was applied.
- The numbers of Figures 2 and 4 and of Tables 3 and 4 stand in pictures, which the text at hand lacks; its words are
  checked.
- {olpp}
"""


def page(record: Mapping[str, Any]) -> str:
    """The page of one experiment, from its record."""
    stage, quick = record["stage"], record["quick"]
    lines = [
        f"# {record['title']}",
        "",
        *([QUICK_WARNING, ""] if quick else []),
        *made_lines(record),
        f"{stage['training']:,} training, {stage['validation']:,} validation and {stage['test']:,} test documents of "
        f"{len(stage['categories'])} categories ({', '.join(stage['categories'])}), {stage['terms']:,} terms, relation "
        f"features. k is one of {', '.join(map(str, record['sizes']))} (the paper's: {record['published_k']:,}) or all "
        "that a method has, chosen on the validation part with the parameters; the test part is scored once.",
        "",
        "## What the paper says, and what came out",
        "",
        claims_table(record["claims"], of="labels"),
    ]
    for share, entries in record["parts"].items():
        readout = record["readout"][share]
        lines += [f"## Macro F1, {share} of the training rows labelled", ""]
        lines += [f'Discriminants cut at "{readout["threshold"]}", ridge {readout["ridge"]:g}.', "", _entries(entries)]
    return "\n".join([*lines, DIFFERENCES.format(olpp=OLPP_WORDS)])


def _entries(entries: list[dict]) -> str:
    rows = []
    for entry in sorted(entries, key=lambda each: -(each["test"] or 0.0)):
        seconds = sum(each["seconds"] for each in entry["tried"]) / max(len(entry["tried"]), 1)
        scores = [f"failed: {entry['failure']}"[:REASON], DASH]
        if entry["test"] is not None:
            scores = [f"{entry['test']:.4f}", f"{entry['validation']:.4f}"]
        chosen = {} if entry["chosen"] is None else {k: v for k, v in entry["chosen"].items() if k != "method"}
        told = ", ".join(f"{name} = {value}" for name, value in chosen.items())
        cells = entry["entrant"], entry["group"], *scores, entry["k"] or DASH, told or DASH, len(entry["tried"])
        rows.append((*cells, f"{seconds:.1f}"))
    head = ("entrant", "kind", "test", "validation", "k", "chosen", "settings tried", "seconds a setting")
    return table(head, rows)
