"""The pictures of tutorials and how-tos: one function per page. Where rows are fitted, the figure shows held-out rows.

`make docs` calls `draw`, which writes docs/generated/figures/NAME.png for each function that is newer than its picture.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from proxembed import (
    DEFC,
    FDA,
    LSI,
    MFA,
    OPLS,
    PCA,
    SSDR,
    Isomap,
    Layout,
    MultiOutputRidge,
    RowBlocks,
    Scaling,
    diagnose,
)
from proxembed.data import banana, digits, swiss_roll
from proxembed.measures import macro_average_precision

COLORS = np.array(["#0072b2", "#d55e00", "#009e73", "#cc79a7"])  # colour-blind-safe
FIRST, SECOND = "first component", "second component"


def panels(n: int, width: float = 3.6) -> tuple[Figure, Any]:
    """A figure with n axes side by side."""
    figure = Figure(figsize=(width * n, 3.5), dpi=110, layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, n))
    for each in axes:
        each.spines[["top", "right"]].set_visible(False)
    return figure, axes


def rows_on(axes: Any, Z: Any, group: Any, title: str, names: tuple[str, ...] = ()) -> None:
    """Rows in two components, coloured by group; numbers by viridis."""
    Z, group = np.asarray(Z), np.asarray(group)
    if group.dtype.kind in "iub":
        for value in np.unique(group):
            label = names[int(value)] if names else None
            axes.scatter(*Z[group == value, :2].T, s=10, color=COLORS[int(value)], label=label)
        if names:
            axes.legend(frameon=False, fontsize=8, handletextpad=0.1)
    else:
        axes.scatter(*Z[:, :2].T, s=10, c=group)
    axes.set(xticks=[], yticks=[], xlabel=FIRST, ylabel=SECOND)
    axes.set_title(title, fontsize=10)


def average_precision(model: Any, X: Any, Y: Any, X_new: Any, Y_new: Any) -> float:
    """Macro average precision on held-out rows of a ridge read-out of the embedding."""
    ridge = MultiOutputRidge(penalty="auto").fit(model.transform(X), Y)
    return macro_average_precision(Y_new, ridge.decision_function(model.transform(X_new))).value


def first_embedding() -> Figure:
    data = digits()
    Y, train, held_out = data.Y.toarray(), np.arange(0, 1797, 2), np.arange(1, 1797, 2)
    shuffled = np.random.default_rng(0).permutation(Y[train])
    fits = [("PCA", PCA(n_components=2), Y[train]), ("OPLS", OPLS(n_components=2), Y[train])]
    figure, axes = panels(3)
    for each, (name, model, labels) in zip(
        axes, [*fits, ("OPLS, labels shuffled", OPLS(n_components=2), shuffled)], strict=True
    ):
        model.fit(data.X[train], labels)
        value = average_precision(model, data.X[train], labels, data.X[held_out], Y[held_out])
        rows_on(
            each,
            model.transform(data.X[held_out]),
            Y[held_out, 1],
            f"{name}: macro AP {value:.2f}",
            ("not prime", "prime"),
        )
    return figure


def labels() -> Figure:
    X = np.random.default_rng(0).normal(size=(90, 5))
    long, red = X[:, 1] > 0, (X[:, 0] > 0) & (X[:, 1] > 0)
    Y = np.column_stack([long, red, ~long]).astype(float)
    model = OPLS(n_components=2).fit(X[:60], Y[:60])
    shown = Y[:18].copy()
    shown[:4, 1] = np.nan
    figure, axes = panels(2)
    axes[0].set_facecolor("#f0b37e")
    axes[0].imshow(np.ma.masked_invalid(shown), cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
    axes[0].set(xticks=range(3), xticklabels=("long", "red", "short"), yticks=[], ylabel="rows")
    axes[0].set_title("blue: yes; white: no; orange: unknown", fontsize=10)
    rows_on(
        axes[1],
        model.transform(X[60:]),
        long[60:].astype(int) + red[60:],
        "30 held-out rows under OPLS",
        ("short", "long", "long, red"),
    )
    return figure


def numbers() -> Figure:
    X, y = load_diabetes(return_X_y=True)
    model = OPLS(n_components=2, extend=True, target_type="real").fit(X[::2], y[::2])
    held_out, predicted = y[1::2], model.predict(X[1::2])
    figure, axes = panels(2)
    rows_on(axes[0], model.transform(X[1::2]), held_out, "221 held-out patients; light: high progression")
    axes[1].scatter(held_out, predicted, s=10, color=COLORS[0])
    ends = [held_out.min(), held_out.max()]
    axes[1].plot(ends, ends, color="#777777", linewidth=1)
    axes[1].set(xlabel="measured progression after a year", ylabel="predicted")
    q2 = 1 - ((held_out - predicted) ** 2).sum() / ((held_out - y[::2].mean()) ** 2).sum()
    axes[1].set_title(f"held-out rows, Q2 {q2:.2f}", fontsize=10)
    return figure


def pipelines() -> Figure:
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(Scaling("standard"), FDA(n_components=2)).fit(X[::2], y[::2])
    figure, axes = panels(2)
    rows_on(axes[0], model.transform(X[1::2]), y[1::2], "FDA: 89 held-out wines", ("grower 1", "grower 2", "grower 3"))
    for method, color in ((FDA, COLORS[0]), (PCA, COLORS[1])):
        steps = [
            make_pipeline(Scaling("standard"), method(n_components=k), Scaling("standard"), LogisticRegression())
            for k in (1, 2)
        ]
        axes[1].plot(
            (1, 2),
            [cross_val_score(each, X, y, cv=3).mean() for each in steps],
            "o-",
            color=color,
            label=method.__name__,
        )
    axes[1].set(
        xticks=(1, 2), xlabel="components in the pipeline", ylabel="accuracy, 3 folds of 178 wines", ylim=(None, 1)
    )
    axes[1].legend(frameon=False)
    return figure


def partly_labelled() -> Figure:
    data = digits()
    X, Y = data.X[:600], data.Y[:600].toarray().astype(float)
    partly, known = Y.copy(), np.arange(600) % 10 == 0
    partly[~known] = np.nan
    X_new, Y_new = data.X[600:], data.Y[600:].toarray()
    models = {
        "OPLS on 60 labelled rows": OPLS(n_components=4).fit(X[known], Y[known]),
        "SSDR: 540 unlabelled rows added": SSDR(OPLS(), PCA(), mix=0.3, balance="trace", n_components=4).fit(X, partly),
    }
    figure, axes = panels(2)
    for each, (name, model) in zip(axes, models.items(), strict=True):
        value = average_precision(model, X[known], Y[known], X_new, Y_new)
        rows_on(each, model.transform(X_new), Y_new[:, 3], f"{name}\nmacro AP {value:.2f}", ("no loop", "has a loop"))
    return figure


def sparse() -> Figure:
    rng = np.random.default_rng(0)
    topics = rng.random((400, 6)) < 0.3
    counts = rng.poisson(topics @ rng.random((6, 5000)) ** 40 + 0.002).astype(float)
    figure, axes = panels(2)
    for each, method in zip(axes, (LSI(n_components=2), OPLS(n_components=2)), strict=True):
        model = make_pipeline(Scaling("tfidf"), method).fit(counts[:300], topics[:300].astype(int))
        group = topics[300:, 0].astype(int) + 2 * topics[300:, 1]
        names = ("neither", "topic 1", "topic 2", "both")
        rows_on(each, model.transform(counts[300:]), group, f"{type(method).__name__}: 100 held-out documents", names)
    return figure


def large() -> Figure:
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((30, 3))
    X = rng.standard_normal((6_600, 30)).astype(np.float32)
    Y = (X @ weights + 3 * rng.standard_normal((6_600, 3)) > 2).astype(np.int8)
    model, sizes, values = OPLS(ridge=0.1), [], []
    figure, axes = panels(3)
    for X_part, Y_part in RowBlocks.from_arrays(X[:6_000], Y[:6_000], block_rows=100):
        model.partial_fit(X_part, Y_part)
        sizes.append(model.sums_.n)
        values.append(average_precision(model, X[:600], Y[:600], X[6_000:], Y[6_000:]))
        if sizes[-1] in (100, 6_000):
            title = f"{sizes[-1]:,} rows read: 600 held-out rows"
            names = ("without label 1", "with label 1")
            rows_on(axes[int(len(sizes) > 1)], model.transform(X[6_000:]), Y[6_000:, 0], title, names)
    axes[2].plot(sizes, values, ".-", color=COLORS[0])
    axes[2].set(xlabel="rows read so far, in blocks of 100", ylabel="macro AP of 600 held-out rows", xscale="log")
    return figure


def spectra() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Wavelengths, spectra and constituents as the tutorial generates them."""
    rng = np.random.default_rng(0)
    wavelength = np.arange(1100, 1700, 10)
    center, width = np.array([[1210], [1450], [1520]]), np.array([[35], [45], [30]])
    bands = np.exp(-0.5 * ((wavelength - center) / width) ** 2)
    Y = rng.uniform([5, 40, 10], [40, 75, 22], size=(90, 3))
    X = Y @ bands / 100 + rng.normal(scale=0.3, size=(90, 1)) + rng.normal(scale=0.02, size=(90, 60))
    return wavelength, X, Y


