"""Quotes that merge lines of a delimited file are noted with the count; texts of several lines are not."""

import warnings

import pytest

from proxembed.data import Columns, read, read_rows, row_parts
from proxembed.data.readers.merged_lines import MergedLinesWarning

PLAIN = "".join(f"{j},word{j % 5} other,{'uv'[j % 2]}\n" for j in range(10))
HEAD = "size,text,y\n"


def written(tmp_path, rows, separator="\t", name="t.tsv", head=HEAD):
    file = tmp_path / name
    file.write_text((head + PLAIN * (head == HEAD) + rows).replace(",", separator).replace(";;", ","))
    return file


def notes(file, labels="y"):
    return [note for note in read(file, columns=Columns(labels=(labels,))).notes if "lines" in note]


STRAY = [
    ('11,"hello,u\n12,"world,v\n', 2, 1),
    ('11,"hello,u\n12,all,v\n13,world",v\n', 3, 1),
    ('11,"hello,u\n12,"world,v\n13,a,u\n14,"b,u\n15,c",u\n', 4, 2),
    ('11,"hello,u\r\n12,"world,v\r\n', 2, 1),
]


@pytest.mark.parametrize(("separator", "name"), [("\t", "t.tsv"), (",", "t.csv"), ("|", "t.csv"), (";", "t.csv")])
@pytest.mark.parametrize(("rows", "lines", "merged"), STRAY)
def test_lines_that_a_quote_merges_are_counted(tmp_path, separator, name, rows, lines, merged):
    (note,) = notes(written(tmp_path, rows, separator, name))
    assert note.startswith(f"{lines} lines are read as {merged} row") and "first in line 12, column 'text'" in note


@pytest.mark.parametrize(
    ("rows", "name"),
    [
        ('11,"hello\nworld",u\n', "t.tsv"),
        ('11,"Dear Ann;; hello\nyours;; Bob",u\n', "t.csv"),
        ('11,"one;; two;; three\nfour;; five",u\n', "t.csv"),
        ('11,"he said ""no""\nand left",u\n12,5" pipe,v\n13,6" pipe,v\n', "t.tsv"),
    ],
)
def test_texts_of_several_lines_are_not_noted(tmp_path, rows, name):
    assert not notes(written(tmp_path, rows, "," if name == "t.csv" else "\t", name))


def test_without_numbers_the_values_of_the_columns_tell(tmp_path):
    head = "text,kind\n" + "a b c,u\nd e f,v\nd e g,v\n" * 4
    (note,) = notes(written(tmp_path, '"x y,u\n"z w,v\n', ",", "t.csv", head), "kind")
    assert note.startswith("2 lines are read as 1 row,")
    assert not notes(written(tmp_path, '"Dear Ann, hi\nBob",v\n', ",", "u.csv", head), "kind")


def test_new_rows_and_test_files_are_noted(tmp_path):
    data = read(written(tmp_path, ""), columns=Columns(labels=("y",)))
    new = written(tmp_path, STRAY[0][0], name="n.tsv")
    with pytest.warns(MergedLinesWarning, match="n.tsv: 2 lines are read as 1 row"):
        assert read_rows(new, data.source)[0].shape[0] == 11
    with pytest.warns(MergedLinesWarning, match="n.tsv: 2 lines") as caught:
        list(row_parts(new, data.source, 3))
    assert len(caught) == 1
    pair = read(tmp_path / "t.tsv", test=new, columns=Columns(labels=("y",)))
    assert [note for note in pair.notes if note.startswith("n.tsv: 2 lines")]
    with warnings.catch_warnings():
        read_rows(tmp_path / "t.tsv", data.source)
