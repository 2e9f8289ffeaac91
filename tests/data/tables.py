"""Twelve ordinary tables as people have them, each with its traps, and with a signal for its labels.

``python tests/data/tables.py FOLDER`` writes them; the same bytes every time.
"""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np

WORDS = {
    "vpn": "tunnel connection drops gateway remote",
    "login": "password account locked reset credentials",
    "printer": "paper jam toner tray driver",
    "mail": "inbox attachment outlook message spam",
}
FILLER = "the please today since yesterday help with my when again still after".split()


def written(header: Iterable[str], rows: Iterable[Iterable], delimiter: str = ",") -> str:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def draw(seed: int, n: int) -> tuple[np.random.Generator, int]:
    return np.random.default_rng(seed), n


def said(rng, topics: Iterable[str], length: int = 8, words: dict[str, str] = WORDS) -> str:
    """A text on some topics."""
    own = [word for topic in topics for word in words[topic].split()]
    return " ".join(rng.choice(own) if own and rng.random() < 0.6 else rng.choice(FILLER) for _ in range(length))


def tickets() -> str:
    """Two texts, day first, yes/no, zip codes with leading zeros, empty minutes; joined tags, empty: none."""
    rng, n = draw(1, 160)
    rows = []
    for j in range(n):
        tags = [tag for tag in WORDS if rng.random() < 0.3]
        opened = date(2024, 1, 1) + timedelta(days=int(rng.integers(300)))
        minutes = "" if rng.random() < 0.15 else int(rng.integers(5, 90) + 60 * ("vpn" in tags))
        urgent = "yes" if rng.random() < 0.2 + 0.5 * ("login" in tags) else "no"
        place = f"{int(rng.integers(1, 9)) * 11:05d}"
        head, body = said(rng, tags, 5), said(rng, tags, 14)
        rows.append([f"T-{j:04d}", head, body, opened.strftime("%d/%m/%Y"), urgent, place, minutes, ", ".join(tags)])
    return written(["ticket", "subject", "body", "opened", "urgent", "zip", "minutes", "tags"], rows)


def churn() -> str:
    """Numbers with blanks, an empty total, an id; one label of yes and no."""
    rng, n = draw(2, 200)
    rows = []
    for _ in range(n):
        months, monthly = int(rng.integers(0, 70)), float(rng.uniform(20, 110))
        contract = rng.choice(["Month-to-month", "One year", "Two year"])
        leaves = rng.random() < 1 / (1 + np.exp(0.08 * months - 2.2 * (contract == "Month-to-month")))
        code = f"{rng.integers(1000, 9999)}-{''.join(rng.choice(list('ABCDEFGH'), 6))}"
        total = "" if months == 0 or rng.random() < 0.03 else f"{months * monthly:.2f}"
        rows.append([code, contract, months, f" {monthly:.2f}", total, "Yes" if leaves else "No"])
    return written(["customerID", "Contract", "tenure", "MonthlyCharges", "TotalCharges", "Churn"], rows)


def catalogue() -> str:
    """Paths whose beginnings are labels, prices such as 1,299 EUR, article numbers with leading zeros."""
    rng, n = draw(3, 180)
    words = {
        "Home > Garden": "garden hose spade seeds lawn",
        "Home > Kitchen": "kitchen pan knife steel bowl",
        "Office > Chairs": "chair swivel back armrest desk",
    }
    rows = []
    for j in range(n):
        path = list(words)[int(rng.integers(3))]
        price = rng.uniform(900, 2500) if path.endswith("Chairs") else rng.uniform(5, 1100)
        rows.append([f"{j:06d}", said(rng, [path], 6, words), f"{int(price):,} EUR", path])
    return written(["sku", "title", "price", "category"], rows)


def survey() -> str:
    """Separated by semicolons, a Likert scale, options joined by semicolons of which one holds a comma."""
    rng, n = draw(4, 150)
    scale = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]
    rows = []
    for _ in range(n):
        skill = rng.normal()
        tools = [
            tool for tool, at in (("Python", 0.0), ("R", 0.8), ("Excel, other", -0.7)) if rng.normal(skill, 0.5) > at
        ]
        agree = scale[int(np.clip(np.round(2 + 1.3 * skill + rng.normal(0, 0.5)), 0, 4))]
        when = datetime(2024, 3, 1) + timedelta(minutes=int(rng.integers(40_000)))
        rows.append(
            [when.isoformat(" "), agree, int(np.clip(30 + 8 * skill + rng.normal(0, 5), 18, 80)), ";".join(tools)]
        )
    return written(["Timestamp", "I like coding", "age", "tools"], rows, ";")


def sensors() -> str:
    """A constant, flows in l/min, and -999 where a reading is missing, which has to be asked."""
    rng, n = draw(5, 200)
    rows = []
    for j in range(n):
        hot, leak = rng.random() < 0.3, rng.random() < 0.3
        warmth = -999 if rng.random() < 0.06 else round(float(rng.normal(60 + 25 * hot, 6)), 1)
        flow = f"{rng.normal(3 - 1.2 * leak, 0.4):.1f} l/min"
        when = datetime(2024, 5, 1) + timedelta(minutes=10 * j)
        rows.append([when.isoformat(), "v2.1", warmth, flow, int(hot), int(leak)])
    return written(["time", "firmware", "temperature", "flow", "fault_hot", "fault_leak"], rows)


