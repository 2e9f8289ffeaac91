"""ReadoutAxes on real rows: neighbours share more labels."""

import pytest

from proxembed import OPLS, Kernelized, ReadoutAxes
from proxembed.data import read
from proxembed.estimator.catalogue import title_of
from proxembed.evaluate.part import prepare
from proxembed.splits.splits import standard_split
from unit.methods.test_around import JACCARD, curve


@pytest.mark.parametrize("method", [OPLS(), Kernelized()], ids=title_of)
def test_neighbours_of_enron_share_more_labels(data_folder, method):
    data = read(data_folder / "enron.npz")
    part = prepare(data, standard_split(data))
    plain, weighed = (curve(each, part, (part.labels.c,), JACCARD) for each in (method, ReadoutAxes(method)))
    assert max(weighed.values()) > max(plain.values()) + 0.03
