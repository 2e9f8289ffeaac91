"""Sheets of Excel workbooks: which one is read, what its cells become, and what is refused."""

import zipfile
from datetime import date, datetime, time, timedelta

import pytest

from extras import needed
from memory import traced_memory
from proxembed.data import Columns, DataError, read, read_rows, unpacking
from proxembed.data.readers import sheets
from proxembed.data.readers.sheets import sheet_as_csv

ROWS = [(i % 7 + 0.5, "red sea"[: 3 + 4 * (i % 2)], "uv"[i % 2]) for i in range(30)]


def saved(path, **tables):
    book = needed("openpyxl").Workbook()
    book.remove(book.active)
    for name, rows in tables.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_sheet_is_read_as_its_csv_and_new_rows_from_either(tmp_path):
    file = saved(tmp_path / "t.xlsx", cover=[("a note",)], data=[("Leaves",), (), ("a", "sea", "y"), *ROWS], more=[])
    (tmp_path / "t.csv").write_text("a,sea,y\n" + "".join(f"{a},{sea},{y}\n" for a, sea, y in ROWS))
    data, plain = read(file, "y"), read(tmp_path / "t.csv", "y")
    assert data.feature_names == plain.feature_names and data.X["a"].tolist() == plain.X["a"].tolist()
    assert (data.Y != plain.Y).nnz == 0 and data.columns == plain.columns
    assert data.notes[:2] == (
        "sheet 'data' is read; others: sheet='cover', sheet='more'",
        "1 title line before the header is left out",
    )
    for new in (file, tmp_path / "t.csv"):
        assert read_rows(new, data.source)[0]["sea"].tolist() == plain.X["sea"].tolist()
    named = saved(tmp_path / "u.xlsx", old=[("a", "y"), *[(1, "u")] * 9], new=ROWS)
    data = read(named, columns=Columns(labels=("column_3",), sheet="new", header=False))
    assert data.feature_names == ("column_1", "column_2") and data.X.shape == (30, 2)
    assert read_rows(named, data.source)[0].shape == (30, 2)


def test_cells_become_text(tmp_path):
    row = (None, True, 2, 0.1, datetime(2024, 5, 1), datetime(2024, 5, 1, 14, 5), date(2024, 5, 2), time(9, 30))
    row = (*row, timedelta(hours=30), 'a,\n"b"', "#N/A", "1e5")
    file = saved(tmp_path / "t.xlsx", one=[("x\ny",), (), row, (1, 2), (), ("",)])
    content, note = sheet_as_csv(file)
    *before, first, last = content.decode().splitlines()
    assert note == "" and last == "1,2,,,,,,,,," and before == ["x y,,,,,,,,,,", ""]
    assert first == ',true,2,0.1,2024-05-01,2024-05-01 14:05:00,2024-05-02,09:30:00,30.0,"a, ""b""",1e5'


def test_merged_cells_below_each_other_hold_one_value(tmp_path):
    """Those beside each other, of titles, do not."""
    book = needed("openpyxl").Workbook()
    for row in (["Leaves"], ["plant", "a", "y"], ["p", 1, "u"], [None, 2, None], [None, 3, "v"], ["q", 4, "u"]):
        book.active.append(row)
    for cells in ("A1:C1", "A3:A5", "C3:C4"):
        book.active.merge_cells(cells)
    book.save(tmp_path / "t.xlsx")
    content, _ = sheet_as_csv(tmp_path / "t.xlsx")
    assert content.decode().splitlines() == ["Leaves,,", "plant,a,y", "p,1,u", "p,2,u", "p,3,v", "q,4,u"]


def merged(path, cells, rows):
    """A workbook in which these cells are merged, which openpyxl would write out one by one."""
    file = saved(path.with_name("plain.xlsx"), data=rows)
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(path, "w") as changed:
        for name in archive.namelist():
            end = f'</sheetData><mergeCells count="1"><mergeCell ref="{cells}"/></mergeCells>'.encode()
            changed.writestr(name, archive.read(name).replace(b"</sheetData>", end))
    return path


