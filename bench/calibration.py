"""Can the probabilities of a model be trusted?

    python bench/calibration.py [--page] [SET ...]      # 2 minutes; PROXEMBED_DATA has the sets

Models of the anchors of a search, fitted by ``fit_on`` on the rows of a split that are not held out: a third of the
rows in turn of emotions, one third of the others (ReadoutAxes(Views) on emotions alone). Of the labels with at least
100 positive rows in the whole set: expected calibration error in ten bins of equal numbers of held-out cells, the
labels pooled, and the mean over the labels one by one; Brier score and log-loss, means over the cells. Beside the
probabilities of the models ("now") stand, from the same scores, Platt's sigmoid of each label alone, which comparisons
had before, and the stack of TargetSpace as it is, which its models had before; other models had no probabilities. The
floor is the calibration error that probabilities like those of now have where they are exactly right: the mean over 20
draws of labels from them. ``--page`` writes docs/results/search/calibration.md.
"""

import os
import sys
import warnings
from pathlib import Path

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import numpy as np  # noqa: E402
from scipy.special import expit, softmax  # noqa: E402

from proxembed import OPLS, Kernelized, ReadoutAxes, TargetSpace, Views, fit_on  # noqa: E402
from proxembed.data import read  # noqa: E402
from proxembed.measures.calibration import calibrated, label_calibration_error, reliability  # noqa: E402
from proxembed.methods.pipeline import training_labels, unseen_scores  # noqa: E402
from proxembed.splits.stratification import stratified_parts  # noqa: E402
from proxembed.targets.labels import LabelMatrix  # noqa: E402

SETS = ("emotions", "yeast", "scene", "satimage", "enron")
PARTS, FREQUENT, DRAWS = 3, 100, 20
HEAD = "| set | labels | cells | method | probabilities | pooled | per label | Brier | log-loss |"
PAGE = Path(__file__).parents[1] / "docs" / "results" / "search" / "calibration.md"
VIEWS = ("features", "leaves", "scores")


def methods(small: bool) -> dict:
    """The anchors by name."""
    found = {"TargetSpace": TargetSpace(), "Kernelized(OPLS)": Kernelized(OPLS())}
    if small:
        found["ReadoutAxes(Views)"] = ReadoutAxes(Views(Kernelized(OPLS()), views=VIEWS, weights=1.0))
    return found


def held_out(method, data, train: np.ndarray, rest: np.ndarray) -> dict[str, np.ndarray]:
    """Probabilities of the rest, (m, c) in the order of the labels of the data, by each of the maps."""
    some = data.take(train)
    y = training_labels(some)
    labels = LabelMatrix.of(y)
    model = fit_on(method, some)
    space, readout, rows = model["embedding"], model["readout"], data.X[rest]
    itself = hasattr(space, "label_scores")
    own = space.own_label_scores() if itself else unseen_scores(model[:-1], some.X, labels)
    scores = space.label_scores(model[0].transform(rows)) if itself else scores_of(model, rows)
    sigmoid = calibrated(own, labels.Y)
    found = {"now": model.predict_proba(rows), "Platt": expit(np.asarray(scores) * sigmoid.slope + sigmoid.offset)}
    if itself:
        found["stack"] = softmax(scores, axis=1) if labels.form == "classes" else expit(scores)
    if labels.form != "classes":
        return found
    place = [list(readout.classes_).index(name) for name in data.label_names]
    return {name: P[:, place] for name, P in found.items()}


def scores_of(model, rows) -> np.ndarray:
    """The ridge scores of rows, before any cut."""
    return model["readout"].classifier_.decision_function(model[:-1].transform(rows))


def figures(Y: np.ndarray, P: np.ndarray) -> list[float]:
    """Calibration error of the pooled labels and of single labels, Brier score, log-loss."""
    each = float(label_calibration_error(Y, P).mean())
    loss = -np.log(np.clip(np.where(Y, P, 1 - P), 1e-15, 1)).mean()
    return [reliability(Y, P).error, each, float(((P - Y) ** 2).mean()), float(loss)]


def floor(P: np.ndarray) -> list[float]:
    """Calibration errors where the labels are drawn from the probabilities."""
    rng = np.random.default_rng(0)
    return list(np.mean([figures(rng.random(P.shape) < P, P)[:2] for _ in range(DRAWS)], axis=0))


def line(words: list[str], values: list[float]) -> str:
    """A line of the table."""
    return "| " + " | ".join([*words, *(f"{value:.4f}" for value in values), *["-"] * (4 - len(values))]) + " |"


def lines_of(name: str, data) -> list[str]:
    """The lines of a set."""
    Y, lines = data.Y.toarray() > 0, []
    frequent, part = Y.sum(axis=0) >= FREQUENT, stratified_parts(Y, np.full(PARTS, 1 / PARTS))
    small = len(Y) < 1000
    turns = range(PARTS if small else 1)
    truth = np.concatenate([Y[part == fold] for fold in turns])[:, frequent]
    for title, method in methods(small).items():
        found = [held_out(method, data, np.flatnonzero(part != f), np.flatnonzero(part == f)) for f in turns]
        words = [name, str(frequent.sum()), f"{truth.size:,}", title]
        every = {kind: np.concatenate([each[kind] for each in found])[:, frequent] for kind in found[0]}
        lines += [line([*words, kind], figures(truth, P)) for kind, P in every.items()]
        lines.append(line([*words, "floor"], floor(every["now"])))
    return lines


def main() -> None:
    warnings.simplefilter("ignore")
    folder = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).parents[1] / "shared" / "data"))
    names = [name for name in sys.argv[1:] if name != "--page"] or SETS
    lines = [HEAD, "|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(lines))
    for name in names:
        own = lines_of(name, read(folder / f"{name}.npz"))
        print("\n".join(own), flush=True)
        lines += own
    if "--page" in sys.argv:
        title, *_, told = __doc__.strip().split("\n\n")
        text = "\n\n".join(["# Calibration", f"{title} (`python bench/calibration.py --page`)", told, "\n".join(lines)])
        PAGE.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
