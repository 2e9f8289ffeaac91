"""
I know what makes two rows similar: can I use that?
===================================================

With :class:`~proxembed.MOPE` you define the proximity of two rows from their label sets (G), from their features
(W), or from both. The embedding follows from it.
"""

# %%
# First the proximities of 150 digits, ordered by VAT so that similar rows are next to each other. With
# ``combine="priority"`` labels have priority over features.

import matplotlib.pyplot as plt
import numpy as np

from proxembed import MOPE, MultiOutputRidge, vat
from proxembed.data import digits
from proxembed.estimator import Rows
from proxembed.measures import jaccard_at_k, macro_average_precision, neighbor_weights
from proxembed.splits import stratified_folds
from proxembed.targets import LabelMatrix

data = digits()
X, Y = data.X, data.Y.toarray().astype(int)
few = Rows(X[:150], LabelMatrix.of(Y[:150]))
designs = {
    "labels alone: Dice": MOPE("labels", similarity="dice"),
    "labels alone: same set": MOPE("labels", similarity=lambda sets: np.eye(len(sets))),
    "labels and features": MOPE("labels", similarity="dice", weights="gaussian", graph="full", a=1.0, b=1.0, beta=3.0),
}
matrices = {name: method.proximity(few).todense(150) for name, method in designs.items()}
order = vat(1 - matrices["labels alone: Dice"] / matrices["labels alone: Dice"].max()).rows
figure, grid = plt.subplots(1, 3, figsize=(10.5, 4), layout="constrained")
for axes, (name, psi) in zip(grid, matrices.items(), strict=True):
    drawn = axes.imshow(psi[np.ix_(order, order)] / psi.max(), cmap="cividis", vmin=0, vmax=1)
    axes.set(title=name, xlabel="rows, n = 150, in VAT's order", xticks=[], yticks=[])
figure.colorbar(drawn, ax=grid, label="proximity (share of the largest)", shrink=0.8)
plt.show()

# %%
# Then the value of each design on held-out rows, with six components: label sets of neighbours, and labels predicted
# by a ridge read-out. Weights of all pairs need n x n memory, so here a neighbour graph is used.

designs["labels and features"] = MOPE("labels", similarity="dice", weights="gaussian", beta=3.0)
split = stratified_folds(Y, 3, seed=0)[0]
train, new = split.train, split.held_out
shuffled = np.random.default_rng(0).permutation(Y[train])
found = {}
for name, labels in [(each, Y[train]) for each in designs] + [("Dice, labels shuffled", shuffled)]:
    method = designs.get(name, designs["labels alone: Dice"]).set_params(n_components=6).fit(X[train], labels)
    Z_train, Z_new = method.transform(X[train]), method.transform(X[new])
    read_out = MultiOutputRidge(penalty="auto").fit(Z_train, labels)
    found[name] = (
        jaccard_at_k(Y[new], labels, neighbor_weights(Z_new, Z_train, 10)),
        macro_average_precision(Y[new], read_out.decision_function(Z_new)).value,
    )
    print(f"{name:24s} Jaccard@10 {found[name][0]:.3f}   macro average precision {found[name][1]:.3f}")

# %%
# The design decides. If only equal label sets count as similar, neighbours of new rows more often have similar sets.
# If overlapping sets count in part, single labels are predicted better. The feature weights change little here, so
# tuning their exponents would not pay off.

figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
place = np.arange(len(found))
for j, (measure, color) in enumerate((("Jaccard@10", "#0072b2"), ("macro average precision", "#d55e00"))):
    axes.barh(place + 0.2 - 0.4 * j, [values[j] for values in found.values()], 0.38, color=color, label=measure)
axes.set_yticks(place, list(found))
axes.invert_yaxis()
axes.set(xlabel=f"value (n = {len(new)} held-out rows, six components)", xlim=(0, 1))
axes.legend(fontsize=9, loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
plt.show()
