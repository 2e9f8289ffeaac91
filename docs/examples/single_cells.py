"""
My table is an AnnData object: do the cell types hold for a new donor?
======================================================================

:func:`~proxembed.data.from_anndata` reads counts, labels and donors from AnnData, or from any object with the same
attributes; the package anndata is not needed. No split may divide a donor, because the model is for new donors.
"""

# %%
# Simulated counts, so that the truth is known: 900 cells of five types from six donors, and 600 genes, of which 15
# mark each type. Every donor shifts 200 genes of its own, like a batch effect.

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patheffects import withStroke
from scipy import sparse
from sklearn.pipeline import make_pipeline

from proxembed import FDA, PCA, Scaling
from proxembed.data import from_anndata
from proxembed.measures import jaccard_at_k, neighbor_weights
from proxembed.splits import group_folds

random = np.random.default_rng(0)
TYPES = np.array(["B cell", "T cell", "NK cell", "monocyte", "dendritic"])
kind, donor = random.integers(0, 5, 900), random.integers(0, 6, 900)
level = np.log(random.gamma(1.5, 0.6, 600))[None, :] + np.zeros((900, 600))
for j in range(5):
    level[np.ix_(kind == j, np.arange(15 * j, 15 * (j + 1)))] += 0.9
for j in range(6):
    level[np.ix_(donor == j, random.permutation(600)[:200])] += random.normal(0, 0.8)
depth = random.lognormal(0, 0.4, (900, 1))
adata = SimpleNamespace(
    X=sparse.csr_array(random.poisson(depth * np.exp(level)).astype(float)),
    obs={"type": TYPES[kind], "donor": [f"donor {j}" for j in donor]},
    var_names=[f"gene {j}" for j in range(600)],
)

# %%
# The code from here on also works for a real object.

data = from_anndata(adata, labels="type", groups="donor")
print(data)
split = group_folds(data.Y.toarray(), data.groups, 3, seed=0)[0]
train, new = split.train, split.held_out
print("donors held out:", sorted({int(g) for g in data.groups[new]}), "of", sorted({int(g) for g in data.groups}))
y = data.Y.toarray().argmax(axis=1)
shuffled = random.permutation(y[train])
panels = [
    ("PCA", make_pipeline(Scaling("tfidf"), PCA(n_components=2)), y[train]),
    ("FDA", make_pipeline(Scaling("tfidf"), FDA(n_components=2)), y[train]),
    ("FDA, types shuffled", make_pipeline(Scaling("tfidf"), FDA(n_components=2)), shuffled),
]
Y = data.Y.toarray()
drawn = []
for title, model, labels in panels:
    Z_train, Z_new = model.fit(data.X[train], labels).transform(data.X[train]), model.transform(data.X[new])
    value = jaccard_at_k(Y[new], np.eye(5)[labels], neighbor_weights(Z_new, Z_train, 10))
    drawn.append((title, Z_new, value))
    print(f"{title:20s} Jaccard@10 of the cells of new donors {value:.2f}")
for k in (2, 4):
    model = make_pipeline(Scaling("tfidf"), FDA(n_components=k)).fit(data.X[train], y[train])
    weights = neighbor_weights(model.transform(data.X[new]), model.transform(data.X[train]), 10)
    print(f"FDA, k = {k}: {jaccard_at_k(Y[new], Y[train], weights):.2f}")

# %%
# PCA shows what varies most: donors and depth. FDA uses the types, and finds them in donors that it has not seen.
# Two components cannot separate five types that are equally different; four do better.

plt.rc("font", size=17)
figure, axes = plt.subplot_mosaic(
    [["FDA", "PCA"], ["FDA", "FDA, types shuffled"]], width_ratios=(2.5, 1), figsize=(8, 5.6), layout="constrained"
)
colors = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000")
for title, Z, _ in drawn:
    large = title == "FDA"
    for j, (name, color, marker) in enumerate(zip(data.label_names, colors, "o^sDX", strict=True)):
        here = Z[y[new] == j]
        axes[title].scatter(*here.T, s=60 if large else 14, color=color, marker=marker, alpha=0.8, linewidths=0)
        if large:
            place = np.median(here, axis=0) * 1.25
            word = axes[title].text(*place, name, color=color, fontsize=24, weight="bold", ha="center", va="center")
            word.set_path_effects([withStroke(linewidth=6, foreground="white")])
    axes[title].set(title=title.rpartition(", types ")[2], xticks=[], yticks=[])
axes["FDA"].set(xlabel=f"component 1; n = {len(new)} cells of new donors", ylabel="component 2")
plt.show()
