"""
Is my map real?
===============

A supervised map uses the labels of the rows it is fitted on, so clusters of these rows may mean nothing. Two
controls show it: rows that the map has not seen, and the same map of shuffled labels. They work for any map:
the second part puts four rivals to the same test.
"""

# %%
# ``Layout`` draws t-SNE of all components of a method, with ``features=0`` of these alone; new rows are placed by their
# nearest training rows, without their labels.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from umap import UMAP

from proxembed import OPLS, Kernelized, Layout, diagnose
from proxembed.data import digits
from proxembed.measures import jaccard_at_k, neighbor_weights
from proxembed.splits import stratified_folds

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
    layout = Layout(Kernelized(OPLS()), features=0, layout="sklearn")
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

plt.rc("font", size=17)
figure, grid = plt.subplots(2, 2, figsize=(8, 5.6), layout="constrained")
for axes, (title, Z, labels, value) in zip(grid.ravel(), panels, strict=True):
    axes.scatter(*Z.T, s=22, color=["#0072b2" if even else "#d55e00" for even in labels[:, 0]])
    axes.set(xticks=[], yticks=[], xlabel=f"Jaccard@10 {value:.2f}")
    name, rows = title.split(", ")
    if axes in grid[0]:
        axes.set_title(f"{rows}, n = {len(Z)}", fontsize=18)
    if axes in grid[:, 0]:
        axes.set_ylabel(name, fontsize=20, weight="bold")
grid[0, 0].text(0.02, 0.85, "even", color="#0072b2", weight="bold", fontsize=22, transform=grid[0, 0].transAxes)
grid[0, 0].text(0.02, 0.68, "odd", color="#d55e00", weight="bold", fontsize=22, transform=grid[0, 0].transAxes)
plt.show()

# %%
# The same two controls for any transformer: ``diagnose`` takes unfitted estimators of scikit-learn, umap-learn, pacmap,
# openTSNE.sklearn and others, and pipelines of them. Below, 150 images of 0, 1 and 2 have their own class, then one
# drawn by lot.

X, classes = load_digits(n_class=3, return_X_y=True)
X, classes = X[:150], classes[:150]
maps = {
    "supervised UMAP": UMAP(n_epochs=100, random_state=0, n_jobs=1),
    "NCA": make_pipeline(StandardScaler(), NeighborhoodComponentsAnalysis(2, max_iter=30, random_state=0)),
    "LDA": LinearDiscriminantAnalysis(n_components=2),
    "PCA": make_pipeline(StandardScaler(), PCA(2)),
    "Kernelized(OPLS())": Kernelized(OPLS(), n_components=2),
}
kinds = {"true classes": classes, "classes drawn by lot": np.random.default_rng(0).permutation(classes)}
found = {}
for kind, y in kinds.items():
    for name, estimator in maps.items():
        it = diagnose(estimator, X, y, n_shuffles=19, measure="Jaccard@10", n_resamples=1)
        found[kind, name] = it
        verdict = "real" if it.passed else "not better than on shuffled labels"
        print(
            f"{kind:21s} {name:19s} own rows {it.own_rows:.2f}, held out {it.held_out:.2f}, p = {it.p:.2f}: {verdict}"
        )

# %%
# Hollow: the rows of the fit, which is what a map shows. Full: held-out rows, which is what it is worth; the distance
# between the two is the optimism. Grey: held-out rows under 19 shuffles of the labels, which is chance. At the right
# nothing is to be found: the full points lie within the grey, while the hollow ones of the supervised maps look like a
# finding. PCA sees no labels, so that it flatters none. Held-out rows that beat all 19 shuffles have p = 0.05, which
# labels without any meaning reach once in twenty times.

figure, grid = plt.subplots(1, 2, figsize=(12, 6), layout="constrained", sharex=True, sharey=True)
for axes, kind in zip(grid, kinds, strict=True):
    for row, name in enumerate(maps):
        it = found[kind, name]
        axes.plot([min(it.null), max(it.null)], [row, row], color="#b4bec7", lw=12, solid_capstyle="butt")
        axes.plot([it.held_out, it.own_rows], [row, row], color="#536170", lw=2)
        axes.plot(it.own_rows, row, "o", mfc="white", mec="#d55e00", ms=12, ls="none")
        axes.plot(it.held_out, row, "o", color="#0072b2", ms=12, ls="none")
    axes.set(title=kind, xlabel="Jaccard@10 of neighbours (0 to 1)", xlim=(0, 1.02), yticks=range(len(maps)))
    axes.set_yticklabels(maps)
grid[0].invert_yaxis()
for label, style in (
    ("rows of the fit", {"marker": "o", "mfc": "white", "mec": "#d55e00", "ls": "none"}),
    ("held-out rows", {"marker": "o", "color": "#0072b2", "ls": "none"}),
    ("held-out rows, 19 shuffles", {"color": "#b4bec7", "lw": 12}),
):
    grid[0].plot([], [], label=label, **style)
figure.legend(loc="outside lower center", ncols=3, fontsize=15, frameon=False, title=f"n = {len(X)} rows, three folds")
plt.show()
