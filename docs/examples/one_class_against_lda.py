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
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from proxembed import FDA, LFDA, PCA, Kernelized

X, y = load_digits(return_X_y=True)
X_train, X_new, y_train, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)


def accuracy(Z_train, Z_new):
    """Share of held-out rows whose class the five nearest training rows tell."""
    return KNeighborsClassifier(5).fit(Z_train, y_train).score(Z_new, y_new)


methods = {
    "PCA, which ignores the classes": PCA(n_components=9),
    "FDA": FDA(n_components=9),
    "LFDA": LFDA(n_components=9, ridge=0.01),
    "Kernelized(FDA)": Kernelized(FDA(), n_components=9),
}
sizes = range(1, 10)
curves = {}
for name, method in methods.items():
    method.fit(X_train, y_train)
    short = [method.truncate(k) for k in sizes]
    curves[name] = [accuracy(each.transform(X_train), each.transform(X_new)) for each in short]
lda = LinearDiscriminantAnalysis().fit(X_train, y_train)
Z_train, Z_new = lda.transform(X_train), lda.transform(X_new)
curves["LDA of scikit-learn"] = [accuracy(Z_train[:, :k], Z_new[:, :k]) for k in sizes]
everything = accuracy(X_train, X_new)
for name, values in curves.items():
    print(f"{name:32s} k = 2: {values[1]:.3f}   k = 9: {values[-1]:.3f}")
print(f"{'all 64 pixels':32s}               {everything:.3f}")

# %%
# FDA and scikit-learn's LDA are the same method and differ by a few rows. With nine components every linear method
# is behind all 64 pixels, and PCA, which uses no classes, is as good as any of them: the classes help if you want
# few components. The kernel form is the best at every size, and with nine components the only one ahead of the
# pixels.

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
colors = ["#999999", "#0072b2", "#009e73", "#d55e00", "#000000"]
for (name, values), color, marker in zip(curves.items(), colors, "osD^x", strict=True):
    axes.plot(sizes, values, color=color, marker=marker, label=name)
axes.axhline(everything, color="#555555", linestyle=":", label="all 64 pixels")
axes.set(xlabel="components k", ylabel="accuracy (share of held-out rows)", ylim=(0.2, 1.01))
axes.set_title(f"Ten digits: n = {len(y_train)} rows to fit, n = {len(y_new)} held out")
axes.legend(frameon=False, fontsize=9)
plt.show()
