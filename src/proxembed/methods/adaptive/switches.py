"""Switches: which option each of the six stages takes, their distinct combinations and the parameters that these have.

Eight small integers i = [p, r, t, s, em, g, eo, o] name one of 72,576 models. Some of them are the same model under
another number: ``canonical()`` gives the number that stands for all of these, and 28,700 are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from proxembed.pairs.formulas import measures_for

PREPROCESSINGS = ("none", "unit", "center", "standard", "pca", "whiten")
SWITCHED = {kind: measure for kind, measure in measures_for("relation").items() if measure.from_products}
RELATIONS = ("none", *SWITCHED)
SIMILARITIES = tuple(kind for kind, measure in SWITCHED.items() if not measure.distance)
CRITERIA = ("pairs", "fisher")
PAIR_WEIGHTS = ("constant", "similarity")
OBJECTIVES = ("difference", "ratio", "enemies", "friends")

# Switch -> (name of the option, its values in order, the number of the first).
OPTIONS: dict[str, tuple[str, tuple[Any, ...], int]] = {
    "p": ("preprocessing", PREPROCESSINGS, 0),
    "r": ("relation", RELATIONS, 0),
    "t": ("relation_preprocessing", PREPROCESSINGS, 0),
    "s": ("similarity", SIMILARITIES, 1),
    "em": ("criterion", CRITERIA, 1),
    "g": ("pair_weights", PAIR_WEIGHTS, 1),
    "eo": ("objective", OBJECTIVES, 1),
    "o": ("orthonormal", (False, True), 0),
}
MEASURE_PARAMETERS = {kind: measure.letter for kind, measure in SWITCHED.items() if measure.letter}
WORDS = {
    "none": "as they are",
    "unit": "unit rows",
    "center": "centred",
    "standard": "standardised",
    "pca": "principal components",
    "whiten": "whitened",
    "alternative": "alternative weight",
    "difference": "largest difference of enemies and friends",
    "ratio": "largest ratio of enemies to friends",
    "enemies": "enemies far apart",
    "friends": "friends close together",
}


@dataclass(frozen=True, order=True)
class Switches:
    """The options of the six stages as eight integers.  [mu2012defc]"""

    p: int
    r: int
    t: int
    s: int
    em: int
    g: int
    eo: int
    o: int

    def __post_init__(self) -> None:
        for name, (option, values, first) in OPTIONS.items():
            value = getattr(self, name)
            number = hasattr(value, "__index__") and not isinstance(value, bool)
            if not number or not first <= value < first + len(values):
                raise ValueError(
                    f"{name}={value!r} is not allowed; the switch of the {option} must be an integer from {first} to "
                    f"{first + len(values) - 1}."
                )
            object.__setattr__(self, name, int(value))

    @classmethod
    def of(cls, vector: Any) -> Switches:
        """From eight integers in the order p, r, t, s, em, g, eo, o."""
        if isinstance(vector, Switches):
            return vector
        values = list(vector)
        if len(values) != len(OPTIONS):
            raise ValueError(
                f"switches has {len(values)} entries; eight are needed, in the order {', '.join(OPTIONS)}."
            )
        return cls(*values)

    @classmethod
    def named(cls, **options: Any) -> Switches:
        """From the names of all eight options, as ``options()`` gives them."""
        numbers = []
        for option, values, first in OPTIONS.values():
            if options.get(option) not in values:
                raise ValueError(
                    f"{option}={options.get(option)!r} is not known; choose one of {', '.join(map(str, values))}."
                )
            numbers.append(values.index(options[option]) + first)
        return cls(*numbers)

    @classmethod
    def all(cls) -> Iterator[Switches]:
        """Every switch vector in ascending order, 72,576 of them."""
        for numbers in product(*(range(first, first + len(values)) for _, values, first in OPTIONS.values())):
            yield cls(*numbers)

    def as_tuple(self) -> tuple[int, ...]:
        """The eight integers."""
        return self.p, self.r, self.t, self.s, self.em, self.g, self.eo, self.o

    def options(self) -> dict[str, Any]:
        """The names of the options."""
        return {option: values[getattr(self, name) - first] for name, (option, values, first) in OPTIONS.items()}

    def canonical(self) -> Switches:
        """The switch vector that stands for all those of the same model. No relation features, nothing to preprocess;
        an orthonormal projection stays one; PCA with all components rotates the centred rows, which all measures but
        the correlation leave alone; on unit rows the dot product is the cosine."""
        found = self
        if found.r == 0:
            found = replace(found, t=0)
        if found.eo != 2:
            found = replace(found, o=0)
        if found.p == 4 and found.r != 8 and found.s != 7:
            found = replace(found, p=2)
        if found.t == 4:
            found = replace(found, t=2)
        if found.p == 1:
            found = replace(found, r=3 if found.r == 1 else found.r, s=3 if found.s == 1 else found.s)
        return found

    def numeric(self) -> tuple[str, ...]:
        """The names of the parameters that this model has, in order; k, found for all values at once, is not among
        them."""
        names = []
        options = self.options()
        for role in ("relation", "similarity"):
            if options[role] in MEASURE_PARAMETERS:
                names.append(f"{role}_{MEASURE_PARAMETERS[options[role]]}")
        if self.em == 2:
            names.append("n_neighbors")
        else:
            names += ["n_friends"] * (self.eo != 3) + ["n_enemies"] * (self.eo != 4)
        return (*names, "lam") if self.eo <= 2 else tuple(names)

    def values(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The values of the parameters that this model has; raises ValueError for one that is missing."""
        for name in self.numeric():
            if name not in params:
                held = ", ".join(params) or "nothing"
                raise ValueError(f"params lacks {name!r}, which this model has; params holds {held}.")
        return {name: params[name] for name in self.numeric()}

    def describe(self) -> str:
        """The model in words."""
        o = {name: WORDS.get(value, value) for name, value in self.options().items()}
        relation = "no relation features"
        if self.r:
            relation = f"relation features: {o['relation']}, {o['relation_preprocessing']}"
        pairs = "friends and enemies" if self.em == 1 else "local Fisher"
        weights = "" if self.g == 1 else ", weighted by similarity"
        end = "; orthonormal projection" if self.o else ""
        return (
            f"features {o['preprocessing']}; {relation}; neighbours by {o['similarity']}; {pairs}{weights}; "
            f"{o['objective']}{end}"
        )
