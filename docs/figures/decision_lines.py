"""BSML in two dimensions: held-out rows of emotions with the line at which each label is decided, as in Figure 6 of the
paper, beside MLDA with a probit per label and beside BSML on shuffled labels.

    python docs/figures/decision_lines.py docs/figures/decision_lines.png [DATA]

DATA is a multi-label file with a standard split and at most eight labels; without it the built-in digits are taken, of
which a third is held out. Everything is fitted on the training rows; the shuffle moves their label rows as a whole.
"""

import sys
from pathlib import Path

import numpy as np

from proxembed import BSML, MLDA, Scaling, VariationalProbit
from proxembed.data import digits, read
from proxembed.measures.metrics import hamming_loss
from proxembed.report.decision_lines import Plane, decision_lines
from proxembed.splits.splits import standard_split, stratified_folds

SEED = 0


def bsml(title: str, X, Y, X_held_out, Y_held_out) -> Plane:
    model = BSML(n_components=2).fit(X, Y)
    loss = hamming_loss(Y_held_out, model.predict(X_held_out))
    return Plane.of(f"{title}\nHamming loss {loss:.3f}", model, X_held_out)


def mlda(X, Y, X_held_out, Y_held_out) -> Plane:
    """Standardised components, and a probit per label on them."""
    embedding = MLDA(n_components=2).fit(X, Y)
    scaling = Scaling("standard").fit(embedding.transform(X))
    Z, Z_held_out = (scaling.transform(embedding.transform(part)) for part in (X, X_held_out))
    probit = VariationalProbit().fit(Z, Y)
    title = f"MLDA, then a probit per label\nHamming loss {hamming_loss(Y_held_out, probit.predict(Z_held_out)):.3f}"
    return Plane(title, Z_held_out, probit.coef_, probit.intercept_, "s.d. of the training rows")


def main(path: Path, source: str | None = None) -> None:
    data = digits() if source is None else read(source)
    Y = data.Y.toarray().astype(int)
    split = stratified_folds(Y, 3, seed=SEED)[0] if source is None else standard_split(data)
    scaling = Scaling("standard").fit(data.X[split.train])
    X, X_held_out = scaling.transform(data.X[split.train]), scaling.transform(data.X[split.held_out])
    Y_held_out, Y = Y[split.held_out], Y[split.train]
    shuffled = np.random.default_rng(SEED).permutation(Y)
    planes = [
        bsml("BSML", X, Y, X_held_out, Y_held_out),
        mlda(X, Y, X_held_out, Y_held_out),
        bsml("BSML, labels shuffled", X, shuffled, X_held_out, Y_held_out),
    ]
    note = f"{data.name}: fitted on {len(Y):,} training rows, shown are held-out rows; two components"
    decision_lines(planes, Y_held_out, data.label_names, note).savefig(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
