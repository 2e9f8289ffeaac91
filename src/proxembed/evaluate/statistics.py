"""Tests of differences: over the folds of one data set, whose training parts overlap, and across data sets."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit
from scipy.stats import wilcoxon

ROPE = 0.01


def nadeau_bengio(
    differences: Sequence[float] | np.ndarray, train: float, held_out: float, level: float = 0.95
) -> tuple[float, float] | None:
    """Interval of a mean difference over folds, with the variance corrected for overlapping training parts.

    The variance of the mean is s^2 (1/J + held_out/train) instead of s^2/J.  [nadeau2003inference]

    Parameters
    ----------
    differences : sequence of float
        One difference per fold.
    train, held_out : float
        Mean sizes of the two parts.
    level : float, default=0.95

    Returns
    -------
    (low, high), or None for fewer than two folds

    Examples
    --------
    >>> from proxembed.evaluate.compare import nadeau_bengio
    >>> [round(end, 3) for end in nadeau_bengio([0.01, 0.02, 0.03], train=80, held_out=20)]
    [-0.013, 0.053]
    """
    differences = np.asarray(differences, dtype=float)
    if len(differences) < 2:
        return None
    mean, scale = _corrected(differences, train, held_out)
    half = float(stdtrit(len(differences) - 1, 0.5 + level / 2)) * scale
    return mean - half, mean + half


def nadeau_bengio_p(differences: Sequence[float] | np.ndarray, train: float, held_out: float) -> float | None:
    """Two-sided p of a mean difference over folds of zero, by the t test with the corrected variance.

    Parameters
    ----------
    differences : sequence of float
        One difference per fold.
    train, held_out : float
        Mean sizes of the two parts.

    Returns
    -------
    float, or None for fewer than two folds; 1 where all differences are 0

    Examples
    --------
    >>> from proxembed.evaluate.compare import nadeau_bengio_p
    >>> round(nadeau_bengio_p([0.01, 0.02, 0.03], train=80, held_out=20), 3)
    0.12
    """
    differences = np.asarray(differences, dtype=float)
    if len(differences) < 2:
        return None
    mean, scale = _corrected(differences, train, held_out)
    if scale == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2 * stdtr(len(differences) - 1, -abs(mean) / scale))


def bayesian_correlated_t(
    differences: Sequence[float] | np.ndarray, train: float, held_out: float, rope: float = ROPE
) -> dict[str, float] | None:
    """Posterior probabilities that the mean difference over folds is below, within or above the region of equivalence.

    The posterior is Student's t with the corrected variance of ``nadeau_bengio`` (correlated Bayesian t test).
    [benavoli2017bayes]

    Parameters
    ----------
    differences : sequence of float
        One difference per fold.
    train, held_out : float
        Mean sizes of the two parts.
    rope : float, default=0.01
        Differences from -rope to rope do not matter.

    Returns
    -------
    dict with "worse", "rope" and "better", or None for fewer than two folds

    Examples
    --------
    >>> from proxembed.evaluate.compare import bayesian_correlated_t
    >>> bayesian_correlated_t([0.2, 0.21, 0.19], train=80, held_out=20)["better"] > 0.99
    True
    """
    _check_rope(rope)
    differences = np.asarray(differences, dtype=float)
    if len(differences) < 2:
        return None
    mean, scale = _corrected(differences, train, held_out)
    if scale == 0.0:
        worse, better = float(mean < -rope), float(mean > rope)
    else:
        df = len(differences) - 1
        worse, better = float(stdtr(df, (-rope - mean) / scale)), float(stdtr(df, (mean - rope) / scale))
    return {"worse": worse, "rope": max(0.0, 1.0 - worse - better), "better": better}


def _corrected(differences: np.ndarray, train: float, held_out: float) -> tuple[float, float]:
    """Mean, and its standard error corrected for overlap."""
    if not (train > 0 and held_out > 0):
        raise ValueError(f"train={train!r} and held_out={held_out!r} must be above 0: the mean sizes of the two parts.")
    J = len(differences)
    if np.ptp(differences) == 0.0:
        return float(differences[0]), 0.0
    return float(differences.mean()), float(differences.std(ddof=1) * math.sqrt(1 / J + held_out / train))


def holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Adjust p-values for the number of tests by Holm's step-down rule.  [holm1979multiple]

    The i-th smallest of m is multiplied by m - i + 1; adjusted values never fall along the order, nor exceed 1.

    Examples
    --------
    >>> from proxembed.evaluate.compare import holm
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p, dtype=float)
    if p.size and not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p={p.tolist()} must hold probabilities from 0 to 1.")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)) if p.size else p
    out = np.empty_like(p)
    out[order] = np.minimum(stepped, 1.0)
    return out


def wilcoxon_holm(differences: Sequence[Sequence[float] | np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Wilcoxon signed-rank test of each contrast across data sets, and Holm's adjustment for their number.

    Differences of zero are left out, as Wilcoxon did; a contrast with nothing but zeros has p = 1.
    [wilcoxon1945ranking]

    Parameters
    ----------
    differences : sequence of sequences of float
        For each contrast one difference a data set.

    Returns
    -------
    (p, p_holm) : arrays, one value a contrast

    Raises
    ------
    ValueError
        A contrast is empty or holds NaN or infinity.

    Examples
    --------
    >>> from proxembed.evaluate.compare import wilcoxon_holm
    >>> p, adjusted = wilcoxon_holm([[0.1, 0.2, 0.3, 0.4, 0.5], [0.1, -0.2, 0.3, -0.4, 0.5]])
    >>> p.tolist(), adjusted.tolist()
    ([0.0625, 0.8125], [0.125, 0.8125])
    """
    p = np.array([_wilcoxon(_finite(each)) for each in differences])
    return p, holm(p)


