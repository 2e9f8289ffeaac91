"""How well do the methods predict numbers, and what do unknown cells cost?

Q2 (1 - squared error over squared deviations from the training mean, mean over outputs) of held-out rows: mean and
standard deviation of the splits (`--repeats`), beside the figures of the design (mean of three splits), marked where
they differ by more than .025. Rows are sorted by the first principal score of the standardised outputs and cut into
blocks of three; one row of each block, drawn at random, is held out; at most 1,000 training and 500 test rows. X and Y
are standardised by the training rows, predictions cut to their range.
OPLS, Kernelized and Views predict by the closed
read-out, ForestLeaves by a second ridge. Hidden cells: OPLS with at most three components, each output read out by a
ridge on its known rows, and by `predict`. Neighbours: A@10 of each arm beside the figures of the design (three splits),
all features by cosine and the rest by distance. Search: what `proxembed.search` chooses in a budget of work, beside the
rivals of the same run, on the rows of the first three splits. `--page FILE` writes the tables as a page.
"""

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contenders import data_file
from measure import arguments, chosen, fix_threads, show

SETS = ("diabetes", "enb", "jura", "tecator", "atp1d", "wq", "linnerud")
ARMS = ("ridge", "PLS tuned", "forest", "OPLS", "Kernelized", "Views", "ForestLeaves", "PLS k=2", "OPLS k=2")
EXPECTED = {
    "diabetes": (0.49, 0.49, 0.49, 0.49, 0.51, 0.48, 0.47, 0.49, 0.49),
    "enb": (0.90, 0.90, 0.98, 0.90, 0.98, 0.99, 0.98, 0.86, 0.90),
    "jura": (0.61, 0.61, 0.60, 0.61, 0.63, 0.62, 0.63, 0.47, 0.52),
    "tecator": (0.96, 0.96, 0.64, 0.96, 0.92, 0.95, 0.70, 0.65, 0.96),
    "atp1d": (0.80, 0.79, 0.80, 0.80, 0.80, 0.80, 0.81, 0.76, 0.78),
    "wq": (0.10, 0.09, 0.18, 0.10, 0.15, 0.17, 0.16, 0.06, 0.06),
}
SHARES, RULES = (0.1, 0.3, 0.5, 0.7), ("drop", "mean", "fill")
PREDICTED = ("mean, predict", "fill, predict")
HIDDEN: dict[str, tuple[tuple[float | None, ...], ...]] = {  # by share, then by rule
    "jura": ((0.594, 0.597, 0.598), (0.562, 0.589, 0.594), (0.485, 0.571, 0.581), (0.182, 0.463, 0.522)),
    "tecator": ((0.945, 0.935, 0.947), (0.942, 0.921, 0.946), (0.884, 0.903, 0.941), (0.800, 0.851, 0.922)),
    "atp1d": ((0.795, 0.797, 0.799), (0.767, 0.776, 0.789), (0.714, 0.725, 0.782), (None, 0.583, 0.772)),
}
FEWEST = 4  # complete rows on which "drop" is fitted
TRAINING, TEST = 1000, 500
MOST = 20  # components of PLS
PARTS = ("prediction", "neighbours", "search", "unknown")
NEAR = ("all features", "PLS k=10", "lookup", "OPLS", "Kernelized", "Views")
NEAR_EXPECTED = {
    "diabetes": (0.42, 0.46, 0.66, 0.49, 0.55, 0.54),
    "enb": (0.91, 0.91, 0.99, 0.97, 0.99, 0.99),
    "jura": (0.49, 0.54, 0.68, 0.61, 0.64, 0.66),
    "tecator": (0.40, 0.46, 0.95, 0.95, 0.94, 0.95),
    "atp1d": (0.76, 0.79, 0.85, 0.82, 0.84, 0.84),
    "wq": (0.18, 0.18, 0.22, 0.17, 0.20, 0.21),
}
SEARCHED, WORK = 3, 120.0  # splits of the search, and its budget in units of work
RIVALS = ("all features", "PLSRegression", "random forest")  # that stand beside its choice
TABLES: list[tuple[str, list[str], list[list[Any]]]] = []


