"""
I store vectors for neighbour search: how many bytes do I need?
===============================================================

A neighbour search should find rows with the same meaning, given here by labels. This example compares the quality of
the search with the size of a stored row, in float32 numbers of four bytes each.
"""

# %%
# A third of the rows are queries that no method has seen; the others are stored. Jaccard@10 is the mean similarity
# of a query's label set to those of its ten nearest stored rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.random_projection import GaussianRandomProjection

from proxembed import OPLS, PCA, Kernelized
from proxembed.data import digits
from proxembed.measures import jaccard_at_k, neighbor_weights
from proxembed.splits import stratified_folds

data = digits()
X, Y = data.X, data.Y.toarray().astype(int)
split = stratified_folds(Y, 3, seed=0)[0]
stored, queries = split.train, split.held_out


def quality(Z_stored, Z_queries):
    """Jaccard@10 of the queries, with rows kept as float32."""
    weights = neighbor_weights(Z_queries.astype(np.float32), Z_stored.astype(np.float32), 10)
    return jaccard_at_k(Y[queries], Y[stored], weights)


shuffled = np.random.default_rng(0).permutation(Y[stored])
fitted = {
    "Kernelized(OPLS)": Kernelized(OPLS(), n_components=7).fit(X[stored], Y[stored]),
    "OPLS": OPLS(n_components=7).fit(X[stored], Y[stored]),
    "PCA": PCA(n_components=32).fit(X[stored]),
    "OPLS, labels shuffled": OPLS(n_components=7).fit(X[stored], shuffled),
}
sizes = {
    name: [k for k in (1, 2, 3, 4, 5, 7, 10, 16, 24, 32) if k <= each.n_components_] for name, each in fitted.items()
}
found = {}
for name, method in fitted.items():
    short = [method.truncate(k) for k in sizes[name]]
    found[name] = [quality(each.transform(X[stored]), each.transform(X[queries])) for each in short]
sizes["random projection"] = sizes["PCA"]
found["random projection"] = []
for k in sizes["PCA"]:
    drawn = GaussianRandomProjection(k, random_state=0).fit(X)
    found["random projection"].append(quality(drawn.transform(X[stored]), drawn.transform(X[queries])))
whole = quality(X[stored], X[queries])
for name, values in found.items():
    print(f"{name:22s}", "  ".join(f"{4 * k} B: {value:.2f}" for k, value in zip(sizes[name], values, strict=True)))
print(f"{'all 64 pixels':22s} {4 * 64} B: {whole:.2f}")

# %%
# Curves that end at 28 bytes have as many components as labels, which is their maximum. The kernel form is as good
# with 8 bytes as the pixels are with 256. To embed a query it needs the rows of the fit, or ``n_prototypes`` of them.
# The linear OPLS gains little: at equal sizes it is a few hundredths ahead of PCA, which needs no labels and reaches
# the pixels with 64 bytes. The curve of shuffled labels is far above zero, since any few directions keep some
# neighbours. What the labels contribute is the distance to that curve.

plt.rc("font", size=18)
figure, axes = plt.subplots(figsize=(8, 5.6), layout="constrained")
colors = ("#d55e00", "#0072b2", "#009e73", "#777777", "#cc79a7")
words = ((8.3, 1.015), (8.6, 0.87), (38, 0.97), (15, 0.5), (50, 0.73))  # where each curve is named
for (name, values), color, marker, word in zip(found.items(), colors, "^so.D", words, strict=True):
    axes.plot([4 * k for k in sizes[name]], values, color=color, marker=marker, markersize=9, linewidth=2.5)
    axes.text(*word, name, color=color, fontsize=20, weight="bold")
axes.plot([12, 16], [found["OPLS, labels shuffled"][2] - 0.02, 0.54], color="#777777", linewidth=1)
axes.plot(256, whole, "kx", markersize=12, markeredgewidth=3)
axes.text(280, whole + 0.03, "all 64 pixels", ha="right", fontsize=20)
ticks = [4, 8, 16, 32, 64, 128, 256]
axes.set(
    xscale="log",
    xticks=ticks,
    xticklabels=ticks,
    xlabel=f"bytes per row; n = {len(stored):,} stored rows",
    ylim=(0.35, 1.08),
)
axes.minorticks_off()
axes.set_ylabel(f"Jaccard@10 of n = {len(queries)} queries")
axes.spines[["top", "right"]].set_visible(False)
plt.show()
