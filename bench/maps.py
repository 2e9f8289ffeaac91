"""How well do neighbours on a map predict the labels of new rows, and how many neighbours of the features does it keep?

Maps of two coordinates: Layout() as it is by default, which lays out TargetSpace beside the features (weight 1), the
same fit with less or nothing of the features, its honest form, t-SNE of the features alone (at most 30 principal
scores), UMAP, supervised UMAP and PCA. "new" is the mean Jaccard@10 of held-out rows and their neighbours among the
training rows, "kept" the share of the ten nearest training rows of a held-out row in scaled X that are among its ten
nearest on the map. "in" compares training rows among themselves, "new-new" held-out rows among themselves. "null" is
for shuffled training labels; only on the honest map are training rows then at chance, too. A random third of the rows
is held out (seed 0) and takes no part in fitting a map; there are at most 1,206 training rows, and 1,000 held-out ones.
The honest map places training rows by models that have not seen them. digits are those of scikit-learn, ten classes;
dna and satimage have one class per row.

Needs proxembed[maps]. Writes maps.csv as the maps are made (those that are there are kept) and maps.md into
docs/results/search, or into --out; ``--page`` writes the page alone.
"""

import argparse
import csv
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from measure import show
from proxembed import PCA, Layout
from proxembed.data import Dataset, read
from proxembed.evaluate.evidence import map_figures
from proxembed.evaluate.part import Part, prepare
from proxembed.evaluate.rivals.maps import UMAP, SupervisedUMAP
from proxembed.measures import kept_neighbors
from proxembed.splits.splits import Split

DATA = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).parents[2] / "shared" / "data"))
SETS = "emotions birds yeast enron scene digits dna satimage reuters tmc2007-500 corel5k".split()
MOST_ROWS, TRAINED, MOST_NEW, K = 1206, 0.67, 1000, 10
COLUMNS = ["set", "map", "new", "kept", "new-new", "in", "null new", "null in", "chance", "CPU s"]
LEVEL = 0.02  # of chance, within which a null is at chance
AHEAD, OF_OWN = 0.05, 0.9  # what a map is to be above supervised UMAP, and to keep of what that keeps
OURS, HONEST, RIVAL = "Layout()", "Layout(honest=True)", "supervised UMAP"
WEIGHTS = {"Layout(features=0.5)": (1, 0.5), "Layout(features=0)": (1, 0), "t-SNE of the features": (0, 1)}
FITS: dict[str, Callable[[], Any]] = {
    OURS: Layout,
    HONEST: lambda: Layout(honest=True),
    RIVAL: SupervisedUMAP,
    "UMAP": UMAP,
    "PCA": lambda: PCA(n_components=2),
}
MAPS = [OURS, *WEIGHTS, *list(FITS)[1:]]
UNSUPERVISED = ("t-SNE of the features", "UMAP", "PCA")  # of which shuffled labels tell nothing


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


def made(title: str, part: Part, wanted: list[str]) -> Iterator[tuple[str, Any, float]]:
    """A fitted map, of Layout() those at other weights too, which share its method; each with its CPU seconds."""
    estimator, started = FITS[title](), time.process_time()
    labels = part.labels if estimator.class_traits.labels is not None else None
    fitted = estimator.fit(part.X, labels)
    yield title, fitted, time.process_time() - started
    for other in [each for each in WEIGHTS if each in wanted and title == OURS]:
        started = time.process_time()
        yield other, fitted.reweighted(*WEIGHTS[other]), time.process_time() - started


def figures(fitted: Any, part: Part) -> dict[str, float]:
    train, new = fitted.transform(part.X), fitted.transform(part.X_held_out)
    found = map_figures(train, new, part.Y, part.Y_held_out)
    return found | {"kept": kept_neighbors(part.X_held_out, part.X, new, train, K)}


