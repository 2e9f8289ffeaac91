"""Numbers in blocks of rows: the fit is that of all rows in memory, by the means and scales of all blocks, from
one reading, from parts, and from parts that are merged."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import proxembed
from proxembed import (
    CCA,
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
    PCovR,
    RowBlocks,
)
from proxembed.algebra.operators.structured import LowRank
from proxembed.algebra.template import Template
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
    "PCovR": PCovR(n_components=3, ridge=0.1),
    "MDDM": MDDM(),
    "SFEHS": SFEHS(n_components=1),
    "MVMD": MVMD(n_components=2),
    "MVMD traces": MVMD(n_components=2, balance="trace"),
    "MORP": MORP(n_components=2),
    "MLSI": MLSI(n_components=2),
    "SLVM": SLVM(n_components=2, ridge=0.1),
    "MLLS": MLLS(),
}
for each in METHODS.values():  # blocks take means
    each.set_params(unknown="mean")


def copy_of(method):
    return type(method)(**method.get_params(deep=False))


def blocks_of(X, y, rows=10):
    return RowBlocks.from_arrays(X, y, block_rows=rows)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", METHODS)
def test_blocks_are_all_rows(name, form):
    y, method = FORMS[form], copy_of(METHODS[name])
    whole, blocked = copy_of(method).fit(X, y), copy_of(method).fit(blocks_of(X, y))
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
    method = Kernelized(OPLS(ridge=0.1, unknown="mean"), n_prototypes=N, tau=4.0, random_state=0)
    Z = copy_of(method).fit(X, HIDDEN).transform(NEW)
    found = copy_of(method).fit(blocks_of(X, HIDDEN, 40)).transform(NEW)
    np.testing.assert_allclose(found * np.sign(np.sum(Z * found, axis=0)), Z, rtol=0, atol=1e-6 * np.abs(Z).max())


def test_saved_models_of_blocks_predict(tmp_path):
    blocked = PLS().fit(blocks_of(X, Y))
    proxembed.save(blocked, tmp_path / "m.skops")
    np.testing.assert_array_equal(proxembed.load(tmp_path / "m.skops").predict(NEW), blocked.predict(NEW))


ENDS = (1, 2, 30, 31)
FROM_ROWS = [name for name in METHODS if copy_of(METHODS[name]).traits.from_sums == "rows" and name != "OPLS auto"]


def in_parts(method, X, y, merged):
    """The rows added one part after another, or merged from the last part on."""
    parts = np.split(np.arange(X.shape[0]), ENDS)
    if not merged:
        for part in parts:
            method.partial_fit(X[part], rows_of(y, part))
        return method
    *rest, found = [copy_of(method).partial_fit(X[part], rows_of(y, part)) for part in parts]
    for other in reversed(rest):
        found.merge(other)
    return found


def rows_of(y, part):
    return y.iloc[part] if hasattr(y, "iloc") else y[part]


def assert_same_fit(found, whole, rtol=1e-9):
    Z, other = whole.transform(NEW), found.transform(NEW)
    signs = np.sign(np.sum(Z * other, axis=0))
    np.testing.assert_allclose(other * signs, Z, rtol=0, atol=rtol * np.abs(Z).max())
    for one, each in zip(whole.targets_, found.targets_, strict=True):
        assert (one.name, one.kind, one.columns, one.n_unknown) == (each.name, each.kind, each.columns, each.n_unknown)
        np.testing.assert_allclose(each.mean, one.mean, rtol=rtol)
        np.testing.assert_allclose(each.scale, one.scale, rtol=rtol)
        assert one.values == each.values


PARTS = [*((name, "some unknown") for name in FROM_ROWS), *(("OPLS", form) for form in FORMS if form != "some unknown")]


@pytest.mark.parametrize(("name", "form"), PARTS)
def test_parts_and_merges_are_one_fit(name, form):
    """Parts of a row, cells that are unknown, and columns that a part does not know."""
    y, method = FORMS[form], copy_of(METHODS[name]).set_params(target_type="real")
    whole = copy_of(method).fit(X, y)
    for merged in (False, True):
        found = in_parts(copy_of(method), X, y, merged)
        if hasattr(whole, "predict"):  # before anything has asked for the solution
            np.testing.assert_allclose(found.predict(NEW), whole.predict(NEW), rtol=1e-9, atol=1e-9)
            scale = np.abs(whole.coef_).max(axis=1, keepdims=True)
            np.testing.assert_allclose(found.coef_ / scale, whole.coef_ / scale, rtol=0, atol=1e-9)
            np.testing.assert_allclose(found.intercept_, whole.intercept_, rtol=1e-8)
            if form == "some unknown":
                assert found.score(X, Y) == pytest.approx(whole.score(X, Y), rel=1e-9)
        assert_same_fit(found, whole)


def test_sums_of_numbers_are_those_of_what_the_method_makes_of_them():
    found = in_parts(OPLS(ridge=0.1), X + 1e3, HIDDEN, True).sums_
    F = np.nan_to_num((HIDDEN - np.nanmean(HIDDEN, axis=0)) / np.nanstd(HIDDEN, axis=0))
    assert found.classes_ is found.label_counts is None
    np.testing.assert_allclose(found.label_products(), (X - X.mean(axis=0)).T @ F, rtol=1e-9)
    merged = in_parts(OPLS(ridge="auto"), X, HIDDEN, True)
    assert merged.ridge_ == pytest.approx(in_parts(OPLS(ridge="auto"), X, HIDDEN, False).ridge_)


@pytest.mark.parametrize("name", ["OPLS", "CCA", "MORP", "SLVM"])
def test_blocks_of_numbers_are_read_once(name):
    """SLVM places the rows in a second reading."""
    readings = []

    def read():
        readings.append(1)
        return [(X[:50], HIDDEN[:50]), (X[50:], HIDDEN[50:])]

    method = copy_of(METHODS[name])
    method.fit(RowBlocks(read))
    assert len(readings) == (2 if name == "SLVM" else 1)
    if name != "SLVM":
        once = copy_of(method).fit(RowBlocks(iter(read())))
        np.testing.assert_array_equal(once.transform(NEW), method.transform(NEW))


GRADES = np.array(["d", "b", "a", "c"])[np.digitize(X[:, 0] + np.arange(N) / 40, [0.5, 1.5, 3.0])]
MIXED = pd.DataFrame(
    {
        "grade": np.where(np.arange(N) % 11 == 0, None, GRADES),
        "yield": HIDDEN[:, 1],
        "flag": X[:, 1] > 1,
        "size": pd.Categorical(np.array(["S", "M", "L"])[np.arange(N) % 3], ["S", "M", "L"], ordered=True),
        "kind": np.where(np.arange(N) < 40, None, np.array(["x", "y"])[(X[:, 2] > 1).astype(int)]),  # unknown at first
    }
)
TABLES = {
    "mixed": MIXED,
    "classes": np.column_stack([GRADES, GRADES[::-1]]),
    "codes": np.column_stack([Y[:, 0], np.digitize(np.arange(N), [20, 60])]),
}


@pytest.mark.parametrize("name", ["OPLS", "CCA", "PLS", "MVMD"])
@pytest.mark.parametrize("table", TABLES)
def test_classes_beside_numbers_come_late(name, table):
    """A block has one class or two of a column; one block knows no cell of a column."""
    y, words = TABLES[table], {1: "classes"} if table == "codes" else None
    method = copy_of(METHODS[name]).set_params(target_type=words)
    method.set_params(scale_targets={"grade": 2.0} if table == "mixed" else "standard")
    whole = copy_of(method).fit(X, y)
    blocks = RowBlocks([(X[part], rows_of(y, part)) for part in np.split(np.arange(N), [2, 15, 40, 41])])
    for found in (copy_of(method).fit(blocks), in_parts(copy_of(method), X, y, False), in_parts(method, X, y, True)):
        assert_same_fit(found, whole)
        if hasattr(whole, "predict"):
            expected, predicted = whole.predict(NEW), found.predict(NEW)
            assert list(getattr(predicted, "dtypes", "")) == list(getattr(expected, "dtypes", ""))
            for (_, one), (_, other) in zip(
                pd.DataFrame(predicted).items(), pd.DataFrame(expected).items(), strict=True
            ):
                if pd.api.types.is_float_dtype(one.dtype):
                    np.testing.assert_allclose(one, other, rtol=1e-8)
                else:
                    assert one.tolist() == other.tolist()
            np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-7, atol=1e-9)


def test_a_kernel_map_of_classes_beside_numbers():
    """Rows of the sample have the classes of their block."""
    y = MIXED[["grade", "yield"]].assign(total=Y[:, 2])
    method = Kernelized(OPLS(ridge=0.1, unknown="mean"), n_prototypes=N, tau=4.0, random_state=0)
    Z, found = copy_of(method).fit(X, y).transform(NEW), copy_of(method).fit(table_blocks(y)).transform(NEW)
    np.testing.assert_allclose(found * np.sign(np.sum(Z * found, axis=0)), Z, rtol=0, atol=1e-6 * np.abs(Z).max())


def table_blocks(y):
    return RowBlocks([(X[part], rows_of(y, part)) for part in np.split(np.arange(N), [10, 41])])


def test_an_unknown_row_takes_no_part():
    y = np.where(np.arange(N)[:, None] % 7 == 0, np.nan, Y)
    with pytest.warns(
        UserWarning, match="^OPLS cannot use rows without a known output: 18 of 120 rows have no known output"
    ):
        whole = OPLS(ridge=0.1).fit(X, y)
    found = in_parts(OPLS(ridge=0.1), X, y, False)
    with pytest.warns(
        UserWarning, match="^OPLS cannot use rows without a known output: 18 of 120 rows have no known output"
    ):
        np.testing.assert_allclose(found.predict(NEW), whole.predict(NEW), rtol=1e-9)


def test_saved_between_two_parts(tmp_path):
    one = OPLS(ridge=0.1).partial_fit(X[:50], MIXED[:50])
    proxembed.save(one, tmp_path / "part.skops")
    again = proxembed.load(tmp_path / "part.skops").partial_fit(X[50:], MIXED[50:])
    pd.testing.assert_frame_equal(again.predict(NEW), one.partial_fit(X[50:], MIXED[50:]).predict(NEW))


def parts(first, second, **words):
    """A partial fit on rows whose y changes its kind in between."""
    return lambda: OPLS(**words).partial_fit(X[: len(first)], first).partial_fit(X[: len(second)], second).n_components_


WHOLE = np.abs(np.round(Y[:, 0]))
KIND = "pass what it holds, such as target_type="
REFUSED = {
    "A kernel of numbers needs all rows at once": lambda: MDDM(label_kernel="rbf").fit(blocks_of(X, Y)),
    f"y column 0 holds labels in one block and numbers in another: {KIND}{{0: 'real'}}.": lambda: OPLS().fit(
        blocks_of(X, np.where(np.arange(N)[:, None] < 50, Y, Y > 1), 50)
    ),
    f"y holds classes in one block and numbers in another: {KIND}'real'.": parts(WHOLE[:9], Y[:, 0]),
    f"y column 'a' holds classes in one block and numbers in another: {KIND}{{'a': 'real'}}.": parts(
        pd.DataFrame({"a": GRADES, "b": Y[:, 0]}), pd.DataFrame({"a": Y[:, 1], "b": Y[:, 0]})
    ),
    f"y column 'b' holds labels in one block and ordered categories in another: {KIND}{{'b': 'classes'}}.": parts(
        MIXED[["yield", "flag"]].set_axis(["a", "b"], axis=1), MIXED[["yield", "size"]].set_axis(["a", "b"], axis=1)
    ),
    "y has 3 columns in one block and 2 in another, or columns of other names": parts(Y, Y[:, :2]),
    "y has 2 columns in one block and 2 in another, or columns of other names": parts(
        pd.DataFrame({"a": GRADES, "b": Y[:, 0]}), pd.DataFrame({"b": Y[:, 0], "a": GRADES})
    ),
    "y mixes numbers and text in column 1; make it one kind.": parts(
        TABLES["codes"][:9], np.column_stack([Y[:, 0].astype(object), GRADES]), target_type={1: "classes"}
    ),
    "y column 'b' has other ordered categories in one block than in another.": parts(
        pd.DataFrame({"a": Y[:3, 0], "b": pd.Categorical(["S", "M", "L"], ["S", "M", "L"], ordered=True)}),
        pd.DataFrame({"a": Y[:3, 0], "b": pd.Categorical(["S", "M", "L"], ["M", "S", "L"], ordered=True)}),
    ),
    "Every column of y is constant.": lambda: OPLS().fit(blocks_of(X, np.full(N, 0.5))),
    "y column 0 has 1 known cell; two are needed: drop it.": lambda: OPLS().fit(
        blocks_of(X, np.column_stack([np.where(np.arange(N) > 0, np.nan, Y[:, 0]), Y[:, 1]]))
    ),
    "Found 1 row(s) whose outputs are known (0 left out)": lambda: OPLS().partial_fit(X[:1], Y[:1]).n_components_,
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_blocks_of_numbers_cannot_do(message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        REFUSED[message]()


def test_a_template_of_other_factors_of_numbers_says_that_it_needs_them_first():
    class _Doubled(PLS):
        def template(self, rows):
            return Template(LowRank(rows.labels.Y * 2.0, center=rows.ones), offset=rows.ones)

    with pytest.raises(TypeError, match="takes numbers in blocks with from_sums='labels'"):
        _Doubled().fit(blocks_of(X, Y))


def test_blocks_of_0_and_1_among_memberships_are_memberships():
    rng = np.random.default_rng(0)
    rows, shares = rng.normal(size=(40, 4)), rng.random((40, 3))
    shares[20:30] = np.round(shares[20:30])
    for y in (shares, shares[:, 0]):
        for ridge in (0.1, "auto"):
            model = OPLS(ridge=ridge, target_type="labels")
            whole = np.abs(model.fit(rows, y).transform(rows))
            blocks = np.abs(model.fit(RowBlocks.from_arrays(rows, y, block_rows=10)).transform(rows))
            np.testing.assert_allclose(blocks, whole, rtol=0, atol=1e-9 * whole.max())
        parts = OPLS(ridge=0.1, target_type="labels").partial_fit(rows[:25], y[:25]).partial_fit(rows[25:], y[25:])
        expected = np.abs(OPLS(ridge=0.1, target_type="labels").fit(rows, y).transform(rows))
        np.testing.assert_allclose(np.abs(parts.transform(rows)), expected, rtol=0, atol=1e-9 * expected.max())
        with pytest.raises(ValueError, match="memberships in (one|another).*or rows with memberships first"):
            OPLS(ridge=0.1, target_type="labels").partial_fit(rows[20:30], y[20:30]).partial_fit(rows, y)
