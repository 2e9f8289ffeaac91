"""Stored folds: made the same again, bound to their data, every row held out once; and data sets by name."""

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import HOME, OUTPUTS, PROTOCOLS
from benchmarks.folds import LEAST, MOST_ROWS, data_hash, make_folds, read_folds, tracks_of, write_folds
from benchmarks.sets import ON_OPENML, SETS, Unavailable, read_set
from proxembed.data import DataError, Dataset


def several_labels(n=300, seed=0):
    rng = np.random.default_rng(seed)
    Y = rng.random((n, 4)) < [0.5, 0.3, 0.2, 0.03]
    return Dataset(rng.normal(size=(n, 5)), Y.astype(int), name="made")


@pytest.mark.parametrize("name", ["wine", "breast-cancer", "digits"])
def test_the_stored_folds_are_what_the_code_makes(name):
    data = read_set(name)
    made, stored = make_folds(data), read_folds(name, data, HOME)
    assert made.facts == stored.facts
    for column in ("rows", "iterative", "random", "labelled"):
        assert getattr(made, column).tolist() == getattr(stored, column).tolist()


def test_every_set_without_a_network_has_stored_folds_and_they_are_small():
    files = list((HOME / "splits").iterdir())
    assert {path.stem for path in files} >= set(SETS) - set(ON_OPENML)
    assert sum(path.stat().st_size for path in files) < 500_000
    for path in files:
        if path.suffix == ".json":
            facts = json.loads(path.read_text(encoding="utf-8"))
            assert facts["sample"] <= MOST_ROWS and facts["hash"].startswith("sha256:")


def test_other_data_than_those_of_the_folds_are_refused(tmp_path):
    data = several_labels()
    write_folds("made", make_folds(data), tmp_path)
    assert len(read_folds("made", data, tmp_path).rows) == 300
    X, Y = np.array(data.X), data.Y.toarray()
    X[7, 2] += 1e-9
    Y[7, 2] = 1 - Y[7, 2]
    for other in (replace(data, X=X), replace(data, Y=Y), data.take(range(299))):
        with pytest.raises(ValueError, match="made is another version of the data .* a name of its own in benchmarks"):
            read_folds("made", other, tmp_path)
    with pytest.raises(ValueError, match="unseen has no stored folds; make them by `python -m benchmarks splits"):
        read_folds("unseen", data, tmp_path)


def test_the_hash_is_of_values_not_of_how_they_are_kept():
    data = several_labels()
    X = np.where(np.abs(data.X) < 1, 0.0, data.X)
    dense, sparse = replace(data, X=X), replace(data, X=sp.csr_array(X))
    assert data_hash(dense) == data_hash(sparse) == data_hash(replace(data, X=np.where(X == 0, -0.0, X)))
    assert data_hash(dense) != data_hash(data)


def test_every_row_is_held_out_once_and_rare_labels_are_left_out():
    data = several_labels()
    folds = make_folds(data, most_rows=200)
    assert len(folds.rows) == 200 and folds.facts["kept"] == ["label0", "label1", "label2"]
    part = folds.sample(data)
    assert part.Y.sum(axis=0).min() >= LEAST and part.X.tolist() == data.X[folds.rows].tolist()
    for protocol in PROTOCOLS:
        out = [folds.split(part, protocol, "all", fold).test_idx for fold in range(1, 6)]
        assert sorted(np.concatenate(out).tolist()) == list(range(200))
    assert all(len(folds.split(part, "random", "all", fold).test_idx) == 40 for fold in range(1, 6))
    positives = [part.Y.toarray()[folds.iterative == fold].sum(axis=0) for fold in range(1, 6)]
    assert np.ptp(positives, axis=0).max() <= 2
    with pytest.raises(ValueError, match="made has no label with 20 rows and 20 others"):
        make_folds(data.take(range(30)))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_fifth_of_the_training_rows_keeps_its_labels(protocol):
    data = several_labels()
    folds = make_folds(data)
    part = folds.sample(data)
    known = []
    for fold in range(1, 6):
        split = folds.split(part, protocol, "fifth", fold)
        hidden = split.unknown.toarray()
        assert hidden.all(axis=1).tolist() == hidden.any(axis=1).tolist()
        assert not hidden[split.test_idx].any()
        train = split.train_idx[~hidden[split.train_idx, 0]]
        known.append(set(train.tolist()))
        assert 0.1 < len(train) / len(split.train_idx) < 0.3
        assert (split.Y.toarray()[train] == part.Y.toarray()[train]).all()
    assert not set.intersection(*known)


def test_sets_that_cannot_be_read_say_why(tmp_path, monkeypatch):
    def unreachable(number):
        raise DataError(f"OpenML data set '{number}': it could not be fetched")

    monkeypatch.setattr("benchmarks.sets.fetch_openml_dataset", unreachable)
    for name, folder, reason in (
        ("scene", None, "no folder of data files is named; give --data DIR, or set PROXEMBED_DATA"),
        ("scene", tmp_path, "has no scene.npz"),
        ("genbase", None, "genbase: OpenML data set '40591': it could not be fetched"),
    ):
        with pytest.raises(Unavailable, match=reason):
            read_set(name, folder)
    with pytest.raises(ValueError, match="set 'iris' is unknown; the sets are emotions, birds"):
        read_set("iris")
    assert set(ON_OPENML) <= set(SETS) and all(SETS[name].number == number for name, number in ON_OPENML.items())


def test_folds_of_numbers_are_balanced_along_the_outputs():
    rng = np.random.default_rng(0)
    t = rng.normal(size=200)
    Y = np.c_[t, 2 * t, np.full(200, 7.0)]
    data = Dataset.from_targets(rng.normal(size=(200, 4)), Y, "real", name="made")
    folds = make_folds(data)
    assert folds.facts[OUTPUTS] == 3 and "kept" not in folds.facts and tracks_of(folds.facts) == (OUTPUTS,)
    order = np.argsort(t)
    blocks = [sorted(folds.iterative[order[start : start + 5]]) for start in range(0, 200, 5)]
    assert blocks == [[1, 2, 3, 4, 5]] * 40
    part = folds.split(folds.sample(data), "random", OUTPUTS, 1)
    assert part.outputs is not None and len(part.test_idx) == 40 and len(part.train_idx) == 160
    assert len(make_folds(data.take(range(53))).rows) == 53
    assert data_hash(data) != data_hash(Dataset.from_targets(data.X, Y + np.eye(200, 3) * 1e-9, "real"))


def test_sets_of_labels_have_the_other_tracks():
    assert tracks_of(make_folds(several_labels()).facts) == ("all", "fifth")
