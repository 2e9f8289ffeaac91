"""MESD never copies X: its memory on rows of eight labels each, where duplication would hold eight times X."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from proxembed import DLA, DNE, DONPP, FDA, LFDA, MFA, MMC, OLPPR, ONPPR, SONPP
from proxembed.algebra.arrays import class_blocks
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.estimator.rows import Rows
from proxembed.proximity import weights
from proxembed.targets.labels import LabelMatrix

N, D, CLASSES, EACH, K = 300, 1500, 16, 8, 5
METHODS = [
    FDA(), MMC(), LFDA(), LFDA(scope="global"), MFA(), MFA(pairs="point"), DLA(), DNE(), DNE(scope="class"), OLPPR(),
    SONPP(), DONPP(n_neighbors=5), ONPPR(),
]  # fmt: skip
every = pytest.mark.parametrize("method", METHODS, ids=repr)


@pytest.fixture(scope="module")
def rows() -> Rows:
    rng = np.random.default_rng(3)
    Y = np.zeros((N, CLASSES), dtype=int)
    for row in Y:
        row[rng.choice(CLASSES, EACH, replace=False)] = 1
    return Rows(rng.standard_normal((N, D)), LabelMatrix.of(Y), weighting="none")


def memory(task) -> tuple[int, int]:
    """Bytes that are held and that were held at most after a first call, which fills caches."""
    task()
    tracemalloc.start()
    result = task()
    found = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result is not None
    return found


def fresh(rows: Rows) -> Rows:
    """The same rows without their searches."""
    return Rows(rows.X, rows.labels, weighting="none")


def test_duplication_would_be_seen(rows):
    """Negative control: the bound of the other tests is below what duplicated rows alone take."""
    index = np.repeat(np.arange(N), EACH)
    _, peak = memory(lambda: rows.X[index])
    assert peak >= EACH * rows.X.nbytes


@every
def test_a_template_takes_less_than_half_of_the_duplicated_rows(method, rows, monkeypatch):
    monkeypatch.setattr(weights, "FEW", 512)  # rows of classes whose distances are there together
    held, peak = memory(lambda: method.template(fresh(rows)))
    assert peak < EACH * rows.X.nbytes / 2
    assert held < rows.X.nbytes / 2


def test_affinities_take_the_rows_of_a_class_at_a_time(rows, monkeypatch):
    """What LFDA's operators need of X is there while a class has its turn, not for all copies."""
    monkeypatch.setattr(class_blocks, "GROUP_ROWS", 1)
    template = LFDA().template(fresh(rows))
    V = np.random.default_rng(0).standard_normal((N, 3))
    held, peak = memory(lambda: template.B @ V)
    assert peak < EACH * rows.X.nbytes / 2 and held < rows.X.nbytes / 2
    few = CentredMatrix(np.asfortranarray(rows.X[:, :50]))
    _, peak = memory(lambda: template.B.sandwich(few))
    assert peak < EACH * rows.X.nbytes / 2


@pytest.mark.parametrize("copies", ["distinct", "count"])
@pytest.mark.parametrize("enemy", ["any", "disjoint"])
def test_links_are_at_most_K_a_copy(rows, copies, enemy):
    told = Rows(rows.X, rows.labels, weighting="none", copies=copies, enemy=enemy)
    assert told.enemies(K, link="directed").nnz <= rows.labels.nt * K
    assert told.enemies(K, link="undirected").nnz <= 2 * rows.labels.nt * K
    assert told.friends(K, "directed").nnz <= rows.labels.nt * K
