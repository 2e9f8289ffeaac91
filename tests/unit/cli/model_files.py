"""Small files and the three verbs of saved models, for their tests."""

from functools import partial

import numpy as np
import typer

import strategies
from proxembed.cli.fit import fit
from proxembed.cli.predict import predict
from proxembed.cli.transform import transform
from runs import invoke, succeeded

N, D = 60, 6
LABELS = ("topic_sea", "topic_<b>", "topic_é")
Y = strategies.labels_multi(N, 3, 5).astype(int)
X = strategies.told_by_labels(strategies.features_dense(N, D, 5), Y, 5)
FEATURES = tuple(f"x{j}" for j in range(D))

app = typer.Typer(pretty_exceptions_enable=False)
for verb in (fit, transform, predict):
    app.command()(verb)


program = partial(invoke, app)


def refused(done, *parts) -> None:
    """The run ended with exit code 2 and one line on standard error that holds these parts."""
    assert done.exit_code == 2, (done.output, done.exception)
    assert done.stdout == "" and len(done.stderr.strip().splitlines()) == 1 and "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr, done.stderr


def write_csv(path, columns: dict) -> None:
    rows = zip(*columns.values(), strict=True)
    text = "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)])
    path.write_text(text + "\n", encoding="utf-8")


def features(rows=slice(None)) -> dict:
    return {name: X[rows, j] for j, name in enumerate(FEATURES)}


def labels(rows=slice(None)) -> dict:
    return {name: Y[rows, j] for j, name in enumerate(LABELS)}


def several_labels_csv(path):
    write_csv(path, {"doc": [f"d{i}" for i in range(N)], **features(), **labels(), "junk": ["j"] * N})
    return path


def new_csv(path, rows=slice(0, 9)):
    """New rows in another order of columns and without labels."""
    count = len(range(*rows.indices(N)))
    columns = dict(reversed(features(rows).items()))
    write_csv(path, {**columns, "junk": ["k"] * count, "doc": [f"n{i}" for i in range(count)]})
    return path


FIT = ("--labels", "topic_*", "--id", "doc", "--drop", "junk")


def fitted(folder, *options):
    """The path of a model fitted on a CSV file in the folder."""
    model = folder / "model.skops"
    succeeded(program("fit", several_labels_csv(folder / "tags.csv"), *FIT, *options, "-o", model))
    return model


def one_class_csv(path, count=3):
    classes = np.array(["red", "green", "sea, blue"][:count])[strategies.labels_classes(N, count, 5)]
    rows = strategies.told_by_labels(X, strategies.one_hot(np.unique(classes, return_inverse=True)[1]), 6)
    columns = {name: rows[:, j] for j, name in enumerate(FEATURES)}
    write_csv(path, {**columns, "colour": [f'"{name}"' for name in classes]})
    return classes
