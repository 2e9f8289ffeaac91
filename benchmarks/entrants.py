"""Who enters the benchmark: methods by the names that the program takes, rivals, and classifiers."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks import OUTPUTS
from benchmarks.entered import Entered, address_of, is_outside, made_of
from proxembed.classify import LabelKNN
from proxembed.estimator.catalogue import estimators, method_names
from proxembed.evaluate.arms import Arm, entrants, method_arms
from proxembed.evaluate.rivals.rival import Rival
from proxembed.study.candidates import Candidate, Draws, candidates, suited
from proxembed.targets.labels import LabelMatrix
from proxembed.targets.reading import read_targets

KNN = "cosine kNN"
RIVAL, UNSUPERVISED, SUPERVISED, SEMI, OWN = "rival", "no labels", "labels", "partly labelled rows", "own scores"
OUTSIDE = "from outside"
MAIN = (
    "all features", KNN, "logistic regression", "label scores", "random projection",
    "PCA", "LSI", "OLPP",
    "OPLS", "CCA", "HSL", "MDDM", "MVMD", "MOPE", "MORP", "PLS", "MLDA", "Kernelized(OPLS)",
    "MESD(FDA)", "MESD(LFDA)", "MESD(MFA)", "MESD(MMC)",
)  # fmt: skip
FURTHER = (
    "CopyLDA", "DMLDA", "MLSI", "SFEHS", "MLLS", "SLVM", "DirectMOPE", "forest scores",
    "MESD(DLA)", "MESD(DNE)", "MESD(DONPP)", "MESD(OLPPR)", "MESD(ONPPR)", "MESD(SONPP)",
    "LPP", "NPP", "ONPP", "Isomap", "LLE", "LaplacianEigenmaps", "ClassicalMDS",
)  # fmt: skip
DEAR = ("Kernelized(MVMD)", "Views(OPLS)", "ForestLeaves(OPLS)", "BSML", "supervised UMAP")
PARTLY = (
    "all features", KNN, "label scores", "PCA", "OLPP", "OPLS", "MOPE", "MESD(FDA)", "MESD(LFDA)",
    "SSMOPE", "SSDR", "SSDR(supervised=MDDM, unsupervised=PCA)", "MESD(SELF)", "MESD(SSFDA)", "MESD(SSMMC)",
    "MLLGC", "MLGFHF", "MLGRF", "SMSE",
)  # fmt: skip
NUMBERS = (
    "all features", "PLSRegression", "random forest", "random projection", "PCA", "OLPP",
    "OPLS", "CCA", "MDDM", "MVMD", "MORP", "PLS", "PCovR", "SFEHS", "SLVM", "MLLS", "MLSI",
    "Kernelized(OPLS)", "TargetSpace", "Views(OPLS)", "ForestLeaves(OPLS)",
)  # fmt: skip
DECLARED = {  # what is run by track and kind of folds, and what the page expects: nothing more than is stored
    ("all", "iterative"): MAIN + FURTHER + DEAR,
    ("all", "random"): MAIN,
    ("fifth", "iterative"): PARTLY,
    ("fifth", "random"): PARTLY,
    (OUTPUTS, "iterative"): NUMBERS,
    (OUTPUTS, "random"): NUMBERS,
}
LEFT_OUT = {("fifth", "random"): ("enron", "tmc2007-500", "reuters")}  # sets that are not declared, for their cost
ATTEMPTS = 20


@dataclass(frozen=True)
class Entrant:
    """One entrant.

    Parameters
    ----------
    name : str
        As the program and the tables show it.
    arm : Arm
        Its estimator as it is, or None for the features themselves.
    candidate : Candidate, optional
        Where its parameters are drawn from; None: it has one configuration.
    own : bool, default=False
        Whether its own label scores count, with no read-out on an embedding.
    lacks : str, default=""
        Why it cannot run here: the library that it needs is not installed.
    """

    name: str
    arm: Arm
    candidate: Candidate | None = None
    own: bool = False
    lacks: str = ""

    @property
    def kind(self) -> str:
        """What the tables call its kind."""
        estimator = self.arm.estimator
        if self.outside:
            return OUTSIDE
        if self.own and self.name != KNN:
            return OWN
        if self.candidate is None:
            return RIVAL
        if estimator.traits.keeps_unknown:
            return SEMI
        return UNSUPERVISED if estimator.traits.labels is None else SUPERVISED

    @property
    def outside(self) -> bool:
        """Whether it is a transformer from outside the package."""
        return isinstance(self.arm.estimator, Entered)

    def takes(self, track: str) -> bool:
        """Whether it takes the targets of a track: labels, or outputs that are numbers."""
        estimator = self.arm.estimator
        if isinstance(estimator, Rival):
            return ("numbers" if track == OUTPUTS else "labels") in estimator.takes
        traits = getattr(estimator, "traits", None)  # None: the features, and transformers of other libraries
        return track != OUTPUTS or traits is None or (not self.own and (traits.labels is None or traits.takes_numbers))

    @property
    def tuned(self) -> bool:
        """Whether something is chosen inside the training part: a number of components, or parameters."""
        return self.arm.estimator is not None and not self.arm.predicts and self.name != KNN

    def configurations(self, limit: int, n_rows: int, seed: int = 0, sizes: Sequence[int] = ()) -> list[Any]:
        """Unfitted estimators: the defaults, then draws from the search ranges, no two alike, at most ``limit``; of a
        transformer from outside one for each of some ``sizes``, the largest first.

        Examples
        --------
        >>> from benchmarks.entrants import entrant
        >>> [len(entrant(name).configurations(4, 100)) for name in ("MDDM", "PCA", "all features")]
        [4, 1, 1]
        """
        if self.outside:
            return self.arm.estimator.at_sizes(sizes, limit)
        if self.candidate is None:
            return [self.arm.estimator]
        draws = Draws(np.random.default_rng(seed))
        found: dict[str, Any] = {}
        for attempt in range(ATTEMPTS * limit):
            if len(found) == limit:
                break
            made = self.candidate.sample(draws) if attempt else self.candidate.default()
            found.setdefault(words_of(made), suited(made, n_rows, seed))
        return list(found.values())


def words_of(estimator: Any) -> str:
    """An estimator with its parameters that are not at their defaults, on one line, as the program reads it.

    Examples
    --------
    >>> from proxembed import MDDM, SSDR
    >>> from benchmarks.entrants import words_of
    >>> words_of(SSDR(MDDM(mix=0.2)))
    'SSDR(supervised=MDDM(mix=0.2))'
    """
    return "" if estimator is None else " ".join(repr(estimator).split())


def entrant(name: str, numbers: bool = False) -> Entrant:
    """The entrant of a name.

    Parameters
    ----------
    name : str
        Of a method, as `proxembed search -m` takes it ("MESD(LFDA)", "Kernelized(MVMD, n_prototypes=500)"; single-label
        methods enter through MESD), of a classifier with label scores of its own ("MLLGC"), or of a rival
        ("all features"); or the address of a transformer from outside ("sklearn.decomposition:PCA").
    numbers : bool, default=False
        Whether outputs are numbers.

    Raises
    ------
    ValueError
        There is none; the message lists near names. Or a transformer from outside cannot be imported or made.

    Examples
    --------
    >>> from benchmarks.entrants import entrant
    >>> [entrant(name).name for name in ("lfda", "mllgc", "all features")]
    ['MESD(LFDA)', 'MLLGC', 'all features']
    """
    if is_outside(name):
        made_of(name, 1 if address_of(name).sized else None)
        return Entrant(name.strip(), Arm(name.strip(), Entered(name.strip())))
    rivals, own = _rivals(), _own()
    plain = name.strip().lower()
    if plain in rivals:
        return rivals[plain]
    if plain in own:
        return own[plain]
    if plain.partition("(")[0] not in method_names() and "(" not in plain:
        near = difflib.get_close_matches(plain, [*rivals, *own, *method_names()], n=3)
        raise ValueError(f"no method or rival is named {name!r}; did you mean {' or '.join(near) or 'OPLS'}?")
    (arm,) = method_arms([name])
    (candidate,) = candidates([name], partly_labelled=True, numbers=numbers)
    return Entrant(arm.name, arm, candidate)


def _rivals() -> dict[str, Entrant]:
    """The rivals of every comparison, but for those that are methods by name; and cosine neighbours of the features."""
    rows = np.eye(3)  # with which a rival lacks nothing but its library
    found = {
        each.arm.name.lower(): Entrant(each.arm.name, replace(each.arm, lookup=None), lacks=each.lacks)
        for targets in (read_targets(rows, "real"), LabelMatrix.of(rows))  # those of labels last
        for each in entrants(rows, targets)
        if each.arm.name.lower() not in method_names()
    }
    knn = Entrant(KNN, Arm(KNN, LabelKNN(n_neighbors=10, metric="cosine"), rival=True), own=True)
    return {**found, KNN.lower(): knn}


def _own() -> dict[str, Entrant]:
    """The registered classifiers that score labels by themselves."""
    classes = {name: cls for name, cls in estimators("classifier").items() if hasattr(cls, "decision_function")}
    return {name.lower(): Entrant(name, Arm(name, cls()), Candidate(cls), own=True) for name, cls in classes.items()}
