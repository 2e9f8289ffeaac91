"""EmbeddingModel: options and vectors, new rows, what it tells, what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp

from designs import each_value
from proxembed import EmbeddingModel
from proxembed.methods.adaptive import Limits, StageRows, Stages, sample
from proxembed.targets.labels import LabelMatrix
from strategies import every_switches

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 50)
X = RNG.normal(size=(50, 6)) + np.eye(6)[Y] * 3
NEW = RNG.normal(size=(7, 6))


@each_value
@pytest.mark.parametrize("number", RNG.choice(72_576, 25, replace=False).tolist())
@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
def test_it_is_the_candidate_of_a_search(number, stored):
    switches = every_switches()[number]
    values = sample(switches, Limits.of(LabelMatrix.of(Y)), np.random.default_rng(number))
    found = Stages(StageRows(stored(X), LabelMatrix.of(Y), stored(NEW))).embed(switches, values)
    model = EmbeddingModel.from_switches(switches, values, n_components=2).fit(stored(X), Y)
    assert model.switches() == switches and model.switches_ == switches.as_tuple()
    assert np.allclose(model.transform(stored(NEW)), found.Z_val[:, :2], atol=1e-7 * np.abs(found.Z_val).max())
    assert np.allclose(model.fit_transform(stored(X), Y), found.Z[:, :2], atol=1e-7 * np.abs(found.Z).max())


@pytest.mark.parametrize("relation", ["none", "cosine"])
def test_truncate_is_a_fit_with_fewer_components(relation):
    full = EmbeddingModel(relation=relation, n_components=4).fit(X, Y)
    for k in range(1, 5):
        small = EmbeddingModel(relation=relation, n_components=k).fit(X, Y)
        assert np.allclose(full.truncate(k).transform(NEW), small.transform(NEW), rtol=0, atol=1e-10)
        assert np.array_equal(full.truncate(k).eigenvalues_, small.eigenvalues_)
    assert full.transform(NEW).shape == (7, 4)


def test_forms_of_labels_agree():
    one = EmbeddingModel(n_components=2).fit(X, np.array(list("abc"))[Y]).transform(NEW)
    for y in (np.eye(3, dtype=int)[Y], [{int(k)} for k in Y]):
        assert np.array_equal(EmbeddingModel(n_components=2).fit(X, y).transform(NEW), one)


def test_describe_tells_the_parameters_in_use():
    told = EmbeddingModel(relation="polynomial", relation_p=3, criterion="pairs", n_enemies=None).describe()
    assert "relation_p=3" in told and "n_enemies=all" in told and "n_neighbors" not in told


def test_repairs_are_kept():
    wide = np.column_stack([X, np.ones(50)])
    model = EmbeddingModel().fit(wide, Y)
    assert model.repairs_ == ("1 constant features removed",)
    changed = np.column_stack([NEW, np.full(7, 40.0)])
    assert np.array_equal(model.transform(changed), EmbeddingModel().fit(X, Y).transform(NEW))


def test_refusals_say_why():
    with pytest.raises(ValueError, match="n_components=90 is more than"):
        EmbeddingModel(n_components=90).fit(X, Y)
    with pytest.raises(ValueError, match="relation='sine' is not allowed"):
        EmbeddingModel(relation="sine").fit(X, Y)
    with pytest.raises(ValueError, match="no embedding of these rows by these options.*no friends"):
        EmbeddingModel(criterion="pairs", objective="friends").fit(X[:4], list("abcd"))
    with pytest.raises(ValueError, match="X is constant"):
        EmbeddingModel().fit(np.ones((6, 2)), [0, 1] * 3)


@pytest.mark.parametrize("criterion", ["pairs", "fisher"])
def test_a_single_label_is_two_classes(criterion):
    has = (Y == 1).astype(int)
    model = EmbeddingModel(criterion=criterion, n_components=2)
    classes = model.fit(X, has).transform(NEW)
    for y in (sp.csr_array(has[:, None]), sp.csr_array(2 * has[:, None] - 1), [{"a"} if one else set() for one in has]):
        assert np.array_equal(model.fit(X, y).transform(NEW), classes)


def test_further_labels_that_no_row_has_change_nothing_and_all_rows_alike_are_refused():
    has = (Y == 1).astype(int)
    model = EmbeddingModel(criterion="pairs", n_components=2)
    padded = np.column_stack([np.zeros(50, dtype=int), has])
    assert np.array_equal(model.fit(X, padded).transform(NEW), model.fit(X, has).transform(NEW))
    for same in (np.ones((50, 1)), np.zeros((50, 1))):
        with pytest.raises(ValueError, match="the same in every row"):
            Stages(StageRows(X, LabelMatrix.of(sp.csr_array(same))))
