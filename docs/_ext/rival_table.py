"""The tables of all rivals, measures and search strategies, written from what each states of itself."""

from __future__ import annotations

from math import inf

from proxembed.estimator.catalogue import sentence_of
from proxembed.evaluate.rivals.rival import Rival, rivals
from proxembed.measures.measures import MEASURES, Measure
from proxembed.study.defc.model_strategies import ModelStrategy
from proxembed.study.method_strategies import MethodStrategy
from proxembed.study.trials import STRATEGIES, SearchStrategy

LABELS = {None: "features", "single": "features and one class per row", "multi": "features and labels"}
CUT = {"first": "first", "late": "before shuffles", "last": "before rows", "never": "never"}
PAGE = """# All rivals, measures and strategies

## Rivals

A rival is what an embedding must beat. The list is in the order of importance: if a search is short of time, the last
rivals are left out first. A rival that does not suit the data, or whose predicted time exceeds its share of the budget,
takes no part; the page names it with the reason. Beside labels stand the rivals of labels, beside numbers (and classes
in several columns) those of numbers.

| rival | description | goals | reads | beside | up to | left out |
|---|---|---|---|---|---|---|
{rivals}

## Measures

Every measure can be named by `--measure`, or as `measure=` in Python; `Jaccard@10` and `new-new Jaccard@10` with any
number of neighbours.

| measure | goal | reads | better |
|---|---|---|---|
{measures}

## Search strategies

`--strategy` names the strategy of a search, in Python `strategy=`; those of models belong to `--engine defc`.

| strategy | of | what it tries |
|---|---|---|
{strategies}
"""


def reads(rival: type[Rival]) -> str:
    """What a rival reads."""
    if "labels" not in rival.takes:
        return "features and numbers"
    numbers = " or numbers" * ("numbers" in rival.takes and rival.class_traits.labels is not None)
    rows = ", labels known in half of the rows" if rival.reads_whole_rows else ""
    return LABELS[rival.class_traits.labels] + numbers + rows


def rival_row(rival: type[Rival]) -> str:
    """The line of one rival."""
    limits = [f"{rival.most_labels:,} labels"] if rival.most_labels < inf else []
    limits += [f"{rival.most_rows:,} rows"] if rival.most_rows < inf else []
    limits += [f"{rival.most_coefficients:,} features times outputs"] if rival.most_coefficients < inf else []
    limits += [f"{rival.most_cells:,} rows times features times outputs"] if rival.most_cells < inf else []
    needs = " `proxembed[maps]`" if rival.library else ""
    name = " or ".join(rival.methods) or rival.title
    cells = [
        f"{name} and {rival.lookup}" if rival.lookup else name,
        sentence_of(rival) + needs,
        "maps" if rival.goal == "map" else "all",
        reads(rival),
        " and ".join(rival.takes),
        " and ".join(limits),
        CUT[rival.cut],
    ]
    return "| " + " | ".join(cells) + " |"


def measure_row(measure: Measure) -> str:
    """The line of one measure."""
    return f"| {measure.name} | {measure.goal} | {measure.reads} | {'lower' if measure.loss else 'higher'} |"


def strategy_row(strategy: type[SearchStrategy]) -> str:
    """The line of one search strategy."""
    return f"| {strategy.name} | {strategy.space} | {strategy.words} |"


def rival_table() -> dict[str, str]:
    """The page of these tables, by its name."""
    strategies = [each for space in (MethodStrategy.space, ModelStrategy.space) for each in STRATEGIES[space].values()]
    tables = {
        "rivals": map(rival_row, rivals()),
        "measures": map(measure_row, MEASURES.values()),
        "strategies": map(strategy_row, strategies),
    }
    return {"rivals.md": PAGE.format(**{name: "\n".join(rows) for name, rows in tables.items()})}
