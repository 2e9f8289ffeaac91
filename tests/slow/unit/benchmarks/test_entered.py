"""Any transformer enters by MODULE:NAME: fitted as promised, refused in one sentence, ranked among stored methods."""

import os
import re
import shutil
import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from typer.testing import CliRunner

from benchmarks import HOME, MOST_COMPONENTS, VERSION
from benchmarks.__main__ import app
from benchmarks.cell import Effort, compete, make_task
from benchmarks.entered import Entered, address_of, made_of
from benchmarks.entrants import OUTSIDE, entrant
from benchmarks.folds import make_folds
from benchmarks.load import frame_of, load
from benchmarks.standing import rank_of, standing
from benchmarks.store import file_name, read_file, read_rows
from proxembed.data import Dataset

EFFORT = Effort(5, 60.0, 60.0)


class Means:
    """Inner products with the mean row of each label; keeps what it was given."""

    given: list = []

    def fit(self, X, Y):
        Means.given.append((X, Y))
        self.means_ = Y.T @ X / np.maximum(Y.sum(axis=0), 1)[:, None]
        return self

    def transform(self, X):
        return X @ self.means_.T


class First(BaseEstimator):
    """The first features."""

    def __init__(self, n_components=None, random_state=None):
        self.n_components, self.random_state = n_components, random_state

    def fit(self, X):
        self.n_ = X.shape[0]
        return self

    def transform(self, X):
        return X[:, : self.n_components]


class Odd(Means):
    """Returns what the benchmark refuses."""

    def __init__(self, how):
        self.how = how

    def transform(self, X):
        Z = super().transform(X)
        if self.how == "fewer rows":
            return Z[1:]
        if self.how == "wide":
            return np.repeat(Z, 20, axis=1)
        return np.where(np.arange(len(Z))[:, None] == 0, np.nan, Z) if self.how == "nan" else Z[:, 0]


class Endless(Means):
    """Is never done."""

    def fit(self, X, Y):
        while True:
            pass


def five(width=5):
    return First(width)


@pytest.fixture(autouse=True)
def outside(monkeypatch):
    """A module of these classes."""
    module = types.ModuleType("outside")
    module.__dict__.update({each.__name__: each for each in (Means, First, Odd, Endless, five)}, number=3)
    monkeypatch.setitem(sys.modules, "outside", module)
    Means.given.clear()


@pytest.fixture
def data():
    """Rows whose labels are signs of the first features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    Y = X[:, :3] + 0.7 * rng.normal(size=(150, 3)) > 0
    return Dataset(X, Y.astype(int), name="made", train_idx=range(100), test_idx=range(100, 150))


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A benchmark of one small set, with the stored results of three methods."""
    monkeypatch.delenv("PROXEMBED_DATA", raising=False)
    (tmp_path / "home" / "splits").mkdir(parents=True)
    (tmp_path / "home" / "results").mkdir()
    for kind in ("csv", "json"):
        shutil.copy(HOME / "splits" / f"wine.{kind}", tmp_path / "home" / "splits")
    for name in ("OPLS", "PCA", "all-features"):
        shutil.copy(HOME / "results" / f"{name}.jsonl", tmp_path / "home" / "results")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def run(home, *words):
    given = "run", "--home", home, "--folds", 1, "--tracks", "all", "--protocols", "iterative", *words
    return CliRunner().invoke(app, [str(word) for word in given])


def told(done):
    return " ".join(done.output.split())


def test_an_address_names_a_class_or_a_function_and_its_arguments():
    assert made_of("outside:First(n_components=2)").n_components == 2
    assert made_of("outside:five").n_components == 5 and made_of("outside:five(width=3)").n_components == 3
    assert address_of("outside:First").sized and not address_of("outside:First(n_components=2)").sized
    assert not address_of("outside:five").sized
    assert made_of("outside:First", 4).n_components == 4
    assert made_of("outside:First").random_state == 0 and made_of("outside:First(random_state=7)").random_state == 7


