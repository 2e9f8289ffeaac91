"""Files whose quotes are not those of CSV."""

import pytest

from proxembed.data import DataError, read, read_rows

ROWS = 40
KINDS = ("red, dark", "it's", 'so "so"', "plain")
FORMS = {
    "blanks before quotes are left out": ("a, kind, y", lambda text: ' "' + text.replace('"', '""') + '"'),
    "cells are in single quotes": ("'a','kind','y'", lambda text: "'" + text.replace("'", "''") + "'"),
    'quotes in cells are written as \\"': ("a,kind,y", lambda text: '"' + text.replace('"', '\\"') + '"'),
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("note", FORMS)
def test_other_quotes_are_read(note, end, tmp_path):
    header, quoted = FORMS[note]
    kinds = [kind.replace('"', "*") if "single" in note else kind for kind in KINDS]
    rows = [f"{j % 7}.5,{quoted(kinds[j % 4])},{quoted('uv'[j % 2])}" for j in range(ROWS)]
    (tmp_path / "t.csv").write_bytes(end.join([header, *rows, ""]).encode())
    data = read(tmp_path / "t.csv", "y")
    assert data.X["kind"].tolist() == kinds * (ROWS // 4) and data.label_names == ("u", "v")
    assert [column.name for column in data.X.columns] == ["a", "kind"] and note in data.notes
    assert read_rows(tmp_path / "t.csv", data.source)[0]["kind"].tolist() == data.X["kind"].tolist()


def test_quotes_of_csv_are_left_alone(tmp_path):
    cells = ('"he said ""hi, you"", x"', '"a\\dir\\"', "'n'", ' "a"')
    rows = [f"{j % 7}.5,{cells[j % 4] if j else cells[0]},{'uv'[j % 2]}" for j in range(ROWS)]
    (tmp_path / "t.csv").write_text("\n".join(["a,kind,y", *rows, ""]))
    data = read(tmp_path / "t.csv", "y")
    assert data.X["kind"][:4].tolist() == ['he said "hi, you", x', "a\\dir\\", "'n'", '"a"'] and not data.notes
    rows = [f'{j % 7}.5\the said, "hi {j % 9}", and, "well"\t{"uv"[j % 2]}' for j in range(ROWS)]
    (tmp_path / "t.tsv").write_text("\n".join(["a\tkind\ty", *rows, ""]))
    assert read(tmp_path / "t.tsv", "y").X["kind"][0] == 'he said, "hi 0", and, "well"'
    (tmp_path / "t.csv").write_text('a,y\n"1"2,u\n' + "3,v\n" * 9)
    with pytest.raises(DataError, match="line 2: the row is not CSV"):
        read(tmp_path / "t.csv", "y")
