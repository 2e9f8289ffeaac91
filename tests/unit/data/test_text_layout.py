"""The layout of a file of text: its encoding, lines before its header, its separator, and a missing header."""

import lzma
from contextlib import nullcontext

import numpy as np
import pandas
import pytest

from proxembed.data import Columns, DataError, read, read_rows
from proxembed.data.errors import UnlabelledTable
from proxembed.data.large_table import LargeTable, stratified_rows
from proxembed.data.readers import table_file
from proxembed.data.readers.table_file import LeftOutLinesWarning, open_table
from proxembed.data.readers.text_layout import lines_after_rows, looks_like_a_row, text_layout

ROWS = "".join(f"{i % 7}.5;{i % 5};{'uv'[i % 2]}\n" for i in range(30))
TABLE = "a;b;y\n" + ROWS
LABEL = Columns(labels=("y",))


@pytest.mark.parametrize(
    ("text", "skipped", "separator", "notes"),
    [
        ("a,b\n1,2\n3,4\n", 0, ",", ()),
        ('"sep=;"\na;b\n1;2\n', 1, ";", ()),
        ("sep=\\t\na;c\tb\n1\t2\n", 1, "\t", ()),
        ("# made by X\n#\n#a,b\n1,2\n", 2, ",", ("2 comment lines before the header are left out",)),
        ("# a, b\nx,y\n1,2\n3,4\n", 1, ",", ("1 comment line before the header is left out",)),
        ("#tag,text\nsea,red\nsun,blue\n", 0, ",", ()),
        ("#,text,n\n1,red,4\n2,blue,5\n", 0, ",", ()),
        ("Sale, by region\n\nday;a;b\n1;2,5;3,5\n2;1,5;4,5\n", 2, ";", ("1 title line before the header is left out",)),
        ("\n\na,b\n1,2\n", 2, ",", ()),
        ("title;;\nname;x;y\nu;1;2\nv;3;4\n", 1, ";", ("1 title line before the header is left out",)),
        ("by,X,\n\nid,1990,1991,1992,\nu,1,2,5,\nv,3,4,6,\n", 2, ",", ("1 title line before the header is left out",)),
        ("name;a;b\nx,1;2,5;3,5\ny,2;1,5;4,5\n", 0, ";", ()),
        ('a,text\n1,"one\nof; two; lines; here; x"\n2,"b\nc"\n', 0, ",", ()),
        ("x y\n1 2\n3 4\n", 0, " ", ()),
        ('"x" "y"\n"r 1" 2 3\n"r 2" 3 4\n', 0, " ", ()),
        ("sep=a\nx,y\n1,2\n", 0, ",", ()),
        ("tags\nsea;sun\nsea\nsun;sea\n", 0, ",", ()),
        ("text\none two\nthree four\n", 0, ",", ()),
        ("ham\tgo on, you\nspam\twin, 2 prizes, now\nham\tok\nham\tsee you\n", 0, "\t", ()),
        ('a  b c\tn\n8   30.5  1\t"red car"\n9   31.5  2\t"blue"\n', 0, " ", ()),
        ("a\tb\tc\n1\t2\t3\n1\t\t5\t3\n", 0, " ", ()),
        ("name\tn\nJane Doe\t1\nJohn Poe\t2\n", 0, "\t", ()),
        ("full name\tn\ty\t\nJane Doe\t1\ta\nJohn Poe\t2\tb\n", 0, "\t", ()),
        ("name\tn\ty\nDoe,  J\t1\ta\nPoe,  K\t2\tb\n", 0, "\t", ()),
        ("full  name\tn\nJane  Doe\t1\nJohn  Poe\t2\n", 0, "\t", ()),
        ("full name\tn\ty\nJane Doe\t1\ta\nJane May Doe\t2\n", 0, "\t", ()),
        ("a^b c\n1^x y\n2^z y\n", 0, "^", ()),
        ("a\x01b\n1\x01x\n2\x01z\n", 0, "\x01", ()),
        ("a~b, c\n1~2, 3\n2~3, 4\n", 0, ",", ()),
        ("x^2\n4\n9\n", 0, ",", ()),
        ("name,a|b,n,y\nFilm,c|d,3,u\nFilm,e|f,4,v\nFilm,g|h,5,w\nFilm,i|j,6\n", 0, ",", ()),
    ],
)
def test_lines_before_the_header_and_the_separator(text, skipped, separator, notes):
    found = text_layout(text.splitlines())
    assert (found.skipped, found.separator, found.notes) == (skipped, separator, notes)


@pytest.mark.parametrize(
    ("below", "note"),
    [
        (
            ["c;c;u v", ";;class"],
            "left out: 2 lines of types below the header ('c', 'u v', 'class'); header=True reads them as rows",
        ),
        (["c;c;d", ";;class"], "left out: 2 lines of types below the header ('c', 'd', 'class')"),
        (
            ["continuous;continuous;discrete", ""],
            "left out: 2 lines of types below the header ('continuous', 'discrete')",
        ),
        (
            [
                "kg;\u00b0C;",
            ],
            "left out: 1 line of units below the header ('kg', '\u00b0C')",
        ),
        (["\u00b5g/m3;[m s-1];"], "left out: 1 line of units below the header ('\u00b5g/m3', '[m s-1]')"),
        (["EUR;years;"], "left out: 1 line of units below the header ('EUR', 'years')"),
        (["IU/mL;10^9/L;"], "left out: 1 line of units below the header ('IU/mL', '10^9/L')"),
        (["mL/min/1.73m2;1/s;"], "left out: 1 line of units below the header ('mL/min/1.73m2', '1/s')"),
        (["[mm];[AU];[text]"], "left out: 1 line of units below the header ('[mm]', '[AU]', '[text]')"),
        (["(mg/l);(%);-"], "left out: 1 line of units below the header ('(mg/l)', '(%)', '-')"),
    ],
)
def test_lines_of_types_or_units_below_the_header_are_left_out_and_lines_keep_their_numbers(tmp_path, below, note):
    text = "\n".join(["# by X", "a;b;y", *below]) + f"\n{ROWS}"
    (tmp_path / "t.csv").write_text(text)
    data = read(tmp_path / "t.csv", "y")
    assert data.X.shape == (30, 2)
    assert any(each.startswith(note) and "; header=True reads" in each for each in data.notes)
    with pytest.warns(LeftOutLinesWarning, match="t.csv: left out: . lines? of (types|units) below the header"):
        assert read_rows(tmp_path / "t.csv", data.source)[0].shape == (30, 2)
    (tmp_path / "t.csv").write_text(text + "1;2\n")
    with pytest.raises(DataError, match=f"line {33 + len(below)}: the row has 2 values"):
        read(tmp_path / "t.csv", "y")


