"""How often does the interval of a gain on test rows hold the gain of many rows?  (10 minutes; "auc": up to 9 a kind)

    python bench/intervals.py [KIND ...] [auc]
    python bench/intervals.py data      # the widths on data sets; PROXEMBED_DATA has them

Planted data. Of each kind 20 worlds: all features and a few OPLS components, each with a ridge read-out fitted on the
training rows, and 10 test parts that share no row. Three truths: the gain of these fitted models on 50,000 rows over
all labels; over the labels of the test part alone; the mean gain of parts of the test part's size (the same labels).
Printed: bias of the gain against each truth and its standard deviation around the last; of the interval by rows drawn
again alone and of the present one the root mean square error that it rests on, and the share of runs in which it holds
each truth; the ratio of the two widths. "auc": macro AUC instead of macro average precision. "data": the two half
widths on 33 % of (at most 1,500) rows, for ridge read-outs of 5 OPLS components and of all features.
"""

import os
import sys
import time
from pathlib import Path
from unittest.mock import patch

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import numpy as np  # noqa: E402

from held_out import drawn  # noqa: E402
from proxembed import OPLS  # noqa: E402
from proxembed.classify.ridge import fit_readout  # noqa: E402
from proxembed.measures import statistics  # noqa: E402
from proxembed.measures.measures import MACRO_AUC, MEASURES  # noqa: E402
from proxembed.measures.metrics import average_precision, label_auc  # noqa: E402

WORLDS, PARTS, MANY = range(100, 120), 10, 50_000
FEATURES, SIZES = 30, (2, 4, 6, 8)
SETS = ("emotions", "birds", "scene", "yeast", "enron")
KINDS = {
    "many positives": {"rows": (400, 150), "labels": 10, "shares": (0.1, 0.4)},
    "few": {"rows": (400, 120), "labels": 16, "shares": (0.01, 0.12)},
    "very few": {"rows": (400, 100), "labels": 20, "shares": (0.01, 0.04)},
    "small part": {"rows": (300, 40), "labels": 5, "shares": (0.05, 0.2)},
    "correlated": {"rows": (350, 120), "labels": 12, "shares": (0.02, 0.3), "latent": 2},
    "clear": {"rows": (400, 120), "labels": 10, "shares": (0.02, 0.2), "noise": 0.3},
    "one class per row": {"rows": (400, 120), "labels": 8, "shares": None},
    "groups of 5": {"rows": (400, 150), "labels": 8, "shares": (0.03, 0.3), "group": 5},
    "unknown cells": {"rows": (400, 150), "labels": 12, "shares": (0.02, 0.2), "unknown": 0.3},
}


