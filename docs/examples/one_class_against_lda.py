"""
I have one class per row and use LDA: what do I gain?
=====================================================

Fisher discriminant analysis (:class:`~proxembed.FDA`) is scikit-learn's LDA with a ridge chosen in closed form.
Local and kernel methods use more than the distances of class means. Ten digits, half of the rows held out.
"""

# %%
# Every size up to c - 1 = 9 comes from one fit: ``truncate(k)`` shortens a fitted method. The read-out is the same for
# all methods: the five nearest training rows in the embedding.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patheffects import withStroke
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from proxembed import FDA, LFDA, PCA, Kernelized

X, y = load_digits(return_X_y=True)
X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
shuffled = np.random.default_rng(0).permutation(y_train)


def accuracy(Z_train, Z_new, labels=y_train):
    """Share of held-out rows whose class the five nearest training rows tell."""
    return KNeighborsClassifier(5).fit(Z_train, labels).score(Z_new, y_new)


methods = {
    "PCA, which ignores the classes": (PCA(n_components=9), y_train),
    "FDA": (FDA(n_components=9), y_train),
    "LFDA": (LFDA(n_components=9, ridge=0.01), y_train),
    "Kernelized(FDA)": (Kernelized(FDA(), n_components=9), y_train),
    "Kernelized(FDA), shuffled": (Kernelized(FDA(), n_components=9), shuffled),
}
sizes = range(1, 10)
curves, places = {}, {}
for name, (method, labels) in methods.items():
    places[name] = method.fit(X_train, labels).transform(X_new)
    short = [method.truncate(k) for k in sizes]
    curves[name] = [accuracy(each.transform(X_train), each.transform(X_new), labels) for each in short]
lda = LinearDiscriminantAnalysis().fit(X_train, y_train)
Z_train, Z_new = lda.transform(X_train), lda.transform(X_new)
places["LDA of scikit-learn"] = Z_new
curves["LDA of scikit-learn"] = [accuracy(Z_train[:, :k], Z_new[:, :k]) for k in sizes]
everything = accuracy(X_train, X_new)
for name, values in curves.items():
    print(f"{name:32s} k = 2: {values[1]:.3f}   k = 9: {values[-1]:.3f}")
print(f"{'all 64 pixels':32s}               {everything:.3f}")

# %%
# The first two components of the held-out digits. Under LDA the classes overlap more than under the kernel form, which
# spends its first two components on 0, 6 and 4 and crowds the others, but tells most of them apart. The same fit to
# shuffled classes mixes most of them.

plt.rc("font", size=17)
colors = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999", "#882255", "#999933")
figure, axes = plt.subplot_mosaic(
    [["large", "LDA"], ["large", "shuffled"]], width_ratios=(2.5, 1), figsize=(8, 5.6), layout="constrained"
)
maps = {"large": "Kernelized(FDA)", "LDA": "LDA of scikit-learn", "shuffled": "Kernelized(FDA), shuffled"}
for panel, name in maps.items():
    axes[panel].scatter(*places[name][:, :2].T, s=30 if panel == "large" else 8, color=[colors[j] for j in y_new])
    axes[panel].set(title=panel, xticks=[], yticks=[])
aside = {1: (0.005, -0.004), 7: (-0.005, -0.001)}  # so that the two do not cover each other
for j in range(10):
    place = np.median(places["Kernelized(FDA)"][y_new == j, :2], axis=0) + aside.get(j, (0, 0))
    word = axes["large"].text(*place, j, fontsize=26, weight="bold", ha="center", va="center")
    word.set_path_effects([withStroke(linewidth=5, foreground="white")])
axes["large"].set(title="Kernelized(FDA)", xlabel=f"component 1; n = {len(y_new)} held out", ylabel="component 2")
plt.show()

# %%
# FDA and scikit-learn's LDA are the same method and differ by a few rows. With nine components every linear method
# is behind all 64 pixels, and PCA, which uses no classes, is as good as any of them: the classes help if you want
# few components. The kernel form is the best at every size, and with nine components the only one ahead of the
# pixels. If it is fitted on shuffled classes, held-out digits are told about as well as by guessing.

figure, axes = plt.subplots(figsize=(10, 6), layout="constrained")
looks = zip(("#999999", "#0072b2", "#009e73", "#d55e00", "#bbbbbb", "#000000"), "osD^.x", strict=True)
for (name, values), (color, marker) in zip(curves.items(), looks, strict=True):
    axes.plot(sizes, values, color=color, marker=marker, markersize=8, linewidth=2, label=name)
axes.axhline(everything, color="#555555", linestyle=":", label="all 64 pixels")
axes.set(xlabel="components k", ylabel="accuracy (share of held-out rows)", ylim=(0, 1.01))
axes.set_title(f"Ten digits: n = {len(y_train)} rows to fit, n = {len(y_new)} held out")
axes.legend(frameon=False, fontsize=14, loc="lower right", bbox_to_anchor=(1, 0.15))
plt.show()