@pytest.mark.parametrize(
    "rows",
    [
        ["n.d.;1;u", "2;3;v", "4;5;u"],  # one column of numbers
        ["low;high;u", "2;3;v", "4;5;u"],  # a category stands there again
        ["-;.;w", "2;3;v", "4;5;u"],
        ["NA;NA;w", "2;3;v", "4;5;u"],
        ["c;d;u", "d;c;v", "c;t;u"],
        ["kg;cm;w", "2;3;v"],
        ["kg;cm;w", "2;3;v", "4;5;u"],  # a value in the column of text
        ["kg;cm;mg", "2;3;v", "4;5;u"],  # which may be a class
        ["A;A;", "2;3;v", "4;5;u"],
        ["a;b;y", "2;3;v", "4;5;u"],  # the header again
        *([f"{first};", "2;3;v", "4;5;u"] for first in ("ND;ND", "nm;nm", "unknown;unknown", "inf;-inf")),
        *([f"{first};", "2;3;v", "4;5;u"] for first in ("missing;missing", "(none);[x]", "1.2M;3.4K", "below;kg")),
    ],
)
def test_a_first_row_of_data_is_none_of_them(rows):
    assert text_layout(["a;b;y", *rows]).below == 0


def test_a_number_without_a_unit_stands_among_units():
    assert text_layout(["a;b;c;y", "kg;-;m s-1;", "1;2;3;u", "4;5;6;v"]).below == 1
    assert text_layout(["a;b;c;y", "kg;-;-;", "1;2;3;u", "4;5;6;v"]).below == 0


QUESTIONS = '"How old, in\nyears?";"How do you travel?";"Do you like it?"\n'
IDS = ";".join(f'"{{""ImportId"":""QID{j}""}}"' for j in range(3)) + "\n"


@pytest.mark.parametrize(
    ("header", "names", "note"),
    [
        (
            "Q1;Q2;v_3\n" + QUESTIONS,
            ("Q1", "Q2"),
            "left out: 1 line of codes or questions below the header ('How old, in",
        ),
        (
            QUESTIONS + "Q1;Q2;Q3\n",
            ("How old, in\nyears?", "How do you travel?"),
            "below the header ('Q1', 'Q2', 'Q3')",
        ),
        ("Q1;Q2;v_3\n" + QUESTIONS + IDS, ("Q1", "Q2"), "left out: 2 lines of codes or questions below the header"),
        ("Your rating;Your rating;Sure?\nQ1;Q2;v_3\n", ("Q1", "Q2"), "1 title line before the header is left out"),
    ],
)
def test_a_second_line_of_names_is_left_out(tmp_path, header, names, note):
    """As LimeSurvey, Qualtrics and others write codes and questions, which may have several lines each."""
    text = header + ROWS
    (tmp_path / "t.csv").write_text("# by X\n" + text, encoding="utf-8-sig")
    label = "v_3" if ";v_3\n" in header else "Do you like it?"
    data = read(tmp_path / "t.csv", label)
    assert data.feature_names == names and data.X[:2].tolist() == [[0.5, 0], [1.5, 1]] and len(data.X) == 30
    assert any(note in each for each in data.notes), data.notes
    below = pytest.warns(LeftOutLinesWarning, match="t.csv: left out: . lines? of codes or questions")
    with below if "below" in note else nullcontext():
        assert read_rows(tmp_path / "t.csv", data.source)[0].shape == (30, 2)
    assert text_layout(text.splitlines(), header=True).below == 0, "header=True says that the line below is a row"
    lines = 1 + header.count("\n") + 30
    (tmp_path / "t.csv").write_text("# by X\n" + text + "1;2\n")
    with pytest.raises(DataError, match=f"line {lines + 1}: the row has 2 values"):
        read(tmp_path / "t.csv", label)


def test_names_of_questions_in_the_second_line_of_limesurvey(tmp_path):
    questions, codes = "ID\tDate sent\tLast page\tHow old?\tYour sex?", "id\tsubmitdate\tlastpage\tage\tsex"
    rows = "".join(f"{j + 7}\t2024-03-{1 + j}\t{j % 3}\t{20 + j}\t{'uv'[j % 2]}\n" for j in range(20))
    for header, label in (((questions, codes), "Your sex?"), ((codes, questions), "sex")):
        (tmp_path / "t.tsv").write_text("\n".join(header) + "\n" + rows)
        data = read(tmp_path / "t.tsv", label)
        assert len(data.X) == 20 and any("1 line of codes or questions below" in note for note in data.notes)


def test_a_second_line_of_words_above_three_columns_of_numbers_is_left_out(tmp_path):
    rows = [f"{j + 1},{20 + j},{j * j},{j % 2}" for j in range(20)]
    note = "left out: 1 line that looks like a second line of names below the header ('ID', 'AGE', 'SEX', 'default')"
    for first, found in (("ID,AGE,SEX,default", 1), ("ID,AGE,,default", 0), ("ID,AGE,7,default", 0), ("a,b,c,c", 0)):
        layout = text_layout(["X1,X2,X3,Y", first, *rows])
        assert layout.below == found and any(note in each for each in layout.notes) == found
    lines = ["X1,X2,X3,Y", "ID,AGE,SEX,default", *rows]
    assert text_layout(lines, new_rows=True).below == 0, "no row is left out where each has to have its prediction"