def _wilcoxon(differences: np.ndarray) -> float:
    nonzero = differences[differences != 0]
    return float(wilcoxon(nonzero).pvalue) if nonzero.size else 1.0


def _finite(differences: Any) -> np.ndarray:
    differences = np.asarray(differences, dtype=float)
    if differences.ndim != 1 or differences.size == 0 or not np.isfinite(differences).all():
        raise ValueError(
            f"differences must be a non-empty list of finite numbers; got {differences.tolist()}. "
            "Count a failure as the worst value instead of leaving it out."
        )
    return differences


def _check_rope(rope: float) -> None:
    if not 0 <= rope < math.inf:
        raise ValueError(
            f"rope={rope!r} must be a finite number of at least 0: half the width of the region of equivalence."
        )


def bayesian_signed_rank(
    differences: Sequence[float] | np.ndarray, rope: float = ROPE, seed: int = 0, *, n_samples: int = 50_000
) -> dict[str, float]:
    """Bayesian signed-rank test with a region of practical equivalence, across data sets.  [benavoli2017bayes]

    A Dirichlet process with one pseudo-observation of strength 1/2 at zero; each posterior draw gives the shares of
    pairs of data sets whose mean difference lies below, within or above the region, and the largest share wins the
    draw (Benavoli, Corani, Demsar and Zaffalon, Journal of Machine Learning Research 18, 2017).

    Parameters
    ----------
    differences : sequence of float
        One difference a data set.
    rope : float, default=0.01
        Differences from -rope to rope do not matter.
    seed : int, default=0
        Seed of the draws.
    n_samples : int, default=50,000
        Number of draws.

    Returns
    -------
    dict with "worse", "rope" and "better", which sum to 1

    Raises
    ------
    ValueError
        ``differences`` is empty or not finite, or ``rope`` is negative.

    Examples
    --------
    >>> from proxembed.evaluate.compare import bayesian_signed_rank
    >>> bayesian_signed_rank([0.05, 0.04, 0.06, 0.03, 0.07])["better"] > 0.95
    True
    """
    _check_rope(rope)
    z = np.append(0.0, _finite(differences))
    pairs = z[:, None] + z[None, :]
    regions = [pairs < -2 * rope, np.abs(pairs) <= 2 * rope, pairs > 2 * rope]
    rng, strength = np.random.default_rng(seed), np.append(0.5, np.ones(len(z) - 1))
    wins, left = np.zeros(3), n_samples
    while left > 0:
        W = rng.dirichlet(strength, size=min(left, max(1, 2**22 // len(z))))
        shares = np.stack([((W @ region) * W).sum(axis=1) for region in regions], axis=1)
        wins += np.bincount(shares.argmax(axis=1), minlength=3)
        left -= len(W)
    return dict(zip(("worse", "rope", "better"), (wins / n_samples).tolist(), strict=True))
