"""
My images have attributes: which of them does a small embedding keep?
=====================================================================

Each of the built-in digits has seven attributes: even, prime, has a loop, and so on. A mean over labels hides which
labels an embedding serves, so here each label has its own bar.
"""

# %%
# Two components, held-out rows, and the same ridge read-out for every method.

import matplotlib.pyplot as plt
import numpy as np

from proxembed import OPLS, PCA, Kernelized, MultiOutputRidge
from proxembed.data import digits
from proxembed.measures import average_precision
from proxembed.splits import stratified_folds

data = digits()
X, Y = data.X, data.Y.toarray().astype(int)
split = stratified_folds(Y, 3, seed=0)[0]
train, new = split.train, split.held_out
arms = {
    "PCA, k = 2": PCA(n_components=2),
    "OPLS, k = 2": OPLS(n_components=2),
    "Kernelized(OPLS), k = 2": Kernelized(OPLS(), n_components=2),
}


def precision(Z_train, Z_new):
    """Average precision of each attribute on the held-out images."""
    read_out = MultiOutputRidge(penalty="auto").fit(Z_train, Y[train])
    return average_precision(Y[new], read_out.decision_function(Z_new))


found = {}
for name, method in arms.items():
    method.fit(X[train], Y[train])
    found[name] = precision(method.transform(X[train]), method.transform(X[new]))
found["all 64 pixels"] = precision(X[train], X[new])
for name, values in found.items():
    print(f"{name:24s}", " ".join(f"{value:.2f}" for value in values), f"  mean {values.mean():.3f}")

# %%
# Two numbers of the kernel form predict four attributes as well as all 64 pixels, or better, since the kernel is
# non-linear and a ridge on pixels is not. Three attributes lose, *even* most: two components cannot hold seven
# labels. The mean, which favours the pixels, would have hidden both.

figure, axes = plt.subplots(figsize=(8.5, 4.4), layout="constrained")
place = np.arange(Y.shape[1])
colors = ("#999999", "#56b4e9", "#d55e00", "#000000")
for j, ((name, values), color) in enumerate(zip(found.items(), colors, strict=True)):
    axes.bar(place + 0.2 * (j - 1.5), values, 0.19, color=color, label=name)
chance = Y[new].mean(axis=0)
axes.hlines(chance, place - 0.4, place + 0.4, color="#cc79a7", linewidth=2, label="by chance")
names = [f"{name}\n(n = {n})" for name, n in zip(data.label_names, Y[new].sum(axis=0), strict=True)]
axes.set_xticks(place, names, fontsize=8)
axes.set(
    ylabel="average precision (held-out rows)", ylim=(0, 1), xlabel="attribute, with its number n of held-out images"
)
axes.set_title(f"Digits: n = {len(train):,} images to fit, n = {len(new)} held out")
axes.legend(frameon=False, fontsize=9, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.22))
plt.show()