@pytest.mark.parametrize(
    ("names", "first"),
    [
        ("run,dose,temp,y", "control,none,room,short"),  # names that are no codes
        ("shop,q1,q2,q3", "Z,one,two,three"),  # a text above texts
        *(
            ("X1,X2,X3,Y", first)
            for first in (
                '"4,234.50","2,845.10","1,389.40","1,100.20"',
                "$934.50,$845.10,$89.40,$1.10",
                "80 kg,180cm,60 bpm,3 m",
                "1:02.5,1:03.1,1:05.2,1:06.1",
                "(12),(30),(4),(7)",
                "n.d.,k.A.,nd,none",
                "ID,AGE,SEX,12 kg",
            )
        ),
    ],
)
def test_a_first_row_unlike_those_below_it_is_a_row(names, first):
    rows = [f"{'r' + str(j) if names[0] == 's' else j},{20 + j},{j * j},{j % 2}" for j in range(20)]
    assert text_layout([names, first, *rows]).below == 0


@pytest.mark.parametrize(
    ("names", "first"),
    [
        ("Q1;Q2;Q3", "not asked;not asked;v w"),  # one word for both
        ("Q1;Q2;Q3", "below it;not done;v"),  # a class that stands again
        ("Q1;Q2;Q3", "9.5;not done;w x"),  # a number
        ("Q1;Q2;Q3", "NA;;a new class"),
        ("Q1;Q2;Q3", "acidic;cold;control"),  # words that may be values
        ("Q1;Q2;y", "below it;not done;a new class"),  # a name that is no code
        ("fruit;box;label", "yellow banana;medium box;rare class"),
        ("S1;x;y", "S2;S3;S4"),
    ],
)
def test_a_first_row_of_words_is_no_second_line_of_names(names, first):
    assert text_layout([names, first, *ROWS.splitlines()]).below == 0
    assert text_layout(["Q1;Q2;Q3", "x 1;y 2;w z", "1;2;u", "3;4;u"]).below == 0, "too few rows to tell"
    words = [f"{'ab'[i % 2]} c;{'de'[i % 2]} f;{'uv'[i % 2]}" for i in range(30)]
    assert text_layout(["Q1;Q2;Q3", "g h;i j;w x", *words]).below == 0, (
        "texts may be values where no column has numbers"
    )


def test_a_table_whose_columns_are_samples_is_refused_or_noted(tmp_path):
    """As MetaboAnalyst has it, with the classes below the header, and as tables of genes and peaks are."""
    rows = "".join(f"g{i},{','.join(f'{i + j}.5' for j in range(8))}\n" for i in range(12))
    names = "gene," + ",".join(f"s{j}" for j in range(8)) + "\n"
    (tmp_path / "t.csv").write_text(names + "class,u,v,u,v,u,v,u,v\n" + rows)
    with pytest.raises(
        DataError, match="line 2: the first row holds a word for each column .* transpose it first, in pandas by"
    ):
        read(tmp_path / "t.csv")
    beside = [f"{i}.5,{row}" for i, row in enumerate(rows.split())]  # such as m/z, with a word for it and none for s0
    assert text_layout(["mz," + names, "Group,class,,u,v,u,v,u,v,u", *beside]).columns_are_samples
    assert not text_layout(["mz," + names, "Group,class,,,,,v,u,v,u", *beside]).columns_are_samples
    (tmp_path / "t.csv").write_text(names + rows)
    with pytest.raises(UnlabelledTable) as caught:
        read(tmp_path / "t.csv")
    assert caught.value.notes[-1].startswith("if its columns are samples and its rows features, such as genes")
    (tmp_path / "t.csv").write_text(names.replace("s7", "class") + rows)
    with pytest.raises(UnlabelledTable) as caught:
        read(tmp_path / "t.csv")
    assert caught.value.notes == ()


GENES = [f"g{i}\t{{}}{i}.5\t{i + 1}.25\t{2 * i}.5\t{i}.75\n" for i in range(12)]
SERIES = (
    '!Series_title\t"A study!"\n!Series_summary\t"Of genes"\n\n!Sample_title\t"s1"\t"s2"\t"s3"\t"s4"\n'
    '!series_matrix_table_begin\n"ID_REF"\t"GSM1"\t"GSM2"\t"GSM3"\t"GSM4"\n'
    + "".join(GENES).format(*[""] * 12)
    + "!series_matrix_table_end\n"
)


def test_words_above_all_numbers_and_nothing_else_are_no_row(tmp_path):
    rows = [f"p{j},{'uv'[j % 2]},{j}.5,{j % 7}.5,{j % 5}.5" for j in range(20)]
    (tmp_path / "t.csv").write_text("\n".join(["id,y,a,b,c", ",,sugar,acid,sugar", *rows, ""]))
    data = read(tmp_path / "t.csv", "y")
    assert data.X.shape == (20, 3)
    assert "left out: 1 line of words above numbers below the header ('sugar', 'acid'); header=True" in data.notes[0]
    for line in ("p,,sugar,acid,sugar", ",,sugar,,acid", ",,1,acid,sugar"):
        assert not text_layout(["id,y,a,b,c", line, *rows]).below


def test_a_line_that_repeats_some_names_is_no_row(tmp_path):
    """As the clinical tables of TCGA have it, above the ids of the questions."""
    rows = [f"p{j}\t{'MF'[j % 2]}\t{40 + j % 9}\t{'uv'[j % 2]}" for j in range(20)]
    lines = ["who_id\tsex\tage\ty", "who_id\tsex\tage_at_first\ty_by_test", "CDE_ID:\tCDE_ID:1\tCDE_ID:2\tCDE_ID:3"]
    for below in (1, 2):
        (tmp_path / "t.txt").write_text("\n".join([*lines[: below + 1], *rows, ""]))
        data = read(tmp_path / "t.txt", "y")
        assert len(data.X) == 20 and data.label_names == ("u", "v") and data.X["age"][0] == 40
        assert f"{below} line{'s' * (below > 1)} of repeated names" in " ".join(data.notes)


