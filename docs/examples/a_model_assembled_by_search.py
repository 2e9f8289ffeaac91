"""
No method fits my classes: can a search build one that does?
============================================================

:class:`~proxembed.DEFC` assembles preprocessing, relation features, proximities and objective, and tunes them on
held-out rows. The score that it reports is the best of many tries and therefore optimistic. This example shows by
how much.
"""

# %%
# Two interlocked crescents: 150 rows to fit, 150 rows to choose the model, and 600 rows that the search never sees.

import matplotlib.pyplot as plt
import numpy as np

from proxembed import DEFC, FLDAClassifier
from proxembed.data import banana

data = banana(900, seed=1, noise=1.3)
X, y = data.X, data.Y.toarray().argmax(axis=1)
fit, choose, new = np.split(np.arange(900), [150, 300])
found = DEFC(classifier="flda", max_evals=64).fit(X[fit], y[fit], X[choose], y[choose])
linear = FLDAClassifier().fit(X[:300], y[:300]).score(X[new], y[new])
mixed = np.random.default_rng(0).permutation(y[:300])
null = DEFC(classifier="flda", max_evals=64).fit(X[fit], mixed[:150], X[choose], mixed[150:])
print(f"{found.n_evaluations_} evaluations of {found.n_models_} models: {found.describe().partition(' (')[0]}")
print(f"best score in the search {found.best_score_:.3f}, on rows never seen {found.score(X[new], y[new]):.3f}")
print(f"Fisher discriminants of the two features, on rows never seen {linear:.3f}")
print(f"classes shuffled: in the search {null.best_score_:.3f}, on rows never seen {null.score(X[new], y[new]):.3f}")

# %%
# The search finds a non-linear relation to other rows, which no line can express. Its own score is the best of 64
# and therefore optimistic: slightly if there is structure to find, and strongly if there is none. With shuffled
# classes the best of 64 looks clearly better than guessing. Only rows that the search has not seen show that it is
# not.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3), layout="constrained")
for name, search, color in (("true classes", found, "#0072b2"), ("classes shuffled", null, "#999999")):
    steps = [each["evaluations"] for each in search.history_]
    left.step(
        steps, [each["best"] for each in search.history_], where="post", color=color, label=f"best so far, {name}"
    )
    left.axhline(search.score(X[new], y[new]), color=color, linestyle=":", label=f"rows never seen, {name}")
left.axhline(linear, color="#d55e00", linestyle="--", label="a line, rows never seen")
left.set(xlabel="evaluations", ylabel="accuracy (share of rows)", ylim=(0.4, 1.02))
left.set_title(f"n = {len(choose)} rows to choose the model, n = {len(new)} never seen", fontsize=10)
left.legend(fontsize=8, loc="center right")
low, high = X.min(axis=0) - 1, X.max(axis=0) + 1
plane = np.stack(np.meshgrid(np.linspace(low[0], high[0], 120), np.linspace(low[1], high[1], 120)), axis=-1)
side = found.predict(plane.reshape(-1, 2)).reshape(120, 120)
right.contourf(plane[..., 0], plane[..., 1], side, levels=[-0.5, 0.5, 1.5], colors=("#d55e00", "#0072b2"), alpha=0.18)
for j, (color, marker) in enumerate((("#d55e00", "o"), ("#0072b2", "^"))):
    here = y[new] == j
    right.scatter(*X[new][here].T, s=10, color=color, marker=marker, label=f"{data.label_names[j]} (n = {here.sum()})")
right.set(xlabel="x (no unit)", ylabel="y (no unit)", aspect="equal")
right.set_title("rows never seen, and the prediction on the plane", fontsize=10)
right.legend(fontsize=8)
plt.show()
