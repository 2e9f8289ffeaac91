"""
My supervised map shows clusters: are they real?
================================================

A supervised map uses the labels of the rows it is fitted on, so clusters of these rows may mean nothing. Two
controls show it: rows that the map has not seen, and the same map of shuffled labels.
"""

# %%
# ``Layout()`` draws t-SNE of all components of ``Kernelized(OPLS())``; new rows are placed by their nearest training
# rows, without their labels.

import matplotlib.pyplot as plt
import numpy as np

from proxembed import Layout
from proxembed.data import digits
from proxembed.evaluate.metrics import jaccard_at_k
from proxembed.evaluate.neighbors import neighbor_weights
from proxembed.splits.splits import stratified_folds

data = digits().take(range(600))
X, Y = data.X, data.Y.toarray().astype(int)
split = stratified_folds(Y, 3, seed=0)[0]
train, new = split.train, split.held_out
shuffled = np.random.default_rng(0).permutation(Y[train])


def agreement(Z, labels, Z_train, labels_train, own=False):
    """Mean Jaccard similarity of a row's label set with those of its ten nearest training rows."""
    weights = neighbor_weights(Z, Z_train, 11 if own else 10).toarray()
    if own:
        np.fill_diagonal(weights, 0.0)
    return jaccard_at_k(labels, labels_train, weights / weights.sum(axis=1, keepdims=True))


panels = []
for name, labels in (("true labels", Y[train]), ("shuffled labels", shuffled)):
    layout = Layout(layout="sklearn")
    inside = layout.fit_transform(X[train], labels)
    outside = layout.transform(X[new])
    panels.append((f"{name}, rows of the fit", inside, labels, agreement(inside, labels, inside, labels, own=True)))
    panels.append((f"{name}, held-out rows", outside, Y[new], agreement(outside, Y[new], inside, labels)))
for title, Z, _, value in panels:
    print(f"{title:32s} n = {len(Z)}, Jaccard@10 {value:.2f}")
by_lot = np.full((len(new), len(train)), 1 / len(train))
print(f"randomly drawn rows: {jaccard_at_k(Y[new], Y[train], by_lot):.2f}")

# %%
# The baseline is the value of randomly drawn rows, printed last. In the upper row both panels agree: what the map
# shows also holds for new rows. The lower row is the map of shuffled labels. Its training rows agree with these
# labels far better than by chance, because the map was fitted on them; the left panel could be mistaken for a
# finding. Its held-out rows are near chance. So never judge a supervised map by the rows it was fitted on.
# ``Layout(honest=True)`` places these rows, too, with models that have not seen them.

figure, grid = plt.subplots(2, 2, figsize=(8.4, 8), layout="constrained")
for axes, (title, Z, labels, value) in zip(grid.ravel(), panels, strict=True):
    for odd, (color, marker) in enumerate((("#d55e00", "o"), ("#0072b2", "^"))):
        here = labels[:, 0] == 1 - odd
        word = "odd" if odd else "even"
        axes.scatter(*Z[here].T, s=14, color=color, marker=marker, alpha=0.7, label=f"{word} (n = {here.sum()})")
    axes.set(xlabel="map axis 1 (no unit)", ylabel="map axis 2 (no unit)", xticks=[], yticks=[])
    axes.set_title(f"{title}\nJaccard@10 {value:.2f}", fontsize=10)
    axes.legend(fontsize=8, loc="best")
plt.show()
