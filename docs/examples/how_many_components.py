"""
How many components do I need?
==============================

Choose the number with folds inside the training part, never on the rows whose score you report. One fit serves all
sizes, so the whole curve costs no more than its largest k.
"""

# %%
# 600 digits with seven attributes. A third of the rows is set aside; five folds of the others score every size.

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

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.errorbar(
    sizes, mean, error, color="#0072b2", marker="o", capsize=3, label="5 folds of the training part, ± 1 s.e."
)
axes.plot(sizes, tested, color="#d55e00", linestyle=":", marker="s", markerfacecolor="white", label="test rows")
axes.plot(
    sizes[chosen],
    tested[chosen],
    color="#d55e00",
    marker="s",
    linestyle="none",
    label=f"test rows, chosen k = {sizes[chosen]}",
)
axes.plot(sizes, shuffled, color="#999999", marker="^", label="labels shuffled, 2 folds")
axes.set(xticks=sizes, xlabel="components k", ylabel="macro average precision (held-out rows)", ylim=(0.4, 1.02))
axes.set_title(f"Kernelized(OPLS): n = {len(inside):,} rows in the folds, n = {len(test)} test rows")
axes.legend(frameon=False, fontsize=9, loc="center right")
plt.show()
