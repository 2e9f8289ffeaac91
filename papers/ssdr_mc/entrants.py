"""Who enters the experiments on SSDR-MC: labels of unlabelled rows, all cut by one rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from proxembed import MLGFHF, OPLS, PCA, SMSE, SSDRMC
from proxembed.classify import MultiOutputRidge, RankSVM
from proxembed.measures.metrics import micro_f1
from proxembed.methods.transductive.propagator import hidden_fifth, one_cut
from proxembed.proximity.backends import nearest

TUNED = "tuned"
NEIGHBORS = 15
COMPONENTS = 50
COUPLINGS = (0.01, 0.1, 1.0)  # of labels that go together, beside 1 of the smoothness over the graph
RANK_PENALTIES, RANK_SIZES, RANK_GAP = (3.0, 10.0, 30.0), (20, COMPONENTS), 0.01
RANGE = (0.25, 0.5, 0.75)

PAPER, RECOMMENDED, CLIPPED = "SSDR-MC, paper", "SSDR-MC, recommended", "SSDR-MC, paper, none below 0"
HARMONIC, COUPLED = "ML-GFHF", "ML-GFHF, labels coupled"
LINEAR, LEAST_SQUARES = "PCA + linear", "OPLS + linear"
RANKED, REDUCED = "RankSVM", "PCA + RankSVM"
AS_PRINTED, PRINTED_PENALTY = "RankSVM, C = 1000", 1000.0  # the paper's own
Found = tuple[np.ndarray, dict[str, Any]]
Scores = Callable[[Any, np.ndarray, np.ndarray], np.ndarray]  # of X (n, d), Y (n, c) and the known rows (n,): (n, c)


@dataclass(frozen=True)
class Alternated:
    """SSDRMC with some settings; the threshold takes part in its passes."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def labels(self, X, Y: np.ndarray, known: np.ndarray, cut: float | str) -> Found:
        """Labels (n, c) of all rows from those of the known ones, and the course of the run."""
        fitted = SSDRMC(label_threshold=cut, **self.options).fit(X, hidden(Y, known))
        weights = fitted.reconstruction_.data
        below = -weights[weights < 0]
        return fitted.transduction_ > 0, {
            "passes": fitted.n_iter_,
            "converged": fitted.status_ == "converged",
            "below 0": len(below) / len(weights),
            "sizes below 0": np.quantile(below, RANGE).tolist() if len(below) else [0.0] * len(RANGE),
            "largest": fitted.trace_[-1]["largest"],
        }

    def describe(self) -> dict:
        """Name and settings, as plain data."""
        return {"name": self.name, "options": self.options}


@dataclass(frozen=True)
class Scored:
    """A method with one score per label, 0 to 1 on average: a label where the score is at least the cut.

    Of several candidates the one with the largest micro F1 on a fifth of the labelled rows, hidden, takes part.
    """

    name: str
    candidates: tuple[Scores, ...]

    def labels(self, X, Y: np.ndarray, known: np.ndarray, cut: float | str) -> Found:
        """Labels (n, c) of all rows from those of the known ones."""
        scores, number = self.chosen(X, Y, known, cut)
        return scores(X, Y, known) >= number, {}

    def chosen(self, X, Y: np.ndarray, known: np.ndarray, cut: float | str) -> tuple[Scores, float]:
        """The candidate and its cut, a tuned one being the best on the hidden fifth: the rule of SSDRMC."""
        if cut != TUNED and len(self.candidates) == 1:
            return self.candidates[0], float(cut)
        held_out, some = hidden_fifth(np.flatnonzero(known), Y), np.array(known)
        some[held_out] = False
        truth, tried = Y[held_out], []
        for scores in self.candidates:
            found = scores(X, Y, some)[held_out]
            number = one_cut(found, truth) if cut == TUNED else float(cut)
            tried.append((micro_f1(truth, found >= number), scores, number))
        _, scores, number = max(tried, key=lambda each: each[0])  # the first of those that are level
        return scores, number

    def describe(self) -> dict:
        """The name and the settings of the candidates, as plain data."""
        choices = [each.keywords for each in self.candidates if isinstance(each, partial)]
        return {"name": self.name, **({"choices": choices} if choices else {})}


