"""How well do neighbours on a map predict the labels of new rows, beside PCA, UMAP and supervised UMAP?

Mean Jaccard@10 on maps of two coordinates. Layouts are of Kernelized(OPLS()) without the features, not Layout() as it
is by default. "new" compares held-out rows with their neighbours among the training rows, "in" training rows among
themselves, "new-new" held-out rows among themselves. "null" is for shuffled training labels;
only on the honest map are training rows then at chance, too. A random third of the rows is held out (seed 0) and takes
no part in fitting a map; there are at most 1,206 training rows, and 2,000 held-out ones. The honest map places training
rows by models of folds that have not seen them. digits are those of scikit-learn, ten classes; dna and satimage have
one class per row.

Needs proxembed[maps]. Writes maps.csv as the maps are made (those that are there are kept) and maps.md into
docs/results/search, or into --out; ``--page`` writes the page alone.
"""

import argparse
import csv
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from measure import show
from proxembed import PCA, Kernelized, Layout
from proxembed.data import Dataset, read
from proxembed.evaluate.evidence import map_figures
from proxembed.evaluate.part import Part, prepare
from proxembed.evaluate.rivals.maps import UMAP, SupervisedUMAP
from proxembed.splits.splits import Split

DATA = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = "emotions birds scene yeast digits enron dna satimage corel5k reuters tmc2007-500".split()
MOST_ROWS, TRAINED, MOST_NEW = 1206, 0.67, 2000
COLUMNS = ["set", "map", "new", "new-new", "in", "null new", "null in", "chance", "s"]
LEVEL = 0.02  # of chance, within which a null is at chance
PLAIN, HONEST = "Layout(Kernelized(), features=0)", "Layout(Kernelized(), features=0, honest=True)"
MAPS: dict[str, Callable[[], Any]] = {
    "PCA": lambda: PCA(n_components=2),
    "UMAP": UMAP,
    "supervised UMAP": SupervisedUMAP,
    PLAIN: lambda: Layout(Kernelized(), features=0),
    HONEST: lambda: Layout(Kernelized(), features=0, honest=True),
}
LEARN = ("supervised UMAP", PLAIN, HONEST)  # from labels, so that shuffled ones tell something


def data_set(name: str) -> Dataset:
    if name != "digits":
        return read(DATA / f"{name}.npz")
    X, y = load_digits(return_X_y=True)
    return Dataset(X, np.eye(10, dtype=np.uint8)[y], name=name)


def random_part(data: Dataset) -> Part:
    """A random third of the rows held out."""
    order, n = np.random.default_rng(0).permutation(data.X.shape[0]), data.X.shape[0]
    train = order[: min(MOST_ROWS, round(TRAINED * n))]
    others = order[len(train) : len(train) + MOST_NEW]
    return prepare(data, Split("test", train, np.sort(others)), 0)


def figures(estimator: Any, part: Part) -> dict[str, float]:
    labels = part.labels if estimator.class_traits.labels is not None else None
    train = estimator.fit_transform(part.X, labels)
    return map_figures(train, estimator.transform(part.X_held_out), part.Y, part.Y_held_out)


def run(names: list[str], file: Path) -> None:
    """Make the maps that the file has not yet."""
    done = {(line["set"], line["map"]) for line in known(file)}
    for name in names:
        if all((name, title) in done for title in MAPS):
            continue
        part = random_part(data_set(name))
        order = np.random.default_rng(0).permutation(part.labels.n)
        shuffled = replace(part, labels=part.labels.take(order))
        for title in [title for title in MAPS if (name, title) not in done]:
            started = time.perf_counter()
            own = figures(MAPS[title](), part)
            seconds = time.perf_counter() - started
            null = figures(MAPS[title](), shuffled) if title in LEARN else {"outside": "", "inside": ""}
            values = own["outside"], own["among"], own["inside"], null["outside"], null["inside"], own["chance"]
            write_line(file, [name, title, *(f"{v:.4f}" if v != "" else "" for v in values), f"{seconds:.1f}"])
            print(f"{name}, {title}: {own['outside']:.3f}", file=sys.stderr, flush=True)


def write_line(file: Path, line: list) -> None:
    """Append the figures of one map."""
    fresh = not file.exists()
    with file.open("a", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(([COLUMNS] if fresh else []) + [line])


def known(file: Path) -> list[dict]:
    """The maps of the file."""
    if not file.exists():
        return []
    with file.open(newline="") as lines:
        return list(csv.DictReader(lines))


def page(lines: list[dict]) -> str:
    """The page: what came out, and the table."""
    by_set: dict[str, dict[str, dict]] = {}
    for line in lines:
        by_set.setdefault(line["set"], {})[line["map"]] = line
    whole = {name: maps for name, maps in by_set.items() if len(maps) == len(MAPS)}
    ahead = [n for n, maps in whole.items() if float(maps[PLAIN]["new"]) > float(maps["supervised UMAP"]["new"])]
    honest = {name: maps[HONEST] for name, maps in whole.items()}
    level = [name for name, own in honest.items() if abs(float(own["null in"]) - float(own["chance"])) <= LEVEL]
    claims = [
        ("Plain layouts are above supervised UMAP on held-out rows", ahead),
        (f"Training rows of honest maps on shuffled labels are within {LEVEL:g} of chance", level),
    ]
    text = f"# Maps in two dimensions\n\n{__doc__.partition('Needs')[0].strip()}\n\n"
    for claim, own in claims:
        others = ", ".join(name for name in whole if name not in own) or "none"
        text += f"- {claim}: {len(own)} of {len(whole)} sets; exceptions: {others}.\n"
    text += "\n| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|\n"
    for line in lines:
        cells = [
            f"{float(value):.3f}" if value and key not in ("set", "map", "s") else value for key, value in line.items()
        ]
        text += "| " + " | ".join(cells) + " |\n"
    return text + "\nMade by `python bench/maps.py`; seconds are of one fit and the placing of the held-out rows.\n"


def main() -> None:
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sets", nargs="*", default=SETS)
    parser.add_argument("--page", action="store_true", help="write the page of the maps that are there")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "docs" / "results" / "search")
    given = parser.parse_args()
    file = given.out / "maps.csv"
    given.out.mkdir(parents=True, exist_ok=True)
    if not given.page:
        run(given.sets, file)
    lines = known(file)
    (given.out / "maps.md").write_text(page(lines))
    show(__doc__, COLUMNS, [list(line.values()) for line in lines])


if __name__ == "__main__":
    main()