def q2(model: Any, X: Any, Y: Any) -> float:
    """Q2 on five folds, the mean over the outputs."""
    values = []
    for train, test in KFold(5).split(X):
        missed = (Y[test] - model.fit(X[train], Y[train]).predict(X[test])) ** 2
        values.append(1 - (missed.sum(axis=0) / ((Y[test] - Y[train].mean(axis=0)) ** 2).sum(axis=0)).mean())
    return float(np.mean(values))


def from_pls() -> Figure:
    wavelength, X, Y = spectra()
    model = OPLS(n_components=2).fit(X[:60], Y[:60])
    figure, axes = panels(3)
    rows_on(axes[0], model.transform(X[60:]), Y[60:, 0], "OPLS: 30 held-out samples; light: much fat")
    axes[1].plot(wavelength, X[::6].T, linewidth=0.8, color=COLORS[0])
    axes[1].set(xlabel="wavelength, nm", ylabel="absorbance", title="15 of 90 spectra")
    for name, sizes, make in (("OPLS", (1, 2, 3), OPLS), ("PLSRegression", range(1, 7), PLSRegression)):
        axes[2].plot(sizes, [q2(make(n_components=k), X, Y) for k in sizes], "o-", label=name)
    axes[2].set(xlabel="number of components k", ylabel="Q2 of left-out rows, five folds")
    axes[2].legend(frameon=False)
    return figure


