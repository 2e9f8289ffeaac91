"""The column options of the program: from words on the command line to the columns of a data set."""

import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from proxembed.cli import app
from proxembed.cli.data import data
from proxembed.cli.options import dataset_from, in_program_words
from proxembed.data import Columns, DataError, digits, read

TABLE = "doc,hue,who,when,note,t_a,t_b\n" + "".join(
    f"d{j},{j / 7},{'pq'[j % 2]},2024-01-{j + 1:02},note {j},{j % 2},{j % 3 % 2}\n" for j in range(12)
)


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    return tmp_path / "t.csv"


def program(*words):
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(data)
    return CliRunner().invoke(app, [str(word) for word in words])


def test_options_become_columns(table):
    found = dataset_from(str(table), ["t_*"], id="doc", groups="who", time="when", drop=["note"])
    wanted = Columns(labels=("t_*",), id="doc", groups="who", time="when", drop=("note",))
    expected = read(table, columns=wanted)
    np.testing.assert_array_equal(found.X, expected.X)
    assert found.source == expected.source and found.ids == expected.ids
    named = dataset_from(table, ["t_a, t_b"], drop=["no*,doc", "w*"])
    assert named.label_names == ("t_a", "t_b") and named.feature_names == ("hue",)


def test_the_verb_shows_the_facts(table):
    done = program(table, "--labels", "t_a", "--labels", "t_b", "--id", "doc", "--groups", "who", "--drop", "note,when")
    assert done.exit_code == 0 and "12 x 1" in done.stdout, done.output
    assert done.stdout.splitlines()[-1].startswith("next: ")
    words = ["--labels", "t_*", "--drop", "doc", "--groups", "who", "--time", "when", "--text", "note"]
    done = program(table, *words, "--json", "--drop", "hue")
    facts = json.loads(done.stdout)
    assert (facts["groups"], facts["time_order"], facts["d"], facts["labels"]) == (2, True, 1, 2)


def test_labels_that_no_search_takes_are_told_by_the_verb_too(tmp_path):
    """The facts are shown; the last line is the refusal of the search in place of its command."""
    path = tmp_path / "one.csv"
    path.write_text("hue,kind\n" + "".join(f"{j / 7},cat\n" for j in range(12)))
    done = program(path, "--labels", "kind")
    assert done.exit_code == 0 and "12 x 1" in done.stdout
    said = " ".join(done.stdout.partition("before a search: ")[2].split())
    assert "every row has the same labels ('cat')" in said and said.endswith("the labels (--labels).")
    (tmp_path / "yes.csv").write_text(
        "x,a,b\n" + "".join(f"{j},{'Yes' * (j % 2)},{'Yes' * (j // 2 % 2)}\n" for j in range(12))
    )
    said = program(tmp_path / "yes.csv", "--labels", "a,b").stdout
    assert "say --empty 'no labels' if empty cells are no labels, or check which columns" in " ".join(said.split())
    assert "next: " in program(tmp_path / "yes.csv", "--labels", "a,b", "--empty", "no labels").stdout
    assert "next: " not in done.stdout


def test_keep_names_all_features(table):
    found = dataset_from(table, ["t_*"], keep=["h*", "doc"])
    assert found.feature_names == ("doc", "hue") and found.X["doc"].tolist()[:2] == ["d0", "d1"]


def test_all_faults_of_a_table_are_told_with_the_command_that_settles_them(tmp_path, monkeypatch):
    rows = "".join(f"{-999 if j % 5 == 0 else j},{[1] * (j % 2 + 1)},{j % 2}\n".replace(", ", " ") for j in range(20))
    (tmp_path / "t.csv").write_text("flow,v,y\n" + rows)
    monkeypatch.setattr("sys.argv", ["proxembed", "data", "t.csv"])
    done = program(tmp_path / "t.csv")
    lines = [line.removeprefix("proxembed: ") for line in done.stderr.splitlines()]
    assert done.exit_code == 2 and lines[0].endswith("t.csv: settle these problems first:") and len(lines) == 6
    assert lines[1].startswith("- column 'flow' holds -999 in 4 cells") and "unequal lengths (1, 2)" in lines[2]
    assert lines[4] == "try: proxembed data t.csv --missing=-999 --drop v --labels y"
    assert lines[5] == "or: proxembed data t.csv --missing=none --drop v --labels y"
    assert program(tmp_path / "t.csv", "--missing=-999", "--drop", "v", "--labels", "y").exit_code == 0