def test_samples_in_columns_are_transposed_as_the_message_says(tmp_path):
    names = [f"s{j}" for j in range(10)]
    lines = [
        ["id", *names],
        ["class", *"uvuvuvuvuv"],
        *([f"g{i}", *(f"{i}.{j}" for j in range(10))] for i in range(12)),
    ]
    (tmp_path / "t.txt").write_text("\n".join(map("\t".join, lines)) + "\n")
    with pytest.raises(DataError) as caught:
        read(tmp_path / "t.txt")
    call = str(caught.value).partition("in pandas by ")[2].removesuffix(".")
    call = call.replace("FILE", f"{str(tmp_path / 't.txt')!r}").replace("'table.csv'", f"{str(tmp_path / 'u.csv')!r}")
    eval(f"pandas.{call}", {"pandas": pandas})
    data = read(tmp_path / "u.csv", "class")
    assert data.X.shape == (10, 12) and data.label_names == ("u", "v")


GCT = "#1.2\n12\t4\nNAME\tDescription\tGSM1\tGSM2\tGSM3\tGSM4\n" + "".join(GENES).format(*["a gene\t"] * 12)


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("GSE1_series_matrix.txt", SERIES, "a series matrix of GEO"),
        ("t.gct", GCT, "a GCT file"),
        ("t.txt", GCT, "a GCT file"),
    ],
)
def test_tables_of_genes_are_refused_with_the_command_that_transposes_them(tmp_path, name, text, what):
    (tmp_path / name).write_text(text)
    with pytest.raises(
        DataError, match=f"line 1: this is {what}: its columns are samples, and its rows genes"
    ) as caught:
        read(tmp_path / name)
    command = str(caught.value).split("in pandas by ")[1].split(", and add a column")[0]
    table = eval(f"pandas.{command}", {"pandas": pandas, "FILE": tmp_path / name})
    assert table.index.tolist() == ["GSM1", "GSM2", "GSM3", "GSM4"] and table.columns.tolist()[:2] == ["g0", "g1"]
    assert table.loc["GSM2"].tolist() == [i + 1.25 for i in range(12)]


def test_questions_above_their_options_are_joined(tmp_path):
    """As SurveyMonkey writes them, of several lines too."""
    first = 'Respondent ID,"How do\nyou travel?",,,Age,Glad?,Where?,'
    head = first + '\n,Car,"Bike, own",Bus,Response,Open-Ended Response,Home,Work\n'
    bike = '"Bike, own"'
    rows = "".join(
        f"{100 + i},{'Car' * (i % 2)},{bike * (i % 3 > 0)},{'Bus' * (i % 5 > 0)},{20 + i % 7},{'yn'[i % 2]},"
        f"{i % 4},{i % 3}\n"
        for i in range(30)
    )
    (tmp_path / "t.csv").write_text(head + rows)
    data = read(tmp_path / "t.csv", "Glad?")
    question = "How do you travel?"
    assert data.feature_names == (
        *(f"{question}: {option}" for option in ("Car", "Bike, own", "Bus")), "Age", "Where?: Home", "Where?: Work",
    )  # fmt: skip
    assert f"columns are named by two lines, as in '{question}: Car'" in data.notes
    assert data.X["Age"][:2].tolist() == [20, 21] and len(data.X) == 30
    assert read_rows(tmp_path / "t.csv", data.source)[0].shape == (30, 6)
    (tmp_path / "t.csv").write_text(head + rows + "1,2\n")
    with pytest.raises(DataError, match="line 34: the row has 2 values"):
        read(tmp_path / "t.csv", "Glad?")
    numbers = [f"p{j},{j}.5,{j % 7},{j % 3},{'uv'[j % 2]}" for j in range(9)]
    for above, below in (("Who,Body,,Urine,Out", "ID,kg,cm,pH,"), (",Body,,Urine,Out", "ID,kg,cm,pH,Out")):
        names = text_layout([above, below, *numbers]).joined
        assert names == ("Who: ID"[5 * (not above[0].isalpha()) :], "Body: kg", "Body: cm", "Urine: pH", "Out")
    assert text_layout(["Who,Body,,Urine,Out", "p,kg,,pH,v", *numbers]).joined == ()
    for below in ("1,Car,Bike,Bus,Response,u,v,w", ",Car,,Bus,Response,u,v,w", ",1,2,3,Response,u,v,w"):  # rows
        assert text_layout([first.replace("\n", " "), below, *rows.splitlines()]).joined == ()


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("title", ["", "Plants of 2024\n\n"])
def test_columns_of_two_levels_are_joined(index, title, tmp_path):
    """As pandas writes them, the name of a group above each of its columns."""
    cells = {("leaf", "mean"): [j + 0.5 for j in range(20)], ("leaf", "sd"): [j % 3 / 4 for j in range(20)]}
    cells |= {("root", "mean"): [j % 7 + 0.5 for j in range(20)], ("y", ""): ["u", "v"] * 10}
    pandas.DataFrame(cells, [f"p{j}" for j in range(20)]).to_csv(tmp_path / "t.csv", index=index)
    (tmp_path / "t.csv").write_text(title + (tmp_path / "t.csv").read_text())
    data = read(tmp_path / "t.csv", "y")
    assert data.feature_names == ("leaf: mean", "leaf: sd", "root: mean") and data.X[1, 0] == 1.5
    assert read_rows(tmp_path / "t.csv", data.source)[0].shape == (20, 3)


