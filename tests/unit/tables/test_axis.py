"""Names of columns that are numbers in order."""

from proxembed.tables.axis import axis_of


def test_an_axis_is_long_and_rises_or_falls_throughout():
    names = [str(850 + 2 * j) for j in range(16)]
    assert axis_of(names).tolist() == list(range(850, 882, 2)) == axis_of(names[::-1]).tolist()[::-1]
    for other in (names[1:], [*names, "850"], [*names, "880.0"], [*names, "nan"], [*names, "inf"], [*names, "fat"]):
        assert axis_of(other) is None, other


def test_wavelengths_with_a_unit_or_as_r_writes_them_are_an_axis():
    for form in ("{} nm", "{}nm", "{} cm-1", "{}_cm-1", "X{}", "{}.5"):
        names = [form.format(850 + 2 * j) for j in range(16)]
        assert axis_of(names)[0] == 850 + 0.5 * (form == "{}.5"), form
    for form in ("X{}", "V{}", "{} kg", "pixel{}", "{}a"):
        assert axis_of([form.format(j + 1) for j in range(30)]) is None, form
