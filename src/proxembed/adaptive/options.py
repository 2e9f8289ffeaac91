"""What all candidates of a search have in common: how friends and enemies are found and weighed."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ..params import safe_repr

CHOICES = {
    "link": ("undirected", "mutual"),
    "enemy_pool": ("pair", "other"),
    "g_raw": (False, True),
    "multilabel": ("sets", "mesd"),
    "lam_scale": ("trace", "raw"),
    "label_similarity": ("dice", "jaccard", "constant"),
}


@dataclass(frozen=True)
class PairOptions:
    """The same for every candidate, and no part of its switches.  [mu2012defc]

    Parameters
    ----------
    link : "undirected" | "mutual", whether one row or both must list the other.
    enemy_pool : "pair" | "other", whether the enemies of a row in another class are among its nearest rows of both
        classes (so that rows inside their class have none for few of these), or are its nearest of the other class.
    g_raw : whether a similarity as weight of a pair is taken as it is, below 0 and of any size as well; else as
        max(s, 0) / max|s|. The ratio may then need a larger lam, which the repairs name, or have no solution.
    lam_scale : "trace" | "raw", the unit of lam.
    multilabel : "sets" | "mesd", how rows of several labels are paired. By their label sets: friends share a label,
        enemies share none, and either count once. Or as copies of the row, one for each label [mu2012mesd]: each copy
        has friends of its label and enemies of every other, and two rows weigh as many pairs of copies as are related.
        Lists then hold copies, each in a place of its own, none of the row itself and none of rows without labels;
        equally near ones come in the order of rows, then of labels. Two rows may so be friends by one label and
        enemies by others. With one label per row both are the same.
    label_similarity : "dice" | "jaccard" | "constant", weight of friends by their label sets; of "sets" alone.

    Raises
    ------
    ValueError
        For a value that is not one of these.

    Examples
    --------
    >>> PairOptions(link="xor")
    Traceback (most recent call last):
        ...
    ValueError: link='xor' is not known; choose one of 'undirected', 'mutual'.
    """

    link: str = "undirected"
    enemy_pool: str = "pair"
    g_raw: bool = False
    multilabel: str = "sets"
    lam_scale: str = "trace"
    label_similarity: str = "dice"

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_option(name, value)

    @classmethod
    def taken_from(cls, estimator: Any) -> dict[str, Any]:
        """The options of an estimator that has them as parameters, by name.

        >>> from types import SimpleNamespace
        >>> PairOptions.taken_from(SimpleNamespace(**vars(PairOptions()), k=3)) == vars(PairOptions())
        True
        """
        return {field.name: getattr(estimator, field.name) for field in fields(cls)}


def check_option(name: str, value: Any) -> None:
    """Raise a ValueError where an option does not have this value."""
    if type(value) not in (bool, str) or value not in CHOICES[name]:
        raise ValueError(
            f"{name}={safe_repr(value)} is not known; choose one of {', '.join(map(repr, CHOICES[name]))}."
        )
