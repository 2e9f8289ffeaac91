"""How alike two rows are, from their inner product and lengths or their distance: each formula once, for blocks of all
pairs as for the edges of a graph."""

from __future__ import annotations

import numpy as np


def cosine(dots: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x'p / (|x| |p|) from inner products and lengths, 0 where a row is zero; ``dots`` is overwritten.

    Examples
    --------
    >>> cosine(np.array([[3.0, 0.0]]), np.array([[5.0]]), np.array([1.0, 0.0]))
    array([[0.6, 0. ]])
    """
    for lengths in (a, b):
        np.divide(dots, lengths, out=dots, where=lengths > 0)
    np.copyto(dots, 0.0, where=(a == 0) | (b == 0))
    return np.clip(dots, -1.0, 1.0, out=dots)


def gaussian(d2: np.ndarray, tau: float) -> np.ndarray:
    """exp(-d^2 / tau), no factor 2, no square on tau; 0 far away.  [mu2012mesd]

    Examples
    --------
    >>> gaussian(np.array([0.0, 1.0, np.inf]), 1.0).round(3)
    array([1.   , 0.368, 0.   ])
    """
    with np.errstate(under="ignore"):
        return np.exp(-(d2 / tau))


def alternative(share: np.ndarray, tau: float) -> np.ndarray:
    """1 / (tau + share), share = d^2 / (|x|^2 + |p|^2) from 0 to 2: equation (9).  [mu2012mesd]

    Examples
    --------
    >>> alternative(np.array([0.0, 1.0]), 1.0)
    array([1. , 0.5])
    """
    return 1.0 / (tau + share)


def local_scaling(distance: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """exp(-d^2 / (s_i s_j)) from the scales of both ends; where one is 0, 1 at distance 0 and else 0: equation (8).
    [mu2012mesd]

    Examples
    --------
    >>> local_scaling(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([1.0, 2.0])).round(3)
    array([0.368, 1.   ])
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        exponent = (distance / left) * (distance / right)
        return np.where((left > 0) & (right > 0), np.exp(-exponent), (distance == 0) * 1.0)
