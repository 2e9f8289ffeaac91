"""Names of columns that are numbers in order."""

import pytest

from proxembed.tables.axis import axis_names, axis_of


def test_an_axis_is_long_and_rises_or_falls_throughout():
    names = [str(850 + 2 * j) for j in range(16)]
    assert axis_of(names).tolist() == list(range(850, 882, 2)) == axis_of(names[::-1]).tolist()[::-1]
    for other in (names[1:], [*names, "850"], [*names, "880.0"], [*names, "nan"], [*names, "inf"], [*names, "fat"]):
        assert axis_of(other) is None, other


def test_numbers_that_count_the_columns_are_no_axis():
    for first in (0, 1):
        names = [str(first + j) for j in range(40)]
        assert axis_of(names) is None and axis_names(names) == []
        assert axis_of(names[::-1]) is not None and axis_of([f"{2 * int(name)}" for name in names]) is not None


def test_wavelengths_with_a_unit_or_as_r_writes_them_are_an_axis():
    for form in ("{} nm", "{}nm", "{} cm-1", "{}_cm-1", "X{}", "{}.5"):
        names = [form.format(850 + 2 * j) for j in range(16)]
        assert axis_of(names)[0] == 850 + 0.5 * (form == "{}.5"), form
    for form in ("X{}", "V{}", "{} kg", "pixel{}", "{}a"):
        assert axis_of([form.format(j + 1) for j in range(30)]) is None, form


@pytest.mark.parametrize("stray", ["X1", "50 Hz", "1", "3 cm", "9999", "nan"])
@pytest.mark.parametrize("form", ["{}", "X{}", "{} nm"])
def test_a_stray_column_does_not_hide_an_axis(form, stray):
    axis = [form.format(400 + 2 * j) for j in range(300)]
    assert axis_names(axis) == axis == axis_names(["fat", *axis, "id"])
    assert set(axis) <= set(axis_names([stray, *axis])) and set(axis) <= set(axis_names([*axis, "fat", stray]))
    if stray in ("X1", "50 Hz") or form != "{}":
        assert axis_names([*axis[:5], stray, *axis[5:], "60 Hz"]) == axis


def test_numbered_columns_are_no_axis_with_strays():
    for end in (20, 101, 102, 300):
        assert axis_names([f"X{j}" for j in range(1, end)]) == []
    assert axis_names([]) == [] == axis_names(["a", "1"])
    assert axis_names([str(400 + j) for j in range(30)] + ["1 Hz", "2 Hz", "3 Hz"]) == []