def rows_of(name: str) -> tuple[Any, Any]:
    """X and Y of a set."""
    import numpy as np
    from sklearn.datasets import load_diabetes, load_linnerud

    if name in ("diabetes", "linnerud"):
        X, Y = (load_diabetes if name == "diabetes" else load_linnerud)(return_X_y=True)
        return X, Y.reshape(len(X), -1).astype(float)
    with np.load(data_file(f"{name}.npz"), allow_pickle=False) as file:
        return file["X"].astype(float), file["Y"]


def split(name: str, seed: int) -> tuple[Any, Any, Any, Any]:
    """Standardised training and test rows: X, Y, X_test, Y_test."""
    import numpy as np

    X, Y = rows_of(name)
    rng, F = np.random.default_rng(seed), (Y - Y.mean(axis=0)) / Y.std(axis=0)
    order = np.argsort(F @ np.linalg.svd(F, full_matrices=False)[2][0], kind="stable")
    blocks = [order[start : start + 3] for start in range(0, len(order), 3)]
    test = np.array([rng.choice(block) for block in blocks if len(block) == 3])
    train = rng.permutation(np.setdiff1d(order, test))[:TRAINING]
    test = rng.permutation(test)[:TEST]
    varies = X[train].std(axis=0) > 1e-12 * np.abs(X[train]).max(axis=0)
    parts = []
    for values in (X[:, varies], Y):
        mean, spread = values[train].mean(axis=0), values[train].std(axis=0)
        parts.append((values - mean) / spread)
    return parts[0][train], parts[1][train], parts[0][test], parts[1][test]


def q2(Y: Any, predicted: Any, low: Any, high: Any) -> float:
    """Of standardised outputs, whose training mean is 0; predictions cut to the training range."""
    import numpy as np

    rest = Y - np.clip(predicted.reshape(Y.shape), low, high)
    return float(np.mean(1 - (rest**2).sum(axis=0) / (Y**2).sum(axis=0)))


def ridge_readout(X: Any, Y: Any, new: Any) -> Any:
    """Ridge regression with an intercept, its penalty by leave-one-out."""
    import numpy as np

    from proxembed.algebra.pencil.linear import ridge_loo, ridge_solve

    penalties = np.logspace(-6, 3, 28) * np.sum((X - X.mean(axis=0)) ** 2) / min(X.shape)
    W, level = ridge_solve(X, Y, penalties[np.argmin(ridge_loo(X, Y, penalties))])
    return new @ W + level


def closed_readout(method: Any, X: Any, Y: Any, new: Any) -> Any:
    """ybar + (z - zbar)'Zc'Yc, for columns of P with P'(Xc'Xc + lam I)P = I of the features that are projected."""
    Z = method.set_params(scaling="template", target_type="real").fit_transform(X, Y)
    return Y.mean(axis=0) + (method.transform(new) - Z.mean(axis=0)) @ (Z - Z.mean(axis=0)).T @ Y


def refitted(method: Any, X: Any, Y: Any, new: Any) -> Any:
    Z = method.set_params(target_type="real").fit_transform(X, Y)
    return ridge_readout(Z, Y, method.transform(new))


def predicting(method: Any, X: Any, Y: Any, new: Any) -> Any:
    return method.set_params(target_type="real").fit(X, Y).predict(new)