def test_labels_are_an_indicator_matrix_of_the_labelled_rows(data):
    row = compete(entrant("outside:Means"), make_task(data), EFFORT)
    assert row["failure"] is None and row["kind"] == OUTSIDE and row["benchmark"] == VERSION
    assert row["k"] == row["components"] == 3 and row["tried"] == 1 and row["parameters"] == "outside:Means"
    assert row["average_precision"] > 0.8 and 0 < row["kept"] < 1
    shapes = {(X.shape[0], Y.shape, Y.dtype.kind, tuple(np.unique(Y))) for X, Y in Means.given}
    assert (100, (100, 3), "i", (0, 1)) in shapes and {shape[1][0] for shape in shapes} < set(range(50, 101))

    Means.given.clear()
    folds = make_folds(data)
    task = make_task(folds.split(folds.sample(data), "iterative", "fifth", 1))
    assert compete(entrant("outside:Means"), task, EFFORT)["failure"] is None
    assert max(len(Y) for _, Y in Means.given) == len(task.outer.known_rows) < 40
    assert Entered("outside:First(n_components=2)").fit(task.outer.X, task.outer.y).transformer_.n_ > 100


def test_held_out_labels_have_no_say(data):
    Y = data.Y.toarray()
    Y[data.test_idx] = 1 - Y[data.test_idx]
    first = compete(entrant("outside:Means"), make_task(data), EFFORT)
    given = [each for pair in Means.given for each in pair]
    Means.given.clear()
    turned = compete(
        entrant("outside:Means"),
        make_task(Dataset(data.X, Y, train_idx=data.train_idx, test_idx=data.test_idx)),
        EFFORT,
    )
    assert all(
        np.array_equal(a, b) for a, b in zip(given, (each for pair in Means.given for each in pair), strict=True)
    )
    assert first["kept"] == turned["kept"] and first["average_precision"] != turned["average_precision"]


def test_the_number_of_components_is_chosen_in_training_where_it_is_a_parameter(data):
    task = make_task(data)
    found = entrant("outside:First").configurations(5, 100, 0, task.sizes)
    assert [each.size for each in found] == sorted(task.sizes, reverse=True)[:5]
    row = compete(entrant("outside:First"), task, EFFORT)
    assert row["tried"] == len(found) and row["parameters"] == f"outside:First(n_components={row['k']})"
    assert row["k"] >= 3  # the labels are signs of three features
    row = compete(entrant("outside:First(n_components=2)"), task, EFFORT)
    assert row["k"] == 2 and row["parameters"] == "outside:First(n_components=2)" and row["tried"] == 1


def test_neighbours_kept_are_those_of_the_features(data):
    whole = compete(entrant("outside:First(n_components=6)"), make_task(data), EFFORT)
    assert whole["kept"] == 1.0 == compete(entrant("all features"), make_task(data), EFFORT)["kept"]
    task = make_task(data)
    Z = np.asarray(task.outer.X)[:, :2], np.asarray(task.outer.X_held_out)[:, :2]

    def near(rows, among):
        return np.argsort(((rows[:, None] - among) ** 2).sum(axis=2), axis=1)[:, :10]

    pairs = zip(near(task.outer.X_held_out, task.outer.X), near(Z[1], Z[0]), strict=True)
    share = np.mean([len(set(a) & set(b)) / 10 for a, b in pairs])
    row = compete(entrant("outside:First(n_components=2)"), task, EFFORT)
    assert row["kept"] == pytest.approx(share, abs=1e-6) and 0.1 < share < 0.9


def test_sparse_rows_become_arrays_unless_the_tag_takes_them(data):
    X = sp.csr_array(np.maximum(np.asarray(data.X), 0))
    Entered("outside:Means").fit(X, data.Y)
    assert isinstance(Means.given[-1][0], np.ndarray)
    fitted = Entered("sklearn.decomposition:TruncatedSVD(n_components=2)").fit(X, data.Y)
    assert fitted.transform(X).shape == (150, 2)


def test_numbers_are_handed_over_as_they_are():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 2))
    task = make_task(Dataset.from_targets(X, Y, "real", train_idx=range(40), test_idx=range(40, 60)))
    row = compete(entrant("outside:Means", numbers=True), task, EFFORT)
    assert row["failure"] is None and row["q2"] is not None
    assert any(np.array_equal(given, Y[:40]) for _, given in Means.given)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("nowhere:X", "nowhere:X cannot be imported: ModuleNotFoundError: No module named 'nowhere'; name a module"),
        ("outside:Gone", "cannot be imported: AttributeError"),
        ("outside:number", "outside:number is neither a class nor a function; write MODULE:NAME"),
        ("outside:First(2)", "outside:First(2) cannot be read; write MODULE:NAME or MODULE:NAME(key=value)"),
        ("outside:First(n_components=open)", "cannot be read"),
        ("outside:First(size=2)", "outside:First(size=2) cannot be made: TypeError"),
        ("pathlib:Path", "pathlib:Path has no fit; the benchmark calls fit(X) or fit(X, Y), and transform(X)."),
        (
            "outside:Odd(how='fewer rows')",
            "is refused on fold 1 of wine (track all, iterative folds): transform returned",
        ),
        ("outside:Odd(how='wide')", f"must return a row for each with 1 to {MOST_COMPONENTS} columns"),
        ("outside:Odd(how='line')", "transform returned an array of shape (142,) for 142 rows"),
        ("outside:Odd(how='nan')", "transform returned NaN, infinity or values that are no numbers"),
        ("sklearn.svm:SVC", "sklearn.svm:SVC has no transform"),
    ],
)
def test_refusals_are_one_sentence_and_leave_no_file(home, entry, message):
    done = run(home, entry)
    assert done.exit_code == 2 and message in told(done), done.output
    assert done.output.count("\n") <= 3 and not list(home.parent.glob("*.jsonl"))


