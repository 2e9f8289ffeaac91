"""
I do PLS regression: which call is it here, and do I need as many components?
=============================================================================

The counterparts of ``PLSRegression`` are :class:`~proxembed.PLS` (covariance with the outputs; with ``deflation`` it
has the same predictions) and :class:`~proxembed.OPLS` (*orthonormalised* PLS: a ridge regression restricted to k
components; not *orthogonal* PLS, which has the same initials). 442 patients with diabetes, 10 measurements; the output
is the progression of the disease within a year, from 25 to 346.
"""

# %%
# First the map: two components, half of the patients held out, and Q2 on these: 0 for the mean of the training rows and
# 1 for a perfect prediction. One output has one component under OPLS; ``extend=True`` adds a second one, for drawing.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_diabetes
from sklearn.model_selection import RepeatedKFold
from sklearn.preprocessing import StandardScaler

from proxembed import OPLS, PLS

X, y = load_diabetes(return_X_y=True)
random = np.random.default_rng(0)


def q2(predicted, measured, mean):
    """1 - squared errors over squared deviations from the mean of the training rows."""
    return 1 - ((predicted - measured) ** 2).sum() / ((measured - mean) ** 2).sum()


fit, new = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
scaler = StandardScaler().fit(X[fit])
maps = {
    "OPLS": (OPLS(n_components=2, extend=True, target_type="real"), y[fit]),
    "PLS": (PLS(n_components=2, deflation="nipals", target_type="real"), y[fit]),
    "shuffled": (OPLS(n_components=2, extend=True, target_type="real"), random.permutation(y[fit])),
}
plt.rc("font", size=17)
figure, axes = plt.subplot_mosaic(
    [["OPLS", "PLS"], ["OPLS", "shuffled"]], width_ratios=(2.5, 1), figsize=(8, 5.6), layout="constrained"
)
for name, (model, outputs) in maps.items():
    model.fit(scaler.transform(X[fit]), outputs)
    values = [q2(model.truncate(k).predict(scaler.transform(X[new])), y[new], outputs.mean()) for k in (1, 2)]
    print(f"{name:8s} Q2 of one component {values[0]:.2f}, of two {values[1]:.2f}")
    Z = model.transform(scaler.transform(X[new]))
    drawn = axes[name].scatter(*Z.T, s=90 if name == "OPLS" else 14, c=y[new], linewidths=0)
    axes[name].set(title=name, xticks=[], yticks=[])
axes["OPLS"].set(xlabel=f"component 1; n = {len(new)} held-out patients", ylabel="component 2")
figure.colorbar(drawn, ax=list(axes.values()), location="bottom", label="progression within a year", aspect=40)
plt.show()

# %%
# The colour changes along the first component of OPLS, and the second adds nothing. PLS needs both. Shuffled outputs
# predict nothing.
#
# One to six components, scored by Q2 on twenty repeated folds with standardisation inside each. The same OPLS
# is fitted to shuffled outputs, too.

sizes = (1, 2, 3, 4, 5, 6)
right = {"PLSRegression of scikit-learn": [], 'PLS(deflation="nipals")': [], "OPLS": []}
shuffled = {"OPLS, outputs shuffled": []}
for train, new in RepeatedKFold(n_splits=5, n_repeats=4, random_state=0).split(X):
    scaler = StandardScaler().fit(X[train])
    X_train, X_new, y_train, y_new = scaler.transform(X[train]), scaler.transform(X[new]), y[train], y[new]
    mean = y_train.mean()
    theirs = [PLSRegression(n_components=k, scale=False).fit(X_train, y_train).predict(X_new).ravel() for k in sizes]
    right["PLSRegression of scikit-learn"].append([q2(each, y_new, mean) for each in theirs])
    deflated = PLS(n_components=6, deflation="nipals", target_type="real").fit(X_train, y_train)
    right['PLS(deflation="nipals")'].append([q2(deflated.truncate(k).predict(X_new), y_new, mean) for k in sizes])
    right["OPLS"].append([q2(OPLS(target_type="real").fit(X_train, y_train).predict(X_new), y_new, mean)])
    mixed = random.permutation(y_train)
    null = OPLS(target_type="real").fit(X_train, mixed)
    shuffled["OPLS, outputs shuffled"].append([q2(null.predict(X_new), y_new, mean)])
means = {name: np.mean(values, axis=0) for name, values in (right | shuffled).items()}
for name, values in means.items():
    print(f"{name:30s}", "  ".join(f"k = {k}: {value:.3f}" for k, value in zip(sizes, values, strict=False)))

# %%
# One output has one direction, and ``OPLS`` stops there: with its ridge it predicts nearly as well as the best PLS, so
# there is no number of components to choose. Shuffled outputs give about 0. With several outputs there is at most one
# component per output. OPLS does not predict better here; ``proxembed.search(X, y, target_type="real")`` compares it
# with kernels and forests.

figure, axes = plt.subplots(figsize=(10, 6), layout="constrained")
colors = ("#000000", "#0072b2", "#d55e00", "#999999")
for (name, values), color, marker in zip(means.items(), colors, "x+o^", strict=True):
    axes.plot(sizes[: len(values)], values, color=color, marker=marker, markersize=11, linewidth=2, label=name)
axes.axhline(0, color="#cccccc", linewidth=1)
axes.set(xticks=sizes, xlabel="components k", ylabel="Q2 (mean of 20 held-out folds)", ylim=(-0.1, 0.6))
axes.set_title(f"n = {len(y)}, of which a fifth is held out in turn")
axes.legend(frameon=False, fontsize=15, loc="center right")
plt.show()