def adaptive() -> Figure:
    data = banana(600)
    X, y = data.X, data.Y.toarray().argmax(axis=1)
    found = DEFC(classifier="flda", max_evals=64).fit(X[:150], y[:150], X[150:300], y[150:300])
    figure, axes = panels(2)
    rows_on(axes[0], X[300:], y[300:], "the two features", ("class 1", "class 2"))
    rows_on(axes[1], found.best_estimator_.transform(X[300:]), y[300:], "the model that the search assembled")
    axes[0].set(xlabel="feature 1", ylabel="feature 2")
    return figure


def from_sklearn() -> Figure:
    X, y = load_wine(return_X_y=True)
    figure, axes = panels(2)
    for each, model in zip(axes, (LinearDiscriminantAnalysis(solver="eigen"), FDA(ridge=0.0)), strict=True):
        Z = model.fit(X[::2], y[::2]).transform(X[1::2])
        rows_on(
            each, Z[:, :2] * np.sign(Z[0, :2]), y[1::2], f"{type(model).__name__}: 89 held-out wines", ("1", "2", "3")
        )
    return figure


def from_rdimtools() -> Figure:
    X, y = load_iris(return_X_y=True)
    figure, axes = panels(2)
    for each, method in zip(axes, (PCA(n_components=2), MFA(n_friends=5, n_enemies=20, n_components=2)), strict=True):
        model = make_pipeline(Scaling("standard"), method).fit(X[::2], y[::2])
        names = ("setosa", "versicolor", "virginica")
        rows_on(each, model.transform(X[1::2]), y[1::2], f"{type(method).__name__}: 75 held-out flowers", names)
    return figure


