"""Numbers in blocks of rows: the fit is that of all rows in memory, by the means and scales of all blocks."""

import numpy as np
import pytest
import scipy.sparse as sp

import proxembed
from proxembed import (
    CCA,
    FDA,
    MDDM,
    MLLS,
    MLSI,
    MORP,
    MVMD,
    OPLS,
    PLS,
    SFEHS,
    SLVM,
    Kernelized,
    RowBlocks,
)
from proxembed.targets.output_totals import OutputTotals
from proxembed.targets.reading import read_targets

RNG = np.random.default_rng(2)
N = 120
X = RNG.normal(size=(N, 6)) + np.arange(N)[:, None] / 40
Y = X @ RNG.normal(size=(6, 3)) * [1.0, 50.0, 1e-3] + RNG.normal(size=(N, 3)) * [1.0, 50.0, 1e-3] + [0, 1e4, 1]
NEW = RNG.normal(size=(20, 6))
HIDDEN = np.where(RNG.random(Y.shape) < 0.3, np.nan, Y)
HIDDEN[:10, 0] = np.nan  # a column that a whole block does not know
HIDDEN[np.isnan(HIDDEN).all(axis=1), 1] = Y[np.isnan(HIDDEN).all(axis=1), 1]
FORMS = {"all known": Y, "one": Y[:, 0], "some unknown": HIDDEN, "sparse": sp.csr_array(np.where(Y < 1, 0.0, Y))}
METHODS = {
    "CCA": CCA(ridge=0.1),
    "OPLS": OPLS(ridge=0.1),
    "OPLS auto": OPLS(),
    "OPLS weighted": OPLS(ridge=0.1, scale_targets={0: 3.0}),
    "PLS": PLS(scale_targets="none"),
    "MDDM": MDDM(),
    "SFEHS": SFEHS(n_components=1),
    "MVMD": MVMD(n_components=2),
    "MVMD traces": MVMD(n_components=2, balance="trace"),
    "MORP": MORP(n_components=2),
    "MLSI": MLSI(n_components=2),
    "SLVM": SLVM(n_components=2, ridge=0.1),
    "MLLS": MLLS(),
}


def copy_of(method):
    return type(method)(**method.get_params(deep=False))


def blocks_of(X, y, rows=10):
    return RowBlocks.from_arrays(X, y, block_rows=rows)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", METHODS)
