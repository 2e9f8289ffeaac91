"""Small files of other people: formats, encodings, headers and survey exports, each with a signal for its labels.

``python tests/data/files/make_files.py FOLDER`` writes them; those of Excel need openpyxl and those of AnnData anndata.
"""

from __future__ import annotations

import bz2
import csv
import io
import json
import lzma
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np

ROWS = 60
CITIES = ("Genève", "Bern", "Zürich", "Neuchâtel")
HEADER = ("age", "income", "city", "hours", "cls")


def people() -> list[tuple]:
    """60 rows of two numbers with empty cells, a word with an accent, a number, and a class of three."""
    rng = np.random.default_rng(7)
    rows = []
    for i in range(ROWS):
        cls = i % 3
        income = None if i % 17 == 5 else round(float(20 + 12 * cls + rng.normal(0, 4)), 1)
        hours = int(30 + 5 * cls + rng.integers(0, 8))
        rows.append((int(rng.integers(18, 80)), income, CITIES[rng.integers(4)], hours, ("low", "mid", "high")[cls]))
    return rows


def table(header: Sequence | None, rows: Sequence[Sequence], separator: str = ",", decimal: str = ".") -> str:
    """CSV; None is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    if header is not None:
        writer.writerow(header)
    for row in rows:
        cells = ["" if cell is None else cell for cell in row]
        writer.writerow([str(cell).replace(".", decimal) if isinstance(cell, float) else cell for cell in cells])
    return out.getvalue()


def utf16() -> bytes:
    return table(HEADER, people(), "\t").encode("utf-16")


def cp1252() -> bytes:
    return table(HEADER, people(), ";", ",").encode("cp1252")


def byte_order_mark() -> bytes:
    return b"\xef\xbb\xbf" + table(HEADER, people()).encode()


def shift_jis() -> bytes:
    rows = [(age, income, "東京" if city < "N" else "大阪", hours, cls) for age, income, city, hours, cls in people()]
    return table(HEADER, rows).encode("shift-jis")


def sep_line() -> bytes:
    return b"sep=;\r\n" + table(HEADER, people(), ";", ",").replace("\n", "\r\n").encode()


def title_lines() -> bytes:
    return ("Report of the survey, 2024\nmade on 1 May 2024\n\n" + table(HEADER, people())).encode()


def comment_lines() -> bytes:
    return ("# exported by instrument 7\n# units: years, k, h\n#" + table(HEADER, people(), "\t")).encode()


def without_header() -> bytes:
    return table(None, people()).encode()


def one_name_short() -> bytes:
    rows = [(f"p{i}", *("NA" if cell is None else cell for cell in row)) for i, row in enumerate(people())]
    return table(HEADER, rows).encode()


def between_blanks() -> bytes:
    """As R's write.table writes: cells between blanks, texts in quotes, the header one name short."""
    lines = [" ".join(f'"{name}"' for name in HEADER)]
    for i, row in enumerate(people()):
        cells = ["NA" if cell is None else f'"{cell}"' if isinstance(cell, str) else str(cell) for cell in row]
        lines.append(" ".join([f'"{i + 1}"', *cells]))
    return "\n".join([*lines, ""]).encode()


def in_txt() -> bytes:
    return table(HEADER, people(), "|").encode()


def in_bz2() -> bytes:
    return bz2.compress(table(HEADER, people()).encode())


def in_xz() -> bytes:
    return lzma.compress(table(HEADER, people()).encode())


def wavelengths() -> bytes:
    rng = np.random.default_rng(3)
    axis = np.arange(1000, 1100, 5)
    rows = []
    for i in range(ROWS):
        peak = 1030 + 20 * (i % 2)
        spectrum = np.exp(-(((axis - peak) / 12.0) ** 2)) + rng.normal(0, 0.1, len(axis))
        rows.append((f"s{i}", *np.round(spectrum, 4).tolist(), "ab"[i % 2]))
    return table(("sample", *axis.tolist(), "cls"), rows).encode()