def tuned_pls(X: Any, Y: Any, new: Any) -> Any:
    """PLSRegression with the number of components of least squared error on five folds."""
    import numpy as np
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.model_selection import KFold

    most = min(MOST, X.shape[1], int(0.8 * len(X)) - 1)
    errors = np.zeros(most)
    for own, left in KFold(5, shuffle=True, random_state=0).split(X):
        model = PLSRegression(most, scale=False).fit(X[own], Y[own])
        for k in range(1, most + 1):  # the first k components of a fit are those of a fit with k
            rotations, loadings = model.x_rotations_[:, :k], model.y_loadings_[:, :k]
            predicted = (X[left] - X[own].mean(axis=0)) @ rotations @ loadings.T + Y[own].mean(axis=0)
            errors[k - 1] += np.sum((Y[left] - predicted) ** 2)
    return PLSRegression(int(errors.argmin()) + 1, scale=False).fit(X, Y).predict(new)


def forest(X: Any, Y: Any, new: Any) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    settings = {"min_samples_leaf": 2, "max_features": "sqrt", "random_state": 0}
    return RandomForestRegressor(300, **settings).fit(X, Y[:, 0] if Y.shape[1] == 1 else Y).predict(new)


def arms() -> dict[str, Callable[[Any, Any, Any], Any]]:
    """Predictions of new rows, by the name of the arm."""
    from proxembed import OPLS, PLS, ForestLeaves, Kernelized, Views

    return {
        "ridge": ridge_readout,
        "PLS tuned": tuned_pls,
        "forest": forest,
        "OPLS": lambda X, Y, new: predicting(OPLS(), X, Y, new),
        "Kernelized": lambda X, Y, new: closed_readout(Kernelized(OPLS(), random_state=0), X, Y, new),
        "Views": lambda X, Y, new: closed_readout(Views(OPLS(), random_state=0), X, Y, new),
        "ForestLeaves": lambda X, Y, new: refitted(ForestLeaves(OPLS(), random_state=0), X, Y, new),
        "PLS k=2": lambda X, Y, new: predicting(PLS(n_components=2, deflation="nipals"), X, Y, new),
        "OPLS k=2": lambda X, Y, new: predicting(OPLS(n_components=min(2, Y.shape[1])), X, Y, new),
    }


def beside(found: list[float], expected: float | None) -> str:
    """The mean of our figures and their standard deviation; the expected mean, marked where they differ by more than
    .025, as it has two digits."""
    mean = statistics.fmean(found)
    own = f"{mean:.3f}" + (f"±{statistics.stdev(found):.2f}" if len(found) > 1 else "")
    if expected is None:
        return own
    return f"{own} ({expected:g}{' !' if abs(mean - expected) > 0.025 else ''})"


def present(title: str, columns: list[str], rows: list[list[Any]]) -> None:
    """Print a table, and keep it for the page."""
    show(title, columns, rows)
    TABLES.append((title, columns, rows))


def near_arms(X: Any, outputs: Any) -> dict[str, tuple[Any, int | None]]:
    """Arms of the evaluation, and their numbers of components, by the name of the arm."""
    from proxembed import OPLS, PLS, Kernelized, Views
    from proxembed.evaluate.arms import Arm, embedding_arm, entrants

    lookups = [each.arm for each in entrants(X, outputs) if each.arm.lookup is not None]
    c = outputs.c
    return {
        "all features": (Arm("all features", None, True), None),
        "PLS k=10": (embedding_arm("PLS k=10", PLS(deflation="simpls")), 10),
        "OPLS": (embedding_arm("OPLS", OPLS()), c),
        "Kernelized": (embedding_arm("Kernelized", Kernelized(OPLS(), random_state=0)), c),
        "Views": (embedding_arm("Views", Views(OPLS(), random_state=0)), c),
        **{arm.lookup.name: (arm, None) for arm in lookups},
    }


