"""
I do PLS-DA: which call is it here, and do I need as many components?
=====================================================================

PLS-DA regresses dummy variables of the classes on the features. The counterparts here are :class:`~proxembed.PLS`
(covariance with the labels) and :class:`~proxembed.OPLS` (*orthonormalised* PLS: covariance in units of the total
scatter; not *orthogonal* PLS, which has the same initials). 178 wines, 13 measurements, 3 growers.
"""

# %%
# One to several components, scored on twenty repeated folds with standardisation inside each. The read-out of every
# method is the nearest class mean.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_wine
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler

from proxembed import OPLS, PLS

X, y = load_wine(return_X_y=True)
dummies = np.eye(3)[y]
sizes = (1, 2, 3, 4, 5)
right = {"PLSRegression of scikit-learn": [], "PLS": [], "OPLS": []}
shuffled = {"OPLS, classes shuffled": []}
random = np.random.default_rng(0)


def curve(Z_train, Z_new, y_train, y_new):
    """Accuracy with the first k components, for each k; where there are fewer, with all."""
    return [NearestCentroid().fit(Z_train[:, :k], y_train).score(Z_new[:, :k], y_new) for k in sizes]


for train, new in RepeatedStratifiedKFold(n_splits=5, n_repeats=4, random_state=0).split(X, y):
    scaler = StandardScaler().fit(X[train])
    X_train, X_new, y_train, y_new = scaler.transform(X[train]), scaler.transform(X[new]), y[train], y[new]
    theirs = PLSRegression(n_components=5, scale=False).fit(X_train, dummies[train])
    right["PLSRegression of scikit-learn"].append(
        curve(theirs.transform(X_train), theirs.transform(X_new), y_train, y_new)
    )
    for name, method in (("PLS", PLS()), ("OPLS", OPLS())):
        method.fit(X_train, y_train)
        right[name].append(curve(method.transform(X_train), method.transform(X_new), y_train, y_new))
    mixed = random.permutation(y_train)
    null = OPLS().fit(X_train, mixed)
    shuffled["OPLS, classes shuffled"].append(curve(null.transform(X_train), null.transform(X_new), mixed, y_new))
means = {name: np.mean(values, axis=0) for name, values in (right | shuffled).items()}
for name, values in means.items():
    print(f"{name:30s}", "  ".join(f"k = {k}: {value:.3f}" for k, value in zip(sizes, values, strict=True)))
print(f"components that the classes allow: PLS {PLS().fit(X, y).n_components_}, OPLS {OPLS().fit(X, y).n_components_}")

# %%
# Three classes have two directions, and two are enough: ``PLS()`` and ``OPLS()`` stop there, while a deflated PLS
# continues with directions that the dummies do not need. OPLS is ahead at two components because it accounts for the
# correlation of the measurements. With one component all are alike: a line cannot separate three classes that form a
# triangle.

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, values), color, marker in zip(
    means.items(), ("#000000", "#0072b2", "#d55e00", "#999999"), "xos^", strict=True
):
    most = len(sizes) if "Regression" in name else 2
    axes.plot(sizes[:most], values[:most], color=color, marker=marker, label=name)
axes.set(xticks=sizes, xlabel="components k", ylabel="accuracy (mean of 20 held-out folds)", ylim=(0, 1.03))
axes.set_title(f"Wine, three growers: n = {len(y)}, of which a fifth is held out in turn")
axes.legend(frameon=False, fontsize=9, loc="lower right", bbox_to_anchor=(1, 0.35))
plt.show()
