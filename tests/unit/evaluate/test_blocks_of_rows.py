"""Cross-fitting and diagnosis of blocks of rows: as of the same rows in memory."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import strategies
from designs import pairwise
from proxembed import OPLS, Kernelized, RowBlocks, Scaling
from proxembed.classify import MultiOutputRidge
from proxembed.evaluate.diagnose import crossfit_embedding, diagnose
from proxembed.splits.splits import Split

N = 240
X, Y = strategies.labelled_rows(N, 6, 4, 3)
SETS = [set(np.flatnonzero(row).tolist()) for row in Y]


def splits(n_folds: int) -> list[Split]:
    """The folds that rows of blocks draw."""
    fold = np.random.default_rng(0).integers(n_folds, size=N)
    return [Split(str(k), np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


@pairwise
@pytest.mark.parametrize(
    "estimator",
    [OPLS(ridge=0.1), make_pipeline(Kernelized(OPLS(), n_prototypes=30, random_state=0), MultiOutputRidge())],
    ids=["OPLS", "pipeline"],
)
@pytest.mark.parametrize("block_rows", [25, 100])
@pytest.mark.parametrize("y", [Y, SETS], ids=["indicator", "sets"])
def test_cross_fitting_of_blocks_is_that_of_the_same_folds(estimator, block_rows, y):
    found = crossfit_embedding(estimator, RowBlocks.from_arrays(X, y, block_rows=block_rows), cv=3)
    whole = crossfit_embedding(estimator, X, y, cv=splits(3))
    for _ in range(2):  # each reading
        parts = list(found)
        np.testing.assert_allclose(np.vstack([Z for Z, _ in parts]), whole, rtol=1e-7, atol=1e-9)
        assert [row for _, own in parts for row in np.asarray(own).tolist()] == np.asarray(y).tolist()


@pytest.mark.default_configuration
def test_a_row_has_no_part_in_its_own_place():
    """Labels of noise: rows look well separated where they were fitted, and not where they were left out."""
    draw = np.random.default_rng(1)
    rows, y = draw.normal(size=(120, 60)), draw.integers(0, 2, size=(120, 1))
    method = OPLS(ridge=1e-6)
    blocks = RowBlocks.from_arrays(rows, y, block_rows=50)
    own, out = method.fit(blocks).transform(blocks).stacked(), crossfit_embedding(method, blocks, cv=4).stacked()
    correlation = [abs(np.corrcoef(Z[:, 0], y[:, 0])[0, 1]) for Z in (own, out)]
    assert correlation[0] > 0.6 and correlation[1] < 0.3


def test_diagnosis_of_blocks_is_that_of_a_sample_of_stated_size():
    blocks = RowBlocks.from_arrays(X, Y, block_rows=50)
    options = {"n_shuffles": 2, "n_resamples": 2, "seed": 3}
    found = diagnose(OPLS(ridge=0.1), blocks, sample_rows=150, **options)
    rows, y = blocks.sample(150, seed=3)
    expected = diagnose(OPLS(ridge=0.1), rows, y, **options)
    assert (found.n, found.n_all, expected.n_all) == (150, N, None)
    plain, other = found.describe(), expected.describe()
    assert plain.pop("n_all") == N and other.pop("n_all") is None and plain == other
    every = diagnose(OPLS(ridge=0.1), blocks, **options)
    assert every.n == every.n_all == N


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda rows: crossfit_embedding(OPLS(), rows, Y), "y must come with the blocks"),
        (lambda rows: crossfit_embedding(OPLS(), rows, cv=splits(3)), "cv=.* is not allowed with blocks of rows"),
        (lambda rows: crossfit_embedding(OPLS(), rows, groups=np.ones(N)), "whose folds are random"),
        (lambda rows: crossfit_embedding(OPLS(), RowBlocks(iter([(X, Y)]))), "reads the rows several times"),
        (
            lambda rows: crossfit_embedding(make_pipeline(Scaling("quantile"), OPLS()), rows),
            "one on a sample",
        ),
        (lambda rows: diagnose(OPLS(), rows, sample_rows=0), "n_rows=0 is not allowed"),
        (lambda rows: diagnose(OPLS(), RowBlocks([X])), "y is None"),
    ],
)
def test_what_is_refused(build, words):
    with pytest.raises(ValueError, match=words):
        build(RowBlocks.from_arrays(X, Y))
