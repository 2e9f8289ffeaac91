"""Rivals on real data: the scaling that is chosen for 0/1 words."""

import pytest

from proxembed.classify.ridge import fit_readout
from proxembed.data import read
from proxembed.evaluate.part import make_part
from proxembed.measures.metrics import macro_average_precision
from proxembed.targets.labels import LabelMatrix


@pytest.mark.parametrize("name", ["enron", "tmc2007-500"])
def test_words_of_emails_and_reports_are_weighted_by_how_few_texts_hold_them(data_folder, name):
    data = read(data_folder / f"{name}.npz").take(range(1700))
    labels, train, test = LabelMatrix.of(data.Y), range(1100), range(1100, 1700)
    parts = [make_part(data.X, labels, [*train], [*test], kind) for kind in (None, "none")]
    assert [part.scaling for part in parts] == ["tfidf", "none"]
    chosen, plain = (
        macro_average_precision(part.Y_held_out, fit_readout(part.X, part.Y.toarray()).scores(part.X_held_out)).value
        for part in parts
    )
    assert chosen > plain
