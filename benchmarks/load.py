"""All stored results as one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import HOME, RESULTS
from benchmarks.cell import VALUES
from benchmarks.store import COLUMNS, read_rows
from proxembed.execute.ledger import read_header


def load(home: Path = HOME) -> Any:
    """All stored results, a row per method, set, protocol, track and fold.

    ========================= ======================================================================================
    method                    name of the method or rival
    kind                      "rival", "no labels", "labels", "partly labelled rows" or "own scores"
    set                       name of the data set
    protocol                  "iterative" (stratified by several labels) or "random" folds
    track                     "all" labels known, or a "fifth" of the training rows labelled; "outputs": numbers
    fold                      1 to 5
    k                         number of components chosen inside the training part; empty for methods without one
    components                columns of the embedding, or of the features, that were read out
    tried                     configurations tried inside the training part
    average_precision         macro average precision of the ridge read-out, or of the method's own scores
    average_precision_knn     the same of the 10 nearest training rows by cosine
    jaccard                   mean Jaccard index of the label sets of a row and of its 10 nearest training rows
    macro_f1, micro_f1        of predicted labels, cut by the shared rule of thresholds
    q2, agreement             where outputs are numbers: Q2 of the predictions, A@10 of the 10 nearest training rows
    kept                      share of the 10 nearest training rows of a held-out row, by the scaled features, that are
                              among its 10 nearest in the embedding; empty without an embedding
    seconds                   CPU seconds of tuning, last fit and read-outs
    failure                   reason; the measures then hold their worst value
    version                   of the package
    benchmark                 version of the benchmark
    parameters                the configuration that was chosen, as the program reads it
    ========================= ======================================================================================

    Parameters
    ----------
    home : Path
        Folder of the benchmark.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> from benchmarks.load import load
    >>> rows = load()
    >>> rows.query("set == 'wine' and track == 'all' and protocol == 'iterative' and method == 'OPLS'")["fold"].tolist()
    [1, 2, 3, 4, 5]
    """
    methods = [read_header(path)["facts"]["method"] for path in sorted((home / RESULTS).glob("*.jsonl"))]
    return frame_of([row for method in methods for row in read_rows(method, home)])


def frame_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Stored rows as the table that ``load`` returns."""
    import pandas as pd

    text = ["method", "kind", "failure", "version", "benchmark", "parameters"]
    table = pd.DataFrame(list(rows), columns=COLUMNS)
    table[text] = table[text].fillna("")
    whole = {**dict.fromkeys(("k", "components"), "Int64"), **dict.fromkeys(("fold", "tried"), "int64")}
    return table.astype(whole | dict.fromkeys((*VALUES, "seconds"), "float64"))
