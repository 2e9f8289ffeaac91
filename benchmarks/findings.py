"""What the stored results say: means and ranks, corrected intervals within a set, declared pairs over the sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from benchmarks import N_FOLDS, OUTPUTS
from proxembed.measures.statistics import ROPE, bayesian_signed_rank, nadeau_bengio, wilcoxon_holm

MEASURE = "average_precision"
MEASURES = {"all": MEASURE, "fifth": MEASURE, OUTPUTS: "q2"}  # by which the methods of a track are ranked first
REFERENCES = ("all features", "OPLS")
LEVEL, CERTAIN = 0.05, 0.95
DRAWS = 2000
BETTER, WORSE = "the first is better", "the second is better"
EQUAL, OPEN = "level", "cannot be told"
PAIRS = {
    "all": (
        ("OPLS", "all features"),
        ("OPLS", "label scores"),
        ("Kernelized(OPLS)", "all features"),
        ("MOPE", "OPLS"),
        ("MESD(FDA)", "OPLS"),
        ("MVMD", "MDDM"),
    ),
    "fifth": (
        ("SSMOPE", "MOPE"),
        ("MESD(SELF)", "MESD(LFDA)"),
        ("MESD(SSFDA)", "MESD(FDA)"),
        ("SSDR(supervised=MDDM, unsupervised=PCA)", "PCA"),
        ("MLLGC", "all features"),
    ),
    OUTPUTS: (),
}


class Interval(NamedTuple):
    """A mean with its interval."""

    mean: float
    low: float
    high: float

    @property
    def side(self) -> int:
        """1 where the whole interval lies above 0, -1 where it lies below, else 0."""
        return 1 if self.low > 0 else -1 if self.high < 0 else 0


def by_fold(rows: pd.DataFrame, measure: str = MEASURE) -> pd.DataFrame:
    """Values of one track and protocol: a row per (set, fold), a column per method.

    The folds of a set are those that the first reference has, or all where it has none.
    """
    table = rows.pivot_table(index=["set", "fold"], columns="method", values=measure, dropna=False, aggfunc="first")
    table = table.dropna(how="all")
    if REFERENCES[0] in table:
        known = table[REFERENCES[0]].dropna().index
        without = set(table.index.get_level_values("set")) - set(known.get_level_values("set"))
        table = table[[fold in known or fold[0] in without for fold in table.index]]
    return table


def means(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the folds, a row per method and a column per set; NaN where a fold is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from benchmarks.findings import by_fold, means
    >>> rows = [("wine", f, m, v) for m, values in {"A": [0.5, 0.7], "B": [0.4]}.items() for f, v in enumerate(values)]
    >>> rows = pd.DataFrame(rows, columns=["set", "fold", "method", "average_precision"])
    >>> means(by_fold(rows))["wine"].round(2).tolist()
    [0.6, nan]
    """
    return table.groupby(level="set").agg(lambda values: values.mean(skipna=False)).T


def ranks(values: pd.DataFrame) -> pd.DataFrame:
    """Ranks (1 is best, equal values share the mean rank) of the methods that have a value on every set.

    Examples
    --------
    >>> import pandas as pd
    >>> from benchmarks.findings import ranks
    >>> ranks(pd.DataFrame({"wine": [0.5, 0.7, 0.9], "scene": [0.2, 0.1, None]}, index=list("abc"))).loc["a"].tolist()
    [2.0, 1.0]
    """
    whole = values.dropna()
    if whole.empty:
        return whole
    return pd.DataFrame(rankdata(-whole.round(6), axis=0), index=whole.index, columns=whole.columns)


def mean_ranks(ranked: pd.DataFrame) -> dict[str, Interval]:
    """Mean rank of each method, lowest first, with a 95 % interval by drawing the sets again."""
    if ranked.empty:
        return {}
    n = ranked.shape[1]
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=DRAWS) / n
    low, high = np.quantile(drawn @ ranked.to_numpy().T, [0.025, 0.975], axis=0)
    found = {
        name: Interval(float(ranked.loc[name].mean()), float(low[i]), float(high[i]))
        for i, name in enumerate(ranked.index)
    }
    return dict(sorted(found.items(), key=lambda item: (item[1].mean, item[0])))


def within(table: pd.DataFrame, method: str, reference: str, sizes: Mapping[str, int]) -> dict[str, Interval]:
    """Set -> mean difference over the folds of a method and the reference, with the corrected 95 % interval.

    Parameters
    ----------
    table : DataFrame
        From ``by_fold``.
    method, reference : str
    sizes : mapping of str to int
        Rows of each set that take part.

    Returns
    -------
    dict
        Sets with fewer than two folds of both have none.
    """
    if method not in table or reference not in table:
        return {}
    found = {}
    for name, each in (table[method] - table[reference]).groupby(level="set"):
        held_out = sizes[name] / N_FOLDS
        ends = nadeau_bengio(each.to_numpy(), sizes[name] - held_out, held_out) if each.notna().all() else None
        if ends is not None:
            found[name] = Interval(float(each.mean()), *ends)
    return found


def pairs(values: pd.DataFrame, declared: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """The declared pairs over the sets on which both have a value: Wilcoxon with Holm, Bayesian signed ranks.

    Parameters
    ----------
    values : DataFrame
        From ``means``.
    declared : sequence of (first, second)

    Examples
    --------
    >>> import pandas as pd
    >>> from benchmarks.findings import pairs
    >>> values = pd.DataFrame([[0.5] * 8, [0.3] * 8], index=["A", "B"])
    >>> found = pairs(values, [("A", "B")])[0]
    >>> found["wins"], found["verdict"]
    (8, 'the first is better')
    """
    found = []
    for a, b in declared:
        if a in values.index and b in values.index:
            each = (values.loc[a] - values.loc[b]).dropna().to_numpy()
            if len(each):
                found.append({"a": a, "b": b, "each": each})
    if not found:
        return []
    p, adjusted = wilcoxon_holm([entry["each"] for entry in found])
    for entry, one, many in zip(found, p, adjusted, strict=True):
        each = entry.pop("each")
        wins, losses = int((each > ROPE).sum()), int((each < -ROPE).sum())
        entry |= {"sets": len(each), "wins": wins, "ties": len(each) - wins - losses, "losses": losses}
        entry |= {"mean": float(each.mean()), "p": float(one), "p_holm": float(many), **bayesian_signed_rank(each)}
        entry["verdict"] = _verdict(entry)
    return found


def _verdict(entry: Mapping[str, Any]) -> str:
    """What both tests say: a difference where Holm's p is below 0.05, equality where the Bayesian test is certain."""
    if entry["rope"] > CERTAIN:
        return EQUAL
    if entry["p_holm"] < LEVEL and entry["better"] > CERTAIN:
        return BETTER
    if entry["p_holm"] < LEVEL and entry["worse"] > CERTAIN:
        return WORSE
    return OPEN
