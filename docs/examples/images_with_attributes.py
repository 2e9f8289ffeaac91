"""
My images carry attributes: which of them does a small embedding keep?
======================================================================

The built-in digits carry seven attributes each: even, prime, has a loop, and so on. A mean over labels hides which of
them an embedding serves; here each has its own bar.
"""

# %%
# Two components, rows held out, and one ridge read-out for every arm.

import matplotlib.pyplot as plt
import numpy as np

from proxembed import OPLS, PCA, Kernelized, MultiOutputRidge
from proxembed.data import digits
from proxembed.evaluate.metrics import average_precision
from proxembed.splits.splits import stratified_folds

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
# Two numbers of the kernel form read four attributes as well as all 64 pixels do, or better: the kernel bends, and a
# ridge on pixels cannot. Three attributes pay for it, *even* most: two components cannot hold seven labels. The mean
# alone, which is on the side of the pixels, would have hidden both.

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