def extreme_classification() -> bytes:
    rng = np.random.default_rng(4)
    rows = []
    for i in range(ROWS):
        labels = sorted({i % 3, (i // 3) % 3})
        pairs = sorted({3 * label + int(rng.integers(3)) for label in labels} | {9 + int(rng.integers(3))})
        rows.append(f"{','.join(map(str, labels))} {' '.join(f'{j}:1.5' for j in pairs)}")
    return "\n".join([f"{ROWS} 12 3", *rows, ""]).encode()


def json_lines() -> bytes:
    start = date(2024, 1, 1)
    rows = [
        {"age": age, "income": income, "place": {"city": city, "day": str(start + timedelta(hours))}, "cls": cls}
        for age, income, city, hours, cls in people()
    ]
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def json_records() -> bytes:
    return json.dumps([dict(zip(HEADER, row, strict=True)) for row in people()]).encode()


def json_columns() -> bytes:
    """As pandas' ``to_json`` writes a frame."""
    cells = dict(zip(HEADER, zip(*people(), strict=True), strict=True))
    return json.dumps({name: {str(i): cell for i, cell in enumerate(own)} for name, own in cells.items()}).encode()


def qualtrics() -> bytes:
    """Codes, questions (one of two lines) and ImportIds above the answers."""
    questions = ("How old are you?", "What is your\nincome?", "Where do you live?", "Hours of work", "Which group?")
    ids = [json.dumps({"ImportId": f"QID{j}"}) for j in range(5)]
    return b"\xef\xbb\xbf" + table(("Q1", "Q2_1", "Q3", "Q4", "cls"), [questions, ids, *people()]).encode()


def german_bank() -> bytes:
    """Titles, dates with the day first, decimal commas, a sum and a source below the rows."""
    rows = []
    for i, (_, income, city, hours, cls) in enumerate(people()):
        day = date(2024, 1, 1) + timedelta(3 * i)
        rows.append((f"{day:%d.%m.%Y}", income, city, f"{hours * 37:,}.00".translate(str.maketrans(",.", ".,")), cls))
    text = table(("Buchungstag", "Betrag", "Ort", "Saldo", "cls"), rows, ";", ",")
    return f"Konto: 1234\n\n{text}\nSumme;1.900,50;;;\n\nQuelle: Bank, Stand 01.10.2024\n".encode("cp1252")


def feather() -> bytes:
    import pyarrow as pa
    from pyarrow import feather

    out = io.BytesIO()
    feather.write_feather(pa.table(dict(zip(HEADER, zip(*people(), strict=True), strict=True))), out)
    return out.getvalue()


def workbook() -> bytes:
    """Two sheets: a cover of one cell, and a table with a title above its header."""
    from openpyxl import Workbook

    book, out = Workbook(), io.BytesIO()
    book.active.title = "cover"
    book.active["B2"] = "Survey of 2024"
    sheet = book.create_sheet("answers")
    sheet.append(["Answers of 60 people"])
    sheet.append([])
    sheet.append([name.replace("income", "income\nin k") for name in HEADER])
    for row in people():
        sheet.append(row)
    book.save(out)
    return out.getvalue()


def arff() -> bytes:
    """Weka's types: ? in numbers and words, a string, a date, and truth values in one letter."""
    words = ("the gate was shut", "a long road home", "rain on the roof", "bread and salt")
    lines = ["% made by a script", "@relation people", "@attribute age real", "@attribute income real"]
    lines += ["@attribute city {'Genève','Bern','Zürich','Neuchâtel'}", "@attribute insured {f,t}"]
    lines += ["@attribute note string", "@attribute joined date 'yyyy-MM-dd'", "@attribute cls {low,mid,high}", "@data"]
    for i, (age, income, city, hours, cls) in enumerate(people()):
        told = "?" if income is None else income
        insured = "?" if i % 11 == 0 else "ft"[hours > 40]
        day = date(2020, 1, 1) + timedelta(30 * hours + i)
        lines.append(f"{age},{told},'{city}',{insured},'{words[i % 4]} {words[hours % 4]}','{day}',{cls}")
    return "\n".join([*lines, ""]).encode()


def meka() -> bytes:
    """As MEKA's thyroid file: labels first by -C, truth values {f,t}, numbers and words with ?."""
    lines = ["@relation 'thyroid: -C 3'", *(f"@attribute {name} {{0,1}}" for name in ("hyper", "hypo", "sick"))]
    lines += ["@attribute age real", "@attribute sex {F,M}", "@attribute on_thyroxine {f,t}", "@attribute TSH real"]
    lines += ["@attribute referral {WEST,STMW,SVHC,other}", "", "@data"]
    rng = np.random.default_rng(5)
    for i in range(ROWS):
        labels = [int(i % 3 == 0), int(i % 4 == 0), int(i % 5 < 2)]
        tsh = "?" if i % 13 == 0 else round(float(labels[1] * 3 + rng.normal(0, 0.5)), 2)
        sex = "?" if i % 19 == 3 else "FM"[labels[0]]
        word = ("WEST", "STMW", "SVHC", "other")[int(rng.integers(4))]
        lines.append(f"{','.join(map(str, labels))},{int(rng.integers(20, 90))},{sex},{'ft'[labels[2]]},{tsh},{word}")
    return "\n".join([*lines, ""]).encode()


def option_columns(mark: Callable[[str], str]) -> bytes:
    """A survey export with one column per option: a mark where it was chosen, else empty."""
    rng, options = np.random.default_rng(6), ("Python", "R", "Excel")
    rows = []
    for i in range(ROWS):
        chosen = [bool((i >> j) & 1) for j in range(3)]
        skills = [round(float(2 * own + rng.normal(0, 0.4)), 2) for own in chosen]
        rows.append((f"r{i}", *skills, *(mark(name) if own else "" for own, name in zip(chosen, options, strict=True))))
    header = ("respondent", "speed", "care", "reach", *(f"Which tools? [{name}]" for name in options))
    return table(header, rows).encode()


def option_texts() -> bytes:
    return option_columns(str)


def x_marks() -> bytes:
    return option_columns(lambda name: "x")


def cells_of_tissues() -> bytes:
    """An AnnData file of counts: 60 cells, 12 genes, sparse, with cell types among the observations."""
    import tempfile

    import anndata
    import pandas as pd
    from scipy import sparse

    rng = np.random.default_rng(8)
    kind = np.arange(ROWS) % 3
    counts = rng.poisson(np.where(np.arange(12)[None] // 4 == kind[:, None], 4.0, 0.4)).astype(np.float32)
    strings = anndata.settings.override(allow_write_nullable_strings=True)  # those of pandas 3
    with tempfile.TemporaryDirectory() as folder, strings:
        types = pd.Categorical(np.array(["B", "T", "NK"])[kind])
        obs = pd.DataFrame({"cell_type": types}, [f"c{i}" for i in range(ROWS)])
        adata = anndata.AnnData(sparse.csr_matrix(counts), obs, pd.DataFrame(index=[f"g{j}" for j in range(12)]))
        adata.write_h5ad(Path(folder, "cells.h5ad"))
        return Path(folder, "cells.h5ad").read_bytes()


@dataclass(frozen=True)
class Made:
    """A file: its contents, the options that a user gives, and the rows, feature columns and labels that it has."""

    content: Callable[[], bytes]
    options: tuple[str, ...]
    features: int
    labels: int
    said: str = ""  # by a note
    needs: str = ""  # a module

    @property
    def shape(self) -> tuple[int, int, int]:
        return ROWS, self.features, self.labels


CLS = ("--labels", "cls")
CHOSEN = ("--labels", "Which tools?*", "--empty", "no labels")
FILES = {
    "utf16.txt": Made(utf16, CLS, 4, 3, "is read as UTF-16"),
    "cp1252.csv": Made(cp1252, CLS, 4, 3, "is read as Windows-1252"),
    "byte_order_mark.csv": Made(byte_order_mark, CLS, 4, 3),
    "shift_jis.csv": Made(shift_jis, (*CLS, "--encoding", "shift-jis"), 4, 3, "is read as shift-jis"),
    "sep_line.csv": Made(sep_line, CLS, 4, 3, "separated by ';'"),
    "title_lines.csv": Made(title_lines, CLS, 4, 3, "2 title lines before the header are left out"),
    "comment_lines.tsv": Made(comment_lines, CLS, 4, 3, "2 comment lines before the header are left out"),
    "without_header.data": Made(without_header, ("--no-header", "--labels", "column_5"), 4, 3, "there is no header"),
    "one_name_short.csv": Made(one_name_short, CLS, 4, 3, "first column"),
    "between_blanks.dat": Made(between_blanks, CLS, 4, 3, "separated by blanks"),
    "in_txt.txt": Made(in_txt, CLS, 4, 3, "separated by '|'"),
    "in_bz2.csv.bz2": Made(in_bz2, CLS, 4, 3),
    "in_xz.csv.xz": Made(in_xz, CLS, 4, 3),
    "wavelengths.csv": Made(wavelengths, CLS, 20, 2, "sample is an id"),
    "extreme.txt": Made(extreme_classification, (), 12, 3),
    "json_lines.jsonl": Made(json_lines, CLS, 4, 3),
    "json_records.json": Made(json_records, CLS, 4, 3),
    "json_columns.json": Made(json_columns, CLS, 4, 3),
    "qualtrics.csv": Made(qualtrics, CLS, 4, 3, "2 lines of codes or questions below the header"),
    "german_bank.csv": Made(german_bank, CLS, 4, 3, "2 lines after the last row"),
    "feather.feather": Made(feather, CLS, 4, 3),
    "workbook.xlsx": Made(workbook, CLS, 4, 3, "sheet 'answers' is read", needs="openpyxl"),
    "arff.arff": Made(arff, CLS, 6, 3),
    "meka.arff": Made(meka, (), 5, 3),
    "option_texts.csv": Made(option_texts, CHOSEN, 3, 3, "respondent is an id"),
    "x_marks.csv": Made(x_marks, CHOSEN, 3, 3, "respondent is an id"),
    "cells.h5ad": Made(cells_of_tissues, ("--labels", "cell_type"), 12, 3, needs="anndata"),
}


def write_files(folder: Path, names: Sequence[str] = tuple(FILES)) -> list[Path]:
    """Write the files of these names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(FILES[name].content())
    return [folder / name for name in names]


if __name__ == "__main__":
    for written in write_files(Path(sys.argv[1])):
        print(written)
