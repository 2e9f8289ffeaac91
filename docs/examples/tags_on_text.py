"""
My documents have tags: which words form a topic map?
=====================================================

The documents are installed with this package: the docstrings of NumPy, SciPy and scikit-learn. Their tags are the
parts of the module name of a function, such as *sparse* and *linalg* for ``scipy.sparse.linalg.eigsh``.
"""

# %%
# Read one document per public object. Its tags are those of every module that exports it.

import inspect
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patheffects import withStroke
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

from proxembed import LSI, OPLS, Layout, MultiOutputRidge, Scaling
from proxembed.measures import jaccard_at_k, macro_average_precision, neighbor_weights

MODULES = """
numpy.fft numpy.linalg numpy.ma numpy.random scipy.cluster.hierarchy scipy.fft scipy.integrate
scipy.interpolate scipy.linalg scipy.ndimage scipy.optimize scipy.signal scipy.signal.windows
scipy.sparse scipy.sparse.csgraph scipy.sparse.linalg scipy.spatial scipy.spatial.distance
scipy.special scipy.stats scipy.stats.mstats sklearn.cluster sklearn.datasets sklearn.decomposition
sklearn.ensemble sklearn.linear_model sklearn.metrics sklearn.metrics.pairwise
sklearn.model_selection sklearn.preprocessing
"""
tags_of: dict[str, set[str]] = {}
for module in MODULES.split():
    for name, thing in inspect.getmembers(import_module(module)):
        text = inspect.getdoc(thing)
        if not name.startswith("_") and callable(thing) and text and len(text) > 200:
            tags_of.setdefault(text, set()).update(module.split(".")[1:])
documents, tags = list(tags_of), list(tags_of.values())
names = sorted({tag for each in tags for tag in each})
Y = np.array([[name in each for name in names] for each in tags], dtype=int)
names, Y = [name for name, n in zip(names, Y.sum(axis=0), strict=True) if n >= 20], Y[:, Y.sum(axis=0) >= 20]
print(
    f"{len(documents):,} documents, {len(names)} tags on 20 or more of them, {Y.sum() / len(Y):.2f} tags per document"
)

# %%
# Counts become sublinear tf-idf, fitted on the training part, and stay sparse. LSI is the baseline that uses no
# tags. A third of the documents is held out; a ridge read-out fitted on the training part scores their tags.

counts = CountVectorizer(min_df=3, stop_words="english", token_pattern=r"[a-zA-Z]{3,}")
train, new = train_test_split(np.arange(len(Y)), test_size=1 / 3, random_state=0)
raw_train, raw_new = counts.fit_transform([documents[i] for i in train]), counts.transform([documents[i] for i in new])
scaling = Scaling("tfidf").fit(raw_train)
X_train, X_new = scaling.transform(raw_train), scaling.transform(raw_new)


def scores(Z_train, Z_new, labels):
    """Scores of the tags of the held-out documents."""
    return MultiOutputRidge(penalty="auto").fit(Z_train, labels).decision_function(Z_new)


most = Y.shape[1]
shuffled = np.random.default_rng(0).permutation(Y[train])
fitted = {
    "LSI, without tags": (LSI(n_components=most).fit(X_train), Y[train]),
    "OPLS": (OPLS(n_components=most).fit(X_train, Y[train]), Y[train]),
    "OPLS, tags shuffled": (OPLS(n_components=most).fit(X_train, shuffled), shuffled),
}
sizes = [k for k in (1, 2, 3, 5, 8, 12, 18) if k < most] + [most]
curves = {}
for name, (method, labels) in fitted.items():
    short = [method.truncate(k) for k in sizes]
    found = [scores(each.transform(X_train), each.transform(X_new), labels) for each in short]
    curves[name] = [macro_average_precision(Y[new], S).value for S in found]
words_alone = macro_average_precision(Y[new], scores(X_train, X_new, Y[train])).value
for name, values in curves.items():
    print(f"{name:20s}", "  ".join(f"k = {k}: {value:.2f}" for k, value in zip(sizes, values, strict=True)))
print(f"all {X_train.shape[1]:,} words: {words_alone:.2f}")

# %%
# The map: t-SNE of all components of OPLS beside principal scores of the words. Held-out documents are placed by their
# nearest training documents, without their tags. A few of the tags are named. The printed value is the mean Jaccard
# similarity of a document's tags to those of its ten nearest training documents on the map.

NAMED = {
    "stats": "#0072b2",
    "ndimage": "#d55e00",
    "special": "#009e73",
    "random": "#cc79a7",
    "signal": "#e69f00",
    "metrics": "#56b4e9",
    "sparse": "#000000",
}
plt.rc("font", size=17)
figure, axes = plt.subplot_mosaic([["OPLS", "shuffled"]], width_ratios=(2, 1), figsize=(8, 5.6), layout="constrained")
for title, labels in (("OPLS", Y[train]), ("shuffled", shuffled)):
    layout = Layout(OPLS(n_components=most), layout="sklearn").fit(X_train, labels)
    Z_train, Z = layout.transform(X_train), layout.transform(X_new)
    print(f"{title:8s} Jaccard@10 {jaccard_at_k(Y[new], labels, neighbor_weights(Z, Z_train, 10)):.2f}")
    size = 40 if title == "OPLS" else 12
    axes[title].scatter(*Z.T, s=size / 2, color="#dddddd")
    for name, color in NAMED.items():
        here = Z[Y[new, names.index(name)] == 1]
        axes[title].scatter(*here.T, s=size, color=color)
        if title == "OPLS":
            word = axes[title].text(*np.median(here, axis=0), f"{name}\n", color=color, fontsize=22, ha="center")
            word.set(weight="bold", path_effects=[withStroke(linewidth=5, foreground="white")], va="center")
    axes[title].set(title=title, xticks=[], yticks=[])
axes["OPLS"].set(xlabel=f"n = {len(new)} held-out documents")
plt.show()

# %%
# Under shuffled tags, documents with similar words are still near each other, so that colours form some groups: the
# words alone tell much. The printed value of that map is low: near documents do not share all of their tags.
#
# The first components, in words and in tags:

words = counts.get_feature_names_out()
for component in range(3):
    explained = fitted["OPLS"][0].explain(component, n_features=5, n_labels=3)
    tagged = ", ".join(f"{names[int(j)]} {value:+.2f}" for j, value in explained.labels)
    print(f"{component}: {', '.join(words[int(j[1:])] for j, _ in explained.features)}  |  {tagged}")

# %%
# At every size OPLS keeps more of the tags than LSI. With as many components as tags it is as good as a ridge
# regression on all words, and no better: the gain is in size, not in accuracy. With fewer than about fifteen
# components both lose much, since tags that exclude each other need one direction each. Shuffled tags are at chance
# level.

figure, axes = plt.subplots(figsize=(10, 6), layout="constrained")
for (name, values), color, marker in zip(curves.items(), ("#0072b2", "#d55e00", "#999999"), "os^", strict=True):
    axes.plot(sizes, values, color=color, marker=marker, markersize=8, linewidth=2, label=name)
axes.axhline(words_alone, color="black", linestyle=":", label=f"all {X_train.shape[1]:,} words")
axes.set(
    xscale="log", xticks=sizes, xticklabels=sizes, xlabel="components k", ylabel="macro average precision", ylim=(0, 1)
)
axes.minorticks_off()
axes.set_title(f"{most} tags; n = {len(train):,} documents to fit, n = {len(new):,} held out")
axes.legend(frameon=False, fontsize=15)
plt.show()