def neighbours(names: list[str], asked: list[str], splits: int) -> None:
    """A@10 of every arm: the better of the two lookups stands for both."""
    import numpy as np

    from proxembed.evaluate.part import make_part
    from proxembed.evaluate.scoring import Measures, score
    from proxembed.measures.measures import measure_of
    from proxembed.targets.reading import read_targets

    pairs, lines = ((measure_of("A@10"), "cosine kNN"),), []
    for name in names:
        found: dict[str, list[float]] = {arm: [] for arm in asked}
        for seed in range(splits):
            X, Y, X_test, Y_test = split(name, seed)
            rows, new = np.arange(len(X)), np.arange(len(X), len(X) + len(X_test))
            outputs = read_targets(np.vstack([Y, Y_test]), "real")
            part = make_part(np.vstack([X, X_test]), outputs, rows, new, "none", rows=new)
            values: dict[str, float] = {}
            for title, (arm, k) in near_arms(X, outputs).items():
                rows_of_arm = score(arm, part, Measures(pairs, (k or 1,))).rows
                place = "lookup" if arm.lookup is not None else title
                own = next(row["value"] for row in rows_of_arm if row["arm"] == title)
                values[place] = max(values.get(place, -1.0), own)
            for arm in asked:
                found[arm].append(values[arm])
        expected = dict(zip(NEAR, NEAR_EXPECTED.get(name, (None,) * len(NEAR)), strict=True))
        lines.append([name, *(beside(found[arm], expected[arm]) for arm in asked)])
    present("A@10 of new rows among the training rows (expected)", ["set", *asked], lines)


def searched(names: list[str], splits: int, work: float) -> None:
    """What a search chooses on the training rows, and Q2 of it and of rivals on the test rows."""
    import numpy as np

    import proxembed

    lines, ahead = [], []
    for name in names:
        for seed in range(splits):
            X, Y, X_test, Y_test = split(name, seed)
            test = np.arange(len(X), len(X) + len(X_test))
            both = np.vstack([X, X_test]), np.vstack([Y, Y_test])
            found = proxembed.search(*both, target_type="real", test=test, max_work=work, max_seconds=None, shuffles=0)
            entries = found.record["summary"]["leaderboard"]
            choice = found.record["summary"]["choice"]
            own = value_of(entries, choice["method"], choice["k"])
            others = [value_of(entries, rival) for rival in RIVALS]
            lines.append([name, seed, choice["method"], choice["k"], *(format_value(v) for v in (own, *others))])
            if own is not None and others[1] is not None:
                ahead.append(own - others[1])
    means = f"mean gain over PLSRegression {statistics.fmean(ahead):+.3f}" if ahead else ""
    lines.append(["all", "", means, "", "", *[""] * len(RIVALS)])
    present("Q2 of the choice of a search, and of rivals", ["set", "split", "choice", "k", "Q2", *RIVALS], lines)


def value_of(entries: list[dict[str, Any]], arm: str, k: int | None = None) -> float | None:
    """Q2 on the test rows of an arm; None where it took no part."""
    own = [entry for entry in entries if entry["arm"] == arm and (k is None or entry["k"] == k)]
    return own[0]["scores"]["Q2 (ridge)"]["test"] if own else None


def format_value(value: float | None) -> str:
    return "left out" if value is None else f"{value:.3f}"


def page(command: str) -> str:
    """The tables in Markdown."""
    parts = ["# Outputs that are numbers", (__doc__ or "").strip(), f"Made by `{command}`."]
    for title, columns, rows in TABLES:
        table = [columns, ["---"] * len(columns), *[[str(cell) for cell in row] for row in rows]]
        parts += [f"## {title}", "\n".join(f"| {' | '.join(line)} |" for line in table)]
    return "\n\n".join(parts) + "\n"


def prediction(names: list[str], asked: list[str], splits: int) -> None:
    """Q2 of every arm."""
    own, lines, seconds = arms(), [], dict.fromkeys(asked, 0.0)
    for name in names:
        line = [name]
        for arm in asked:
            found, start = [], time.process_time()
            for seed in range(splits):
                X, Y, X_test, Y_test = split(name, seed)
                found.append(q2(Y_test, own[arm](X, Y, X_test), Y.min(axis=0), Y.max(axis=0)))
            seconds[arm] += time.process_time() - start
            expected = dict(zip(ARMS, EXPECTED[name], strict=True))[arm] if name in EXPECTED else None
            line.append(beside(found, expected))
        lines.append(line)
    lines.append(["CPU seconds", *(f"{seconds[arm]:.0f}" for arm in asked)])
    present("Q2 of held-out rows (expected)", ["set", *asked], lines)


