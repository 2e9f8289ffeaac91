"""What is refused at once: limits that leave nothing to run, and labels that no embedding can serve."""

import numpy as np
import pytest
from typer.testing import CliRunner

from proxembed.cli import app
from proxembed.cli.checks import check_labels, check_limits
from proxembed.data import Dataset

X = np.arange(24.0).reshape(8, 3) ** 2
MIXED = np.array([[1, 0], [0, 1]] * 4)


def program(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def saved(folder, Y, rows=8):
    """A file of the first rows; NaN is unknown."""
    np.savez(folder / "made.npz", X=X[:rows], Y=np.asarray(Y, float)[:rows])
    return folder / "made.npz"


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"jobs": 0}, "--jobs 0 must be a number of processes above 0, or -1"),
        ({"jobs": -2}, "--jobs -2 must be"),
        ({"max_seconds": 0.0}, "--max-seconds 0.0 must be a number of seconds above 0"),
        ({"max_seconds": float("nan")}, "--max-seconds nan must be"),
        ({"max_trials": 0}, "--max-trials 0 must be a whole number of at least 1"),
    ],
)
def test_limits_that_leave_nothing_to_run(limits, message):
    with pytest.raises(ValueError, match=message):
        check_limits(**limits)


def test_limits_that_can_be_met():
    check_limits(jobs=-1)
    check_limits(jobs=3, max_seconds=0.5, max_trials=1)


UNKNOWN = np.where(np.arange(8)[:, None] < 6, [[np.nan, 1.0]], MIXED)
CASES = [
    (np.zeros((8, 2)), 8, "no row has a label"),
    (np.ones((8, 2)), 8, "every row has the same labels"),
    (np.column_stack([np.ones(8), np.zeros(8)]), 8, "every row has the same labels"),
    (np.column_stack([np.full(8, np.nan), MIXED[:, 0]]), 8, "every row has an unknown label; label some rows in full"),
    (
        np.where(UNKNOWN == 1, np.where(np.isnan(UNKNOWN[:, [0]]), UNKNOWN, 0), UNKNOWN),
        8,
        "no row whose labels are all",
    ),
]


@pytest.mark.parametrize(("Y", "rows", "message"), CASES)
@pytest.mark.parametrize("verb", ["fit", "compare"])
def test_labels_that_say_nothing_are_one_line_that_names_the_file(tmp_path, verb, Y, rows, message):
    file = saved(tmp_path, Y, rows)
    done = program(verb, file, "-o", tmp_path / ("m.skops" if verb == "fit" else "out"))
    assert done.exit_code == 2 and done.stdout == ""
    assert done.stderr.startswith(f"proxembed: {file}: {message}") and len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["made.npz"]


def test_too_few_rows():
    few = Dataset(X[:3], MIXED[:3])
    with pytest.raises(
        ValueError, match=r"^f\.csv: rows whose labels are all known: 3, and at least 4 are needed; label"
    ):
        check_labels(few, "f.csv")
    check_labels(few, "f.csv", least=2)
    check_labels(Dataset(X, MIXED), "f.csv")


@pytest.mark.parametrize("words", [("demo", "--jobs", 0), ("compare", "absent.npz", "-j", 0)])
def test_limits_are_checked_before_anything_is_read_or_made(tmp_path, words):
    done = program(*words, "-o", tmp_path / "out")
    assert done.exit_code == 2 and done.stderr.startswith("proxembed: --jobs 0 must be")
    assert list(tmp_path.iterdir()) == []
