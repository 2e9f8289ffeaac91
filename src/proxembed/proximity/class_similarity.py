"""Sigma: similarities of classes (c x c), from the rows that carry them or from the features of those rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.arrays.matrix import guard_dense
from proxembed.pairs.formulas import cosine, gaussian
from proxembed.targets.labels import LabelMatrix

from ..params import call_user_function
from .distances import squared_norms
from .latent_labels import LATENT_SIMILARITIES, latent_between, latent_classes
from .similarity import SET_SIMILARITIES, checked_similarity, clip_negative, similarity_of_sets
from .weights import LOCAL_NEIGHBORS

OF_FEATURES = ("features", "features_gaussian", "features_binary", "features_binary_gaussian")
OF_LATENT = tuple(f"latent_{kind}" for kind in LATENT_SIMILARITIES)
OF_MEMBERS = {"cooccurrence" if kind == "and" else kind: measure for kind, measure in SET_SIMILARITIES.items()}
CLASS_SIMILARITIES = (*OF_MEMBERS, *OF_LATENT, *OF_FEATURES)


def class_similarity(
    labels: LabelMatrix,
    kind: str | Callable[..., Any] | np.ndarray = "dice",
    *,
    tau: float | None = None,
    features: Any = None,
    latent: str | Callable[..., Any] = "pca",
    n_latent: int | None = None,
    centred: bool = False,
    p: float = 2.0,
    n_scale: int = LOCAL_NEIGHBORS,
) -> np.ndarray:
    """Similarities of the c classes, Sigma of (42): symmetric, at least 0.  [mu2012mesd]

    Parameters
    ----------
    labels : LabelMatrix of n rows and c labels.
    kind : str, callable or array of shape (c, c)
        "cooccurrence": the rows with both labels, (Y'Y)_st. "dice", "jaccard", "cosine", "hamming" and
        "hamming_linear": as of label sets, of the sets of rows that carry the labels; with one label per row the first
        three are I. "scaled_dice": a shared row counts 1/m_i, m_i its labels. "latent_cosine", "latent_minkowski" and
        so on: a similarity of ``latent_between`` of the latent variables of the classes, Y' in the place of Y.
        "features": the cosine of class vectors Y'X; "features_binary" that of 1[Y'X > 0];
        "features_gaussian" and "features_binary_gaussian" exp(-d^2 / tau) of them. A callable takes the c x n array of
        0/1 and gives c x c.
    tau : float or None
        Width of "hamming" and the Gaussians; None: the mean over distinct pairs of classes (at least 1 for "hamming").
    features : array or sparse matrix of shape (n, d)
        X, for the kinds of features.
    latent, n_latent, centred : of ``latent_classes``, for the latent kinds.
    p, n_scale : of ``latent_between``, likewise.

    Returns
    -------
    ndarray of shape (c, c)
        Negative entries, of cosines or of the caller's, are set to 0. A class without rows is similar to none.

    Raises
    ------
    ValueError
        For an unknown kind, features that are missing or of other rows, a matrix that is not symmetric and finite.

    Examples
    --------
    >>> labels = LabelMatrix.of(np.array([[1, 1], [1, 0], [1, 0]]))
    >>> class_similarity(labels, "dice")
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    if callable(kind):
        guard_dense((labels.c, labels.n), f"similarity={kind!r}: the rows of each label")
        Sigma = checked_similarity(
            call_user_function("similarity", kind, labels.Y.T.toarray()), labels.c, f"similarity={kind!r}"
        )
    elif not isinstance(kind, str):
        Sigma = checked_similarity(kind, labels.c, "similarity")
    elif kind not in CLASS_SIMILARITIES:
        raise ValueError(
            f"similarity={kind!r} of classes is not known; choose one of {', '.join(CLASS_SIMILARITIES)}, a c x c "
            "array, or a callable."
        )
    elif kind in OF_LATENT:
        used = np.flatnonzero(labels.nk > 0)
        phi = latent_classes(labels, used, latent, n_latent, centred)
        between, _ = latent_between(phi, kind.removeprefix("latent_"), tau, p, n_scale)
        everyone, Sigma = np.arange(len(used)), np.zeros((labels.c, labels.c))
        Sigma[np.ix_(used, used)] = between(everyone, everyone)
        Sigma = (Sigma + Sigma.T) / 2.0
    elif kind in OF_FEATURES:
        Sigma = _of_vectors(labels, kind, features, tau)
    else:
        Sigma = _of_members(labels, kind, tau)
    return np.maximum(Sigma, 0.0)


def _of_members(labels: LabelMatrix, kind: str, tau: float | None) -> np.ndarray:
    """A similarity of the sets of rows that carry the labels."""
    shared, size = labels.shared if kind == "scaled_dice" else labels.gram, labels.nk
    if kind == "hamming" and tau is None:
        used = np.ix_(size > 0, size > 0)
        tau = max(_mean_of_pairs((size[:, None] + size - 2.0 * shared)[used]), 1.0)
    width = float(labels.n) if kind == "hamming_linear" else tau
    Sigma = similarity_of_sets(OF_MEMBERS[kind], shared, size[:, None], size[None, :], width)
    return _without_empty(Sigma, labels)


def _of_vectors(labels: LabelMatrix, kind: str, features: Any, tau: float | None) -> np.ndarray:
    """A similarity of the class vectors Y'X."""
    if features is None or features.shape[0] != labels.n:
        given = "none" if features is None else f"{features.shape[0]:,} rows"
        raise ValueError(f"similarity={kind!r} needs class_features, the {labels.n:,} rows of X; got {given}.")
    V = labels.Y.T.tocsr() @ features
    if "binary" in kind:
        V = (V > 0).astype(np.float64)
    dots = V @ V.T
    dots = np.asarray(dots.toarray() if sp.issparse(dots) else dots, dtype=np.float64)
    squares = squared_norms(sp.csr_array(V) if sp.issparse(V) else np.asarray(V, dtype=np.float64))
    if "gaussian" not in kind:
        length = np.sqrt(squares)
        Sigma = clip_negative(cosine(dots, length[:, None], length[None, :]))
    else:
        d2 = np.maximum(squares[:, None] + squares - 2.0 * dots, 0.0)
        np.fill_diagonal(d2, 0.0)
        used = np.ix_(labels.nk > 0, labels.nk > 0)
        Sigma = gaussian(d2, (_mean_of_pairs(d2[used]) or 1.0) if tau is None else tau)
    return _without_empty((Sigma + Sigma.T) / 2.0, labels)


def _without_empty(Sigma: np.ndarray, labels: LabelMatrix) -> np.ndarray:
    empty = labels.nk == 0
    Sigma[empty] = 0.0
    Sigma[:, empty] = 0.0
    return Sigma


def _mean_of_pairs(D: np.ndarray) -> float:
    """The mean of the entries above the diagonal; 0 where there are none."""
    return float(D[np.triu_indices(len(D), 1)].mean()) if len(D) > 1 else 0.0