def after_hiding(rule: str, X: Any, Y: Any, X_test: Any, Y_test: Any) -> float | None:
    """Q2 of OPLS on outputs with unknown cells; None where too few rows are complete for "drop". ``rule``: also
    "mean, predict" and the like, by the read-out of OPLS itself."""
    import numpy as np

    from proxembed import OPLS

    if rule == "drop" and np.isfinite(Y).all(axis=1).sum() < FEWEST:
        return None
    word, _, own = rule.partition(", ")
    model = OPLS(n_components=min(3, Y.shape[1]), unknown=word, target_type="real").fit(X, Y)
    if own:
        return q2(Y_test, model.predict(X_test), np.nanmin(Y, axis=0), np.nanmax(Y, axis=0))
    Z, Z_test = model.transform(X), model.transform(X_test)
    predicted = np.empty(Y_test.shape)
    for j, known in enumerate(np.isfinite(Y).T):
        predicted[:, [j]] = ridge_readout(Z[known], Y[known][:, [j]], Z_test)
    return q2(Y_test, predicted, np.nanmin(Y, axis=0), np.nanmax(Y, axis=0))


def unknown_cells(names: list[str], splits: int) -> None:
    """Q2 of OPLS by the share of cells that are hidden at random, and the rule for them."""
    import numpy as np

    lines = []
    for name in names:
        for share, figures in zip(SHARES, HIDDEN[name], strict=True):
            found: dict[str, list[float | None]] = {rule: [] for rule in (*RULES, *PREDICTED)}
            for seed in range(splits):
                X, Y, X_test, Y_test = split(name, seed)
                Y = np.where(np.random.default_rng(seed).random(Y.shape) < share, np.nan, Y)
                for rule in found:
                    found[rule].append(after_hiding(rule, X, Y, X_test, Y_test))
            line = [name, share]
            for rule, expected in zip(found, (*figures, None, None), strict=True):
                values = [value for value in found[rule] if value is not None]
                line.append(beside(values, expected) if 2 * len(values) >= splits else "none")
            lines.append(line)
    present("Q2 of OPLS where cells are hidden (expected)", ["set", "hidden", *RULES, *PREDICTED], lines)


def main() -> None:
    parser = arguments(__doc__.partition("\n")[0], repeats=10)
    parser.set_defaults(threads=1)
    parser.add_argument("--sets", default="", help="names separated by commas; all when left out")
    parser.add_argument("--arms", default="", help="names separated by commas; all when left out")
    parser.add_argument("--work", type=float, default=WORK, help="budget of a search in units of work")
    parser.add_argument("--page", type=Path, help="file for the tables, such as docs/results/outputs/README.md")
    options = parser.parse_args()
    fix_threads(options.threads)
    warnings.simplefilter("ignore")  # rows without a known cell are left out by design
    parts = chosen(PARTS, options.methods)
    names = [name for name in chosen(SETS, options.sets) if name in SETS[::6] or data_file(f"{name}.npz") is not None]
    names = names[:1] if options.quick else names
    splits = 1 if options.quick else options.repeats
    if "prediction" in parts:
        prediction(names, chosen(ARMS, options.arms), splits)
    if "neighbours" in parts:
        neighbours(names, list(NEAR), min(splits, SEARCHED))
    if "search" in parts:
        searched(names, min(splits, SEARCHED), options.work)
    if "unknown" in parts:
        unknown_cells([name for name in names if name in HIDDEN], splits)
    if options.page is not None:
        options.page.parent.mkdir(parents=True, exist_ok=True)
        options.page.write_text(page(" ".join(["python", "bench/outputs.py", *sys.argv[1:]])), encoding="utf-8")


if __name__ == "__main__":
    main()
