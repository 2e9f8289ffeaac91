"""Groups and times of any type, and rows without one."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from proxembed.splits.splits import GroupFolds
from proxembed.splits.units import checked_units

WHEN = pd.date_range("2024", periods=6, freq="31h")


@pytest.mark.parametrize(
    "times",
    [WHEN, WHEN.tz_localize("UTC").tz_convert("Europe/Berlin"), pl.Series(WHEN), WHEN.to_pydatetime().tolist()],
    ids=["pandas", "zone", "polars", "list"],
)
def test_dates_are_times_in_their_order(times):
    found = checked_units(None, times, 6)[1]
    np.testing.assert_allclose(np.diff(found) / np.diff(found)[0], np.ones(5))


@pytest.mark.parametrize(
    "groups",
    [
        [3, 3, 7, 7, 7, 9],
        list("aabbbc"),
        pd.Categorical(list("aabbbc")),
        pl.Series(list("aabbbc")),
        [1, 1, "1", "1", "1", 2],
        pd.Series([("a", 1)] * 2 + [("a", 2)] * 3 + [("b", 1)]),
    ],
    ids=["numbers", "words", "categories", "polars", "mixed", "pairs"],
)
def test_groups_of_any_type_are_codes(groups):
    assert checked_units(groups, None, 6)[0].tolist() == [0, 0, 1, 1, 1, 2]


@pytest.mark.parametrize("empty", [None, np.nan, pd.NA, pd.NaT], ids=repr)
def test_rows_without_a_group_or_time_are_refused(empty):
    with pytest.raises(ValueError, match="groups holds .* in row 2; give every row a group; a row on its own has"):
        checked_units(["a", "b", empty, "a"], None, 4)
    with pytest.raises(ValueError, match="times holds .* in row 2; give every row a time or leave it out"):
        checked_units(None, pd.Series([1.0, 2.0, empty, 4.0], dtype=object), 4)
    with pytest.raises(ValueError, match="times holds NaT in row 2; give every row a time or leave it out"):
        checked_units(None, pd.Series(WHEN).mask(np.arange(6) == 2), 6)


def test_durations_are_times_and_a_date_among_numbers_is_refused():
    spans = [datetime.timedelta(hours=hours) for hours in (1, 3)]
    assert checked_units(None, spans, 2)[1].tolist() == [3600.0, 10800.0]
    for times in ([datetime.date(2024, 1, 1), 2], [datetime.time(1, tzinfo=datetime.UTC)] * 2):
        with pytest.raises(ValueError, match="times holds .*; pass numbers, or dates such as pandas"):
            checked_units(None, times, 2)
    with pytest.raises(ValueError, match="groups=.* must have one entry per row of X"):
        checked_units({"a", "b"}, None, 2)


def test_texts_are_no_times():
    with pytest.raises(ValueError, match="times holds '2024-01-01 00:00:00'; pass numbers, or dates such as pandas"):
        checked_units(None, WHEN.astype(str), 6)


def test_folds_of_groups_take_words_and_refuse_a_row_without_a_group():
    groups = np.array(["a", "b", "c", "a"], dtype=object)
    assert len(list(GroupFolds(2).split(np.eye(4), [0, 1, 0, 1], groups=groups))) == 2
    groups[1] = None
    with pytest.raises(ValueError, match="groups holds None in row 1; give every row a group"):
        list(GroupFolds(2).split(np.eye(4), [0, 1, 0, 1], groups=groups))