def from_drtoolbox() -> Figure:
    roll = swiss_roll(800, seed=0)
    place = np.hypot(roll.X[:, 0] - roll.X[:, 0].mean(), roll.X[:, -1] - roll.X[:, -1].mean())
    figure, axes = panels(2)
    for each, model in zip(axes, (PCA(n_components=2), Isomap(n_neighbors=12, n_components=2)), strict=True):
        Z = model.fit(roll.X[:500]).transform(roll.X[500:])
        rows_on(each, Z, place[500:], f"{type(model).__name__}: 300 new rows of a roll")
    return figure


def from_ropls() -> Figure:
    X, y = load_diabetes(return_X_y=True)
    model = OPLS(n_components=2, extend=True, target_type="real").fit(X[:150], y[:150])
    found = diagnose(OPLS(target_type="real"), X[:150], y[:150], n_shuffles=19, n_resamples=2)
    figure, axes = panels(2)
    rows_on(axes[0], model.transform(X[150:]), y[150:], "292 held-out patients; light: high progression")
    axes[1].hist(found.null, bins=10, color="#bbbbbb")
    axes[1].axvline(found.held_out, color=COLORS[0], linewidth=3)
    axes[1].text(0, 1.02, "19 shuffles of y", color="#777777", ha="center", transform=axes[1].get_xaxis_transform())
    axes[1].text(found.held_out, 1.02, "true y", color=COLORS[0], ha="center", transform=axes[1].get_xaxis_transform())
    axes[1].set(xlabel="Q2 on held-out rows", ylabel="number of shuffles")
    return figure


def preprocessing() -> Figure:
    wavelength, X, _ = spectra()
    figure, axes = panels(2)
    shown = X[::6]
    snv = (shown - shown.mean(axis=1, keepdims=True)) / shown.std(axis=1, keepdims=True)
    for each, lines, name in zip(axes, (shown, snv), ("15 raw spectra", "after SNV"), strict=True):
        each.plot(wavelength, lines.T, linewidth=0.8, color=COLORS[0])
        each.set(xlabel="wavelength, nm", ylabel="absorbance" if name[0] == "1" else "s.d. of the row", title=name)
    return figure


def notebook() -> Figure:
    data, first = digits().take(range(400)), 300
    old = Layout(OPLS()).fit(data.X[:first], data.Y[:first])
    anew, again = (Layout(OPLS(), start=start).fit(data.X, data.Y) for start in (None, old))
    figure, axes = panels(3)
    before = old.places_
    radius = np.sqrt(((before - before.mean(axis=0)) ** 2).sum(axis=1).mean())
    for each, layout, title in zip(axes, (old, anew, again), ("first map", "again", "again, start="), strict=True):
        Z, prime = layout.places_, data.Y.toarray()[: len(layout.places_), 1]
        moved = np.linalg.norm(Z[:first] - before, axis=1).mean() / radius
        words = "" if layout is old else f", moved by {moved:.2f}"
        each.plot(*np.stack([before, Z[:first]]).T.swapaxes(1, 2), color="#8a949e", linewidth=0.4, zorder=0)
        rows_on(each, Z, prime, f"{title}, n = {len(Z)}{words}", ("not prime", "prime"))
        each.scatter(*Z[first:].T, s=22, facecolors="none", edgecolors="#1a1a1a", linewidths=0.7)
        each.set(xlabel="first axis of the map", ylabel="second axis of the map")
    return figure


PAGES: tuple[Callable[[], Figure], ...] = (
    first_embedding,
    labels,
    numbers,
    pipelines,
    partly_labelled,
    sparse,
    large,
    from_pls,
    adaptive,
    from_sklearn,
    from_rdimtools,
    from_drtoolbox,
    from_ropls,
    preprocessing,
    notebook,
)


def draw(folder: Path) -> None:
    """Write each picture that is missing, or older than this file."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        path = folder / f"{page.__name__}.png"
        if not path.exists() or path.stat().st_mtime < Path(__file__).stat().st_mtime:
            page().savefig(path)


if __name__ == "__main__":
    draw(Path(__file__).parents[1] / "generated" / "figures")
