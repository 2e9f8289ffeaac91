"""
How certain is the model about each row, and can I trust that?
==============================================================

:class:`~proxembed.BSML` learns an embedding and its classifiers together, each as a distribution. ``predict_proba``
returns the probability of each label, and ``transform(..., return_std=True)`` the standard deviation of each position.
"""

# %%
# Digits with seven attributes, standardised by the training part. The models are fitted on 40 rows, on 600 rows, and
# on 600 rows with shuffled labels.

import matplotlib.pyplot as plt
import numpy as np

from proxembed import BSML, Scaling
from proxembed.data import digits
from proxembed.splits import stratified_folds

data = digits()
Y = data.Y.toarray().astype(int)
split = stratified_folds(Y, 3, seed=0)[0]
new, random = split.held_out, np.random.default_rng(0)
order = random.permutation(split.train)
bins = np.linspace(0, 1, 11)
found = {}
for name, count in (("40 rows", 40), ("600 rows", 600), ("600 rows, labels shuffled", 600)):
    train = order[:count]
    scaling = Scaling("standard").fit(data.X[train])
    labels = random.permutation(Y[train]) if "shuffled" in name else Y[train]
    model = BSML(n_components=6, tol=1e-4).fit(scaling.transform(data.X[train]), labels)
    probability = model.predict_proba(scaling.transform(data.X[new]))
    deviation = model.transform(scaling.transform(data.X[new]), return_std=True)[1].mean()
    inside = np.digitize(probability.ravel(), bins[1:-1])
    cells = np.bincount(inside, minlength=10)
    said = np.bincount(inside, probability.ravel(), 10) / np.maximum(cells, 1)
    held = np.bincount(inside, Y[new].ravel(), 10) / np.maximum(cells, 1)
    gap = (np.abs(said - held) * cells).sum() / cells.sum()
    wrong = ((probability > 0.5) != Y[new]).mean()
    found[name] = said, held, cells
    print(
        f"{name:26s} wrong cells {wrong:.3f}   calibration gap {gap:.3f}   mean deviation of a position {deviation:.3f}"
    )

# %%
# With 40 rows the model is wrong more often and reports it: positions are two and a half times as uncertain, and the
# probabilities are still about calibrated. Shuffled labels show the limit. The deviation of a position is the same
# as with true labels, because it depends only on the features and the number of rows; and probabilities learned from
# noise are more extreme than the data justify. The uncertainty inside a model does not test the model; held-out rows
# do.

figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
axes.plot([0, 1], [0, 1], color="black", linestyle=":", label="says what holds")
for (name, (said, held, cells)), color, marker in zip(
    found.items(), ("#d55e00", "#0072b2", "#999999"), "so^", strict=True
):
    full = cells >= 20
    axes.plot(said[full], held[full], color=color, marker=marker, label=name)
axes.set(
    xlabel="probability that the model gives (mean of a bin)",
    ylabel="share of cells that hold the label",
    aspect="equal",
)
axes.set_title(f"n = {len(new)} held-out rows x 7 labels; bins of 20 cells or more", fontsize=10)
axes.legend(frameon=False, fontsize=9)
plt.show()
