"""The portfolio: configurations that have won on data sets, by the sizes of these; where other searches start."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from typing import Any

from proxembed.catalogue import method_named, name_of
from proxembed.evaluate.costs import Shape
from proxembed.params import declared

NEAREST = 3  # data sets whose winners are taken
SCORES, NEIGHBORS = "macro average precision", "Jaccard@10"  # the measures by which they have won
OWN = ("n_components", "random_state", "n_prototypes")  # what each search sets itself
DIGITS = 3


@cache
def table() -> list[dict[str, Any]]:
    """The sets: ``name``, ``shape`` (n, d, w, c as of ``costs.Shape``) and ``winners``, names by measure, best first.

    Examples
    --------
    >>> from proxembed.study.portfolio import table
    >>> sorted(table()[0]), sorted(table()[0]["winners"])
    (['name', 'shape', 'winners'], ['Jaccard@10', 'macro average precision'])
    """
    return json.loads(files(__package__).joinpath("portfolio.json").read_text())["sets"]


def winners(shape: Shape, neighbors: bool = False, without: Collection[str] = ()) -> list[Any]:
    """The configurations that have won on the three sets of the most similar sizes, the best of each set first.

    Sizes are compared on a logarithmic scale: rows, features, the share of entries that is stored, labels.

    Parameters
    ----------
    shape : Shape
    neighbors : bool, default=False
        Whether they have won by the labels of neighbours, not by a read-out.
    without : collection of str
        Names of sets whose winners are not taken.

    Returns
    -------
    list of unfitted estimators

    Examples
    --------
    >>> from proxembed.evaluate.costs import Shape
    >>> from proxembed.study.portfolio import winners
    >>> len(winners(Shape(400, 70, 70.0, 6))) > 2
    True
    """
    rows = [row for row in table() if row["name"] not in without]
    near = sorted(rows, key=lambda row: (_distance(shape, Shape(*row["shape"])), row["name"]))[:NEAREST]
    lists = [row["winners"][NEIGHBORS if neighbors else SCORES] for row in near]
    longest = max((len(names) for names in lists), default=0)
    ranked = [names[place] for place in range(longest) for names in lists if place < len(names)]
    return [method_named(name) for name in dict.fromkeys(ranked)]


def _distance(one: Shape, other: Shape) -> float:
    shares = (max(shape.w, 1.0) / shape.d for shape in (one, other))  # rows of zeros alone store nothing
    pairs = ((one.n, other.n), (one.d, other.d), tuple(shares), (one.c, other.c))
    return sum(math.log(a / b) ** 2 for a, b in pairs)


def plain_name(config: Any) -> str:
    """The name of a configuration as the table keeps it: without size, seed and prototypes, numbers of three digits.

    Examples
    --------
    >>> from proxembed import MVMD, Kernelized
    >>> from proxembed.study.portfolio import plain_name
    >>> plain_name(Kernelized(MVMD(beta=0.123456), n_components=4, n_prototypes=100, random_state=3))
    'Kernelized(MVMD(beta=0.123))'
    """
    return name_of(_plain(config))


def _plain(config: Any) -> Any:
    values = {}
    for name, (parameter, _) in declared(type(config)).items():
        value = getattr(config, name)
        if name in OWN:
            value = parameter.default
        elif isinstance(value, float) and math.isfinite(value):
            value = float(f"{value:.{DIGITS}g}")
        elif hasattr(value, "get_params"):
            value = _plain(value)
        values[name] = value
    return type(config)(**values)