def rows_of(rng, n: int, W: np.ndarray, kind: dict):
    """Features, label scores with noise, and the group of each row (None without groups)."""
    c, size, latent = W.shape[1], kind.get("group"), kind.get("latent")
    group = None if size is None else np.arange(n) // size

    def normal(columns: int) -> np.ndarray:
        own = rng.normal(size=(n, columns))
        return own if group is None else np.sqrt(0.5) * (own + rng.normal(size=(group[-1] + 1, columns))[group])

    X, noise = normal(len(W)), normal(c)
    if latent is not None:
        noise = 0.6 * noise + 0.8 * np.repeat(normal(latent), c // latent, axis=1)
    return X, X @ W + kind.get("noise", 1.0) * noise, group


def planted(rng, kind: dict):
    """The two models' scores, labels, known cells and groups of many rows that neither model has seen."""
    c, latent = kind["labels"], kind.get("latent")
    W = rng.normal(size=(FEATURES, c)) * (rng.random((FEATURES, c)) < 0.4)
    if latent is not None:
        W = np.repeat(rng.normal(size=(FEATURES, latent)), c // latent, axis=1) + 0.4 * rng.normal(size=(FEATURES, c))
    W /= np.linalg.norm(W, axis=0)
    (X_train, S_train, _), (X, S, group) = (rows_of(rng, n, W, kind) for n in (kind["rows"][0], MANY))
    if kind["shares"] is None:
        Y_train, Y = (np.eye(c, dtype=bool)[(each + np.linspace(0, -1.8, c)).argmax(axis=1)] for each in (S_train, S))
    else:
        shares = rng.permutation(np.geomspace(*kind["shares"], c))
        cuts = np.array([np.quantile(S[:, j], 1 - shares[j]) for j in range(c)])
        Y_train, Y = S_train > cuts, S > cuts
    k = min(int(rng.choice(SIZES)), c - 2)
    method = OPLS(n_components=k).fit(X_train, Y_train.astype(int))
    Z_train, Z = method.transform(X_train), method.transform(X)
    ours, theirs = (fit_readout(train, Y_train).scores(new) for train, new in ((Z_train, Z), (X_train, X)))
    known = rng.random(Y.shape) >= kind["unknown"] if "unknown" in kind else None
    return ours, theirs, Y if known is None else Y & known, known, group


def values(Y, S, known, auc: bool) -> np.ndarray:
    """The measure of each label, NaN where it is undefined."""
    if not auc:
        return average_precision(Y, S, known)
    if known is None:
        return label_auc(Y, S)
    each = [label_auc(Y[rows, j : j + 1], S[rows, j : j + 1])[0] for j, rows in enumerate(known.T)]
    return np.array(each)


def intervals(Y, ours, theirs, known, group, gain: float, auc: bool) -> list[float]:
    """Half widths: by rows drawn again alone, and of the present interval."""
    weights, found = statistics.drawn_weights(len(Y), group), []
    for alone in (True, False):
        with patch.object(statistics, "unseen_variance", (lambda *_: 0.0) if alone else statistics.unseen_variance):
            if auc:
                made = statistics.redrawn_gain(
                    MEASURES[MACRO_AUC], Y, ours, theirs, weights, gain, known=known, groups=group
                )
            else:
                made = statistics.precision_gain(Y, ours, theirs, weights, known=known, groups=group)["interval"]
        found.append(np.inf if made is None else (made[1] - made[0]) / 2)
    return found


def runs_of(seed: int, kind: dict, auc: bool) -> np.ndarray:
    """(PARTS, 6): error of the gain against the three truths, the two half widths, and the gain."""
    ours, theirs, Y, known, group = planted(np.random.default_rng(seed), kind)
    size = kind["rows"][1]
    true = values(Y, ours, known, auc) - values(Y, theirs, known, auc)
    parts, gains = [slice(i, i + size) for i in range(0, MANY - size + 1, size)], []
    for part in parts:
        cells = None if known is None else known[part]
        gains.append(values(Y[part], ours[part], cells, auc) - values(Y[part], theirs[part], cells, auc))
    expected, out = np.nanmean(gains, axis=0), []
    for part, each in zip(parts[:PARTS], gains, strict=False):
        there, gain = np.isfinite(each), np.nanmean(each)
        cells, own = (None if values is None else values[part] for values in (known, group))
        halves = intervals(Y[part], ours[part], theirs[part], cells, own, gain, auc)
        out.append([*(gain - np.array([true.mean(), true[there].mean(), expected[there].mean()])), *halves, gain])
    return np.array(out)


def on_data(folder: Path) -> None:
    for name in SETS:
        for seed in (0, 1):
            rows = drawn(folder, name, 1500, seed)
            X, X_new = (X.toarray() if hasattr(X, "toarray") else X for X in (rows.X, rows.X_new))
            Y, Y_new = rows.Y.astype(bool), rows.Y_new.astype(bool)
            method = OPLS(n_components=5).fit(X, rows.Y)
            ours = fit_readout(method.transform(X), Y).scores(method.transform(X_new))
            halves = intervals(Y_new, ours, fit_readout(X, Y).scores(X_new), None, None, 0.0, False)
            counts = Y_new.sum(axis=0)
            print(
                f"{name:9s} {len(Y_new)} rows, {(counts > 0).sum()} labels of {counts[counts > 0].min()} rows or more  "
                f"{halves[0]:.4f} {halves[1]:.4f}  width x{halves[1] / halves[0]:.3f}",
                flush=True,
            )


def main() -> None:
    if sys.argv[1:] == ["data"]:
        return on_data(Path(os.environ["PROXEMBED_DATA"]))
    auc, named = "auc" in sys.argv[1:], [name for name in sys.argv[1:] if name != "auc"]
    held = []
    for name in named or KINDS:
        start = time.perf_counter()
        runs = np.concatenate([runs_of(seed, KINDS[name], auc) for seed in WORLDS])
        off, halves = runs[:, :3], runs[:, 3:5]
        hits = np.abs(off)[:, None, :] < halves[:, :, None]
        held.append(hits)
        errors = np.sqrt(np.mean(halves**2, axis=0)) / 1.96
        print(
            f"{name:18s} {len(runs)} runs  gain {runs[:, 5].mean():+.3f}  bias {off[:, 0].mean():+.4f} "
            f"{off[:, 1].mean():+.4f} {off[:, 2].mean():+.4f}  sd {off[:, 2].std():.4f}  "
            f"drawn {errors[0]:.4f} {shares(hits[:, 0])}  present {errors[1]:.4f} {shares(hits[:, 1])}  "
            f"width x{np.mean(halves[:, 1] / halves[:, 0]):.2f}  {time.perf_counter() - start:.0f} s",
            flush=True,
        )
    every = np.concatenate(held)
    print(f"all {len(every)} runs: drawn {shares(every[:, 0])}, present {shares(every[:, 1])}")


def shares(hits: np.ndarray) -> str:
    return "/".join(f"{100 * share:.1f}" for share in hits.mean(axis=0))


if __name__ == "__main__":
    main()
