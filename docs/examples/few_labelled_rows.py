"""
Only a few of my rows are labelled: do the others help?
=======================================================

Sometimes. Supervised methods drop the rows without labels. :class:`~proxembed.SSDR` mixes an unsupervised method on
all rows into a supervised method on the labelled rows, and :class:`~proxembed.MLLGC` spreads the labels along a
graph of all rows.
"""

# %%
# Digits with seven attributes. A third of the rows is held out, and 60 of the others are labelled; NaN marks the
# unknown labels. The map, t-SNE of principal components, knows no labels. On the left are the rows from which
# MLLGC spreads the labels, on the right what it tells of held-out rows.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from proxembed import MLLGC, OPLS, PCA, SSDR, Layout, MultiOutputRidge
from proxembed.data import digits
from proxembed.measures import macro_average_precision
from proxembed.splits import stratified_folds

data = digits()
X, Y = data.X / 16, data.Y.toarray().astype(float)
split = stratified_folds(Y.astype(int), 3, seed=0)[0]
train, new = split.train, split.held_out
labelled = np.random.default_rng(0).permutation(len(train))[:60]
partly = np.full((len(train), 7), np.nan)
partly[labelled] = Y[train[labelled]]
told = MLLGC().fit(X[train], partly).predict(X[new])[:, 0] == 1
wrong = told != Y[new, 0]
layout = Layout(PCA(n_components=30), features=0, layout="sklearn").fit(X[train])
print(f"even or odd, told from 60 labelled rows: {1 - wrong.mean():.2f} of the held-out rows are right")

plt.rc("font", size=17)
colors = np.array(["#d55e00", "#0072b2"])
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 5.6), layout="constrained")
left.scatter(*layout.places_.T, s=12, color="#c8c8c8")
known = Y[train[labelled], 0].astype(int)
left.scatter(*layout.places_[labelled].T, s=130, color=colors[known], edgecolors="black")
left.set(title="60 rows are labelled", xlabel=f"n = {len(train):,} rows to fit")
Z = layout.transform(X[new])
right.scatter(*Z[~wrong].T, s=30, color=colors[told[~wrong].astype(int)])
right.scatter(*Z[wrong].T, s=60, color="black", marker="x", linewidths=2)
right.set(title=f"{1 - wrong.mean():.0%} are told right", xlabel=f"n = {len(new)} held-out rows")
for place, word, color in ((0.02, "odd", colors[0]), (0.09, "even", colors[1])):
    left.text(0.03, place, word, color=color, fontsize=22, weight="bold", transform=left.transAxes)
right.text(0.03, 0.02, "× wrong", fontsize=20, transform=right.transAxes)
for axes in (left, right):
    axes.set(xticks=[], yticks=[])
plt.show()

# %%
# Now between 15 and all rows are labelled, drawn three times.

counts = (15, 30, 60, 120, 300, len(train))
arms = {
    "OPLS, labelled rows alone": lambda: OPLS(n_components=6),
    "SSDR(OPLS, PCA)": lambda: SSDR(OPLS(), PCA(), mix=0.3, balance="trace", n_components=6),
    "PCA of all rows": lambda: PCA(n_components=6),
    "MLLGC, labels spread on a graph": MLLGC,
    "all pixels, labelled rows alone": None,
}
found = {name: np.empty((3, len(counts))) for name in arms}
for draw in range(3):
    order = np.random.default_rng(draw).permutation(train)
    for column, count in enumerate(counts):
        labelled = order[:count]
        partly = Y[train].copy()
        partly[~np.isin(train, labelled)] = np.nan
        for name, make in arms.items():
            method = make() if make else None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # OPLS says how many rows it leaves out
                if method is not None:
                    method.fit(X[train], None if isinstance(method, PCA) else partly)
            if hasattr(method, "decision_function"):
                S = method.decision_function(X[new])
            else:
                place = method.transform if method else np.asarray
                read_out = MultiOutputRidge(penalty="auto").fit(place(X[labelled]), Y[labelled])
                S = read_out.decision_function(place(X[new]))
            found[name][draw, column] = macro_average_precision(Y[new], S).value
for name, values in found.items():
    print(f"{name:32s}", "  ".join(f"{n}: {v:.3f}" for n, v in zip(counts, values.mean(axis=0), strict=True)))

# %%
# Spreading labels on the graph of all rows is far ahead even with the fewest labels: near images show the same
# digit, and the graph uses this. Mixing PCA into OPLS makes results worse here at any number of labels: the
# directions of largest variance are not those of the attributes. Whether unlabelled rows help depends on the data
# and the method.

figure, axes = plt.subplots(figsize=(10, 6.4), layout="constrained")
colors = ("#0072b2", "#d55e00", "#999999", "#009e73", "#000000")
for (name, values), color, marker in zip(found.items(), colors, "os^Dx", strict=True):
    axes.plot(counts, values.mean(axis=0), color=color, marker=marker, markersize=8, linewidth=2, label=name)
    axes.fill_between(counts, values.min(axis=0), values.max(axis=0), color=color, alpha=0.12)
axes.set(xscale="log", xticks=counts, xticklabels=counts, ylabel="macro average precision (held-out rows)")
axes.set_xlabel(f"labelled rows, of n = {len(train):,}; n = {len(new)} held out; bands: 3 draws")
axes.minorticks_off()
axes.legend(frameon=False, fontsize=14)
plt.show()