def test_merged_cells_beside_the_table_take_no_memory_and_those_of_the_table_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "XML_BYTES", 50)
    rows, peaks = [("a", "sea", "y"), *ROWS], []
    for cells, u in (("C2:C31", 30), ("XFD2:XFD1048576", 15), ("D2:D2000", 15), ("C40:C50", 15)):
        file = merged(tmp_path / "t.xlsx", cells, rows)
        with traced_memory() as memory:
            text, _ = sheet_as_csv(file)
        peaks.append(memory.peak)
        assert text.count(b"\n") == 31 and text.count(b",u\n") == u
    assert max(peaks[1:]) < peaks[0] + 200_000
    monkeypatch.setattr(sheets, "most_unpacked", lambda: 60_000)
    with pytest.raises(DataError, match="sheet 'data' would take 6.* KiB, above"):
        sheet_as_csv(merged(tmp_path / "t.xlsx", "B2:B31", [rows[0], (1, "x" * 5000, "u"), *rows[2:]]))


def test_a_sheet_of_more_rows_than_excel_has_is_not_read_to_its_end(tmp_path, monkeypatch):
    file = saved(tmp_path / "t.xlsx", data=[("a", "sea", "y"), *ROWS])
    monkeypatch.setattr(sheets, "MOST_ROWS", len(ROWS) + 1)
    assert sheet_as_csv(file)[0].count(b"\n") == len(ROWS) + 1
    monkeypatch.setattr(sheets, "MOST_ROWS", len(ROWS))
    with pytest.raises(DataError, match=f"sheet 'data' has more than {len(ROWS)} rows, the most of an Excel sheet"):
        sheet_as_csv(file)


def test_cells_that_have_a_format_alone_are_not_held(tmp_path, monkeypatch):
    """As in a sheet whose used range was extended by formats of whole rows."""
    book, held, content = needed("openpyxl").Workbook(), [], sheets._content
    for row in [("a", "sea", "y"), *ROWS]:
        book.active.append(row)
    for place in range(2000):
        book.active.cell(20 + place // 40, 4 + place % 40).number_format = "0.00"
    book.save(tmp_path / "t.xlsx")
    monkeypatch.setattr(sheets, "_content", lambda rows: held.extend(rows) or content(rows))
    text, _ = sheet_as_csv(tmp_path / "t.xlsx")
    assert text.count(b"\n") == len(held) == 31 and max(map(len, held)) == 3


def test_what_is_no_sheet_is_refused(tmp_path, monkeypatch):
    file = saved(tmp_path / "t.xlsx", cover=[("a note",)], data=[("a", "sea", "y"), *ROWS])
    cases = [
        (dict(sheet="late"), "t.xlsx: it has no sheet 'late'; its sheets are 'cover', 'data'"),
        (dict(encoding="cp1252"), "encoding='cp1252' was given, but the file has no encoding of text; leave it out"),
    ]
    for given, message in cases:
        with pytest.raises(DataError, match=message):
            read(file, columns=Columns(labels=("y",), **given))
    (tmp_path / "t.csv").write_text("a,y\n1,u\n2,v\n")
    with pytest.raises(DataError, match="sheet='data' was given, but the file has no sheets; leave it out"):
        read(tmp_path / "t.csv", columns=Columns(labels=("y",), sheet="data"))
    with pytest.raises(DataError, match="no visible sheet of 'cover' holds a table; name one with sheet="):
        read(saved(tmp_path / "u.xlsx", cover=[("a note",)]), "y")
    whole = file.read_bytes()
    for place in range(0, len(whole), 257):
        (tmp_path / "u.xlsx").write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            read(tmp_path / "u.xlsx", "y")
        except DataError as error:
            assert str(error).endswith((".", "?"))
    for room in (unpacking, sheets):
        monkeypatch.setattr(room, "most_unpacked", lambda: 100_000)
    gap = needed("openpyxl").Workbook()
    gap.active["A9000"] = "far"
    gap.save(tmp_path / "gap.xlsx")
    with pytest.raises(DataError, match="sheet 'Sheet' would take .*, the most that may be"):
        read(tmp_path / "gap.xlsx", "y")
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/more.xml", bytes(1 << 16))
    for room in (unpacking, sheets):
        monkeypatch.setattr(room, "most_unpacked", lambda: 1 << 16)
    with pytest.raises(DataError, match="its sheets would take .* KiB, above 64.0 KiB, the most that may be"):
        read(file, "y")