def entrants() -> tuple[Alternated | Scored, ...]:
    """The entrants of the comparison; the presets of SSDRMC first.

    Examples
    --------
    >>> from papers.ssdr_mc.entrants import entrants
    >>> [each.name for each in entrants()][-1]
    'OPLS + linear'
    """
    ranked = tuple(partial(rank_scores, C=C) for C in RANK_PENALTIES)
    reduced = tuple(partial(rank_scores, C=C, size=size) for size in RANK_SIZES for C in RANK_PENALTIES)
    return (
        Alternated(PAPER),
        Alternated(RECOMMENDED, {"preset": "recommended"}),
        Scored(HARMONIC, (harmonic_scores,)),
        Scored(COUPLED, tuple(partial(coupled_scores, coupling=each) for each in COUPLINGS)),
        Scored(RANKED, ranked),
        Scored(REDUCED, reduced),
        Scored(LINEAR, (linear_scores,)),
        Scored(LEAST_SQUARES, (least_squares_scores,)),
    )


def clipped() -> Alternated:
    """The paper preset with the weights below 0 discarded."""
    return Alternated(CLIPPED, {"weights": "clip"})


def as_printed() -> Scored:
    """RankSVM with the paper's own penalty."""
    return Scored(AS_PRINTED, (partial(rank_scores, C=PRINTED_PENALTY),))


def hidden(Y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Labels as numbers, NaN in the rows that are not known.

    Examples
    --------
    >>> import numpy as np
    >>> from papers.ssdr_mc.entrants import hidden
    >>> hidden(np.array([[True], [False]]), np.array([True, False])).ravel().tolist()
    [1.0, nan]
    """
    return np.where(known[:, None], Y.astype(np.float64), np.nan)


def harmonic_scores(X, Y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Harmonic functions on 15 neighbours either way, exp(-|x - y|^2 / (2 s^2)), s the mean distance to the 15th."""
    return MLGFHF(**_graph(X)).fit(X, hidden(Y, known)).scores_


def coupled_scores(X, Y: np.ndarray, known: np.ndarray, *, coupling: float) -> np.ndarray:
    """Harmonic functions on the same graph whose labels are drawn together by the cosine of their columns: SMSE, the
    two-dimensional form.  [chen2008smse]"""
    return SMSE(label_smoothness=coupling, **_graph(X)).fit(X, hidden(Y, known)).scores_


def _graph(X) -> dict[str, Any]:
    """Neighbours and width of the harmonic functions; their own decision is not used."""
    width = float(nearest(X, NEIGHBORS).distance[:, -1].mean())
    return {"n_neighbors": NEIGHBORS, "tau": 2 * width**2, "decision": "fixed"}


def rank_scores(X, Y: np.ndarray, known: np.ndarray, *, C: float, size: int | None = None) -> np.ndarray:
    """RankSVM of the labelled rows; with a size, on that many principal components of all rows.

    Its threshold comes to a half: where the gap between a label of a row and another one is the margin, and the
    threshold in its middle, they lie at 1 and 0.
    """
    Z = X if size is None else _components(X, size)
    fitted = RankSVM(C=C, kernel="gaussian", tol=RANK_GAP).fit(Z[known], Y[known].astype(np.float64))
    return fitted.decision_function(Z) + 0.5


def linear_scores(X, Y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Principal components of all rows, and least squares with a ridge (leave-one-out) on the labelled ones."""
    return _read_out(_components(X, COMPONENTS), Y, known)


def least_squares_scores(X, Y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """OPLS of the labelled rows, and least squares with a ridge (leave-one-out) on its components."""
    Z = OPLS().fit(X[known], Y[known].astype(np.float64)).transform(X)
    return _read_out(Z, Y, known)


def _components(X, size: int) -> np.ndarray:
    """The first principal components of all rows."""
    return PCA(n_components=min(size, X.shape[1], X.shape[0] - 1)).fit(X).transform(X)


def _read_out(Z: np.ndarray, Y: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Scores as those of labels 0 and 1."""
    fitted = MultiOutputRidge(penalty="auto").fit(Z[known], Y[known].astype(np.float64))
    return (fitted.decision_function(Z) + 1.0) / 2.0
