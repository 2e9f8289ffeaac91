"""ARFF syntax, point by point: header, dense and sparse rows, nominal values, labels."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from proxembed.data import Columns, DataError, read, read_rows
from proxembed.data.errors import UnlabelledTable
from proxembed.data.readers import arff
from proxembed.data.readers.arff import read_header, tokens, unquote

nan = float("nan")


def load(tmp_path, text, labels=("y",), **files):
    (tmp_path / "t.arff").write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, content in files.items():
        (tmp_path / f"{name}.xml").write_text(content)
    return read(tmp_path / "t.arff", labels=labels)


def xml(*names):
    inside = "".join(f'<label name="{name}"></label>' for name in names)
    return f'<?xml version="1.0"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">{inside}</labels>'


def rows(data):
    return (data.X.toarray() if sparse.issparse(data.X) else data.X).tolist()


def test_header_case_comments_blank_lines_tabs_bom_and_line_ends(tmp_path):
    text = "\ufeff% made by hand\r\n@RELATION t\r\n\r\n@Attribute\tx\tREAL\r\n% between\r\n@ATTRIBUTE y {0, 1}\r\n"
    data = load(tmp_path, text + "@DATA\r\n% first\r\n 1.5 ,\t1 \r\n\r\n-2e-1,0")
    assert rows(data) == [[1.5], [-0.2]] and data.Y.toarray().tolist() == [[1], [0]]
    assert data.feature_names == ("x",) and data.label_names == ("y",) and data.name == "t"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("'Swainson\\'s Thrush'", "Swainson's Thrush"),
        ('"two words"', "two words"),
        ("'a, {b} % c'", "a, {b} % c"),
        ("'tab\\there \\\\ \\u00e9'", "tab\there \\ é"),
        ("plain-name.1", "plain-name.1"),
        ("größe", "größe"),
        ("'@data'", "@data"),
    ],
)
def test_attribute_names(tmp_path, written, name):
    data = load(tmp_path, f"@relation t\n@attribute {written} numeric\n@attribute y {{0,1}}\n@data\n1,0\n2,1\n")
    assert data.feature_names == (name,)


@pytest.mark.parametrize(
    "kind", ["numeric", "real", "integer", "REAL", "real [0,10]", "{1,2,3}", "{ 3 , 2 , 1 }", "{'1','2','3'}"]
)
def test_numeric_types_and_numeric_nominal_values_stay_numbers(tmp_path, kind):
    data = load(tmp_path, f"@relation t\n@attribute x {kind}\n@attribute y {{0,1}}\n@data\n3,0\n1,1\n")
    assert rows(data) == [[3.0], [1.0]] and data.feature_names == ("x",)


def test_text_values_become_one_column_a_value(tmp_path):
    text = "@relation t\n@attribute a numeric\n@attribute c {red,'deep blue','O\\'Hara, NY'}\n@attribute y {0,1}\n"
    data = load(tmp_path, text + "@attribute b real\n@data\n1,'deep blue',0,7\n2, red ,1,8\n3,'O\\'Hara, NY',1,9\n")
    assert data.feature_names == ("a", "c=red", "c=deep blue", "c=O'Hara, NY", "b")
    assert rows(data) == [[1, 0, 1, 0, 7], [2, 1, 0, 0, 8], [3, 0, 0, 1, 9]]
    assert data.X.flags.c_contiguous


def test_sparse_rows_with_every_spacing(tmp_path):
    text = "@relation t\n@attribute a real\n@attribute b real\n@attribute y {0,1}\n@data\n"
    data = load(tmp_path, text + "{0 1.5,2 1}\n{}\n{ }\n{ 1   -3e2 , 2\t1 }\n%no row\n{0 0,1 4}\n")
    assert isinstance(data.X, sparse.csr_array) and data.X.has_canonical_format
    assert rows(data) == [[1.5, 0], [0, 0], [0, 0], [0, -300], [0, 4]] and data.X.nnz == 3
    assert data.Y.toarray().ravel().tolist() == [1, 0, 0, 1, 0]


def test_what_a_sparse_row_leaves_out_is_the_first_declared_value(tmp_path):
    text = "@relation t\n@attribute n {2,10,0}\n@attribute c {low,high}\n@attribute y {1,0}\n@attribute x real\n@data\n"
    data = load(tmp_path, text + "{3 5}\n{0 10,1 high,2 0}\n{0 0,1 low,2 1}\n")
    assert data.feature_names == ("n", "c=low", "c=high", "x") and isinstance(data.X, sparse.csr_array)
    assert rows(data) == [[2, 1, 0, 5], [10, 0, 1, 0], [0, 1, 0, 0]]
    assert data.Y.toarray().ravel().tolist() == [1, 0, 1]


def test_only_zeros_and_only_empty_rows(tmp_path):
    data = load(tmp_path, "@relation t\n@attribute x real\n@attribute y {0,1}\n@data\n{}\n{}\n")
    assert rows(data) == [[0], [0]] and data.Y.nnz == 0


@pytest.mark.parametrize(("dense", "row"), [(True, "{},{}"), (False, "{{0 {},1 {}}}")])
def test_a_question_mark_in_a_label_is_unknown(tmp_path, dense, row):
    text = "@relation t\n@attribute x real\n@attribute y {0,1}\n@data\n"
    data = load(tmp_path, text + "\n".join(row.format(*cells) for cells in [(1, "?"), (2, 1), (3, 0)]))
    assert data.unknown.toarray().ravel().tolist() == [True, False, False]
    assert data.Y.toarray().ravel().tolist() == [0, 1, 0] and sparse.issparse(data.X) != dense
    np.testing.assert_array_equal(data.y.toarray().ravel(), [nan, 1, 0])


def test_a_lone_label_with_other_values_is_one_class_a_row(tmp_path):
    text = "@relation t\n@attribute x real\n@attribute class {setosa,versicolor,'iris virginica'}\n@data\n"
    data = load(tmp_path, text + "1,versicolor\n2,'iris virginica'\n3,setosa\n4,?\n", labels=["class"])
    assert data.label_names == ("setosa", "versicolor", "iris virginica")
    assert data.Y.toarray().tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0]]
    assert data.unknown.toarray().tolist() == [[False] * 3] * 3 + [[True] * 3]
    coded = text.replace("{setosa,versicolor,'iris virginica'}", "{3,1,2}")
    numbers = load(tmp_path, coded + "0,1\n0,3\n", labels=["class"])
    assert numbers.label_names == ("3", "1", "2") and numbers.Y.toarray().tolist() == [[0, 1, 0], [1, 0, 0]]


MULTI = (
    "@relation {relation}\n@attribute p {{0,1}}\n@attribute q {{0,1}}\n@attribute x real\n"
    "@attribute r {{0,1}}\n@data\n1,0,5,1\n"
)


def test_xml_beside_the_file_names_labels_in_any_order(tmp_path):
    data = load(tmp_path, MULTI.format(relation="t"), labels=None, t=xml("r", "p"))
    assert data.label_names == ("p", "r") and data.feature_names == ("q", "x") and rows(data) == [[0, 5]]


@pytest.mark.parametrize("part", ["-train", "-test", "_train", "-Test"])
def test_xml_is_found_without_the_part_of_the_split(tmp_path, part):
    (tmp_path / f"t{part}.arff").write_text(MULTI.format(relation="t"))
    (tmp_path / "t.xml").write_text(xml("q"))
    assert read(tmp_path / f"t{part}.arff").label_names == ("q",)


def test_labels_by_xml_path_and_by_list_win_over_what_lies_beside(tmp_path):
    (tmp_path / "other.xml").write_text("<labels><label name='p'><label name='r'/></label></labels>")  # a hierarchy
    text, beside = MULTI.format(relation="'t: -C 1'"), {"t": xml("q")}
    assert load(tmp_path, text, labels=tmp_path / "other.xml", **beside).label_names == ("p", "r")
    assert load(tmp_path, text, labels=str(tmp_path / "other.xml")).label_names == ("p", "r")
    assert load(tmp_path, text, labels=["r", "q"]).label_names == ("q", "r")
    assert load(tmp_path, text, labels=None).label_names == ("q",)


@pytest.mark.parametrize(("count", "names"), [("2", ("p", "q")), ("-1", ("r",)), ("1 -split 3", ("p",))])
def test_meka_counts_labels_from_either_end(tmp_path, count, names):
    assert load(tmp_path, MULTI.format(relation=f"'t: -C {count}'"), labels=None).label_names == names


def test_blocks_are_joined_and_line_numbers_run_on(tmp_path, monkeypatch):
    monkeypatch.setattr(arff, "BLOCK_BYTES", 20)
    text = "@relation t\n@attribute x real\n@attribute y {0,1}\n@data\n"
    lines = [f"{i},{i % 2}" for i in range(40)]
    assert rows(load(tmp_path, text + "\n".join(lines))) == [[i] for i in range(40)]
    lines[33] = "oops,1"
    with pytest.raises(ValueError, match=r"line 38: 'oops' in column 1 \('x'\) is not a number"):
        load(tmp_path, text + "\n".join(lines))


def test_tokens_and_quotes():
    assert tokens("a, 'b,c' ,\"d'e\",O'Neil,,") == ["a", "'b,c'", '"d\'e"', "O'Neil", "", ""]
    assert [unquote(token) for token in ("'a\\'b'", '"x y"', "plain", "'", "''")] == ["a'b", "x y", "plain", "'", ""]


REALS = st.floats(allow_nan=False, allow_infinity=False).map(repr)
NUMBERS = st.one_of(st.integers(-9, 9).map(str), REALS, st.sampled_from(["+1", ".5", "2.", "1e3"]))
BINARY, DECLARED = st.sampled_from("01"), st.sampled_from("217")
DENSE_ROWS = st.lists(st.tuples(NUMBERS, BINARY, DECLARED, BINARY), min_size=1, max_size=8)
SPARSE_ROWS = st.lists(st.tuples(*(st.none() | cell for cell in (NUMBERS, BINARY, DECLARED))), min_size=1, max_size=8)
HEADER = "@relation t\n@attribute a real\n@attribute b {0,1}\n@attribute c {2,1,7}\n@attribute y {0,1}\n@data\n"
TEXT = HEADER.replace("{2,1,7}", "{red,?,'deep blue',1}")


def blocks_of(lines, text=HEADER):
    """The bulk parse and the line-by-line parse of the same rows."""
    header = read_header(text.encode().splitlines(keepends=True), Path("t.arff"))
    kind = arff._SparseRows if lines[0].startswith("{") else arff._DenseRows
    block = kind([line.encode() for line in lines], np.arange(len(lines)) + 1, header.attributes, Path("t.arff"))
    return block.plain(), block.exact()


@given(DENSE_ROWS)
def test_bulk_and_exact_parse_agree_on_dense_rows(table):
    bulk, exact = blocks_of([" , ".join(row) for row in table])
    np.testing.assert_array_equal(bulk[0], exact[0])
    assert exact[0][:, 0].tolist() == [float(row[0]) for row in table]


@given(SPARSE_ROWS)
def test_bulk_and_exact_parse_agree_on_sparse_rows(table):
    cells = [[f"{j} {cell}" for j, cell in enumerate(row) if cell is not None] for row in table]
    bulk, exact = blocks_of(["{" + ",".join(row) + "}" for row in cells])
    for part, other in zip(bulk, exact, strict=True):
        np.testing.assert_array_equal(part, other)
    assert exact[2].tolist() == [float(v) for row in table for v in row if v is not None]


@given(st.lists(st.tuples(NUMBERS, BINARY, st.sampled_from(["red", "deep blue", "1"]), BINARY), min_size=1, max_size=8))
def test_bulk_and_exact_parse_agree_on_text_values(table):
    bulk, exact = blocks_of([" , ".join(row) for row in table], TEXT)
    np.testing.assert_array_equal(bulk[0], exact[0])
    assert exact[0][:, 2].tolist() == [{"red": 0, "deep blue": 2, "1": 3}[row[2]] for row in table]


@pytest.mark.parametrize("cell", ["?", "'deep blue'", "green", "", "RED"])
def test_text_values_that_are_not_plain_are_left_to_the_exact_parse(cell):
    header = read_header(TEXT.encode().splitlines(keepends=True), Path("t.arff"))
    block = arff._DenseRows([b"1,0,red,1", f"1,0,{cell},1".encode()], np.arange(2), header.attributes, Path("t"))
    assert block.plain() is None


TYPES = "@attribute sex {F,M}\n@attribute ill {f,t}\n@attribute note string\n@attribute day date 'yyyy-MM-dd'\n"


def test_empty_cells_texts_dates_and_truth_values_are_read_as_a_table(tmp_path):
    """New rows as well, and a test file; the labels stay those of -C, of the XML or of the caller."""
    head = "@relation 't: -C 2'\n@attribute l1 {0,1}\n@attribute l2 {0,1}\n@attribute age real\n" + TYPES + "@data\n"
    rows = [
        f"{i % 2},{'?' if i == 5 else i // 2 % 2},{'?' if i % 9 == 0 else i},{'F?M'[i % 3]},{'ft'[i // 4 % 2]},"
        f"'a {('red', 'blue')[i % 2]} {i} {i * i} \\'hat\\'','2024-01-{i % 20 + 10}'\n"
        for i in range(40)
    ]
    (tmp_path / "t.arff").write_text(head + "".join(rows))
    data = read(tmp_path / "t.arff")
    readings = {name: words for name, words, _ in data.columns}
    assert data.label_names == ("l1", "l2") and data.unknown.nnz == 1 and data.X.shape == (40, 5)
    assert readings["age"] == "number; 5 empty" and readings["sex"].startswith("category, 2 values")
    assert readings["ill"].startswith("yes or no")
    assert readings["note"].startswith("text") and readings["day"].startswith("date")
    X, ids = read_rows(tmp_path / "t.arff", data.source)
    assert ids is None and X["note"].tolist()[1] == "a blue 1 1 'hat'" and X["age"].tolist()[1] == 1
    (tmp_path / "u.arff").write_text(head + "".join(rows[:7]))
    both = read(tmp_path / "t.arff", test=tmp_path / "u.arff")
    assert both.X.shape == (47, 5) and both.test_idx.tolist() == list(range(40, 47))
    chosen = read(tmp_path / "t.arff", ["sex"], columns=Columns(drop=("l1", "l2", "note")))
    assert chosen.label_names == ("F", "M") and chosen.feature_names == ("age", "ill", "day")
    with pytest.raises(DataError, match="encoding was given, but an ARFF file says so itself; leave it out"):
        read(tmp_path / "t.arff", columns=Columns(encoding="cp1252"))
    (tmp_path / "t.arff").write_text(head + "{0 1}\n")
    with pytest.raises(DataError, match="its rows are sparse, and text is for dense rows; leave it out, or"):
        read(tmp_path / "t.arff", columns=Columns(text=("note",)))


def test_several_labels_of_other_values_are_outputs_of_classes(tmp_path):
    """As MEKA counts them by -C, in whole numbers, and in words."""
    head = (
        "@relation 't: -C 3'\n@attribute c {0,1,2}\n@attribute w {lo,mid,hi}\n@attribute y {0,1}\n@attribute x real\n"
    )
    rows = "".join(f"{j % 3},{('lo', 'mid', 'hi')[j % 5 % 3]},{j % 2},{j}\n" for j in range(30))
    (tmp_path / "t.arff").write_text(f"{head}@data\n{rows}?,?,?,7\n")
    data = read(tmp_path / "t.arff")
    told = [(column.name, column.kind) for column in data.outputs.layout.columns]
    assert told == [("c", "classes"), ("w", "classes"), ("y", "labels")] and data.feature_names == ("x",)
    assert [column[0] for column in data.outputs.as_given()] == [0, "lo", 0] and data.outputs.dense_holes()[30].all()
    assert data.outputs.layout.columns[0].values.tolist() == [0, 1, 2]


def test_large_whole_values_stay_apart(tmp_path):
    values = [f"{k}0000000000000000000{k}" for k in (1, 2, 3)]
    rows = "".join(f"'a {j} {j * j} c',{values[j % 3]},{j}\n" for j in range(30))
    head = f"@relation t\n@attribute s string\n@attribute c {{{','.join(values)}}}\n@attribute x real\n@data\n"
    (tmp_path / "t.arff").write_text(head + rows)
    assert len(read(tmp_path / "t.arff", ["c"]).label_names) == 3


def test_a_file_that_names_no_labels_tells_its_columns_and_proposes_some(tmp_path):
    head = "@relation t\n@attribute x real\n@attribute kind {red,blue}\n@attribute target {1,2}\n@data\n"
    (tmp_path / "t.arff").write_text(head + "".join(f"{j}.5,{('red', 'blue')[j % 2]},{1 + j % 2}\n" for j in range(20)))
    with pytest.raises(UnlabelledTable) as caught:
        read(tmp_path / "t.arff")
    assert [column[:2] for column in caught.value.columns][0] == ("x", "number") and caught.value.rows == (20, True)
    assert caught.value.options == (("labels", "target"),)


OUTPUTS = "@attribute c {a,b,c}\n@attribute k {0,1,2}\n@attribute u numeric\n@attribute v numeric\n@data\n"
INPUTS = "@attribute x0 numeric\n@attribute f {lo,hi}\n@attribute x2 numeric\n"


def both_layouts(tmp_path, rows=30, name="t", relation="t"):
    """Files of the same rows, dense and sparse; a row of the latter leaves out 0 and the first declared values."""
    table = [
        (j % 4 / 2, ("lo", "hi")[j % 2], j % 5, "abc"[j * j % 3], j % 3, j % 7 / 4, j % 6 / 8 if j else "?")
        for j in range(rows)
    ]
    sparse_rows = (
        ", ".join(f"{place} {cell}" for place, cell in enumerate(row) if cell not in (0, "lo", "a")) for row in table
    )
    head = f"@relation '{relation}'\n{INPUTS}{OUTPUTS}"
    (tmp_path / f"{name}-dense.arff").write_text(head + "".join(",".join(map(str, row)) + "\n" for row in table))
    (tmp_path / f"{name}-sparse.arff").write_text(head + "".join(f"{{{row}}}\n" for row in sparse_rows))
    return tmp_path / f"{name}-dense.arff", tmp_path / f"{name}-sparse.arff"


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({"labels": ("c", "k"), "drop": ("u", "v")}, ["classes", "classes"]),
        ({"labels": ("c", "k"), "targets": ("u", "v")}, ["classes", "classes", "real", "real"]),
        ({"targets": ("u", "v"), "drop": ("c", "k")}, ["real", "real"]),
        ({"labels": ("u", "v"), "target_type": "real", "drop": ("c", "k")}, ["real", "real"]),
        ({"labels": ("u", "v")}, ["real", "real"]),
        ({"labels": ("k",), "target_type": "real", "keep": ("x0", "x2")}, ["real"]),
    ],
)
def test_sparse_rows_have_the_outputs_of_dense_ones(options, kinds, tmp_path):
    dense, sparse_rows = (read(path, columns=Columns(**options)) for path in both_layouts(tmp_path))
    columns = sparse_rows.outputs.layout.columns
    assert [column.kind for column in columns] == kinds and isinstance(sparse_rows.X, sparse.csr_array)
    assert [column.name for column in columns] == [column.name for column in dense.outputs.layout.columns]
    for column, other in zip(columns, dense.outputs.layout.columns, strict=True):
        assert (column.values is None) == (other.values is None)
        assert column.values is None or column.values.tolist() == other.values.tolist()
    assert sparse_rows.outputs.dense_holes().tolist() == dense.outputs.dense_holes().tolist()
    assert sparse_rows.outputs.cells.tolist() == dense.outputs.cells.tolist()
    new, _ = read_rows(tmp_path / "t-sparse.arff", sparse_rows.source)
    assert sparse.issparse(new) and new.toarray().tolist() == sparse_rows.X.toarray().tolist()


def test_numbers_counted_by_meka_and_a_test_file_of_sparse_rows(tmp_path):
    _, path = both_layouts(tmp_path, relation="t: -C -2")
    _, test = both_layouts(tmp_path, rows=12, name="u", relation="t: -C -2")
    data = read(path, test=test)
    assert [column.kind for column in data.outputs.layout.columns] == ["real", "real"]
    assert data.X.shape == (42, 8) and data.test_idx.tolist() == list(range(30, 42))
    (tmp_path / "u-sparse.arff").write_text(test.read_text().replace("x2", "x9"))
    with pytest.raises(DataError, match="u-sparse.arff: feature 4 is 'x9', not 'x2' as in"):
        read(path, test=test)


def test_sparse_labels_that_are_neither_classes_nor_numbers_are_named_by_line(tmp_path):
    _, path = both_layouts(tmp_path)
    with pytest.raises(DataError, match="t-sparse.arff: line 11: label 'u' is the fraction '0.25'; name columns"):
        read(path, columns=Columns(labels=("k", "u"), drop=("c", "v")))
    with pytest.raises(DataError, match="t-sparse.arff: line 10: column 'c' holds 'a', which is not a number"):
        read(path, columns=Columns(targets=("c",), drop=("v",)))
    with pytest.raises(DataError, match="label 'u' is the fraction"):
        read(path, columns=Columns(labels=("u",), target_type="classes", drop=("v",)))
    classes = read(path, columns=Columns(labels=("x2",), target_type="classes", drop=("v",)))
    assert classes.label_names == ("0", "1", "2", "3", "4")


@pytest.mark.parametrize("name", ["t.dat", "t.arff"])
def test_keel_names_its_labels_as_outputs(name, tmp_path):
    head = "@relation t\n@attribute x real [0.0, 1.5]\n@attribute n integer[0,9]\n@attribute y {u, v}\n@attribute z "
    rows = "".join(f"0.{j}, {j}, {'uv'[j % 2]}, {j % 3 % 2}\n" for j in range(9))
    (tmp_path / name).write_text(f"{head}{{0, 1}}\n@inputs x, n, z\n@outputs y\n@data\n{rows}")
    data = read(tmp_path / name)
    assert data.label_names == ("u", "v") and data.feature_names == ("x", "n", "z")
    assert read_rows(tmp_path / name, data.source)[0].shape == (9, 3)
    (tmp_path / name).write_text(f"{head}real\n@inputs x, n\n@output z\n@data\n{rows}")
    assert read(tmp_path / name, columns=Columns(target_type="real")).source["targets"] == ["z"]
