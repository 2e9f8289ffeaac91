"""Rivals on real data: what logistic regression makes of 0/1 words."""

from proxembed.classify.ridge import fit_readout
from proxembed.data import read
from proxembed.evaluate.arms import rival_arms
from proxembed.evaluate.part import make_part, prepare
from proxembed.evaluate.scoring import fitted_scores
from proxembed.measures.metrics import macro_average_precision
from proxembed.splits.splits import standard_split
from proxembed.targets.labels import LabelMatrix


def test_logistic_regression_of_emails_is_above_all_features_as_they_are(data_folder):
    data = read(data_folder / "enron.npz")
    split = standard_split(data)
    part, plain = prepare(data, split), make_part(data.X, LabelMatrix.of(data.Y), split.train, split.held_out, "none")
    ridge = fit_readout(plain.X, plain.Y.toarray()).scores(plain.X_held_out)
    arm = next(arm for arm in rival_arms(data.X, data.targets) if arm.name == "logistic regression")
    _, scores = fitted_scores(arm, part)
    above, below = (macro_average_precision(part.Y_held_out, S).value for S in (scores, ridge))
    assert above > below
