"""What do scores of a forest add beside the features, in sample and out of bag?  (minutes)

    python bench/views.py [SET ...]      # emotions, birds, scene and yeast without names; PROXEMBED_DATA has them

67 % of (at most 1,500) rows to train, seed 0. Every line is `Kernelized(OPLS())` on blocks: the features alone, beside
them scores of a forest in sample (weight 2) and out of bag (weights .5 and 1), out-of-fold ridge scores of the same
features (weight .5), and the weight that three folds choose. Printed: mAP, J to training rows (cosine, Euclidean), J of
new rows among themselves (the same two), seconds; see held_out.py.
"""

import os
import sys
import time
import warnings
from pathlib import Path

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

from held_out import drawn, figures, figures_of  # noqa: E402
from proxembed import Kernelized, MultiOutputRidge, Views  # noqa: E402
from proxembed.evaluate.rivals.forests import ForestScores  # noqa: E402
from proxembed.features.scaling import Block, scaled  # noqa: E402

MOST = 1500
SETS = ("emotions", "birds", "scene", "yeast")
MODELS = {
    "X": Views(views=["features"]),
    "X + out-of-bag .5": Views(weights=0.5),
    "X + out-of-bag 1": Views(weights=1.0),
    "X + ridge scores .5": Views(views=["features", MultiOutputRidge()], weights=0.5),
    "X + out-of-bag, folds": Views(weights="folds"),
}


def in_sample(rows, weight: float = 2.0):
    """The features beside scores of the training rows by all trees, which have seen them."""
    forest = ForestScores(n_estimators=300).fit(rows.X, rows.Y)
    views = [rows.X, forest.decision_function(rows.X)]
    blocks = [Block.of(view, own) for view, own in zip(views, (1.0, weight), strict=True)]
    R, R_new = scaled(blocks, views), scaled(blocks, [rows.X_new, forest.decision_function(rows.X_new)])
    model = Kernelized().fit(R, rows.Y)
    return figures(model.transform(R), model.transform(R_new), rows)


def show(name: str, line: str, found, started: float, note: str = "") -> None:
    values = "/".join(f"{value:.3f}" for value in found)
    print(f"{name:9s} {line:22s} {values}  {time.perf_counter() - started:5.1f} s {note}", flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or SETS:
        rows = drawn(Path(os.environ["PROXEMBED_DATA"]), name, MOST)
        print(f"{name}: {rows.X.shape[0]} rows to train, {rows.X_new.shape[0]} held out")
        started = time.perf_counter()
        show(name, "X + in-sample 2", in_sample(rows), started)
        for line, model in MODELS.items():
            started = time.perf_counter()
            found = figures_of(model, rows)
            show(name, line, found, started, f"weight {model.weights_[-1]:g}" if "folds" in line else "")


if __name__ == "__main__":
    main()