@pytest.mark.parametrize(
    ("end", "note"),
    [
        ("\nQuelle: Amt, Stand 05.03.2024", "1 line after the last row ('Quelle: Amt, Stand 05.03.2024'); move it"),
        ("(30 rows affected)\n", "1 line after the last row ('(30 rows affected)'); move it above a row to keep it"),
        ("\nSumme;3,5;\n", "1 line after the last row ('Summe;3,5'); move it above a row to keep it"),
        ("\nTotal:;;\n\n\u00a9 The Office\nSource: X;;\n\n", "3 lines after the last row ('Total:', ...); move them"),
        ("\nTotal;7;\n* at rest, as sheets have it;;\n", "2 lines after the last row ('Total;7', ...); move them"),
    ],
)
def test_remarks_and_totals_after_the_rows_are_left_out_of_training_and_test_rows_alone(tmp_path, end, note):
    (tmp_path / "t.csv").write_text(TABLE + end, encoding="utf-8")
    data = read(tmp_path / "t.csv", "y", test=tmp_path / "t.csv")
    assert data.X.shape == (60, 2)
    for begin in ("left out: ", "t.csv: left out: "):
        assert any(each.startswith(begin + note) for each in data.notes), data.notes
    with pytest.raises(DataError, match=r"line 3\d: "):
        read_rows(tmp_path / "t.csv", data.source)


WORDS = [f"{'ab'[i % 2]};{i % 7}.5;{i % 5};{'uv'[i % 2]}" for i in range(30)]


@pytest.mark.parametrize(
    "last",
    [
        "mean;0.5;;v",
        "SUM;;0.5;u",
        "*31;;;",
        "\nmean;0.5;;v",
        "Total;;9;",
        "total;;;",
        "Notes of a day;;;",
        "\nan end;;;",
    ],
)
def test_a_last_row_that_may_be_one_is_kept_and_new_rows_always(tmp_path, last):
    (tmp_path / "t.csv").write_text("\n".join(["w;a;b;y", *WORDS, last, ""]))
    data = read(tmp_path / "t.csv", "y", test=tmp_path / "t.csv")
    assert data.X.shape[0] == 62 and not any("after the last row" in note for note in data.notes)
    totals = [note for note in data.notes if "may hold totals" in note]
    assert len(totals) == 2 * (last.strip().split(";")[0].casefold() in ("mean", "sum", "total"))
    for line in (last, "\nTotal;;9;", "Source: X;;;"):
        (tmp_path / "new.csv").write_text("\n".join(["w;a;b;y", *WORDS, line, ""]))
        assert read_rows(tmp_path / "new.csv", data.source)[0].shape[0] == 31


@pytest.mark.parametrize("columns", [Columns(labels=("y",)), None])
def test_several_rows_of_totals_are_noted(tmp_path, columns):
    rows = [*WORDS[:10], "North Total;7.5;;", *WORDS[10:], "Mean;0.5;;", "SD;0.5;;"]
    (tmp_path / "t.csv").write_text("\n".join(["w;a;b;y", *rows, ""]))
    note = "3 rows, the first is line 12, may hold totals ('North Total' in w): remove them if they do"
    try:
        assert note in read(tmp_path / "t.csv", columns=columns).notes
    except UnlabelledTable as unlabelled:
        assert columns is None and note in unlabelled.notes


def test_a_last_row_with_a_label_in_its_first_cell_is_kept(tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(["w;a;b;y", *WORDS, "", "source;;;", ""]))
    assert read(tmp_path / "t.csv", "w").X.shape[0] == 31
    assert read(tmp_path / "t.csv", columns=Columns(labels=("[wz]",))).X.shape[0] == 31


def test_a_sample_of_a_large_table_has_every_row_that_was_drawn(tmp_path):
    """Whatever its first and last row are; a remark after the rows is left out in each reading."""
    rows = [
        f"{'fm'[i % 2] if i < 290 else 'total'},{i % 7}.5,{i % 5 if i < 290 else ''},{'uv'[i % 2]}" for i in range(300)
    ]
    rows[0] = "w,kg,cm,v"
    (tmp_path / "t.csv").write_text("\n".join(["w,a,b,y", *rows, "", "Source: X,,,", ""]))
    table = LargeTable(tmp_path / "t.csv", Columns(labels=("y",), missing=("kg", "cm")))
    source = table.sample(300, 0).source
    assert table.n == 300 == sum(X.shape[0] for X, _ in table.parts(source, 50))
    for seed in range(5):
        drawn = stratified_rows(table.Y, 60, seed)
        assert table.sample(60, seed).X.shape[0] == len(drawn) and (seed or drawn[-1] >= 290)


def test_what_is_left_out_does_not_depend_on_the_blocks_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(table_file, "BLOCK_BYTES", 200)
    monkeypatch.setattr(table_file, "END_SHARE", 3)
    for rows in range(14, 30):  # 10 bytes each
        (tmp_path / "t.csv").write_text("\n".join(["w;aa;b;yy", *WORDS[:rows], "", "Total;;9;", ""]))
        data = read(tmp_path / "t.csv", "yy")
        assert data.X.shape[0] == rows and sum("after the last row" in note for note in data.notes) == 1


def test_a_header_with_equal_names_is_kept_above_rows(tmp_path):
    (tmp_path / "t.csv").write_text("a;a;y\n" + ROWS)
    with pytest.raises(DataError, match="line 1: two columns are named 'a'; give every column its own name"):
        read(tmp_path / "t.csv", "y")


