"""What do neighbours on a map say of the labels of new rows, beside PCA, UMAP and supervised UMAP?

    python bench/maps.py [emotions birds scene yeast digits]     # needs proxembed[maps]

Mean Jaccard@10 on maps of two coordinates. "new" is of held-out rows and their neighbours among the training rows, "in"
of training rows among themselves, "new-new" of held-out rows among themselves; "null" is of shuffled training labels,
of which the honest map alone has training rows at chance, too. A random third of the rows is held out (seed 0), of
which maps see nothing; there are at most 1,206 training rows. The honest map places training rows by models of folds
that have not seen them. digits are those of scikit-learn, ten classes; the others come from $PROXEMBED_DATA, or the
folder shared/data beside the checkout.
"""

import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from measure import show
from proxembed import PCA, Layout
from proxembed.data import Dataset, read
from proxembed.evaluate.maps import map_figures
from proxembed.evaluate.part import Part, prepare
from proxembed.evaluate.rivals import UMAP, SupervisedUMAP
from proxembed.splits.folds import Split

DATA = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = ("emotions", "birds", "scene", "yeast", "digits")
MOST_ROWS, TRAINED = 1206, 0.67
MAPS: dict[str, Callable[[], Any]] = {
    "PCA": lambda: PCA(n_components=2),
    "UMAP": UMAP,
    "supervised UMAP": SupervisedUMAP,
    "Layout": Layout,
    "Layout(honest=True)": lambda: Layout(honest=True),
}
LEARN = ("supervised UMAP", "Layout", "Layout(honest=True)")  # from labels, so that shuffled ones tell something


def data_set(name: str) -> Dataset:
    if name != "digits":
        return read(DATA / f"{name}.npz")
    X, y = load_digits(return_X_y=True)
    return Dataset(X, np.eye(10, dtype=np.uint8)[y], name=name)


def random_part(data: Dataset) -> Part:
    """A random third of the rows held out."""
    order, n = np.random.default_rng(0).permutation(data.X.shape[0]), data.X.shape[0]
    train = order[: min(MOST_ROWS, round(TRAINED * n))]
    return prepare(data, Split("test", train, np.setdiff1d(order, train)), 0)


def figures(estimator: Any, part: Part) -> dict[str, float]:
    labels = part.labels if estimator.labels is not None else None
    train = estimator.fit_transform(part.X, labels)
    return map_figures(train, estimator.transform(part.X_held_out), part.Y, part.Y_held_out)


def main() -> None:
    warnings.simplefilter("ignore")
    names = [name for name in sys.argv[1:] if name in SETS] or list(SETS)
    head = ["set", "map", "new", "new-new", "in", "null new", "null in", "chance", "s"]
    rows = []
    for name in names:
        part = random_part(data_set(name))
        order = np.random.default_rng(0).permutation(part.labels.n)
        shuffled = replace(part, labels=part.labels.take(order))
        for title, make in MAPS.items():
            started = time.perf_counter()
            own = figures(make(), part)
            seconds = time.perf_counter() - started
            null = figures(make(), shuffled) if title in LEARN else {"outside": "", "inside": ""}
            values = own["outside"], own["among"], own["inside"], null["outside"], null["inside"], own["chance"]
            rows.append([name, title, *(f"{v:.3f}" if v != "" else "" for v in values), f"{seconds:.1f}"])
            print(f"{name}, {title}: {own['outside']:.3f}", file=sys.stderr, flush=True)
    show(__doc__, head, rows)


if __name__ == "__main__":
    main()
