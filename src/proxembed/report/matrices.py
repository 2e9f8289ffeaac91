"""Proximity matrices of held-out rows as plain data: the same rows in the same order in each, one byte per entry."""

import base64
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.proximity.combine import combine
from proxembed.proximity.graph import full_graph
from proxembed.proximity.label_similarity import label_similarity
from proxembed.proximity.reordering import covat, even_sample
from proxembed.proximity.weights import edge_weights
from proxembed.targets.labels import LabelMatrix

ROWS = 180  # rows of a matrix at most: about one pixel each on the page
CLIPPED = 99.5  # percentile of the pairs that has the darkest shade
NAMES = 40  # label names kept with the matrix of labels


def cosine_proximity(X: Any) -> np.ndarray:
    """W of all pairs of rows: the cosine, 0 where it is negative, 1 on the diagonal."""
    W = edge_weights(X, full_graph(X), "cosine").toarray()
    np.fill_diagonal(W, 1.0)
    return W


def gaussian_proximity(X: Any) -> np.ndarray:
    """W of all pairs of rows: exp(-d / t) of the squared distance d, t its median over pairs; 1 on the diagonal."""
    W = edge_weights(X, full_graph(X), "gaussian").toarray()
    np.fill_diagonal(W, 1.0)
    return W


PROXIMITIES = {"cosine": cosine_proximity, "gaussian": gaussian_proximity}


def label_proximity(labels: LabelMatrix) -> np.ndarray:
    """G of all pairs of rows, from 0 to 1: scheme 3 of MOPE with Dice similarity of classes.  [mu2012mesd]"""
    of_row, G = label_similarity(labels, "classes", "dice").grouped()
    return G[np.ix_(of_row, of_row)]


def agreement(A: np.ndarray, G: np.ndarray) -> float | None:
    """Correlation of two matrices over the pairs i < j (Mantel's r); None where one of them is constant.
    [mantel1967]"""
    pairs = np.triu_indices(len(A), 1)
    a, g = A[pairs], G[pairs]
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(g) == 0:
        return None
    return round(float(np.corrcoef(a, g)[0, 1]), 4)


def packed(values: np.ndarray) -> dict[str, Any]:
    """A matrix of values of at least 0 as bytes: 0 to 255 from 0 to ``top``, in base64 of zlib."""
    rows, columns = values.shape
    off = values[~np.eye(rows, columns, dtype=bool)] if rows == columns and rows > 1 else values.ravel()
    top = float(np.percentile(off, CLIPPED)) or float(values.max()) or 1.0
    shades = np.rint(255 * np.clip(values / top, 0.0, 1.0)).astype(np.uint8)
    text = base64.b64encode(zlib.compress(shades.tobytes(), 9)).decode("ascii")
    clipped = bool(values.max() > top * (1 + 1e-9))
    return {"rows": rows, "columns": columns, "top": float(f"{top:.4g}"), "clipped": clipped, "values": text}


def unpacked(panel: dict[str, Any]) -> np.ndarray:
    """The bytes of a matrix from ``packed``, as an array of uint8 of shape (rows, columns)."""
    rows, columns, found = panel["rows"], panel["columns"], b""
    try:
        found = zlib.decompressobj().decompress(base64.b64decode(panel["values"]), rows * columns + 1)
    except (ValueError, zlib.error) as error:
        problem: Exception | None = error
    else:
        problem = None
    if problem is not None or len(found) != rows * columns:
        size = f"a matrix of {rows} x {columns} needs {rows * columns} bytes"
        raise ValueError(f"{size}; its values are damaged or hold another number.") from problem
    return np.frombuffer(found, dtype=np.uint8).reshape(rows, columns)


def proximity_section(
    X: Any, embeddings: Sequence[tuple[str, Any]], Y: Any, label_names: Sequence[str], measure: str = "cosine"
) -> dict[str, Any] | None:
    """Proximity matrices of held-out rows: labels Y, G from labels, W from features, Psi of both, Z of embeddings."""
    if measure not in PROXIMITIES:
        raise ValueError(f"measure={measure!r} is not allowed; it must be {' or '.join(PROXIMITIES)}.")
    proximity, m = PROXIMITIES[measure], X.shape[0]
    for title, Z in embeddings:
        Z = np.asarray(Z)
        if Z.ndim != 2 or len(Z) != m or not np.isfinite(Z).all():
            raise ValueError(f"embeddings: {title!r} must be a finite array of {m} rows, as X has; leave it out.")
    sample = even_sample(m, ROWS)
    Y = sp.csr_array(Y)[sample].toarray() != 0
    present = np.flatnonzero(Y.any(axis=0))
    if len(sample) < 3 or len(present) == 0:
        return None
    most = np.sort(np.argsort(-Y.sum(axis=0), kind="stable")[: min(len(present), ROWS)])  # present ones come first
    ordered = covat(~Y[:, most])
    rows, labels = sample[ordered.rows], most[ordered.columns]
    G = label_proximity(LabelMatrix(sp.csc_array(Y[np.ix_(ordered.rows, present)] * 1.0), present, "indicator"))
    W = proximity(X[rows])
    found = [("Y", "labels", 1.0 - ordered.matrix), ("G", "from the labels", G), ("W", "from the features", W)]
    found.append(("Psi", "labels first, then features", combine("priority", W, G)))
    found += [("Z", title, proximity(np.asarray(Z, dtype=np.float64)[rows])) for title, Z in embeddings]
    has = Y[ordered.rows].any(axis=1)
    labelled = np.ix_(has, has)
    panels = [
        {
            "kind": kind,
            "title": title,
            **packed(np.asarray(values)),
            "agreement": agreement(values[labelled], G[labelled]) if kind in ("W", "Psi", "Z") else None,
        }
        for kind, title, values in found
    ]
    names = [str(label_names[j]) for j in labels[:NAMES]]
    counts = {"shown": len(rows), "held_out": m, "without_label": int(np.sum(~has)), "n_labels": len(present)}
    return {"measure": measure, **counts, "labels": names, "panels": panels}