def test_names_with_commas_stand_in_quotes(tmp_path):
    (tmp_path / "t.csv").write_text('"sea, [blue]","say ""hi""",<script>,x\n0,1,1,0.5\n1,0,0,0.25\n')
    names = ['"sea, [blue]" ,<script>', '"say ""hi"""']
    assert dataset_from(tmp_path / "t.csv", names).label_names == ("sea, [blue]", 'say "hi"', "<script>")
    assert dataset_from(tmp_path / "t.csv", ["<script>"], drop=['"sea, [blue]",say*']).feature_names == ("x",)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--labels", "topic_*"), "t.csv: labels 'topic_*' names no column of the table;"),
        (
            ("--labels", "t_*", "--keep", "doc,hues"),
            "t.csv: keep 'hues' names no column of the table",
        ),
        (
            ("--labels", "t_*", "--empty", "all"),
            "--empty all must be 'no labels' or 'unknown'.",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(table, words, message):
    done = program(table, *words)
    assert done.exit_code == 2 and done.stdout == ""
    assert message in done.stderr and done.stderr.count("\n") == 1 and done.stderr.startswith("proxembed: ")


def test_a_table_of_which_nothing_is_to_be_predicted_yet_is_described(table, tmp_path):
    """Its columns, those of spectra in one line, and how to name what is measured; other problems are refused."""
    done = program(table)
    assert done.exit_code == 0 and "12 rows, 7 columns; nothing to predict is named yet." in done.stdout, done.output
    assert "add --targets COLUMN,..." in done.stdout and " --labels t_a,t_b\n" in done.stdout
    spectra = tmp_path / "spectra.csv"
    cells = np.random.default_rng(0).normal(size=(12, 22)).astype(str)
    spectra.write_text(
        "\n".join([",".join([*map(str, range(900, 860, -2)), "fat", "dry matter"]), *map(",".join, cells)])
    )
    found = json.loads(program(spectra, "--json").stdout)
    assert (found["n"], found["whole"], len(found["columns"])) == (12, True, 22)
    assert found["proposed"].endswith("--targets fat,'dry matter'")
    lines = program(spectra).stdout.splitlines()
    assert sum("900 ... 862" in line and "20 columns named by numbers" in line for line in lines) == 1
    assert not any("898" in line for line in lines)
    assert "20 columns named by numbers from 900" in " ".join(
        program(spectra, "--targets", "fat", "--drop", "dry*").stdout.split()
    )
    head = ",".join([*(f"X{nm}.5" for nm in range(900, 860, -2)), "fat", "dry matter"])
    spectra.write_text("\n".join([f"id,{head}", *(f"s{j},{','.join(row)}" for j, row in enumerate(cells))]))
    done = program(spectra)
    assert "--targets fat,'dry matter'" in done.stdout and "20 columns named" in done.stdout and not done.stderr


def test_a_stray_numbered_column_stands_beside_spectra(tmp_path):
    cells = np.random.default_rng(0).normal(size=(12, 23)).astype(str)
    head = ",".join(["id", *(f"X{nm}" for nm in range(400, 440, 2)), "X1", "50 Hz", "fat"])
    rows = (f"s{j},{','.join(row)}" for j, row in enumerate(cells))
    (tmp_path / "t.csv").write_text("\n".join([head, *rows]))
    done = program(tmp_path / "t.csv")
    assert "--targets X1,'50 Hz',fat" in done.stdout and "20 columns named" in done.stdout and not done.stderr


def test_many_columns_that_are_read_alike_stand_in_one_line(tmp_path):
    head = ",".join(["s", *(f"g{j}" for j in range(300)), "y"])
    for name, mixed in (("a", False), ("b", True)):
        cells = [[f"{j % 3}.5" if k % 2 or not mixed else "ab"[j % 2] for k in range(300)] for j in range(20)]
        rows = (f"s{j},{','.join(row)},{'uv'[j % 2]}" for j, row in enumerate(cells))
        (tmp_path / f"{name}.csv").write_text("\n".join([head, *rows]))
    lines = program(tmp_path / "a.csv").stdout.splitlines()
    assert len(lines) < 15 and sum("g0 ... g299" in line and "number: 300 columns" in line for line in lines) == 1
    lines = program(tmp_path / "b.csv").stdout.splitlines()
    assert (
        100 < len(lines) < 115 and sum("in several ways (all with --json): 203 columns" in line for line in lines) == 1
    )


def test_lines_left_out_are_told_before_labels_are_named(tmp_path):
    rows = "".join(f"{j % 7}.5,{j % 5},{'uv'[j % 2]}\n" for j in range(20))
    (tmp_path / "t.csv").write_text(f"a,b,y\nkg,cm,\n{rows}a,b,y\n{rows}")
    (tmp_path / "u.csv").write_text("a,b,y\n" + "".join(f"{j}/9,{j % 5},{'uv'[j % 2]}\n" for j in range(20)))
    assert "note: a is read as a category: its cells, such as '0/9'" in program(tmp_path / "u.csv").stderr
    for words in ((), ("--json",)):
        done = program(tmp_path / "t.csv", *words)
        assert done.exit_code == 0 and "note: left out: 1 line of units below the header ('kg', 'cm')" in done.stderr
        assert "note: left out: 1 line repeats the header" in done.stderr


def test_joined_labels_and_a_test_file(tmp_path):
    (tmp_path / "a.csv").write_text("x,tags\n1,sea|sun\n2,sun\n3,|\n")
    (tmp_path / "b.csv").write_text("x,tags\n4,sky\n")
    found = dataset_from(tmp_path / "a.csv", ["tags"], separator="|", test=tmp_path / "b.csv")
    assert found.label_names == ("sea", "sky", "sun") and found.test_idx.tolist() == [3]


def test_arff_takes_its_xml_or_names(tmp_path):
    text = "@relation t\n@attribute x real\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n5,0,1\n6,1,0\n"
    (tmp_path / "t.arff").write_text(text)
    (tmp_path / "other.xml").write_text("<labels><label name='b'/></labels>")
    assert dataset_from(tmp_path / "t.arff", [str(tmp_path / "other.xml")]).label_names == ("b",)
    assert dataset_from(tmp_path / "t.arff", ["a,b"]).label_names == ("a", "b")
    found = dataset_from(tmp_path / "t.arff", ["a"], drop=["b"])
    assert found.label_names == ("a",) and found.feature_names == ("x",)


def test_vectors_take_a_label_file_and_its_columns(tmp_path):
    np.save(tmp_path / "e.npy", np.eye(3))
    (tmp_path / "y.csv").write_text("doc,a,b\np,0,1\nq,1,1\nr,0,0\n")
    found = dataset_from(tmp_path / "e.npy", [str(tmp_path / "y.csv")], id="doc")
    assert found.label_names == ("a", "b") and found.ids == ("p", "q", "r")
    assert dataset_from(tmp_path / "e.npy", [str(tmp_path / "y.csv"), "b"]).label_names == ("b",)
    with pytest.raises(DataError, match="the file name has no known ending of a label file"):
        dataset_from(tmp_path / "e.npy", ["topic_*"])
    with pytest.raises(DataError, match="a .npy file holds no labels"):
        dataset_from(tmp_path / "e.npy")


def test_openml_by_name(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "proxembed.workflow.labelled_data.fetch_openml_dataset",
        lambda name, **options: calls.append((name, options)) or digits(),
    )
    dataset_from("openml:emotions", ["a,b"], drop=["c"])
    dataset_from("openml:yeast")
    none = {"targets": [], "target_type": None}
    named, bare = {"labels": ["a", "b"], "drop": ["c"], **none}, {"labels": None, "drop": [], **none}
    assert calls == [("emotions", named), ("yeast", bare)]
    with pytest.raises(DataError, match="openml:yeast: id, test was given, but an OpenML set takes"):
        dataset_from("openml:yeast", id="doc", test="b.csv")


def test_an_open_decimal_mark_ends_with_the_two_commands_that_answer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{1 + j % 9},10{j % 9};{j * j % 7};{'uv'[j % 2]}" for j in range(20)]
    (tmp_path / "o.csv").write_text("\n".join(["a;b;y", *rows]) + "\n")
    words = ["data", "o.csv", "--labels", "y"]
    monkeypatch.setattr("sys.argv", ["proxembed", *words])
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert [line.split(": ", 1)[1] for line in done.stderr.splitlines()[-2:]] == [
        "try: proxembed data o.csv --labels y --decimal ,",
        "or: proxembed data o.csv --labels y --decimal .",
    ]
    assert all(CliRunner().invoke(app, [*words, "--decimal", mark]).exit_code == 0 for mark in ",.")


def test_words_of_the_program_stay_as_they_are():
    once = in_program_words("leave them empty (missing='37,6 °C' reads '37,6 °C' as empty; keep='a b' makes it one)")
    assert "--missing='\"37,6 °C\"'" in once and in_program_words(once) == once


def test_text_of_a_file_that_looks_like_an_argument_stays_as_it_is():
    for text in (r"('kind id=['5f', \\ '61'] name')", r"labels='C:\xyz.xml' is not a file"):
        assert in_program_words(text) == text


def test_data_says_what_keeps_a_search_from_groups(tmp_path):
    rows = "".join(f"A,{i % 7}.5,{'uv'[i % 2]}\n" for i in range(30))
    (tmp_path / "t.csv").write_text("site,x,y\n" + rows)
    done = program(tmp_path / "t.csv", "--labels", "y", "--groups", "site")
    assert "fix before a search: the rows are of 1 group; holding out whole groups needs at least 2" in " ".join(
        done.output.split()
    )
