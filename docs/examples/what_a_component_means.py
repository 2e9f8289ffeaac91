"""
What does a component mean, and would I find it again?
======================================================

``explain`` lists the features that form a component and the labels that it serves. ``diagnose`` measures whether half
of the rows would give the same component. Interpret a weight only if the component is stable and better than chance.
"""

# %%
# Wines of three growers with thirteen named measurements. ``fit_on`` returns a pipeline with standardised features and
# keeps the names of the data.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline

from proxembed import FDA, Scaling, diagnose, fit_on
from proxembed.data import Dataset

wine = load_wine()
growers = [f"grower {j + 1}" for j in wine.target]
data = Dataset.from_classes(wine.data, growers, feature_names=wine.feature_names, name="wine")
model = fit_on(FDA(n_components=2), data)
for component in range(2):
    explained = model.explain(component, n_features=4)
    print(f"component {component}: ", ", ".join(f"{name} {weight:+.2f}" for name, weight in explained.features))
    print("     serves: ", ", ".join(f"{name} {loading:+.2f}" for name, loading in explained.labels))

# %%
# Stability is the share of a component that a fit on a random half of the rows finds again. The null is the value of
# shuffled growers on held-out rows.

found = diagnose(make_pipeline(Scaling(), FDA(n_components=2)), data.X, growers, n_shuffles=19, n_resamples=10)
print("stability of each component:", [round(value, 2) for value in found.stability])
print(f"held-out {found.measure} {found.held_out:.3f}; shuffled at most {max(found.null):.3f}; passed: {found.passed}")

# %%
# Both components are found again from half of the wines, so their weights can be interpreted: for example,
# flavanoids against color intensity. A weight is that of one measurement with all others fixed. A measurement that
# is correlated with another may therefore have a small weight and still matter.

figure, grid = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", sharey=True)
order = np.argsort([-abs(dict(model.explain(0, n_features=13).features)[name]) for name in wine.feature_names])[::-1]
for component, axes in enumerate(grid):
    weights = dict(model.explain(component, n_features=13).features)
    values = [weights[wine.feature_names[j]] for j in order]
    axes.barh([wine.feature_names[j] for j in order], values, color=["#0072b2" if v > 0 else "#d55e00" for v in values])
    labels = ", ".join(f"{name} {loading:+.1f}" for name, loading in model.explain(component).labels)
    axes.set_title(
        f"component {component}: {labels}\nfound again from half of the rows: {found.stability[component]:.2f}",
        fontsize=9,
    )
    axes.set_xlabel("weight (per standard deviation of the measurement)")
    axes.axvline(0, color="black", linewidth=0.8)
figure.suptitle(f"FDA of n = {len(growers)} wines", fontsize=11)
plt.show()