def test_blocks_are_all_rows(name, form):
    y = FORMS[form]
    whole, blocked = copy_of(METHODS[name]).fit(X, y), copy_of(METHODS[name]).fit(blocks_of(X, y))
    Z, other = whole.transform(NEW), blocked.transform(NEW)
    signs = np.sign(np.sum(Z * other, axis=0))
    np.testing.assert_allclose(other * signs, Z, rtol=0, atol=1e-8 * np.abs(Z).max())
    np.testing.assert_allclose(blocked.label_loadings_ * signs[:, None], whole.label_loadings_, rtol=0, atol=1e-8)
    for one, each in zip(whole.targets_, blocked.targets_, strict=True):
        assert (one.name, one.kind, one.columns, one.n_unknown) == (each.name, each.kind, each.columns, each.n_unknown)
        np.testing.assert_allclose([each.mean, each.scale], [one.mean, one.scale], rtol=1e-9)
    if hasattr(whole, "predict"):
        np.testing.assert_allclose(blocked.predict(NEW), whole.predict(NEW), rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(blocked.coef_, whole.coef_, rtol=1e-6, atol=1e-9)


def test_totals_do_not_depend_on_the_order_of_blocks():
    parts = [OutputTotals.of(read_targets(HIDDEN[rows], block=True)) for rows in np.array_split(np.arange(N), 5)]
    one, other = parts[0], parts[-1]
    for part in parts[1:]:
        one = one.merged(part)
    for part in parts[-2::-1]:
        other = other.merged(part)
    F = np.nan_to_num((HIDDEN - np.nanmean(HIDDEN, axis=0)) / np.nanstd(HIDDEN, axis=0))
    for totals in (one, other):
        np.testing.assert_allclose(totals.gram, F.T @ F, rtol=1e-8)


def test_unknown_cells_may_drop_their_rows():
    keep = np.isfinite(HIDDEN).all(axis=1)
    with pytest.warns(UserWarning, match=f"{N - keep.sum()} of {N} rows have one and are left out"):
        blocked = OPLS(ridge=0.1, unknown="drop").fit(blocks_of(X, HIDDEN))
    np.testing.assert_allclose(blocked.predict(NEW), OPLS(ridge=0.1).fit(X[keep], HIDDEN[keep]).predict(NEW), rtol=1e-8)


def test_words_hold_for_every_block():
    whole = np.round(Y[:, 0] * 10)
    blocked = OPLS(ridge=0.1, target_type="real").fit(blocks_of(X, whole))
    np.testing.assert_allclose(
        blocked.predict(NEW), OPLS(ridge=0.1, target_type="real").fit(X, whole).predict(NEW), rtol=1e-8
    )
    mixed = np.column_stack([Y[:, 0], Y[:, 1] > Y[:, 1].mean()])
    words = {1: "labels"}
    one, other = (OPLS(ridge=0.1, target_type=words).fit(*data) for data in ((X, mixed), (blocks_of(X, mixed), None)))
    np.testing.assert_allclose(other.predict(NEW), one.predict(NEW), rtol=1e-8)


def test_constant_columns_are_named():
    y = np.column_stack([Y, np.full(N, 2.5)])
    with pytest.warns(UserWarning, match="^y column 3: constant, and left out of the fit.$"):
        blocked = OPLS(ridge=0.1).fit(blocks_of(X, y))
    np.testing.assert_allclose(blocked.predict(NEW)[:, :3], OPLS(ridge=0.1).fit(X, Y).predict(NEW), rtol=1e-8)
    assert (blocked.predict(NEW)[:, 3] == 2.5).all()


def test_a_kernel_map_of_blocks():
    """On all rows as prototypes, in whatever order, the kernel map is that of the rows in memory."""
    method = Kernelized(OPLS(ridge=0.1), n_prototypes=N, tau=4.0, random_state=0)
    Z = copy_of(method).fit(X, HIDDEN).transform(NEW)
    found = copy_of(method).fit(blocks_of(X, HIDDEN, 40)).transform(NEW)
    np.testing.assert_allclose(found * np.sign(np.sum(Z * found, axis=0)), Z, rtol=0, atol=1e-6 * np.abs(Z).max())


def test_saved_models_of_blocks_predict(tmp_path):
    blocked = PLS().fit(blocks_of(X, Y))
    proxembed.save(blocked, tmp_path / "m.skops")
    np.testing.assert_array_equal(proxembed.load(tmp_path / "m.skops").predict(NEW), blocked.predict(NEW))


REFUSED = {
    "partial_fit takes labels: numbers are scaled by the rows of all blocks": lambda: OPLS().partial_fit(X, Y),
    "FDA takes classes, y holds 3 numbers: use OPLS or CCA": lambda: FDA().fit(blocks_of(X, Y)),
    "OPLS needs the means and scales of all numbers of y": lambda: OPLS().fit(RowBlocks(iter([(X, Y)]))),
    "A kernel of numbers needs all rows at once": lambda: MDDM(label_kernel="rbf").fit(blocks_of(X, Y)),
    "y holds numbers in one block and labels": lambda: OPLS().fit(
        blocks_of(X, np.where(np.arange(N)[:, None] < 50, Y, Y > 1), 50)
    ),
    "Every column of y is constant": lambda: OPLS().fit(blocks_of(X, np.full(N, 0.5))),
    "y column 0 has 1 known cell; two are needed": lambda: OPLS().fit(
        blocks_of(X, np.column_stack([np.where(np.arange(N) > 0, np.nan, Y[:, 0]), Y[:, 1]]))
    ),
    "holds classes beside other columns, which blocks cannot hold": lambda: OPLS().fit(
        blocks_of(X, np.column_stack([Y[:, 0].astype(object), np.array(["a", "b"] * (N // 2), dtype=object)]))
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_blocks_of_numbers_cannot_do(message):
    with pytest.raises(ValueError, match=message):
        REFUSED[message]()


def test_where_y_is_said_to_be_numbers_there_is_no_partial_fit():
    assert hasattr(OPLS(), "partial_fit") and not hasattr(OPLS(target_type="real"), "partial_fit")