def test_the_last_line_may_be_a_row():
    whole = ["1;2;u", "3;4;v"]
    for line in ("total;1;v", "John Smith;;", "John;;", "7", "Source: X;Y;v", 'and "so on', "John Smith", "all;;"):
        assert lines_after_rows([*whole, line], 3, ";") == 0, line
    for line in ("total;1;v", "7;;", "Source;;", "an end;;", "all;;1;", "x: 3;1;"):
        assert lines_after_rows([*whole, "", line], 3, ";") == 0, line
    assert lines_after_rows([*whole, "", "all;;v"], 3, ";") == 1
    assert lines_after_rows([*whole, "", "It was made", "together"], 3, ";") == 0, "a word alone"
    assert lines_after_rows([*whole, "", "It was made", "by us all."], 3, ";") == 2
    assert lines_after_rows([*whole, '1;2;"u', "", 'v"', "It was made"], 3, ";") == 0, "an empty line of a text"
    assert lines_after_rows([*whole, "It was made", "by us all."], 3, ";") == 0, "not below an empty line"
    assert lines_after_rows([*whole, "", "all;;v"], 3, ";", [2]) == 0, "a label"
    assert lines_after_rows([*whole, "", "Source: X"], 3, ";", [0]) == 0, "a label"
    assert lines_after_rows([*whole, "", "Source: X"], 2, ";") == 0, "a table of two columns"
    assert lines_after_rows(["Source: X", *whole], 3, ";") == 0, "not at the end"


def test_lines_that_repeat_the_header_are_left_out(tmp_path):
    """As files that were joined have them, each perhaps with its mark of the encoding."""
    text = TABLE + TABLE + "\ufeff" + TABLE.replace("\n", "\r\n")
    (tmp_path / "t.csv").write_text(text)
    data = read(tmp_path / "t.csv", "y")
    assert data.X.shape == (90, 2) and "left out: 2 lines repeat the header" in data.notes
    assert read_rows(tmp_path / "t.csv", data.source)[0].shape == (90, 2)
    (tmp_path / "t.csv").write_text(text + "1;2\n")
    with pytest.raises(DataError, match="line 94: the row has 2 values"):
        read(tmp_path / "t.csv", "y")
    (tmp_path / "t.csv").write_text("tags\nsea\ntags\nsun\ntags\n")  # one column, where it may be a value
    with pytest.raises(DataError, match="looks like a row and not like column names"):
        read(tmp_path / "t.csv", "tags")


@pytest.mark.parametrize(
    ("text", "rows", "repeats"),
    [
        ("g,m\ng,m\n1,2\n3,4\n5,6\n", 3, 1),  # at once below the header, whose names are units too
        ("a,b\nxya,b\nu,v\nw,z\nu,q\n", 4, 0),  # the end of the first row
        ('a,b\n1,"x\na,b\ny"\n2,v\na,b\n3,w\n', 3, 1),  # a line in a cell in quotes
    ],
)
def test_only_whole_rows_repeat_the_header(tmp_path, text, rows, repeats):
    (tmp_path / "t.csv").write_text(text)
    table = open_table(tmp_path / "t.csv")
    assert sum(block.rows for block in table.blocks(dict.fromkeys(table.names, "text"))) == rows
    assert table.repeats == repeats


def test_separators_at_the_end_of_lines(tmp_path):
    """Of all lines, as some instruments write them, or of the header alone."""
    for text in (
        TABLE.replace("\n", ";\n"),
        TABLE.replace("y\n", "y;;\n"),
        "title: x\n\n" + TABLE.replace("y\n", "y;\n"),
    ):
        (tmp_path / "t.csv").write_text(text)
        data = read(tmp_path / "t.csv", "y")
        assert data.feature_names == ("a", "b") and data.X.shape == (30, 2)


def test_an_empty_column_without_a_name_between_others(tmp_path):
    """As sheets have between two tables, and as new rows may have anywhere."""
    (tmp_path / "t.csv").write_text("a,,b,y\n" + "".join(f"{j % 7},,{j * j},{'uv'[j % 2]}\n" for j in range(20)))
    data = read(tmp_path / "t.csv", "y")
    assert data.feature_names == ("a", "b") and any("say nothing: Unnamed: 1" in note for note in data.notes)
    (tmp_path / "n.csv").write_text("b,,a\n4,,2\n")
    X, _ = read_rows(tmp_path / "n.csv", data.source)
    assert (X["a"].tolist(), X["b"].tolist()) == ([2], [4])


def test_lines_that_end_by_carriage_returns(tmp_path):
    for encoding in ("utf-8", "utf-8-sig", "cp1252", "utf-16"):
        (tmp_path / "t.csv").write_bytes(TABLE.replace("a;", "\u00e4;").replace("\n", "\r").encode(encoding))
        data = read(tmp_path / "t.csv", "y")
        assert data.feature_names == ("\u00e4", "b") and data.X.shape == (30, 2)


@pytest.mark.parametrize(
    ("names", "rows", "row"),
    [
        ("39, Private, ?, <=50K", ["52, Private, Sales, <=50K", "31, Local, ?, >50K"], True),
        ("x,o,b,positive", ["o,o,b,positive", "x,o,x,negative"], True),
        ("5,Private,u", ["7,Private,v", "8,Local,v"], True),
        ("5,Private,u", ["seven,Private,v", "8.5 m,Local,w"], False),
        ("python,java,age", ["python,,31", ",java,45", "python,java,28"], False),  # answers of one column per option
        ("kind,size,n", ["kind,small,3", "other,large,4"], False),
        ("2017-04-22,Sat", ["2017-04-21,Fri", "2017-04-15,Sat"], True),
        ("a,b,y", ["1,2,u", "a,b,y", "3,4,v"], False),  # of joined files
        ("go on to the sea,ham", ["win a prize at once,spam", "see you there at ten,ham"], True),
        ("what do you do there,ham", ["swim,spam", "run,ham"], False),
    ],
)
def test_a_first_line_whose_cells_stand_again_is_asked_about(tmp_path, names, rows, row):
    text = "\n".join([names, *rows, ""])
    assert text_layout(text.splitlines()).again is row
    (tmp_path / "t.csv").write_text(text)
    if row:
        with pytest.raises(DataError, match="looks like a row and not like column names; say header=False if"):
            read(tmp_path / "t.csv")
        settings = Columns(labels=(f"column_{len(names.split(','))}",), header=False)
        assert read(tmp_path / "t.csv", columns=settings).X.shape[0] == 3


