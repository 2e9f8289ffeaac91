"""What the page shows of measured outputs: errors of prediction, VIP, Hotelling's T2, distances to the model."""

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import stats

from proxembed.algebra.arrays.matrix import row_blocks
from proxembed.algebra.pencil.symmetric import orthonormal_columns, pseudo_inverse
from proxembed.features.scaling import scaling_apply
from proxembed.measures.measures import DEFAULT_NEIGHBORS
from proxembed.measures.neighbors import neighbor_weights
from proxembed.measures.outputs import (
    OutputCells,
    agreement_each,
    as_ranks,
    near_outputs,
    skewed_outputs,
    spearman_each,
)
from proxembed.methods.around import Scaled
from proxembed.methods.pipeline import fit_on
from proxembed.proximity.reordering import even_sample
from proxembed.tables.axis import axis_of
from proxembed.targets.outputs import Column, Outputs

from .importance import MOST_ROWS, feature_blocks, permutation_losses
from .measured_classes import class_columns, class_places, class_section
from .part import cells_of
from .scoring import distances_predict

LEVEL = 0.95  # of the limits of T2 and of the distance
SHOWN_ROWS = 1000  # training rows, and held-out rows, whose places are kept
SHOWN_CELLS = 20_000  # of rows and outputs that are kept; with many outputs fewer rows are
SWITCHES = 200  # outputs that are shown, the first ones
MOST_BARS = 15  # features of a chart, unless their names are numbers in order
CURVE_POINTS = 2000  # features of a spectrum that are kept
NAMED_ROWS = 20  # beyond both limits
ROUNDING = 1e-20  # of the squares of a row, up to which its distance to the model is 0
NUMERIC = ("real", "ranks")  # kinds of columns whose predictions have errors in units
NO_WEIGHTS = (
    "This method has no coefficients of the features, so that VIP, the distance to the model and the coefficients are "
    "not shown; {}its components list the effects of features."
)


