"""The curve of SSDR's ``mix`` for several labelled shares of one data set: what unlabelled rows add, and when.

    python docs/figures/mix_curve.py docs/figures/mix_curve.png [DATA]

A third of the rows is held out. Of the others a share keeps its labels, drawn at random several times; SSDR of
MESD(FDA) with OLPP, and with PCA, is fitted on all of them at each mix. Scores are the macro average precision on the
held-out rows of a ridge read-out that is fitted on the labelled rows alone. At mix 0 the labels alone count, at 1 the
features alone. Nothing is chosen on the held-out rows: whole curves are shown. Without DATA the built-in digits are
taken.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from proxembed import FDA, MESD, OLPP, PCA, SSDR, MultiOutputRidge, Scaling
from proxembed.data import digits, read
from proxembed.measures.metrics import macro_average_precision
from proxembed.report.figures import shades
from proxembed.splits.splits import stratified_folds

SEED = 0
SHARES = (0.05, 0.1, 0.2, 0.4, 0.8)
MIXES = np.linspace(0, 1, 11)
PARTNERS = (OLPP, PCA)
DRAWS = 5
SIZE = 5
MARKS = ("o", "s", "^", "D", "v")
FEATURES = 1.1  # place of the scores from all features


class Trial:
    """Training rows of which some are labelled, and held-out rows."""

    def __init__(self, data):
        Y = data.Y.toarray().astype(int)
        split = stratified_folds(Y, 3, seed=SEED)[0]
        scaling = Scaling("standard").fit(data.X[split.train])
        self.X, self.X_held_out = scaling.transform(data.X[split.train]), scaling.transform(data.X[split.held_out])
        self.Y, self.Y_held_out = Y[split.train], Y[split.held_out]

    def labelled(self, share: float, draw: int) -> np.ndarray:
        order = np.random.default_rng([SEED, draw]).permutation(len(self.Y))  # a larger share holds the smaller ones
        return order[: round(share * len(self.Y))]

    def score(self, Z, Z_held_out, labelled) -> float:
        """Macro average precision on the held-out rows of the read-out of the labelled rows."""
        read_out = MultiOutputRidge(penalty="auto").fit(Z[labelled], self.Y[labelled])
        return macro_average_precision(self.Y_held_out, read_out.decision_function(Z_held_out)).value

    def mixed(self, partner, mix: float, labelled) -> float:
        partly = np.full(self.Y.shape, np.nan)
        partly[labelled] = self.Y[labelled]
        model = SSDR(MESD(FDA()), partner(), mix=mix, balance="trace", constraint="mixed", n_components=SIZE)
        model.fit(self.X, partly)
        return self.score(model.transform(self.X), model.transform(self.X_held_out), labelled)


def draw_panel(axes, trial: Trial, partner) -> None:
    colours = shades()[np.linspace(95, 250, len(SHARES)).astype(int)] / 255
    for share, colour, mark in zip(SHARES, colours, MARKS, strict=True):
        rows = [trial.labelled(share, draw) for draw in range(DRAWS)]
        scores = np.array([[trial.mixed(partner, mix, labelled) for mix in MIXES] for labelled in rows])
        mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(DRAWS)
        axes.fill_between(MIXES, mean - error, mean + error, color=colour, alpha=0.18, linewidth=0)
        axes.plot(MIXES, mean, color=colour, marker=mark, markersize=5, linewidth=1.8, label=f"{share:.0%} labelled")
        features = np.mean([trial.score(trial.X, trial.X_held_out, labelled) for labelled in rows])
        axes.plot(FEATURES, features, marker=mark, color=colour, fillstyle="none", linestyle="none")
    axes.set(xlim=(-0.04, FEATURES + 0.05), xticks=[*MIXES[::2], FEATURES])
    axes.set_xticklabels([*(f"{mix:.1g}" for mix in MIXES[::2]), "all\nfeatures"])
    axes.set_title(f"MESD(FDA) with {partner.__name__}", fontsize=10, loc="left")
    axes.set_xlabel("mix: share of the unsupervised part")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.7)


def main(path: Path, source: str | None = None) -> None:
    data = digits() if source is None else read(source)
    trial = Trial(data)
    figure = Figure(figsize=(10.4, 4.5), dpi=150, layout="constrained")
    panels = figure.subplots(1, len(PARTNERS), sharey=True)
    for axes, partner in zip(panels, PARTNERS, strict=True):
        draw_panel(axes, trial, partner)
    panels[0].set_ylabel("macro average precision, held-out rows")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles[::-1], names[::-1], loc="outside right center", frameon=False)
    rows = f"{len(trial.Y):,} training rows, {len(trial.Y_held_out):,} held out"
    note = f"{data.name}: {rows}; {SIZE} components, {DRAWS} draws of the labelled rows, bands: 1 s.e."
    figure.supxlabel(note, fontsize=9)
    figure.savefig(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