def genes() -> str:
    """Counts of genes, a sample id, a batch that is a group."""
    rng, n = draw(6, 120)
    rows = []
    for j in range(n):
        kind = int(rng.integers(3))
        level = np.where(np.arange(30) % 3 == kind, 12.0, 3.0)
        rows.append([f"S{j:03d}", int(rng.integers(1, 7)), *rng.poisson(level), ["A", "B", "C"][kind]])
    return written(["sample", "batch", *(f"g{j}" for j in range(30)), "class"], rows)


def bibliography() -> str:
    """Lists of authors, years, titles; joined keywords."""
    rng, n = draw(7, 160)
    people = [
        f"{name}, {rng.choice(list('ABC'))}." for name in "Moreau Tanaka Okafor Silva Novak Haddad Larsen Rossi".split()
    ]
    rows = []
    for _ in range(n):
        keys = [key for key in WORDS if rng.random() < 0.35] or ["mail"]
        known = [people[2 * list(WORDS).index(key) + int(rng.integers(2))] for key in keys]
        rows.append(["; ".join(known), int(rng.integers(1998, 2024)), said(rng, keys, 7), "; ".join(keys)])
    return written(["authors", "year", "title", "keywords"], rows)


def image_vectors() -> str:
    """Vectors in cells, and labels as a Python list."""
    rng, n = draw(8, 140)
    rows = []
    for j in range(n):
        names = [name for name in ("cat", "dog", "tree") if rng.random() < 0.4]
        vector = rng.normal(size=8) + 1.5 * np.array([name in names for name in ("cat", "dog", "tree", *"abcde")])
        rows.append([f"img{j}.png", str([round(float(v), 3) for v in vector]), str(names)])
    return written(["file", "vector", "labels"], rows)


def logs() -> str:
    """Times in order, hosts as groups, a message."""
    rng, n = draw(9, 200)
    words = {"disk": "disk full quota sector write", "net": "timeout packet route refused link"}
    rows = []
    for j in range(n):
        fault = rng.choice(["disk", "net"])
        when = datetime(2024, 6, 1) + timedelta(seconds=37 * j)
        rows.append(
            [
                when.isoformat(),
                f"web{int(rng.integers(1, 9))}",
                said(rng, [fault], 6, words),
                int(rng.integers(200, 504)),
                fault,
            ]
        )
    return written(["when", "host", "message", "status", "class"], rows)


def diagnosis_codes() -> str:
    """Codes with letters and with leading zeros, repeated patient numbers."""
    rng, n = draw(10, 220)
    rows = []
    for _ in range(n):
        sick = rng.random() < 0.4
        main = rng.choice(["E11.9", "E11.65", "008.45"] if sick else ["J45.0", "M54.5", "008.45"])
        rows.append([int(rng.integers(1, 70)), main, int(rng.integers(20, 90) + 8 * sick), "true" if sick else "false"])
    return written(["patient", "diagnosis", "age", "readmitted"], rows)


def mixed_text() -> str:
    """Texts in several scripts, and their language."""
    rng, n = draw(11, 160)
    words = {
        "good": "sehr schön prima très bien отлично 素晴らしい great",
        "bad": "schlecht kaputt mauvais cassé плохо 最悪 broken",
    }
    rows = []
    for _ in range(n):
        mood = rng.choice(["good", "bad"])
        rows.append([rng.choice(["de", "fr", "ru", "ja"]), said(rng, [mood], 9, words), mood])
    return written(["lang", "review", "class"], rows)


def sparse_counts() -> str:
    """Counts of words, most of them zero, some rows empty."""
    rng, n = draw(12, 150)
    rows = []
    for _ in range(n):
        kind = int(rng.integers(2))
        rate = np.where(np.arange(40) % 2 == kind, 0.35, 0.05) * (rng.random() > 0.05)
        rows.append([*rng.poisson(rate), int(kind), int(rng.random() < 0.5)])
    return written([*(f"word_{j}" for j in range(40)), "tag_a", "tag_b"], rows)


TABLES: dict[str, tuple[Callable[[], str], str]] = {
    "tickets": (tickets, "tags"),
    "churn": (churn, "Churn"),
    "catalogue": (catalogue, "category"),
    "survey": (survey, "tools"),
    "sensors": (sensors, "fault_*"),
    "genes": (genes, "class"),
    "bibliography": (bibliography, "keywords"),
    "image_vectors": (image_vectors, "labels"),
    "logs": (logs, "class"),
    "diagnosis_codes": (diagnosis_codes, "readmitted"),
    "mixed_text": (mixed_text, "class"),
    "sparse_counts": (sparse_counts, "tag_*"),
}


def write(folder: Path) -> None:
    """All tables as CSV files, and the options that name their labels."""
    for name, (made, _) in TABLES.items():
        (folder / f"{name}.csv").write_text(made(), encoding="utf-8")
    (folder / "labels.json").write_text(json.dumps({name: labels for name, (_, labels) in TABLES.items()}))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
