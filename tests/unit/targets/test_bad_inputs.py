"""The sentence for each bad y that holds numbers: in memory, in blocks, and in rows that come by parts."""

import re

import numpy as np
import pandas as pd
import pytest

from proxembed import FDA, OPLS, EmbeddingSearch, RowBlocks

RNG = np.random.default_rng(0)
N = 24
REAL = RNG.normal(size=N)
X = RNG.normal(size=(N, 5)) + REAL[:, None]
ROWS = np.arange(N)
FEW = pd.DataFrame({"Cd": np.where(ROWS > 0, np.nan, REAL), "Cu": REAL})

# message: estimator, y, and whether the sentence is the same where a block of rows, or a part, is all that is known
BAD = {
    "y column 'Cu' holds infinity in 3 rows; replace it, NaN stands for unknown.": (
        OPLS(),
        pd.DataFrame({"Cd": REAL, "Cu": np.where(ROWS < 3, np.inf, REAL)}),
        True,
    ),
    "y column 'Cd' has 1 known cell; two are needed: drop it.": (OPLS(), FEW, True),
    "Every column of y is constant.": (OPLS(), np.full((N, 2), [0.5, 7.0]), True),
    "y mixes numbers and text in column 'grade' (7.5, 'high'); make it one kind.": (
        OPLS(),
        pd.DataFrame({"a": REAL, "grade": [7.5, "high"] * (N // 2)}),
        True,
    ),
    "FDA takes classes, y holds 3 numbers: use Sliced(FDA()), OPLS or CCA.": (FDA(), RNG.normal(size=(N, 3)), True),
    "n_components=5 exceeds 1, the rank of one output in OPLS: use n_components=1, extend=True, or "
    "PLS(deflation='simpls').": (OPLS(n_components=5), REAL, True),
    f"target_type='classes': column 'yield' holds {N} values.": (
        OPLS(target_type="classes"),
        pd.DataFrame({"yield": REAL, "b": ROWS % 4}),
        False,
    ),
    "y column 'day' holds dates; pass numbers, (t - t.min()) / day, or strings for classes.": (
        OPLS(),
        pd.DataFrame({"day": pd.date_range("2020-01-01", periods=N), "b": REAL}),
        True,
    ),
    "Jaccard@10 needs labels; y holds numbers: use A@10.": (EmbeddingSearch(measure="Jaccard@10"), REAL, None),
    f"y holds {N} different whole numbers in {N} rows, 1 row each: classes or measurements? Pass target_type='real' or "
    "'classes'.": (OPLS(), ROWS, True),
}


@pytest.mark.parametrize("message", BAD)
def test_the_sentence_for_each_bad_input(message):
    method, y, alike = BAD[message]
    ways = [lambda: method.fit(X, y)]
    if alike is not None:
        blocks = [(X[:12], y[:12]), (X[12:], y[12:])]
        ways += [lambda: method.fit(RowBlocks(blocks))]
        ways += [lambda: method.__class__(**method.get_params()).partial_fit(*blocks[0]).partial_fit(*blocks[1]).ridge_]
    for number, way in enumerate(ways):
        expected = message if alike or number == 0 else re.sub("[0-9]+ values", "12 values", message)
        with pytest.raises(ValueError) as error:
            way()
        assert str(error.value) == expected
