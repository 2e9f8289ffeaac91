"""Fixtures of tests that run the main job: small labelled files with and without test rows, a disk that is full."""

import os
from contextlib import contextmanager
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from proxembed.cli import app
from proxembed.evaluate import arms, evidence
from proxembed.features import layouts
from proxembed.report import adaptive, figures, map_page
from proxembed.workflow import plan

LAY_OUT = evidence._laid_out
EMPTY = cache(figures.svg_text)


def invoke(application, *words):
    """The result of a command line of a Typer application."""
    return CliRunner().invoke(application, [str(word) for word in words])


program = partial(invoke, app)


def succeeded(done):
    """A finished command line, whose exit code is 0."""
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def nothing(figure):
    """What the empty figures draw."""


def without_figures(patch):
    patch.setattr(map_page, "svg_text", figures.svg_text)  # the pictures of maps stay whole
    for module in (figures, adaptive):
        patch.setattr(module, "svg_text", lambda size, draw, salt: EMPTY(size, nothing, salt))


def without_layouts(patch):
    patch.setattr(evidence, "_laid_out", lambda *given: [])


def with_short_layouts(patch):
    """Layouts by openTSNE after a quarter of the steps, when groups of rows are apart already."""
    whole = layouts.import_module

    def imported(name):
        found = whole(name)
        short = {"early_exaggeration_iter": 60, "n_iter": 120}
        return SimpleNamespace(TSNE=partial(found.TSNE, **short)) if name == "openTSNE" else found

    patch.setattr(layouts, "import_module", imported)


QUICK_RIVALS = ("all features", "PCA", "label scores", "random projection", "FDA", "PLS")


def with_few_rivals(patch):
    whole = arms.entrants

    def entrants(*given, **named):
        return tuple(entrant for entrant in whole(*given, **named) if entrant.rival.title in QUICK_RIVALS)

    for module in (arms, plan):
        patch.setattr(module, "entrants", entrants)


def without_nested_folds(patch):
    patch.setattr("proxembed.workflow.nested.BELOW", 0)


def with_usual_speed(patch):
    patch.setattr("proxembed.workflow.plan.machine_speed", lambda: 1.0)


@contextmanager
def quick_runs():
    """Whole runs in fixtures of a module, as tests have them by the fixtures below."""
    with pytest.MonkeyPatch.context() as patch:
        for change in (
            without_figures,
            without_layouts,
            with_short_layouts,
            with_few_rivals,
            without_nested_folds,
            with_usual_speed,
        ):
            change(patch)
        yield patch


@pytest.fixture(autouse=True)
def empty_figures(monkeypatch):
    """Figures of the page without lines: tests of the report room look at them, these look at what lies around them."""
    without_figures(monkeypatch)


@pytest.fixture(autouse=True)
def planes_alone(monkeypatch):
    """No maps laid out, which take a second each; ``LAY_OUT`` makes them."""
    without_layouts(monkeypatch)


@pytest.fixture(autouse=True)
def short_layouts(monkeypatch):
    """Layouts of few steps, where tests make some."""
    with_short_layouts(monkeypatch)


@pytest.fixture
def few_rivals(monkeypatch):
    """Comparisons without the rivals whose fits take seconds, and without nested folds: these have tests of their
    own."""
    with_few_rivals(monkeypatch)
    without_nested_folds(monkeypatch)


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    path = tmp_path / "made.npz"
    Y = (X[:, :3] > 0).astype(np.uint8)
    np.savez(path, X=X, Y=Y, label_names=["<b>", "two", "three"], train_idx=np.arange(60), test_idx=np.arange(60, 80))
    return path


@pytest.fixture(scope="module")
def made():
    """120 rows and their three labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    return X, (X[:, :3] + 0.5 * rng.normal(size=(120, 3)) > 0).astype(np.uint8)


@pytest.fixture
def unsplit(tmp_path, made):
    """These in a file that names no test rows."""
    return without_split(made, tmp_path / "made.npz")


def without_split(made, path):
    """The path of a file of rows and labels that names no test rows."""
    np.savez(path, X=made[0], Y=made[1], label_names=["<b>", "two", "three"])
    return path


@pytest.fixture
def full_at(monkeypatch):
    """Call it with a number: the disk is full at that file written from then on, at every one for None."""

    def start(number):
        whole, calls = os.fsync, []

        def full(*args):
            calls.append(args)
            if number is None or len(calls) == number:
                raise OSError(28, "No space left on device")
            return whole(*args)

        monkeypatch.setattr(os, "fsync", full)

    return start


@pytest.fixture(autouse=True)
def usual_speed(monkeypatch):
    """Plans do not depend on what else the machine does while it is tested."""
    with_usual_speed(monkeypatch)
