"""Stores the outputs of every estimator and of two searches, and compares two stores.

A change that moves code must not move results: store before it, store after it, compare. Both stores are made on one
machine, under one kernel of OpenBLAS, with the packages of one environment.

    python tests/outputs.py store before.npz
    python tests/outputs.py compare before.npz after.npz
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

sys.path.insert(0, str(Path(__file__).resolve().parent))

TOLERANCE = 1e-10  # of the largest entry of an array
FITTED = ("components_", "eigenvalues_", "mean_", "ridge_", "embedding_", "coef_", "log_bound_")


def arrays_of(estimator, rows, new) -> dict[str, np.ndarray]:
    """Fitted attributes of an estimator, and what it says of new rows."""
    found = {name: getattr(estimator, name) for name in FITTED if getattr(estimator, name, None) is not None}
    for name in ("transform", "decision_function", "predict_proba"):
        if hasattr(estimator, name):
            found |= {f"{name} {place}": getattr(estimator, name)(X) for place, X in (("seen", rows), ("new", new))}
    dense = {name: value.toarray() if sp.issparse(value) else np.asarray(value) for name, value in found.items()}
    return {name: value for name, value in dense.items() if value.dtype.kind == "f"}


def method_outputs() -> dict[str, np.ndarray]:
    """Every case of the invariant tests on its data; every other public estimator in default construction."""
    from contracts.estimators import EVERY, SPECTRAL, D, N, X, y_for
    from invariants.cases import cases, data_for
    from strategies import features_dense

    outputs: dict[str, np.ndarray] = {}
    for case in cases():
        for data in data_for(case):
            arrays = arrays_of(case.fit(data), data.X, data.new)
            outputs |= {f"{case.name} | {data.name} | {name}": value for name, value in arrays.items()}
    searches = ("DEFC", "EmbeddingSearch")
    for cls in EVERY:
        if cls not in SPECTRAL and cls.__name__ not in searches:
            arrays = arrays_of(cls().fit(X, y_for(cls)), X, X[:6] + features_dense(6, D, N))
            outputs |= {f"{cls.__name__} | {name}": value for name, value in arrays.items()}
    return outputs


def search_outputs() -> dict[str, np.ndarray | str]:
    """The trials of one EmbeddingSearch and the leaderboards of DEFC's three searches, and their embeddings."""
    from proxembed import DEFC, EmbeddingSearch
    from proxembed.data import banana, digits

    data = digits().take(range(300))
    found = EmbeddingSearch(max_seconds=None, max_trials=12).fit(data.X, data.Y)
    outputs: dict[str, np.ndarray | str] = {
        "EmbeddingSearch | embedding": found.transform(data.X),
        "EmbeddingSearch | trials": plain([[t["method"], t["params"], t["k"], t["scores"]] for t in found.trials_]),
    }
    rows = banana(160)
    y = rows.Y.toarray().argmax(axis=1)
    for search, evaluations in (("reduced8", 40), ("random", 40), ("ga", 300)):
        model = DEFC(search, max_evals=evaluations, cv=3).fit(rows.X, y)
        board = [[entry["switches"], entry["params"], entry["k"], entry["score"]] for entry in model.leaderboard_]
        outputs |= {f"DEFC {search} | embedding": model.transform(rows.X), f"DEFC {search} | board": plain(board)}
    return outputs


def plain(value) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def store(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outputs = method_outputs() | search_outputs()
    with path.open("wb") as file:
        np.savez_compressed(file, **{name: np.asarray(value) for name, value in outputs.items()})
    print(f"{len(outputs)} outputs in {path}")


def differences(before: Path, after: Path) -> list[str]:
    """One line per output that is missing, new, or differs by more than the tolerance."""
    lines = []
    with np.load(before) as old, np.load(after) as new:
        lines += [f"missing: {name}" for name in sorted(set(old.files) - set(new.files))]
        lines += [f"new: {name}" for name in sorted(set(new.files) - set(old.files))]
        for name in sorted(set(old.files) & set(new.files)):
            a, b = old[name], new[name]
            if a.dtype.kind != "f" or a.shape != b.shape:
                if a.shape != b.shape or a.tolist() != b.tolist():
                    lines.append(f"differs: {name}")
            elif not np.allclose(a, b, rtol=0, atol=TOLERANCE * np.abs(a).max(initial=0.0), equal_nan=True):
                lines.append(f"differs by {np.abs(a - b).max() / np.abs(a).max():.1e}: {name}")
    return lines


def main(arguments: list[str]) -> int:
    match arguments:
        case ["store", path]:
            store(Path(path))
            return 0
        case ["compare", before, after]:
            lines = differences(Path(before), Path(after))
            print("\n".join(lines) or "no difference")
            return 1 if lines else 0
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
