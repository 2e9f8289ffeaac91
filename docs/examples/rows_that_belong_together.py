"""
Rows that belong together: what do shuffled labels have to keep?
================================================================

Visits of a patient are like each other, and so are days that follow each other. Labels shuffled row by row lose this:
they are then easy to beat, even by labels that say nothing of the features. :func:`~proxembed.diagnose` keeps it if
you name the ``groups`` or the ``times`` of the rows.
"""

# %%
# Neither this package nor scikit-learn comes with rows of groups, so these data are drawn, and the truth is known: 300
# visits, ten of each of 30 patients, with 20 features. Part of each feature belongs to the patient, part to the visit.
# Whether a patient *smokes* or *lives alone* is drawn by lot, so there is nothing to find.

import matplotlib.pyplot as plt
import numpy as np
from scipy.signal import lfilter
from sklearn.model_selection import TimeSeriesSplit

from proxembed import OPLS, diagnose
from proxembed.splits import group_folds

random = np.random.default_rng(0)
patients = np.repeat(np.arange(30), 10)
visits = random.normal(size=(30, 20))[patients] + random.normal(size=(300, 20))
by_lot = random.integers(0, 2, (30, 2))[patients]
related = (visits[:, :2] + 0.5 * random.normal(size=(300, 2)) > 0).astype(int)


def row_of(name, X, Y, **how):
    """A diagnosis, with its name and its number of rows."""
    it = diagnose(OPLS(), X, Y, n_shuffles=19, n_resamples=1, **how)
    print(f"{name:46s} held out {it.held_out:.2f}, null ({it.unit}) up to {max(it.null):.2f}, p = {it.p:.2f}")
    return name, it


grouped = [
    row_of("by lot: folds and shuffles of visits", visits, by_lot),
    row_of("by lot: folds of patients, shuffles of visits", visits, by_lot, cv=group_folds(by_lot, patients, 3)),
    row_of("by lot: folds and shuffles of patients", visits, by_lot, groups=patients),
    row_of("related: folds and shuffles of patients", visits, related, groups=patients),
]

# %%
# The first null is wrong twice. Its folds put visits of one patient on both sides, so a model that recognises the
# patient knows the label; and its shuffles give the visits of a patient different labels, so shuffled labels vary less
# in what they reach than labels of whole patients. Folds of whole patients mend the first fault only. With
# ``groups=patients`` whole patients also exchange their labels. Labels drawn by lot then no longer pass, and labels
# that depend on the features still do.
#
# The same happens in time. Below, 20 features and two labels of 500 days are independent autoregressive series: each
# value is .9 of that of the day before, plus noise. A label is whether its series is above 0. ``times=days`` makes
# folds in the order of time, and shifts all labels along it by a random number of days; the last ones go to the front.

days = np.arange(500)
series = lfilter([1], [1, -0.9], random.normal(size=(700, 22)), axis=0)[200:]
weather, independent = series[:, :20], (series[:, 20:] > 0).astype(int)
dependent = (weather[:, :2] + 0.3 * series[:, 20:] > 0).astype(int)
timed = [
    row_of("independent: folds and shuffles of days", weather, independent),
    row_of("independent: folds in time, shuffles of days", weather, independent, cv=TimeSeriesSplit(3)),
    row_of("independent: folds in time, shifts in time", weather, independent, times=days),
    row_of("dependent: folds in time, shifts in time", weather, dependent, times=days),
]

# %%
# How to read the left panel: labels drawn by lot (the upper three lines) should lie among their shuffles, and they do
# so only if folds and shuffles keep patients together. The right panel: independent series should lie among their
# shifts, and they do so only if the labels are shifted along time. The lowest line of each panel is a true relation,
# which the right null still finds. Labels that are better than all 19 shuffles have p = 0.05, the least that 19
# shuffles can give.

figure, panels = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained", sharex=True)
titles = (f"n = {len(visits)} visits of 30 patients", f"n = {len(days)} days")
for axes, title, rows in zip(panels, titles, (grouped, timed), strict=True):
    axes.axhspan(-0.5, 1.5, color="#f3eee4", zorder=0)
    for place, (_, it) in enumerate(rows):
        axes.plot(it.null, np.full(len(it.null), place), "o", color="#536170", alpha=0.5, ms=5, mew=0)
        color = "#0072b2" if it.passed else "#d55e00"
        axes.plot([it.held_out] * 2, [place - 0.35, place + 0.35], color=color, lw=3)
    axes.set(xlabel="macro average precision, held out (0 to 1)", title=title, xlim=(0.2, 1), ylim=(3.5, -0.5))
    axes.set_yticks(range(len(rows)), [name.replace(": ", ":\n") for name, _ in rows], fontsize=9)
for label, style in (
    ("19 shuffles", {"marker": "o", "color": "#536170", "alpha": 0.5, "ls": "none"}),
    ("true labels, better than all shuffles", {"color": "#0072b2", "lw": 3}),
    ("true labels, not better", {"color": "#d55e00", "lw": 3}),
    ("wrong null", {"color": "#f3eee4", "lw": 9}),
):
    panels[0].plot([], [], label=label, **style)
figure.legend(loc="outside lower center", ncols=4, fontsize=9, frameon=False)
plt.show()

# %%
# Few groups can be exchanged in few ways. Six patients in three folds of two have at most eight shuffles, and no p of
# 0.05 can come of them: such a diagnosis never passes, and the program says *cannot tell*.

few = diagnose(OPLS(), visits[:60], by_lot[:60], n_shuffles=19, n_resamples=1, groups=patients[:60])
print(f"six patients: {few.distinct} different shuffles, passed: {few.passed}")

# %%
# The program takes the names of columns, and so do searches, comparisons and maps. Without ``--groups``, the program
# uses an identifier such as *patient* as groups and says so.
#
# .. code-block:: console
#
#     $ proxembed diagnose visits.csv -m OPLS --labels smokes,alone --groups patient
#     $ proxembed diagnose days.csv -m OPLS --labels rain,wind --time day
#
# Shifts assume series without a trend. Groups need not have the same number of rows: a group that gets the labels of
# another one gets a sample of them. :doc:`/how_it_judges` states the unit of every shuffle, fold and interval.
