"""
How many components do I need?
==============================

Choose the number with folds inside the training part, never on the rows whose score you report. One fit serves all
sizes, so the whole curve costs no more than its largest k.
"""

# %%
# 600 digits with seven attributes. A third of the rows is set aside; five folds of the others score every size of
# Kernelized(OPLS).

import matplotlib.pyplot as plt
import numpy as np

from proxembed import OPLS, Kernelized, MultiOutputRidge
from proxembed.data import digits
from proxembed.measures import macro_average_precision
from proxembed.splits import stratified_folds

data = digits().take(range(600))
X, Y = data.X, data.Y.toarray().astype(int)
split = stratified_folds(Y, 3, seed=0)[0]
inside, test = split.train, split.held_out
sizes = range(1, 8)


def curve(train, new, labels=Y):
    """Macro average precision on new rows with the first k components, for every k of one fit."""
    method = Kernelized(OPLS(), n_components=max(sizes)).fit(X[train], labels[train])
    values = []
    for k in sizes:
        short = method.truncate(k)
        read_out = MultiOutputRidge(penalty="auto").fit(short.transform(X[train]), labels[train])
        values.append(macro_average_precision(labels[new], read_out.decision_function(short.transform(X[new]))).value)
    return values


folds = [(inside[fold.train], inside[fold.held_out]) for fold in stratified_folds(Y[inside], 5, seed=0)]
scores = np.array([curve(*fold) for fold in folds])
mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(len(folds))
best = int(mean.argmax())
chosen = int(np.flatnonzero(mean >= mean[best] - error[best])[0])
tested = curve(inside, test)
mixed = Y.copy()
mixed[inside] = np.random.default_rng(0).permutation(Y[inside])
shuffled = np.mean([curve(*fold, labels=mixed) for fold in folds[:2]], axis=0)
print("mean of the folds:", " ".join(f"{value:.3f}" for value in mean))
print(f"largest at k = {sizes[best]}; smallest within one standard error: k = {sizes[chosen]}")
print(f"test rows, scored once: k = {sizes[chosen]}: {tested[chosen]:.3f}")

# %%
# These folds cannot distinguish the smallest size within one standard error of the largest mean from the best size.
# The test rows are scored at that size only. The dotted curve of the other sizes is drawn here to show that the
# choice was good; in practice you would not look at it. Larger sizes gain nothing and only need more space.

plt.rc("font", size=18)
figure, axes = plt.subplots(figsize=(8, 5.6), layout="constrained")
blue, orange, grey = "#0072b2", "#d55e00", "#777777"
axes.errorbar(sizes, mean, error, color=blue, marker="o", markersize=10, linewidth=3, capsize=5)
axes.plot(sizes, tested, color=orange, linestyle=":", marker="s", markersize=9, markerfacecolor="white", linewidth=2)
axes.plot(sizes, shuffled, color=grey, marker="^", markersize=9, linewidth=2)
axes.plot(sizes[chosen], tested[chosen], color=orange, marker="s", markersize=16)
axes.annotate(
    f"k = {sizes[chosen]} is enough",
    (sizes[chosen], tested[chosen] - 0.015),
    (sizes[chosen], 0.86),
    color=orange,
    fontsize=24,
    weight="bold",
    ha="center",
    arrowprops={"arrowstyle": "->", "color": orange, "lw": 3},
)
axes.text(2.15, 0.79, f"five folds, n = {len(inside)}", color=blue)
axes.text(2.15, 0.73, f"test rows, n = {len(test)}", color=orange)
axes.text(4, shuffled[3] + 0.03, "labels shuffled", color=grey, ha="center")
axes.set(xticks=sizes, xlabel="components k", ylabel="macro average precision", ylim=(0.4, 1.03))
axes.spines[["top", "right"]].set_visible(False)
plt.show()