def test_what_takes_too_long_is_refused(home):
    done = run(home, "outside:Endless", "--max-seconds", "0.2")
    assert done.exit_code == 2 and not list(home.parent.glob("*.jsonl"))
    assert "took more than 0.2 CPU seconds on fold 1 of wine (track all, iterative folds); make it faster" in told(done)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["outside:Means", "PCA"], "outside:Means needs a run of its own, with one METHOD; 2 are named."),
        (["PCA", "--max-seconds", "3"], "--max-seconds 3 would give other seconds than those of the stored methods"),
        (
            ["outside:Means", "--sets", "wine", "--tracks", "outputs"],
            "--tracks outputs: wine takes all and fifth; name one of these, or leave wine out of --sets.",
        ),
    ],
)
def test_options_that_do_not_fit(home, words, message):
    done = run(home, *words)
    assert done.exit_code == 2 and message in told(done)


def test_lines_stay_out_of_the_stored_ones_and_a_run_goes_on(home, monkeypatch):
    held = {path.name: path.read_bytes() for path in (home / "results").iterdir()}
    done = run(home, "outside:Means")
    assert done.exit_code == 0 and done.output.startswith("1/1 all iterative 1 wine outside:Means: "), done.output
    assert {path.name: path.read_bytes() for path in (home / "results").iterdir()} == held
    (row,) = read_file(home.parent / "outside-Means.jsonl", "outside:Means")
    again = run(home, "outside:Means")
    assert again.output == done.output.partition("\n\n")[2].join(["\n", ""]) and len(Means.given) < 20
    assert "track all" not in run(home, "outside:Means", "--tracks", "fifth").output  # ranks are those asked for
    assert "outside:Means" not in set(load(home)["method"])
    assert row["set"] == "wine" and row["average_precision"] > 0.9


def test_lines_join_the_stored_ones_where_that_is_asked_for(home):
    place = home / "results" / file_name("outside:Means")
    assert run(home, "outside:Means", "--lines", place).exit_code == 0
    assert "outside:Means" in set(load(home)["method"])
    done = run(home, "outside:Means", "--lines", place, "--max-seconds", "5")
    assert done.exit_code == 2 and "would give other seconds" in told(done)
    done = run(home, "outside:First", "--lines", place)
    assert done.exit_code == 2 and "holds the results of 'outside:Means', not of 'outside:First'" in told(done)


def test_lines_of_other_limits_are_not_gone_on_with(home):
    assert run(home, "outside:Means").exit_code == 0
    for options in ((), ("--force",)):
        done = run(home, "outside:Means", "--max-seconds", "5", *options)
        assert done.exit_code == 2 and "wine  " not in done.output
        assert (
            "outside-Means.jsonl holds folds under --max-seconds 12, not 5; name another file by --lines, or remove it."
        ) in told(done)
    other = home.parent / "five.jsonl"
    assert run(home, "outside:Means", "--max-seconds", "5", "--lines", other).exit_code == 0
    again = run(home, "outside:Means", "--max-seconds", "5", "--lines", other)
    assert again.exit_code == 0 and again.output.startswith("\nproxembed-bench")
    done = run(home, "outside:Means", "--lines", other)
    assert done.exit_code == 2 and "five.jsonl holds folds under --max-seconds 5, not 12" in told(done)


def test_a_method_of_the_package_can_be_run_beside_the_stored_ones(home):
    mine = home.parent / "mine.jsonl"
    done = run(home, "MESD(LFDA(ridge=0.1))", "--lines", mine)
    assert done.exit_code == 0 and len(read_file(mine, "MESD(LFDA(ridge=0.1))")) == 1 and "of 4" in told(done)