def prediction_errors(
    measured: Any, predicted: Any, training_mean: float, sample_weight: np.ndarray | None = None
) -> dict[str, Any]:
    """Errors of the predictions of one output, over the rows whose measured value is known.

    Parameters
    ----------
    measured, predicted : arrays of shape (m,)
        In units of the output; NaN where ``measured`` is unknown.
    training_mean : float
        Mean of the output over the training rows.
    sample_weight : array of shape (m,), optional
        How often each row counts; None: once.

    Returns
    -------
    dict
        ``n`` (known rows); ``q2`` and ``r2`` (1 - SSE/SS, SS about the training mean and about the mean of these rows);
        ``rmsep`` and ``bias`` (root mean squared and mean error, predicted - measured, in units); ``rpd`` (standard
        deviation of the measured values, n - 1, over rmsep); ``spearman`` (rank correlation). None where undefined.
    """
    y, guess = np.asarray(measured, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    if y.shape != guess.shape or y.ndim != 1:
        raise ValueError(f"measured has shape {y.shape} and predicted {guess.shape}; give two arrays of shape (m,).")
    known = np.isfinite(y)
    y, guess, w = y[known], guess[known], None if sample_weight is None else sample_weight[known]
    n, found = len(y), dict.fromkeys(("q2", "r2", "rmsep", "bias", "rpd", "spearman"))
    if n == 0:
        return {"n": 0, **found}
    error = guess - y
    total_weight, times = (n, error) if w is None else (float(w.sum()), w * error)
    squares, rmsep = float(times @ error), math.sqrt(float(times @ error) / total_weight)
    about = {"q2": y - training_mean, "r2": y - float(np.average(y, weights=w))}
    spread = {name: float((each if w is None else w * each) @ each) for name, each in about.items()}
    found = {name: 1 - squares / total if total > 0 else None for name, total in spread.items()}
    varies = n > 1 and np.ptp(y) > 0
    sd = math.sqrt(spread["r2"] / (total_weight - 1)) if varies and total_weight > 1 else None
    rpd = sd / rmsep if sd is not None and rmsep > 0 else None
    spearman = _spearman(y, guess, w) if varies and np.ptp(guess) > 0 else None
    bias = float(np.average(error, weights=w))
    return {"n": n, **found, "rmsep": rmsep, "bias": bias, "rpd": rpd, "spearman": spearman}


def _spearman(y: np.ndarray, guess: np.ndarray, w: np.ndarray | None) -> float:
    """The rank correlation of rows that count w times each (None: once)."""
    cells = OutputCells(y[:, None], np.zeros(1, dtype=np.intp), np.zeros(1), np.ones(1))
    return float(spearman_each(cells, guess[:, None], w)[0])


def vip(weights: np.ndarray, scores: np.ndarray, loadings: np.ndarray) -> np.ndarray:
    """Variable importance in the projection, sqrt(d sum_a s_a w_ja^2 / sum_a s_a), whose mean square is 1.

    Parameters
    ----------
    weights : array of shape (d, k)
        Weights of the features in each component; columns are taken at unit length.
    scores : array of shape (n, k)
        Centred scores t_a of the training rows.
    loadings : array of shape (c, k)
        Loadings q_a of the outputs; s_a = |t_a|^2 |q_a|^2 is the variance of the outputs that component a explains.

    Returns
    -------
    array of shape (d,), without unit

    Raises
    ------
    ValueError
        The components explain nothing of the outputs.
    """
    explained = np.einsum("ia,ia->a", scores, scores) * np.einsum("ja,ja->a", loadings, loadings)
    total = explained.sum()
    if not total > 0:
        raise ValueError("the components explain nothing of the outputs, so that there is no VIP.")
    squared = (weights / np.linalg.norm(weights, axis=0)) ** 2
    return np.sqrt(len(weights) * (squared @ explained) / total)


def hotelling_limit(n: int, k: int) -> float:
    """The limit below which Hotelling's T2 of a new row lies with probability ``LEVEL``, for scores of k components of
    n training rows: k(n-1)(n+1)/(n(n-k)) F(k, n-k). A ValueError for n <= k."""
    if n <= k:
        raise ValueError(f"n={n} rows are too few for T2 of k={k} components; more rows than components are needed.")
    return float(k * (n - 1) * (n + 1) / (n * (n - k)) * stats.f.ppf(LEVEL, k, n - k))


def hotelling_t2(new: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """T2 = (t - tbar)' S^-1 (t - tbar) of rows (m, k), with the mean and the covariance of the training scores (n, k),
    n > 1; (m,)."""
    middle, unit = scores.mean(axis=0), _unit_lengths(scores)
    T, rows = (scores - middle) * unit, (new - middle) * unit
    return (len(T) - 1) * np.einsum("ij,jk,ik->i", rows, pseudo_inverse(T.T @ T), rows)


def _unit_lengths(scores: np.ndarray) -> np.ndarray:
    """What scales the centred scores of each component to unit length; 0 for a constant one."""
    length = np.linalg.norm(scores - scores.mean(axis=0), axis=0)
    return np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)


def distances_to_model(X: Any, scores: np.ndarray, X_new: Any, scores_new: np.ndarray) -> np.ndarray:
    """The distance of rows to a linear model: what is left of a row after its regression on the scores.

    Parameters
    ----------
    X, scores : array or sparse matrix of shape (n, d), array of shape (n, k)
        Training rows as the model takes them, and their scores: the regression.
    X_new, scores_new : array or sparse matrix of shape (m, d), array of shape (m, k)

    Returns
    -------
    array of shape (m,)
        Root mean square over the features, in units of X (standard deviations where X is standardised).
    """
    level, middle, unit = np.asarray(X.mean(axis=0)).ravel(), scores.mean(axis=0), _unit_lengths(scores)
    T = (scores - middle) * unit
    loadings = unit[:, None] * (pseudo_inverse(T.T @ T) @ np.asarray(X.T @ T).T)
    found = np.empty(X_new.shape[0])
    for rows in row_blocks(X_new.shape[0], X_new.shape[1]):
        block = X_new[rows]
        block = block.toarray() if sp.issparse(block) else np.asarray(block, dtype=np.float64)
        rest = block - level
        size = np.einsum("ij,ij->i", rest, rest)
        rest = rest - (scores_new[rows] - middle) @ loadings
        squares = np.einsum("ij,ij->i", rest, rest)
        found[rows] = np.sqrt(np.where(squares > ROUNDING * size, squares, 0.0) / rest.shape[1])
    return found


def numeric_outputs(outputs: Outputs) -> list[tuple[int, Column, slice]]:
    """The columns of y that hold numbers or ranks: the number of each, the column, and its columns of F."""
    return [each for each in outputs.layout.spans() if each[1].kind in NUMERIC]


def measured_section(
    model: Any,
    dataset: Any,
    train: np.ndarray,
    held_out: np.ndarray,
    *,
    splits: Sequence[tuple[np.ndarray, np.ndarray]] = (),
    curve: Iterable[tuple[int, float | None, float | None]] = (),
    permutations: Iterable[tuple[float, float | None, float | None]] = (),
    raw: np.ndarray | None = None,
) -> dict[str, Any] | None:
    """What the page shows of a model of numbers, as plain data for the record.

    Parameters
    ----------
    model : EmbeddingPipeline
        ``fit_on(method, dataset.take(train))``, with its read-out.
    dataset : Dataset
        With outputs.
    train, held_out : int arrays
        Rows of the data set that the model was fitted on, and rows that it was not.
    splits : sequence of (fit rows, left-out rows)
        Folds of the training rows, as rows of the data set. The limit of the distance to the model is the 95 % quantile
        of the distances of left-out rows to models of the fit rows; without folds there is no limit.
    curve : iterable of (k, Q2 on folds, R2 of the fit)
        For each number of components.
    permutations : iterable of (abs(r), R2, Q2)
        For each permutation of y: the absolute correlation of the permuted with the true y, R2 of the fit, and Q2.
    raw : array of shape (m, columns of F), optional
        Scores of the held-out rows by a ridge regression on all features, beside which columns of classes are shown.

    Returns
    -------
    dict, or None where no column of y holds numbers
    """
    columns = numeric_outputs(dataset.targets)
    if not columns:
        return None
    train = np.asarray(train)[dataset.targets.rows_any[train]]
    fitted = _Fitted.of(model, dataset, train, np.asarray(held_out))
    names = _names(fitted, model, dataset)
    kept, places = fitted.shown(len(columns)), fitted.places()
    outputs = _outputs(fitted, columns, kept, names)
    distance = _distances(fitted, splits)
    important = outputs[0]["importance"] is not None
    shown = "permutation importance takes the place of VIP, and " if important else ""
    return {
        "level": LEVEL,
        "k": int(fitted.Z.shape[1]),
        "train": len(train),
        "held_out": len(held_out),
        "curve": _triples(curve),
        "permutations": _triples(permutations),
        "outputs": outputs[:SWITCHES],
        "n_outputs": len(columns),
        "classes": [_classes(fitted, each, kept, raw) for each in class_columns(dataset.targets)[:SWITCHES]],
        "other_columns": [str(c.name) for c in dataset.targets.layout.columns if c.soft],
        "r2_fit": _mean(each["r2_fit"] for each in outputs),
        "q2": _mean(each["errors"]["q2"] for each in outputs),
        "rows": _rows(fitted, kept, places, distance),
        "plane": places.plane,
        "limits": {"t2": places.limit, "distance": None if distance is None else distance.limit},
        "beyond": _beyond(fitted, dataset, places, distance),
        "features": fitted.d,
        "vip": None if fitted.weights is None else _chart(_vip(fitted, fitted.weights), names),
        "standardised": fitted.standardised,
        "absent": NO_WEIGHTS.format(shown) if fitted.weights is None else None,
    }


@dataclass(frozen=True)
class _Fitted:
    """A model with its rows, training rows first: their features as the method takes them, scores, predictions.
    ``method``: the embedding, or the linear method inside ``Scaled``."""

    model: Any
    method: Any
    dataset: Any
    train: np.ndarray
    held_out: np.ndarray
    X: Any
    Z: np.ndarray
    predicted: list[np.ndarray]
    values: np.ndarray
    weights: np.ndarray | None

    @classmethod
    def of(cls, model: Any, dataset: Any, train: np.ndarray, held_out: np.ndarray) -> "_Fitted":
        rows = dataset.X[np.concatenate([train, held_out])]
        method, X = _linear_method(model, model[0].transform(rows))
        Z, readout = np.asarray(model.transform(rows), dtype=np.float64), model[-1]
        values = readout.values(Z)
        predicted = readout.reading_.columns(values, readout.extrapolate)
        weights = _weights(method, X.shape[1])
        return cls(model, method, dataset, train, held_out, X, Z, predicted, values, weights)

    @property
    def n(self) -> int:
        return len(self.train)

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def standardised(self) -> bool:
        inside = self.method is not self.model["embedding"]
        state = getattr(self.model["embedding"] if inside else self.model[0], "state_", None)
        return state is None or state.kind == "standard"

    def shown(self, outputs: int) -> np.ndarray:
        """Numbers of the rows whose places are kept."""
        most = min(SHOWN_ROWS, max(100, SHOWN_CELLS // outputs))
        return np.concatenate([even_sample(self.n, most), self.n + even_sample(len(self.held_out), most)])

    def places(self) -> "_Places":
        """T2 of all rows, its limit, and the ellipse in the first two components."""
        Z, k = self.Z[: self.n], self.Z.shape[1]
        if self.n <= max(k, 2):
            return _Places(np.full(len(self.Z), np.nan), None, None)
        plane = Z[:, :2]
        ellipse = {
            "mean": _plain(plane.mean(axis=0)),
            "covariance": [_plain(row) for row in np.atleast_2d(np.cov(plane, rowvar=False))],
            "limit": hotelling_limit(self.n, plane.shape[1]),
        }
        return _Places(hotelling_t2(self.Z, Z), hotelling_limit(self.n, k), ellipse)


@dataclass(frozen=True)
class _Places:
    t2: np.ndarray
    limit: float | None
    plane: dict[str, Any] | None


@dataclass(frozen=True)
class _Distances:
    own: np.ndarray
    limit: float | None


def _linear_method(model: Any, X: Any) -> tuple[Any, Any]:
    """The method of a model and its features: the linear one inside ``Scaled``, whose features are those of X scaled,
    or else the embedding as it is, and X."""
    embedding = model["embedding"]
    if isinstance(embedding, Scaled) and embedding.state_.axes is None and embedding.axes_ is None:
        if _weights(embedding.method_, X.shape[1]) is not None:
            return embedding.method_, scaling_apply(embedding.state_, X)
    return embedding, X


def _weights(embedding: Any, d: int) -> np.ndarray | None:
    """Weights of the features, (d, k), of a linear method that has coefficients; None for others. Those of PLS with
    deflation are of the deflated rows: an orthonormal basis of the same nested spans."""
    P = getattr(embedding, "components_", None)
    if not hasattr(embedding, "coef_") or P is None or P.shape[1] != d:
        return None
    P = np.asarray(P, dtype=np.float64).T
    return P if getattr(embedding, "deflation", None) is None else orthonormal_columns(P)


def _vip(fitted: _Fitted, weights: np.ndarray) -> np.ndarray:
    """VIP by the standardised outputs of the training rows, unknown cells at their mean."""
    outputs = fitted.dataset.targets.rescaled(fitted.method.target_scaling())
    F = outputs.take(fitted.train).with_means().Y.toarray()
    T = fitted.Z[: fitted.n] - fitted.Z[: fitted.n].mean(axis=0)
    return vip(weights, T, (F - F.mean(axis=0)).T @ T / np.einsum("ia,ia->a", T, T))


def _distances(fitted: _Fitted, splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> _Distances | None:
    """The distances of all rows to the model, and the quantile of those of rows that folds have left out."""
    if fitted.weights is None:
        return None
    n, X, Z = fitted.n, fitted.X, fitted.Z
    own = distances_to_model(X[:n], Z[:n], X, Z)
    state = getattr(fitted.model[0], "state_", None)
    left_out = []
    for rows, left in splits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the same method has given its warnings before
            part = fit_on(
                fitted.model["embedding"],
                fitted.dataset.take(rows),
                readout=False,
                scaling=None if state is None else state.kind,
            )
        both = [
            (_linear_method(part, part[0].transform(each))[1], part.transform(each))
            for each in map(fitted.dataset.X.__getitem__, (rows, left))
        ]
        left_out.append(distances_to_model(*both[0], *both[1]))
    return _Distances(own, float(np.quantile(np.concatenate(left_out), LEVEL)) if left_out else None)


def _rows(fitted: _Fitted, kept: np.ndarray, places: _Places, distance: _Distances | None) -> dict[str, Any]:
    """The rows that are kept: names, sides, scores in two components, T2 and distance."""
    rows = np.concatenate([fitted.train, fitted.held_out])
    return {
        "ids": [_id(fitted.dataset, row) for row in rows[kept]],
        "train": [bool(each) for each in kept < fitted.n],
        "scores": [_plain(each) for each in fitted.Z[kept, :2].T],
        "t2": _plain(places.t2[kept]),
        "distance": None if distance is None else _plain(distance.own[kept]),
    }


def _outputs(
    fitted: _Fitted, columns: Sequence[tuple[int, Column, slice]], kept: np.ndarray, names: list[str]
) -> list[dict[str, Any]]:
    """The outputs of numbers: values and errors, A@10, coefficients or permutation importance."""
    losses = None if fitted.weights is not None else _importance(fitted, columns)
    alike, found = _agreements(fitted), []
    for place, column in enumerate(columns):
        output = _with_coefficients(_output(fitted, column, kept), fitted, column, names)
        important = None if losses is None else _block_chart(losses[:, place], names)
        own = {name: values[column[0]] for name, values in alike.items()}
        found.append({**output, "importance": important, **own})
    return found


def _output(fitted: _Fitted, spans: tuple[int, Column, slice], kept: np.ndarray) -> dict[str, Any]:
    """One output: its range, errors on held-out rows, and values of the rows that are kept."""
    number, column, _ = spans
    outputs: Outputs = fitted.dataset.targets
    rows, n = np.concatenate([fitted.train, fitted.held_out]), fitted.n
    measured = _column(outputs, number, rows)
    holes = np.isnan(measured)
    predicted = column.numbers(fitted.predicted[number])
    w = None if fitted.dataset.sample_weight is None else fitted.dataset.sample_weight[rows]
    mean = _mean_of(measured[:n], fitted.dataset.sample_weight, fitted.train)
    of_train, of_test = (None, None) if w is None else (w[:n], w[n:])
    return {
        "name": str(column.name),
        "kind": column.kind,
        "errors": prediction_errors(measured[n:], predicted[n:], mean, of_test),
        "r2_fit": prediction_errors(measured[:n], predicted[:n], mean, of_train)["r2"],
        "measured": _plain(measured[kept]),
        "predicted": _plain(predicted[kept]),
        "ranks": ranks_of(measured)[kept].tolist(),
        "range": [float(np.nanmin(measured)), float(np.nanmax(measured))] if not np.isnan(measured).all() else None,
        "unknown": int(holes.sum()),
    }


def _column(outputs: Outputs, number: int, rows: np.ndarray) -> np.ndarray:
    """The values of some rows in a column of y, NaN where they are unknown."""
    cells = outputs.cells[:, [number]].toarray().ravel() if outputs.is_sparse else outputs.cells[:, number]
    return np.where(outputs.dense_holes()[rows, number], np.nan, np.asarray(cells, dtype=np.float64)[rows])


def _classes(
    fitted: _Fitted, spans: tuple[int, Column, slice], kept: np.ndarray, raw: np.ndarray | None
) -> dict[str, Any]:
    """One column of classes on held-out rows, and the class of each row that is kept."""
    number, column, own = spans
    data, n = fitted.dataset, fitted.n
    codes = _column(data.targets, number, np.concatenate([fitted.train, fitted.held_out]))
    groups = None if data.groups is None else np.asarray(data.groups)[fitted.held_out]
    w = None if data.sample_weight is None else data.sample_weight[fitted.held_out]
    found = class_section(column, codes, n, fitted.values[n:, own], None if raw is None else raw[:, own], groups, w)
    return {**found, "places": class_places(found, column, codes[kept])}


def _with_coefficients(
    output: dict[str, Any], fitted: _Fitted, spans: tuple[int, Column, slice], names: list[str]
) -> dict[str, Any]:
    if fitted.weights is None:
        return {**output, "coefficients": None}
    return {**output, "coefficients": _chart(fitted.method.coef_[spans[2].start], names)}


def ranks_of(values: np.ndarray) -> np.ndarray:
    """The rank of each value from 0 (lowest) to 1, None where it is unknown; ties share their mean rank."""
    found, known = np.full(len(values), None, dtype=object), np.isfinite(values)
    ranks = stats.rankdata(values[known])
    found[known] = np.round((ranks - 1) / max(len(ranks) - 1, 1), 4).tolist()
    return found


def _agreements(fitted: _Fitted) -> dict[str, list[float | None]]:
    """A@10 of the held-out rows among the training rows by all components, per column of y; also of ranks where a
    column is skewed."""
    targets, n, held_out = fitted.dataset.targets, fitted.n, fitted.held_out
    own = targets.take(fitted.train)
    cells, new = (cells_of(each, own.level_and_scale) for each in (own, targets.take(held_out)))
    metric = "euclidean" if distances_predict(fitted.model["embedding"]) else "cosine"
    near = neighbor_weights(fitted.Z[n:], fitted.Z[:n], DEFAULT_NEIGHBORS, metric=metric)
    w = None if fitted.dataset.sample_weight is None else fitted.dataset.sample_weight[held_out]
    pairs = ((cells, new), as_ranks(cells, new))
    values, ranks = (agreement_each(held, near_outputs(near, each.F, each.known), w) for each, held in pairs)
    skewed = skewed_outputs(cells)
    return {"agreement": _plain(values), "rank_agreement": _plain(np.where(skewed, ranks, np.nan))}


def _importance(fitted: _Fitted, columns: Sequence[tuple[int, Column, slice]]) -> np.ndarray | None:
    """Permutation losses of some held-out rows per block of features and output; None of sparse rows."""
    if sp.issparse(fitted.X) or not len(fitted.held_out):
        return None
    readout = fitted.model[-1]
    some = even_sample(len(fitted.held_out), MOST_ROWS)
    outputs = fitted.dataset.targets

    def predict(X: np.ndarray) -> np.ndarray:
        for _, step in fitted.model.steps[1:-1]:
            X = step.transform(X)
        values = readout.reading_.columns(readout.values(X), readout.extrapolate)
        return np.column_stack([column.numbers(values[number]) for number, column, _ in columns])

    rows = fitted.held_out[some]
    Y = np.column_stack([_column(outputs, number, rows) for number, _, _ in columns])
    w = fitted.dataset.sample_weight
    level = [_mean_of(_column(outputs, number, fitted.train), w, fitted.train) for number, _, _ in columns]
    X = np.asarray(fitted.X[fitted.n :][some], dtype=np.float64)
    blocks = feature_blocks(fitted.d, axis_of(_names(fitted, fitted.model, fitted.dataset)) is not None)
    return permutation_losses(predict, X, Y, np.array(level), blocks, sample_weight=None if w is None else w[rows])


def _mean_of(values: np.ndarray, w: np.ndarray | None, rows: np.ndarray) -> float:
    """The mean of the known values of some rows, each as often as it counts; 0 without any."""
    known = np.isfinite(values)
    return float(np.average(values[known], weights=None if w is None else w[rows][known])) if known.any() else 0.0


def _block_chart(values: np.ndarray, names: list[str]) -> dict[str, Any]:
    """A value per block of features: at the middle of each where their names are increasing numbers, else the 15
    largest by name."""
    at = axis_of(names)
    blocks = feature_blocks(len(names), at is not None)
    if at is not None:
        middles = [float((at[block[0]] + at[block[-1]]) / 2) for block in blocks]
        return {"x": middles, "names": None, "values": _plain(values)}
    ranges = [names[b[0]] if len(b) == 1 else f"{names[b[0]]} to {names[b[-1]]}" for b in blocks]
    order = np.argsort(-values, kind="stable")[:MOST_BARS]
    return {"x": None, "names": [ranges[j] for j in order], "values": _plain(values[order])}


def _chart(values: np.ndarray, names: list[str]) -> dict[str, Any]:
    """A value per feature: all in the order of their names where these are numbers in order (of more than 2,000 the
    strongest of each neighbourhood), else the 15 largest."""
    at = axis_of(names)
    if at is None:
        order = np.argsort(-np.abs(values), kind="stable")[:MOST_BARS]
        return {"x": None, "names": [names[j] for j in order], "values": _plain(values[order])}
    if len(at) > CURVE_POINTS:
        parts = np.array_split(np.arange(len(at)), CURVE_POINTS)
        chosen = np.array([part[np.abs(values[part]).argmax()] for part in parts])
        at, values = at[chosen], values[chosen]
    return {"x": [float(each) for each in at], "names": None, "values": _plain(values)}


def _names(fitted: _Fitted, model: Any, dataset: Any) -> list[str]:
    """Names of the features as the embedding takes them."""
    names: Any = dataset.feature_names
    if hasattr(model[0], "columns_") and model[0].columns_ is not None:
        names = model[0].get_feature_names_out()
    return [str(name) for name in names] if len(names) == fitted.d else [f"scaled{j}" for j in range(fitted.d)]


def _beyond(fitted: _Fitted, dataset: Any, places: _Places, distance: _Distances | None) -> dict[str, Any]:
    """The rows beyond both limits, the farthest first: their number, and the first by name."""
    if distance is None or distance.limit is None or places.limit is None:
        return {"count": 0, "rows": []}
    far = np.flatnonzero((places.t2 > places.limit) & (distance.own > distance.limit))
    far = far[np.argsort(-places.t2[far] * distance.own[far], kind="stable")]
    rows = np.concatenate([fitted.train, fitted.held_out])
    named = [
        {"id": _id(dataset, rows[at]), "train": bool(at < fitted.n), "t2": _number(places.t2[at]),
         "distance": _number(distance.own[at])}
        for at in far[:NAMED_ROWS]
    ]  # fmt: skip
    return {"count": len(far), "rows": named}


def _id(dataset: Any, row: Any) -> str:
    return f"row {row}" if dataset.ids is None else str(dataset.ids[row])


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def _number(value: Any) -> float | None:
    """A number with five digits; None if there is none."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.5g}")


def _plain(values: Any) -> list[float | None]:
    return [_number(value) for value in np.asarray(values, dtype=np.float64)]


def _triples(given: Iterable[tuple[Any, Any, Any]]) -> list[list[Any]]:
    return [[int(first) if isinstance(first, int | np.integer) else _number(first), _number(a), _number(b)]
            for first, a, b in given]  # fmt: skip
