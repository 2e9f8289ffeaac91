"""The tables of all rivals and of all measures, written from what each states of itself."""

from __future__ import annotations

from math import inf

from proxembed.estimator.catalogue import sentence_of
from proxembed.evaluate.rivals.rival import Rival, rivals
from proxembed.measures.measures import MEASURES, Measure

LABELS = {None: "features", "single": "features and one class per row", "multi": "features and labels"}
CUT = {"first": "first", "late": "after the forests", "never": "never"}
PAGE = """# All rivals and measures

## Rivals

A rival is what an embedding must beat. The list is in the order of importance: if a search is short of time, the last
rivals are left out first. A rival that does not suit the data, or whose predicted time exceeds its share of the budget,
takes no part; the page names it with the reason.

| rival | description | goals | reads | up to | left out |
|---|---|---|---|---|---|
{rivals}

## Measures

Every measure can be named by `--measure`, or as `measure=` in Python; `Jaccard@10` and `new-new Jaccard@10` with any
number of neighbours.

| measure | goal | reads | better |
|---|---|---|---|
{measures}
"""


def rival_row(rival: type[Rival]) -> str:
    """The line of one rival."""
    limits = [f"{rival.most_labels:,} labels"] if rival.most_labels < inf else []
    limits += [f"{rival.most_rows:,} rows"] if rival.most_rows < inf else []
    needs = " `proxembed[maps]`" if rival.library else ""
    name = " or ".join(rival.methods) or rival.title
    cells = [
        f"{name} and {rival.lookup}" if rival.lookup else name,
        sentence_of(rival) + needs,
        "maps" if rival.goal == "map" else "all",
        LABELS[rival.class_traits.labels] + (", known in half of the rows" if rival.reads_whole_rows else ""),
        " and ".join(limits),
        CUT[rival.cut],
    ]
    return "| " + " | ".join(cells) + " |"


def measure_row(measure: Measure) -> str:
    """The line of one measure."""
    return f"| {measure.name} | {measure.goal} | {measure.reads} | {'lower' if measure.loss else 'higher'} |"


def rival_table() -> dict[str, str]:
    """The page of both tables, by its name."""
    rows = "\n".join(map(rival_row, rivals())), "\n".join(map(measure_row, MEASURES.values()))
    return {"rivals.md": PAGE.format(rivals=rows[0], measures=rows[1])}