def made(method, values, measure="average_precision"):
    """Rows of results on one set."""
    text = dict.fromkeys(("kind", "failure", "version", "benchmark", "parameters"), "")
    key = {"method": method, "set": "wine", "protocol": "iterative", "track": "all", "tried": 1}
    return [{**text, **key, "fold": fold, measure: value} for fold, value in enumerate(values, start=1)]


def test_ranks_are_among_the_methods_with_a_value_on_the_same_folds():
    own = frame_of(made("x", [0.5, 0.7]))
    stored = (
        made("better", [0.6, 0.8]) + made("worse", [0.9, 0.1, 0.9]) + made("half", [0.9]) + made("level", [0.7, 0.5])
    )
    stored = frame_of(stored)
    assert rank_of(own, stored, "average_precision") == (2, 4)  # 0.6 against 0.7, 0.5 and 0.6; "half" has one fold
    assert rank_of(own, stored, "jaccard") == (1, 1)


def test_the_table_says_what_the_stored_results_say(home):
    rows = [row for row in read_rows("OPLS", home) if row["track"] == "all" and row["protocol"] == "iterative"]
    lines = standing(rows, home).splitlines()
    assert lines[0].startswith(f"proxembed-bench {VERSION}: OPLS, ") and lines[2] == "track all, iterative folds"
    table = load(HOME).query("set == 'wine' and track == 'all' and protocol == 'iterative'")
    means = (
        table[table["method"].isin(["OPLS", "PCA", "all features"])]
        .groupby("method")[["average_precision", "kept"]]
        .mean()
    )
    rank = means.rank(ascending=False, method="min").loc["OPLS"].astype(int)
    words = next(line for line in lines if line.startswith("wine")).split()
    assert words[:6] == [
        "wine",
        "5",
        f"{means.loc['OPLS', 'average_precision']:.3f}",
        str(rank["average_precision"]),
        "of",
        "3",
    ]
    assert words[-5:-1] == [f"{means.loc['OPLS', 'kept']:.3f}", str(rank["kept"]), "of", "3"]


def test_numbers_have_their_own_columns(home):
    values = {"q2": 0.5, "agreement": 0.4, "kept": 0.3, "seconds": 1.0}
    lines = standing([row | values | {"track": "outputs"} for row in made("x", [0.5])], home).splitlines()
    assert lines[2] == "track outputs, iterative folds" and lines[3].split() == ["outputs", "structure"]
    words = ["wine", "1", "0.500", "1", "of", "1", "0.400", "1", "of", "1", "0.300", "1", "of", "1", "1.00"]
    assert lines[5].split() == words


def test_lines_of_another_version_of_the_benchmark_are_refused(home, monkeypatch):
    monkeypatch.setattr("benchmarks.store.VERSION", "0")
    with pytest.raises(ValueError, match=f"holds results of version {VERSION} of the benchmark, which is at version 0"):
        read_rows("PCA", home)


HOWTO = HOME.parent / "docs" / "howto" / "benchmark.md"


def words_of(text):
    """The words of a table, numbers as numbers."""
    return [float(word) if re.fullmatch(r"\d+(\.\d+)?", word) else word for word in text.split()]


@pytest.mark.skipif(not os.environ.get("PROXEMBED_DATA"), reason="PROXEMBED_DATA names no folder")
def test_the_examples_of_the_how_to_come_out_as_they_are_printed(tmp_path, monkeypatch):
    """Values to 0.002 and ranks to 2, as processors round differently; CPU seconds are not compared."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text = HOWTO.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    lines = [line[4:] for line in code.splitlines() if line.startswith((">>> ", "... ", "..."))]
    (tmp_path / "my_reduction.py").write_text("\n".join(["import numpy as np", *lines]))
    commands = re.findall(r"\$ python -m benchmarks (.*)", text)
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert len(commands) == len(shown) == 2
    for command, table in zip(commands, shown, strict=True):
        words = command.replace("DIR", os.environ["PROXEMBED_DATA"]).split()
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        tables = [done.output.partition("\n\n")[2].splitlines(), table.splitlines()]
        assert len(tables[0]) == len(tables[1])
        for line, wanted in zip(*tables, strict=True):
            if re.match(r"\w+ +5 ", wanted):  # a set: its last number is the seconds
                line, wanted = (each.rpartition("  ")[0] for each in (line, wanted))
            for own, word in zip(words_of(line), words_of(wanted), strict=True):
                near = isinstance(word, float) and abs(own - word) <= (0.002 if word < 1 else 2)
                assert near or own == word, (line, wanted)
