"""The counterpart of the paper's Figures 1 and 2 on images of digits.  [qian2010ssdrmc]

The paper shows 50 faces, ten of each of five people, with the name and three attributes of each as labels, 30 % of them
known: in two dimensions by PCA, by PCA and LDA of the labelled faces, and by SSDR-MC, pass by pass. The faces are not
published. Here five digits drawn at random are the people, ten images of each are their faces, and three attributes of
the digit are theirs.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.spatial.distance import cdist, pdist
from scipy.stats import spearmanr

from papers.ssdr_mc.entrants import NEIGHBORS
from proxembed import FDA, PCA, SSDRMC
from proxembed.data import digits
from proxembed.data.synthetic import ATTRIBUTES
from proxembed.evaluate.results import reason_of

DIGITS, EACH, LABELLED = 5, 10, 3
TRAITS = ("even", "at least five", "has a loop")
WHITE = 16.0  # the grey value of a full pixel
OWN = EACH - 1  # neighbours: the other images of a digit
SIZES = (NEIGHBORS, OWN)
UNSUPERVISED, SUPERVISED = "PCA", "PCA + LDA"
FIRST, LAST = "first pass", "last pass"


@dataclass(frozen=True)
class Images:
    """X (50, 64) from 0 to 1, the digit of each, which are labelled, and their labels (50, c): the digit, traits."""

    X: np.ndarray
    digit: np.ndarray
    known: np.ndarray
    labels: np.ndarray

    @property
    def y(self) -> np.ndarray:
        """Labels, NaN where they are not known."""
        return np.where(self.known[:, None], self.labels.astype(np.float64), np.nan)


@cache
def _all_digits() -> tuple[np.ndarray, np.ndarray]:
    """Every built-in image, and its digit, which its attributes tell."""
    data, holds = digits(), np.zeros((10, len(ATTRIBUTES)))
    for column, members in enumerate(ATTRIBUTES.values()):
        holds[list(members), column] = 1
    return data.X / WHITE, cdist(data.Y.toarray(), holds).argmin(axis=1)


def images_of(seed: int, draw: int) -> Images:
    """The images of a draw: five digits, ten images of each, of which three are labelled.

    Examples
    --------
    >>> from papers.ssdr_mc.images import images_of
    >>> found = images_of(0, 1)
    >>> found.X.shape, len(set(found.digit)), int(found.known.sum())
    ((50, 64), 5, 15)
    """
    X, digit = _all_digits()
    rng = np.random.default_rng([seed, draw])
    chosen = np.sort(rng.permutation(10)[:DIGITS])
    rows = np.concatenate([rng.permutation(np.flatnonzero(digit == each))[:EACH] for each in chosen])
    traits = np.array([np.isin(digit[rows], ATTRIBUTES[name]) for name in TRAITS]).T
    names = digit[rows][:, None] == chosen
    return Images(X[rows], digit[rows], np.arange(len(rows)) % EACH < LABELLED, np.hstack([names, traits]))


def projections(images: Images) -> dict[str, np.ndarray]:
    """Name -> places of the images in the plane, (50, 2): PCA, PCA and LDA, and SSDR-MC after each of its passes."""
    X, known = images.X, images.known
    reduced = PCA(n_components=int(known.sum()) - DIGITS).fit(X[known])  # within the digits, scatter has this rank
    lda = FDA(n_components=2).fit(reduced.transform(X[known]), images.digit[known])
    found = {
        UNSUPERVISED: PCA(n_components=2).fit(X).transform(X),
        SUPERVISED: lda.transform(reduced.transform(X)),
    }
    for size in SIZES:
        passes = _fitted(images, size).n_iter_
        found |= {stage(size, p, passes): _fitted(images, size, p).embedding_ for p in range(1, passes + 1)}
    return found


def _fitted(images: Images, size: int, passes: int = 50) -> SSDRMC:
    """The paper preset; stopped after a pass, which warns that it did not converge."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SSDRMC(n_neighbors=size, max_iter=passes).fit(images.X, images.y)


def stage(size: int, number: int, passes: int) -> str:
    """How a pass of SSDR-MC is called.

    >>> [stage(9, number, 3) for number in (1, 2, 3)]
    ['SSDR-MC, K = 9, first pass', 'SSDR-MC, K = 9, pass 2', 'SSDR-MC, K = 9, last pass']
    """
    return ssdr_mc(size, FIRST if number == 1 else LAST if number == passes else f"pass {number}")


def ssdr_mc(size: int, place: str) -> str:
    """The name of SSDR-MC with its number of neighbours, after a pass."""
    return f"SSDR-MC, K = {size}, {place}"


def together(Z: np.ndarray, images: Images) -> float:
    """The share of the unlabelled images whose nearest image in the plane is of the same digit."""
    apart = cdist(Z, Z)
    np.fill_diagonal(apart, np.inf)
    return float((images.digit[apart.argmin(axis=1)] == images.digit)[~images.known].mean())


def traits_kept(Z: np.ndarray, images: Images) -> float | None:
    """Rank correlation, over pairs of digits, of the distance of their centres with the number of traits in which they
    differ; None where all pairs differ in as many."""
    who = np.unique(images.digit)
    centres = np.array([Z[images.digit == each].mean(axis=0) for each in who])
    traits = np.array([images.labels[images.digit == each][0, DIGITS:] for each in who])
    differ = pdist(traits, "cityblock")
    return None if np.ptp(differ) == 0 else float(spearmanr(pdist(centres), differ).statistic)


def image_draw(seed: int, draw: int) -> dict:
    """The entry of a draw: by projection how many images lie beside one of their digit, and whether traits are kept.

    Returns
    -------
    dict
        Plain data: ``entrant, together, traits, passes, seconds, failure``.
    """
    started, failure = time.perf_counter(), None
    entry: dict = {"entrant": f"draw {draw}", "together": {}, "traits": {}, "passes": {}}
    try:
        images = images_of(seed, draw)
        for name, Z in projections(images).items():
            entry["together"][name], entry["traits"][name] = together(Z, images), traits_kept(Z, images)
        entry["passes"] = {size: _fitted(images, size).n_iter_ for size in SIZES}
    except Exception as error:
        failure = reason_of(error)
    return {**entry, "seconds": time.perf_counter() - started, "failure": failure}