def test_the_only_cell_of_a_first_line_that_stands_again_is_asked_about(tmp_path):
    np.save(tmp_path / "t.npy", np.eye(4))
    (tmp_path / "y.csv").write_text("sea\nsun\nsea\nsun\n")
    with pytest.raises(DataError, match=r"y.csv, line 1: the first line \('sea'\) looks like a row"):
        read(tmp_path / "t.npy", tmp_path / "y.csv")
    data = read(tmp_path / "t.npy", tmp_path / "y.csv", columns=Columns(header=False))
    assert data.label_names == ("sea", "sun")


def test_names_that_stand_below_themselves_are_names_above_columns_of_numbers():
    rows = [f"{j},{j * j},{'alive dead'.split()[j % 2]},{'airbag none'.split()[j // 2 % 2]}" for j in range(8)]
    for names, again in (("age,speed,dead,airbag", False), ("?,?,dead,airbag", True), ("-,x,dead,airbag", True)):
        assert text_layout([names, *rows]).again is again


def test_a_first_line_of_numbers_is_asked_about_unless_it_may_be_names():
    assert looks_like_a_row(["5.1", "3.5", "Iris-setosa"], ["4.9", "", "Iris-setosa"])
    assert looks_like_a_row(["Autauga", "23,288  ", "9.7"], ["Baldwin", "81,706  ", "9.1"])
    for names, row in ((["2001", "2002", "y"], ["1", "2", "u"]), (["a", "b", "3"], ["1", "2", "3"])):
        assert not looks_like_a_row(names, row)
    assert not looks_like_a_row(["7", "1", "y"], ["u", "v", "w"])


@pytest.mark.parametrize(
    ("before", "encoding", "given", "note"),
    [
        ("", "utf-8-sig", None, None),
        ("", "utf-16", None, "the file is not UTF-8 and is read as UTF-16"),
        ("", "utf-16-le", None, "the file is not UTF-8 and is read as UTF-16"),
        ("", "utf-16-be", None, "the file is not UTF-8 and is read as UTF-16"),
        ("", "cp1252", None, "the file is not UTF-8 and is read as Windows-1252 (another encoding: encoding='...')"),
        (
            *("\x81", "latin-1", None),
            "the file is not UTF-8 and is read as Latin-1 (probably another encoding, such as encoding='cp850' or "
            "encoding='shift-jis')",
        ),
        ("", "cp850", "cp850", "the file is read as cp850"),
        ("# by X\n", "utf-8-sig", None, "1 comment line before the header is left out"),
    ],
)
def test_encodings(tmp_path, before, encoding, given, note):
    """New rows follow an encoding that was named."""
    name = "Größe" if before.startswith("#") else f"Größe{before}"
    text = (before if before.startswith("#") else "") + TABLE.replace("a;b;y\n", f"a;{name};y\n")
    (tmp_path / "t.csv").write_bytes(text.encode(encoding))
    data = read(tmp_path / "t.csv", columns=Columns(labels=("y",), encoding=given))
    assert data.feature_names == ("a", name) and data.X.shape == (30, 2)
    assert note is None or note in data.notes
    assert read_rows(tmp_path / "t.csv", data.source)[0].shape == (30, 2)


def test_a_line_of_one_cell_above_rows_without_a_header(tmp_path):
    (tmp_path / "t.test").write_text("|1x3 Cross validator\n" + "25, red, u.\n38, blue, v.\n" * 5)
    data = read(tmp_path / "t.test", columns=Columns(labels=("column_3",), header=False))
    assert len(data.Y.toarray()) == 10 and "1 title line before the rows is left out" in data.notes


@pytest.mark.parametrize("end", ["\x1a", "\x00\x00\x00", "\x1a\x00"])
def test_what_programs_of_dos_write_at_the_end_is_no_row(end, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE + end)
    assert read(tmp_path / "t.csv", "y").X.shape == (30, 2)


@pytest.mark.parametrize(
    ("content", "held"),
    [
        (b"PK\x03\x04" + b"a,b\n" * 9, "a zip archive, perhaps a workbook, not a table of text; name it .xlsx"),
        (b"PAR1a,b\n1,2\n", "a Parquet file, not a table of text; name it .parquet"),
        (b"  <HTML>\n<table>", "a page of HTML or XML, not a table of text; save its table as CSV, in pandas by"),
        (b'\xef\xbb\xbf[\n {"a": 1}]', "JSON, not a table of text; name it .json"),
        (b"@RELATION t\n", "an ARFF file, not a table of text; name it .arff"),
    ],
)
def test_a_file_that_holds_no_text_is_told_by_its_first_bytes(content, held, tmp_path):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=f"t.csv: it holds {held}"):
        read(tmp_path / "t.csv", "y")


def test_packed_by_xz(tmp_path):
    (tmp_path / "t.csv.xz").write_bytes(whole := lzma.compress(TABLE.encode()))
    assert read(tmp_path / "t.csv.xz", "y").X.shape == (30, 2)
    for damaged in (whole[:-12], whole[:30] + b"zz" + whole[32:]):
        (tmp_path / "t.csv.xz").write_bytes(damaged)
        with pytest.raises(DataError, match="the packed data are cut short or damaged; fetch the file again"):
            read(tmp_path / "t.csv.xz", "y")