def run(names: list[str], file: Path) -> None:
    """Make the maps that the file has not yet."""
    done = {(line["set"], line["map"]) for line in known(file)}
    UMAP().fit(np.random.default_rng(0).normal(size=(50, 3)))  # compiles what it runs
    for name in names:
        wanted = [title for title in MAPS if (name, title) not in done]
        if not wanted:
            continue
        part = random_part(data_set(name))
        order = np.random.default_rng(0).permutation(part.labels.n)
        shuffled = replace(part, labels=part.labels.take(order))
        for title in FITS:
            own = [title, *(WEIGHTS if title == OURS else ())]
            if not {*own} & {*wanted}:
                continue
            learns = [each for each in own if each not in UNSUPERVISED]
            null = {}
            if learns:
                null = {each: figures(fitted, shuffled) for each, fitted, _ in made(title, shuffled, learns)}
            for each, fitted, fit in made(title, part, wanted):
                started = time.process_time()
                found = figures(fitted, part)
                if each in wanted:
                    seconds = fit + time.process_time() - started
                    write_line(file, line_of(name, each, found, null.get(each), seconds))


def line_of(name: str, title: str, own: dict[str, float], null: dict[str, float] | None, seconds: float) -> list[str]:
    """The line of a map."""
    values = [own[key] for key in ("outside", "kept", "among", "inside")]
    of_null = ["", ""] if null is None else [f"{null[key]:.4f}" for key in ("outside", "inside")]
    print(f"{name}, {title}: {own['outside']:.3f}, kept {own['kept']:.3f}", file=sys.stderr, flush=True)
    return [name, title, *(f"{value:.4f}" for value in values), *of_null, f"{own['chance']:.4f}", f"{seconds:.1f}"]


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
    missing = ", ".join(name for name in SETS if name not in whole) or "none"
    gains = {name: gain(maps) for name, maps in whole.items()}
    honest = {name: maps[HONEST] for name, maps in whole.items()}
    level = [name for name, own in honest.items() if abs(float(own["null in"]) - float(own["chance"])) <= LEVEL]
    claims = [
        (f"{OURS} is above {RIVAL} by {AHEAD:g} in Jaccard@10", [n for n, (j, _) in gains.items() if j >= AHEAD]),
        (f"{OURS} keeps {OF_OWN:g} of what {RIVAL} keeps", [n for n, (_, own) in gains.items() if own >= OF_OWN]),
        (f"Training rows of honest maps on shuffled labels are within {LEVEL:g} of chance", level),
    ]
    text = f"# Maps in two dimensions\n\n{__doc__.partition('Needs')[0].strip()}\n\n"
    text += f"Sets that were run: {', '.join(whole)}; those still to be run: {missing}.\n\n"
    for claim, own in claims:
        others = ", ".join(name for name in whole if name not in own) or "none"
        text += f"- {claim}: {len(own)} of {len(whole)} sets; exceptions: {others}.\n"
    text += (
        f"\n| set | {OURS}: Jaccard@10 above {RIVAL} | kept, over that of {RIVAL} | both aims |\n|---|---|---|---|\n"
    )
    for name, (ahead, share) in gains.items():
        text += f"| {name} | {ahead:+.3f} | {share:.2f} | {'yes' if ahead >= AHEAD and share >= OF_OWN else 'no'} |\n"
    text += "\n| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|\n"
    for line in lines:
        cells = [
            f"{float(value):.3f}" if value and key not in ("set", "map", "CPU s") else value
            for key, value in line.items()
        ]
        text += "| " + " | ".join(cells) + " |\n"
    return text + (
        "\nMade by `python bench/maps.py`; CPU seconds are of one fit and the placing of all rows, at further weights "
        "of the layout alone, which shares the fit of the method.\n"
    )


def gain(maps: dict[str, dict]) -> tuple[float, float]:
    """By how much Jaccard@10 is above that of supervised UMAP, and the share of what that keeps."""
    own, other = maps[OURS], maps[RIVAL]
    return float(own["new"]) - float(other["new"]), float(own["kept"]) / float(other["kept"])


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
