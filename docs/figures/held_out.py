"""The figure of the README: held-out digits under PCA, under Kernelized(OPLS), and under the same on shuffled labels.

The maps are fitted on two thirds of the rows; what is drawn and scored is the other third. Scores are the macro average
precision over the seven attributes of a ridge read-out fitted on the training rows of each map.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from proxembed import OPLS, PCA, Kernelized, MultiOutputRidge, Scaling
from proxembed.data import digits
from proxembed.measures.metrics import macro_average_precision
from proxembed.splits.splits import stratified_folds

SEED = 0
COLORS = ("#0072b2", "#d55e00")  # colour-blind-safe
NAMES = ("odd", "even")


def main(path: Path) -> None:
    data = digits()
    Y = data.Y.toarray().astype(int)
    digit = np.unique(Y, axis=0, return_inverse=True)[1]  # every digit has a label set of its own
    names = {group: str(number) for number, group in enumerate(digit[:10])}  # the first ten images are 0 to 9
    split = stratified_folds(Y, 3, seed=SEED)[0]
    scaling = Scaling("standard").fit(data.X[split.train])
    X, X_held_out = scaling.transform(data.X[split.train]), scaling.transform(data.X[split.held_out])
    shuffled = np.random.default_rng(SEED).permutation(Y[split.train])
    panels = [
        ("PCA", PCA(n_components=2).fit(X), Y[split.train]),
        ("Kernelized(OPLS)", Kernelized(OPLS(), n_components=2).fit(X, Y[split.train]), Y[split.train]),
        ("labels shuffled", Kernelized(OPLS(), n_components=2).fit(X, shuffled), shuffled),
    ]
    figure = Figure(figsize=(7.4, 3.2), dpi=170, layout="constrained")  # legible at the width of a phone
    for axes, (title, embedder, labels) in zip(figure.subplots(1, 3), panels, strict=True):
        Z = embedder.transform(X_held_out)
        read_out = MultiOutputRidge(penalty="auto").fit(embedder.transform(X), labels)
        score = macro_average_precision(Y[split.held_out], read_out.decision_function(Z)).value
        for (x, y), row in zip(Z / np.abs(Z).max(axis=0), split.held_out, strict=True):
            look = {"color": COLORS[Y[row, 0]], "alpha": 0.8, "fontsize": 5.5}
            axes.text(x, y, names[digit[row]], ha="center", va="center", **look)
        axes.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), xticks=[], yticks=[])
        axes.set_title(title, fontsize=12)
        axes.set_xlabel(f"macro AP {score:.3f}", fontsize=11)
        axes.spines[["top", "right"]].set_visible(False)
    for name, color, x in zip(NAMES, COLORS, (0.47, 0.53), strict=True):
        figure.text(x, -0.045, name, color=color, fontsize=11, ha="center")
    chance = Y[split.held_out].mean()
    note = f"{len(split.held_out)} held-out digits of {len(Y):,}; macro average precision (AP) of 7 labels"
    figure.supxlabel(f"{note}, chance {chance:.3f}", fontsize=10)
    figure.savefig(path, bbox_inches="tight")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