def test_without_a_header_and_with_lines_before_it_the_columns_and_lines_are_named(tmp_path):
    (tmp_path / "t.txt").write_text(ROWS)
    question = "line 1: the first line .* looks like a row and not like column names; say header=False if the file has"
    with pytest.raises(DataError, match=question):
        read(tmp_path / "t.txt", "y")
    (tmp_path / "t.txt").write_text(f"# by X\n{ROWS}1;2\n")
    columns = Columns(labels=("column_3",), header=False)
    with pytest.raises(DataError, match="line 32: the row has 2 values, not the 3 of the first line"):
        read(tmp_path / "t.txt", columns=columns)
    (tmp_path / "t.txt").write_text(f"# by X\n{ROWS}")
    data = read(tmp_path / "t.txt", columns=columns)
    assert data.feature_names == ("column_1", "column_2") and data.X[0].tolist() == [0.5, 0]
    assert "there is no header: the columns are named column_1 to column_3" in data.notes
    assert read_rows(tmp_path / "t.txt", data.source)[0].shape == (30, 2)
    (tmp_path / "t.csv").write_text("1;2;3\n" + ROWS)
    assert read(tmp_path / "t.csv", columns=Columns(labels=("3",), header=True)).feature_names == ("1", "2")
    (tmp_path / "t.csv").write_text(f"Sizes of leaves\n{TABLE}1;two;u\n")
    with pytest.raises(DataError, match="line 33: column 'b' holds 'two' in 1 cell"):
        read(tmp_path / "t.csv", "y")


@pytest.mark.parametrize(
    ("encoding", "message"),
    [
        ("utf-9", "encoding='utf-9' is not the name of an encoding; name another one, such as encoding='cp1252'"),
        ("ascii", "line 1: the line is not text in the encoding ascii; name another one"),
        ("base64", "encoding='base64' is not the name of an encoding"),
    ],
)
def test_encodings_that_do_not_fit(tmp_path, encoding, message):
    (tmp_path / "t.csv").write_text(TABLE.replace("a;b;y\n", "a;Größe;y\n"), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read(tmp_path / "t.csv", columns=Columns(labels=("y",), encoding=encoding))


def test_text_files_are_tables_unless_their_first_rows_hold_indices(tmp_path):
    for suffix in (".txt", ".dat", ".data"):
        (tmp_path / f"t{suffix}").write_text("# LIBSVM\n1 1:2 3:4\n0 2:1\n")
        assert read(tmp_path / f"t{suffix}").X.shape == (2, 3)
        clock = "".join(f"14:{i};{i};{'uv'[i % 2]}\n" for i in range(10, 30))
        (tmp_path / f"t{suffix}").write_text("when;x;y\n" + clock)
        assert read(tmp_path / f"t{suffix}", "y").Y.shape == (20, 2), "clock times are no INDEX:VALUE"
        (tmp_path / f"t{suffix}").write_text(TABLE)
        assert read(tmp_path / f"t{suffix}", "y").X.shape == (30, 2)
        (tmp_path / f"t{suffix}").write_text("".join(f"{i % 7} {i % 5} {i % 2}\n" for i in range(30)))
        settings = Columns(labels=("column_3",), header=False)
        assert read(tmp_path / f"t{suffix}", columns=settings).X.shape == (30, 2), "three whole numbers in every line"


def test_a_first_new_row_of_words_is_no_line_of_units(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    data = read(tmp_path / "t.csv", "y")
    (tmp_path / "new.csv").write_text("a;b;y\nunknown;unknown;\n" + ROWS)
    with pytest.raises(DataError, match="line 2: 'unknown' in column 'a' is not a number"):
        read_rows(tmp_path / "new.csv", data.source)


def test_columns_aligned_by_two_blanks_hold_single_ones(tmp_path):
    """All cities of two words would pass for row names beside a short header; unclear columns are refused."""
    for cities in (["New York", "San Jose"], ["New York", "Rome"]):
        lines = [f"{cities[j % 2]:<12}{j % 7}.5  {j % 5:>4}  {'uv'[j % 2]}" for j in range(30)]
        (tmp_path / "t.txt").write_text("\n".join(["city        temp  rain  y", *lines, ""]))
        data = read(tmp_path / "t.txt", "y")
        assert data.feature_names == ("city", "temp", "rain") and data.X["temp"][:3].tolist() == [0.5, 1.5, 2.5]
        assert "columns are separated by blanks" in data.notes
        assert read_rows(tmp_path / "t.txt", data.source)[0]["city"].tolist() == (cities * 15)
    (tmp_path / "t.txt").write_text("\n".join(["city        temp  rain  y", *lines, "Bern               4  u", ""]))
    with pytest.raises(DataError, match="line 1: its columns are aligned by blanks, and their cells hold blanks"):
        read(tmp_path / "t.txt", "y")


def test_quoted_cells_between_two_blanks_are_whole_and_lose_their_quotes(tmp_path):
    """Blanks in quotes separate nothing; a quote inside of a cell stays."""
    names = ['"New York"', '"San  Jose"', "Los Angeles", '"The ""Big"" one"', '5" pipe of 6"']
    lines = ["place of it   n   y", *(f"{names[j % 5]:<20}  {j % 7}  {'ab'[j * j % 3]}" for j in range(30))]
    (tmp_path / "t.txt").write_text("\n".join(lines))
    data = read(tmp_path / "t.txt", columns=Columns(labels=("y",)))
    assert list(data.X["place of it"][:5]) == ["New York", "San  Jose", "Los Angeles", 'The "Big" one', '5" pipe of 6"']
    assert list(data.X["n"][:3]) == [0, 1, 2]


def test_a_row_of_a_framed_table_with_too_few_cells_is_named(tmp_path):
    rows = [f"| {j % 7} | {'uv'[j % 2]} |" for j in range(20)]
    (tmp_path / "t.txt").write_text("\n".join(["| a | y |", "|---|---|", *rows, "| 5 |", ""]))
    with pytest.raises(DataError, match="line 23: "):
        read(tmp_path / "t.txt", "y")


def test_bars_without_a_rule_are_separators(tmp_path):
    (tmp_path / "t.csv").write_text("a|b|y\n" + "".join(f"{j % 7}|-|{'uv'[j % 2]}\n" for j in range(20)))
    assert "columns are separated by '|'" in read(tmp_path / "t.csv", "y").notes
