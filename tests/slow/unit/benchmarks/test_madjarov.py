"""The measures of the published comparison by their formulas, and its page as what the stored lines say."""

import numpy as np
import pytest

from benchmarks import VERSION
from benchmarks.cell import Effort, make_task
from benchmarks.madjarov import LINES, MEASURES, METHODS, ON, PAGE, execute, judge, page, read, taking_part
from proxembed.data import Dataset


@pytest.fixture(scope="module")
def made():
    """Labels, scores and predicted labels at random; every row has a label and lacks one."""
    rng = np.random.default_rng(0)
    Y = rng.random((40, 5)) < 0.4
    Y[:, 0] |= ~Y.any(axis=1)
    Y[:, 1] &= ~Y.all(axis=1)
    return Y, rng.normal(size=(40, 5)), rng.random((40, 5)) < 0.5


def value(head, Y, reading):
    return MEASURES[head].value(Y, reading)[0]


def test_measures_of_predicted_labels(made):
    Y, _, P = made
    rows = [(set(np.flatnonzero(y)), set(np.flatnonzero(p))) for y, p in zip(Y, P, strict=True)]
    wanted = {
        "Hamming loss": np.mean([len(y ^ p) / 5 for y, p in rows]),
        "accuracy": np.mean([len(y & p) / len(y | p) for y, p in rows]),
        "precision": np.mean([len(y & p) / max(len(p), 1) for y, p in rows]),
        "recall": np.mean([len(y & p) / len(y) for y, p in rows]),
        "F1": np.mean([2 * len(y & p) / (len(y) + len(p)) for y, p in rows]),
        "subset accuracy": np.mean([y == p for y, p in rows]),
    }
    hits, said, true = (each.sum(axis=0) for each in (Y & P, P, Y))
    wanted |= {"macro precision": np.mean(hits / said), "macro recall": np.mean(hits / true)}
    wanted |= {"micro precision": hits.sum() / said.sum(), "micro recall": hits.sum() / true.sum()}
    wanted |= {"macro F1": np.mean(2 * hits / (said + true)), "micro F1": 2 * hits.sum() / (said + true).sum()}
    assert {head: value(head, Y, P) for head in wanted} == pytest.approx(wanted)


def test_measures_of_ranks(made):
    Y, S, _ = made
    place = (-S).argsort(axis=1).argsort(axis=1) + 1  # 1 is the label of the largest score
    one, cover, loss, average = [], [], [], []
    for y, r in zip(Y, place, strict=True):
        one.append(not y[r.argmin()])
        cover.append(r[y].max() - 1)
        loss.append(np.mean([a > b for a in r[y] for b in r[~y]]))
        average.append(np.mean([(r[y] <= a).sum() / a for a in r[y]]))
    wanted = dict(
        zip(("one-error", "coverage", "ranking loss", "average precision"), (one, cover, loss, average), strict=True)
    )
    assert {head: value(head, Y, S) for head in wanted} == pytest.approx({k: np.mean(v) for k, v in wanted.items()})


def test_labels_that_are_never_predicted_count_as_0():
    Y, P = np.array([[1, 0], [1, 1]], bool), np.array([[1, 0], [1, 0]], bool)
    assert value("macro precision", Y, P) == 0.5 and value("micro precision", Y, P) == 1.0
    assert value("macro recall", Y, P) == 0.5 and value("micro recall", Y, P) == pytest.approx(2 / 3)


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    Y = X[:, :3] + 0.7 * rng.normal(size=(150, 3)) > 0
    return make_task(Dataset(X, Y.astype(int), name="made", train_idx=range(100), test_idx=range(100, 150)))


def test_a_method_is_judged_in_all_measures(task):
    row = judge("OPLS", task, Effort(2, 60.0, 60.0))
    assert row["failure"] is None and row["train"] == 100 and row["test"] == 50 and row["tried"] == 2
    assert row["benchmark"] == VERSION and all(row[head] is not None for head in MEASURES)
    assert 0.6 < row["micro F1"] < 1 and 0 < row["Hamming loss"] < 0.4 and 0 <= row["coverage"] <= 2
    failed = judge("OPLS", task, Effort(2, 60.0, 1e-9))
    assert failed["failure"].startswith("OutOfBudget") and failed["Hamming loss"] is None


def test_a_run_goes_on_where_it_ended(task, tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr("benchmarks.madjarov.split_task", lambda name, data: task)
    monkeypatch.setattr("benchmarks.madjarov.METHODS", ("PCA", "OPLS"))
    monkeypatch.setattr("benchmarks.madjarov.judge", lambda method, task: calls.append(method) or ROW)
    execute(("emotions",), None, tmp_path / "lines.jsonl", print)
    execute(("emotions", "scene"), None, tmp_path / "lines.jsonl", print)
    assert calls == ["PCA", "OPLS"] * 2 and set(read(tmp_path / "lines.jsonl")) == {
        (name, method) for name in ("emotions", "scene") for method in ("PCA", "OPLS")
    }


ROW = {head: 0.25 for head in MEASURES} | {"seconds": 1.0, "failure": None, "version": "1", "train": 100, "test": 50}


def test_the_page_has_a_table_for_each_measure_with_the_best_in_bold():
    rows = {("emotions", "PCA"): ROW, ("emotions", "OPLS"): ROW | {"Hamming loss": 0.2, "F1": 0.2}}
    text = page(rows)
    assert text.count("\n## ") == len(MEASURES) + 1 == 17 and "emotions 100 / 50" in text
    part = text.partition("## Hamming loss, lower is better")[2].partition("\n## ")[0]
    assert "| OPLS | **0.200** |" in part and "| PCA | 0.250 |" in part and "| CCA | – |" in part
    assert "| PCA | **0.250** |" in text.partition("## F1, higher is better")[2].partition("\n## ")[0]
    part = text.partition("## In short")[2].partition("\n## ")[0]
    assert part.index("| PCA | 15 |") < part.index("| OPLS | 15 |") and "| CCA | – |" in part
    assert "Not run yet: scene, yeast" in text and "no value is quoted from memory" in text


def test_the_committed_page_is_that_of_the_committed_lines():
    rows = read(LINES)
    assert (PAGE / "README.md").read_text(encoding="utf-8") == page(rows)
    for name in {name for name, _ in rows}:
        assert {method for of, method in rows if of == name} == set(
            taking_part(name, max(rows[name, "OPLS"]["train"], 1))
        )
    assert {name for name, _ in rows} <= set(ON) and {method for _, method in rows} <= set(METHODS)
