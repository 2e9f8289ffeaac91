"""Cells as plain values: sets, buffers and what libraries wrap them in."""

from array import array
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from proxembed import TableEncoder
from proxembed.tables.cells import plain_value
from proxembed.tables.column import CellError, Column

VECTORS = [[float(i), float(i * i % 7)] for i in range(20)]


@pytest.mark.parametrize("form", [array, memoryview], ids=["array", "memoryview"])
@pytest.mark.parametrize("kind", "fd")
def test_buffers_of_numbers_are_vectors(form, kind):
    cells = [array(kind, each) for each in VECTORS]
    X = pd.DataFrame({"v": pd.Series(cells if form is array else list(map(memoryview, cells)), dtype=object)})
    encoder, wanted = TableEncoder().fit(X), TableEncoder().fit(pd.DataFrame({"v": VECTORS}))
    assert encoder.get_feature_names_out().tolist() == ["v[0]", "v[1]"]
    np.testing.assert_allclose(encoder.transform(X), wanted.transform(pd.DataFrame({"v": VECTORS})))


def test_buffers_of_bytes_stay_bytes():
    for value in (memoryview(b"ab"), bytearray(b"ab"), array("B", b"ab")):
        assert plain_value(value) == b"ab"


def test_numbers_in_sets_are_names_and_no_vectors():
    assert plain_value({10, 2}) == plain_value({10.0, np.int64(2)}) == plain_value({Decimal(10), 2}) == ("10", "2")
    assert plain_value(frozenset({0.5, "a"})) == ("0.5", "a")
    X = pd.DataFrame({"t": [{i % 3, 3 + i % 2} for i in range(24)]})
    names = TableEncoder().fit(X).get_feature_names_out().tolist()
    assert names == [f"t: {j}" for j in range(5)]


@pytest.mark.parametrize(("pair", "word"), [(("false", "true"), "yes"), (("no", "yes"), "true")])
def test_a_truth_in_other_words_is_refused_by_the_words_of_the_fit(pair, word):
    with pytest.raises(CellError) as caught:
        Column("v", "boolean", pair).parse([word], [0])
    assert caught.value.held == f"{pair[1]} or {pair[0]}"
