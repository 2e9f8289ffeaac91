"""A fit on blocks of rows is the fit on all rows: every method that sums suffice for, every source of sums."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import strategies
from designs import WHOLE, each_value
from invariants.cases import assert_same_gram, fitted, gram_distance, on_cases
from memory import traced_memory
from proxembed import (
    BSML,
    CCA,
    DMLDA,
    FDA,
    HSL,
    LFDA,
    LPP,
    LSI,
    MDDM,
    MESD,
    MLDA,
    MLLS,
    MLSI,
    MMC,
    MOPE,
    MVMD,
    OPLS,
    PCA,
    PLS,
    SFEHS,
    SLVM,
    CopyLDA,
    Kernelized,
    RowBlocks,
)
from proxembed.algebra.pencil.linear import loo_errors, sampled_loo_errors
from proxembed.algebra.pencil.problem import Aim, Problem
from proxembed.estimator.sums import summed_rows

TOLERANCE = 1e-10
FROM_SUMS = on_cases(lambda case: case.default and case.build().traits.from_sums is not None)
ROW_LOCAL = [OPLS(ridge=0.1), CopyLDA(ridge=0.1), MESD(FDA(ridge=0.1)), DMLDA(ridge=0.1), PCA(n_components=3), MLLS()]


def cut(X, y, ends) -> list:
    """Blocks of consecutive rows that end before these rows."""
    starts = [0, *ends]
    ends = [*ends, X.shape[0]]
    pairs = [(a, b) for a, b in zip(starts, ends, strict=True) if b > a]
    return [(X[a:b], None if y is None else y[a:b]) for a, b in pairs]


def told(n: int = 240, d: int = 8, c: int = 5, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    return strategies.labelled_rows(n, d, c, seed)


def y_for(estimator, Y):
    return None if estimator.traits.labels is None else Y


@FROM_SUMS
def test_blocks_are_the_whole(case, data):
    y = None if case.labels is None else data.y
    whole, n = fitted(case, data), data.X.shape[0]
    found = case.build().fit(RowBlocks(cut(data.X, y, [1, 2, 9, n - 4])))
    assert_same_gram(found.transform(data.new), whole.transform(data.new), TOLERANCE)
    np.testing.assert_allclose(
        found.eigenvalues_, whole.eigenvalues_, rtol=1e-9, atol=1e-9 * abs(whole.eigenvalues_[0])
    )
    assert found.ridge_ == pytest.approx(whole.ridge_, rel=1e-10)
    assert (found.solver_, found.n_components_) == (whole.solver_, whole.n_components_)


@pytest.mark.parametrize("method", [OPLS(ridge=0.1), CCA(ridge=0.1), CopyLDA(), MLDA(), PLS(), MLLS()])
def test_what_is_learned_beside_the_components(method):
    X, Y = told()
    found, whole = method.fit(RowBlocks.from_arrays(X, Y, block_rows=50)), clone(method).fit(X, Y)
    for name in ("components_", "mean_", "label_loadings_", "coef_", "intercept_"):
        if hasattr(whole, name):
            np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(found.classes_, whole.classes_)
    if hasattr(whole, "predict"):
        np.testing.assert_array_equal(found.predict(X), whole.predict(X))


@each_value
@pytest.mark.parametrize("method", ROW_LOCAL, ids=lambda method: type(method).__name__)
@pytest.mark.parametrize("seed", range(2 if WHOLE else 1))
def test_neither_cuts_nor_order_of_blocks_matter(method, seed):
    X, Y = told()
    draw = np.random.default_rng(seed)
    blocks = cut(X, y_for(method, Y), np.sort(draw.integers(1, len(X), 30)).tolist())
    draw.shuffle(blocks)
    found, whole = method.fit(RowBlocks(blocks)), clone(method).fit(X, y_for(method, Y))
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)


@pytest.mark.parametrize("method", ROW_LOCAL, ids=lambda method: type(method).__name__)
def test_rows_far_from_the_origin(method):
    """Rows 10^6 standard deviations away, which are those near the origin up to the rounding of X itself."""
    X, Y = told()
    far = 1e6 * np.arange(1.0, X.shape[1] + 1)
    moved = X + far
    near = moved - far  # exact: what is left of X
    found = method.fit(RowBlocks.from_arrays(moved, y_for(method, Y), block_rows=7))
    expected = clone(method).fit(near, y_for(method, Y))
    assert_same_gram(found.transform(moved), expected.transform(near), 1e-7)
    assert gram_distance(found.components_.T, expected.components_.T) < 1e-11


def test_precision_of_tiles():
    X, Y = told(2000)
    exact = OPLS(ridge=0.1).fit(X, Y)
    rough = OPLS(ridge=0.1).fit(RowBlocks.from_arrays(X + 1e3, Y, block_rows=300, precision="float32"))
    distance = gram_distance(rough.transform(X + 1e3), exact.transform(X))
    assert 1e-10 < distance < 1e-5


FILLING = on_cases(
    lambda case: (
        case.default
        and case.labels == "multi"
        and case.build().traits.from_sums is not None
        and case.build().traits.fills_unknown
    )
)
DROPPING = [OPLS(ridge=0.1, unknown="drop"), MLDA(ridge=0.1, unknown="drop"), MDDM(label_kernel="rbf")]


@each_value
@FILLING
@pytest.mark.parametrize("complete", [0, 1, 100])
def test_unknown_cells_are_means_of_all_rows(case, data, complete):
    n, c = np.shape(data.y)
    y = np.array(data.y, dtype=float)
    y[np.arange(complete, n), np.arange(complete, n) % c] = np.nan
    y[[7, n - 1]] = np.nan
    with pytest.warns(UserWarning, match=f"2 of {n} rows have no known label"):
        whole = case.build().fit(data.X, y)
    with pytest.warns(UserWarning, match=f"2 of {n} rows have no known label"):
        found = case.build().fit(RowBlocks(cut(data.X, y, [1, 2, 9, n - 4])))
    assert_same_gram(found.transform(data.new), whole.transform(data.new), TOLERANCE)
    assert found.ridge_ == pytest.approx(whole.ridge_, rel=1e-10)


@pytest.mark.parametrize("method", DROPPING)
def test_unknown_labels_leave_rows_out(method):
    X, Y = told()
    y = Y.astype(float)
    y[:20], y[50, 2], y[77] = np.nan, np.nan, np.nan
    with pytest.warns(UserWarning, match="22 of 240 rows have one and are left out"):
        found = method.fit(RowBlocks(cut(X, y, [10, 60, 77, 78])))  # whole blocks are unknown
    with pytest.warns(UserWarning, match="22 of 240"):
        whole = clone(method).fit(X, y)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)


def test_rows_that_are_read_once_are_left_out_where_cells_are_unknown():
    X, Y = told()
    y = Y.astype(float)
    y[:20], y[50, 2], y[77] = np.nan, np.nan, np.nan
    with pytest.warns(UserWarning, match="22 of 240"):
        whole = OPLS(ridge=0.1, unknown="drop").fit(X, y)
    with pytest.warns(UserWarning, match="22 of 240.*RowBlocks that can be read again"):
        found = OPLS(ridge=0.1).fit(RowBlocks(iter(cut(X, y, [10, 60]))))
    added = OPLS(ridge=0.1).partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    with pytest.warns(UserWarning, match="22 of 240.*RowBlocks that can be read again"):
        added.transform(X)
    for each in (found, added):
        assert_same_gram(each.transform(X), whole.transform(X), TOLERANCE)


@pytest.mark.parametrize("block_rows", [1, 3, 64])
def test_classes_and_sets_that_come_late(block_rows):
    X, Y = told()
    names = np.array(["b", "e", "a", "d", "c"])
    classes = names[np.sort(Y.argmax(axis=1))]  # a block has one or two of them
    sets = [set(names[row > 0].tolist()) for row in Y]
    for method, y in ((FDA(ridge=0.1), classes), (MMC(), classes), (OPLS(ridge=0.1), sets), (MESD(), sets)):
        found, whole = method.fit(RowBlocks.from_arrays(X, y, block_rows=block_rows)), clone(method).fit(X, y)
        assert found.classes_.tolist() == whole.classes_.tolist()
        assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)
        np.testing.assert_allclose(abs(found.label_loadings_), abs(whole.label_loadings_), atol=1e-8)


def test_forms_of_labels_that_a_block_alone_does_not_tell():
    X, Y = told()
    signs = np.vstack([np.ones_like(Y[:3]), np.where(Y[3:] > 0, 1, -1)])
    found = MLLS().fit(RowBlocks(cut(X, signs, [3])))
    np.testing.assert_array_equal(found.predict(X), MLLS().fit(X, signs).predict(X))
    with pytest.raises(ValueError, match="0 and 1 in one block and -1 and"):
        OPLS().fit(RowBlocks([(X[:100], Y[:100]), (X[100:], np.where(Y[100:] > 0, 1, -1))]))
    with pytest.raises(ValueError, match="one form in every block"):
        OPLS().fit(RowBlocks([(X[:100], Y[:100]), (X[100:], Y[100:].argmax(axis=1))]))
    with pytest.raises(ValueError, match="the same columns"):
        OPLS().fit(RowBlocks([(X[:100], Y[:100]), (X[100:], Y[100:, :3])]))


@pytest.mark.parametrize(
    "method", [CopyLDA(), MLDA(), DMLDA(ridge=0.1), MESD(weighting="mimj"), MESD(MMC(), weighting="mimj")]
)
def test_rows_without_labels_weigh_what_they_do_in_memory(method):
    X, Y = told()
    Y[::5] = 0
    Y[:9] = 0  # a whole block
    found, whole = method.fit(RowBlocks.from_arrays(X, Y, block_rows=9)), clone(method).fit(X, Y)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)


LABEL_SETS = [
    MOPE(),
    MOPE("labels"),
    MOPE("labels", similarity="and"),
    MOPE("labels", similarity="cosine"),
    MOPE("labels", similarity="hamming_linear"),
]
LABEL_SETS += [
    MOPE("labels", similarity="jaccard"),
    MOPE("latent"),
    MOPE("classes", similarity="hamming"),
    MOPE("labels", a=2.0),
]


@each_value
@pytest.mark.parametrize("method", LABEL_SETS, ids=str)
@pytest.mark.parametrize("objective", ["proximity", "laplacian", "normalized"])
def test_proximities_that_labels_alone_tell(method, objective):
    """By factors of the labels, or by label sets; some rows without a label, some blocks of one row."""
    X, Y = told()
    Y[3] = 0
    method = clone(method).set_params(objective=objective)
    found, whole = method.fit(RowBlocks(cut(X, Y, [1, 4, 90, 91]))), clone(method).fit(X, Y)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)
    np.testing.assert_allclose(found.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    assert found.recall_ is None


@pytest.mark.parametrize("center", [True, False])
def test_proximities_under_a_constraint_on_the_embedding(center):
    X, Y = told()
    method = MOPE("labels", objective="laplacian", constraint="embedding", center=center)
    found, whole = method.fit(RowBlocks.from_arrays(X, Y, block_rows=50)), clone(method).fit(X, Y)
    assert found.ridge_ == pytest.approx(whole.ridge_, rel=1e-9)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)


@pytest.mark.parametrize("a", [1.0, 2.0])
@pytest.mark.parametrize("objective", ["proximity", "laplacian"])
def test_rows_that_are_near_none_are_refused(objective, a):
    """Sets that are like themselves alone: under a Laplacian no two rows of different sets, but two of one set."""
    X, Y = told(32)
    Y = (np.arange(32)[:, None] >> np.arange(5)) % 2  # each set once
    for y, similarity in ((Y, np.zeros((5, 5))), (Y, lambda sets: np.eye(len(sets)))):
        scheme = "labels" if callable(similarity) else "classes"
        method = MOPE(scheme, similarity=similarity, objective=objective, a=a)
        blocks = RowBlocks.from_arrays(X, y, block_rows=5)
        if objective == "proximity" and scheme == "labels":
            assert method.fit(blocks).n_components_ > 0
            continue
        with pytest.raises(ValueError, match="a proximity above 0"):
            method.fit(blocks)
        with pytest.raises(ValueError, match="a proximity above 0"):
            clone(method).fit(X, y)
        assert MOPE(scheme, similarity=similarity, objective=objective, a=a).traits.from_sums == "labels"


@pytest.mark.parametrize("wrapped", [FDA(), FDA(ridge=0.1), MMC()], ids=str)
def test_copies_weighed_as_printed(wrapped):
    X, Y = told()
    Y[::9] = 0
    method = MESD(wrapped, weighting="printed")
    found, whole = method.fit(RowBlocks.from_arrays(X, Y, block_rows=23)), clone(method).fit(X, Y)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)
    np.testing.assert_allclose(found.eigenvalues_, whole.eigenvalues_, rtol=1e-8)
    assert not hasattr(method, "partial_fit")


@pytest.mark.parametrize("coding", ["pm1", "01"])
@pytest.mark.parametrize("far", [0.0, 1e4])
def test_terms_over_their_traces(coding, far):
    X, Y = told()
    method, moved = MVMD(balance="trace", coding=coding), X + far
    found, whole = method.fit(RowBlocks.from_arrays(moved, Y, block_rows=23)), clone(method).fit(moved, Y)
    np.testing.assert_allclose(found.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    assert_same_gram(found.transform(moved), whole.transform(moved), TOLERANCE if far == 0 else 1e-7)
    parts = MVMD(balance="trace", coding=coding)
    for part, y in cut(moved, Y, [60, 61]):
        parts.partial_fit(part, y)
    np.testing.assert_allclose(parts.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    with pytest.raises(ValueError, match="the labels do not depend on X"):
        signs = np.tile([[1, 0], [0, 1]], (60, 1))
        MVMD(balance="trace").fit(RowBlocks([(np.repeat(X[:60], 2, axis=0), signs)]))


@each_value
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "options",
    [{}, {"center": True}, {"ridge": 0.1, "beta": 0.2}, {"n_components": 3, "scaling": "eigenvalue"},
     {"n_components": 0.9}, {"beta": 1.0}, {"beta": 0.0, "n_components": 2, "center": True}],
    ids=str,
)  # fmt: skip
def test_latent_variables_of_features_and_labels(options, stored):
    """The map of new rows is that of a fit in memory, but for signs; no row of blocks keeps a place of its own."""
    X, Y = told()
    X = np.where(X < 0.3, 0.0, X)
    new = stored(np.where(strategies.features_dense(30, 8, 5) < 0, 0.0, 1.0))
    found = SLVM(**options).fit(RowBlocks.from_arrays(stored(X), Y, block_rows=37))
    whole = SLVM(**options).fit(stored(X), Y)
    Z, expected = found.transform(new), whole.transform(new)
    signs = np.sign(np.sum(Z * expected, axis=0))
    np.testing.assert_allclose(Z * signs, expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.eigenvalues_, whole.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(found.label_loadings_ * signs[:, None], whole.label_loadings_, atol=1e-8)
    assert found.ridge_ == pytest.approx(whole.ridge_, rel=1e-9) and found.embedding_ is None
    np.testing.assert_allclose(found.truncate(1).transform(new), Z[:, :1], rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(found.classes_, whole.classes_)


def test_latent_variables_of_blocks_that_are_refused():
    X, Y = told()
    with pytest.raises(ValueError, match="SLVM needs the sums of all rows before the rows"):
        SLVM().fit(RowBlocks(iter([(X, Y)])))
    with pytest.raises(ValueError, match="n_components=14 is more than the 13 components that SLVM has"):
        SLVM(n_components=14).fit(RowBlocks.from_arrays(X, Y))
    y = Y.astype(float)
    y[:30, 1] = np.nan
    found = SLVM().fit(RowBlocks.from_arrays(X, y, block_rows=50))
    assert_same_gram(found.transform(X + 1.0), SLVM().fit(X, y).transform(X + 1.0), 1e-9)
    with pytest.warns(UserWarning, match="SLVM cannot use unknown labels: 30 of 240 rows"):
        found = SLVM(unknown="drop").fit(RowBlocks.from_arrays(X, y, block_rows=50))
    whole = SLVM().fit(X[30:], Y[30:])
    assert_same_gram(found.transform(X + 1.0), whole.transform(X + 1.0), 1e-9)


def test_a_label_that_no_row_has():
    X, Y = told()
    Y[:, 1] = 0
    found, whole = OPLS().fit(RowBlocks.from_arrays(X, Y, block_rows=40)), OPLS().fit(X, Y)
    np.testing.assert_allclose(found.label_loadings_, whole.label_loadings_, atol=1e-8)
    assert not found.label_loadings_[:, 1].any()


def test_sparse_blocks_beside_dense_ones():
    X, Y = told()
    X[X < 0.5] = 0.0
    blocks = [(sparse.csr_array(X[:90]), Y[:90]), (X[90:150], Y[90:150]), (sparse.csr_array(X[150:]), Y[150:])]
    assert_same_gram(OPLS().fit(RowBlocks(blocks)).transform(X), OPLS().fit(X, Y).transform(X), TOLERANCE)


def test_wide_sparse_rows_need_no_gram_matrix():
    draw = np.random.default_rng(0)
    X = sparse.random_array((300, 30_000), density=0.002, format="csr", random_state=draw)
    Y = strategies.labels_multi(300, 4, 1)
    for method in (PLS(), MDDM(label_kernel="cosine"), SFEHS(estimator="biased")):
        found, whole = method.fit(RowBlocks.from_arrays(X, Y, block_rows=70)), clone(method).fit(X, Y)
        assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)
    for blocks in (RowBlocks(iter([(X, Y)])), RowBlocks.from_arrays(X, Y)):
        with pytest.raises(ValueError, match="X'X would be a dense 30,000 x 30,000 array"):
            (OPLS() if not blocks.rereadable else CopyLDA()).fit(blocks)


STREAMED = [OPLS(ridge=1.0), CCA(), HSL(center=False, ridge=1.0), MDDM(metric="features")]


@pytest.mark.parametrize("method", STREAMED, ids=lambda method: type(method).__name__)
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_rows_too_wide_for_a_gram_matrix_are_read_for_every_product(method, stored, monkeypatch):
    monkeypatch.setattr("proxembed.estimator.sums.DENSE_LIMIT", 20)
    X, Y = told(150, d=40)
    X[X < 0.3] = 0.0
    found = method.fit(RowBlocks.from_arrays(stored(X), Y, block_rows=31))
    whole = clone(method).set_params(solver="iterative").fit(X, Y)
    assert found.solver_ == "iterative" and found.ridge_ == pytest.approx(whole.ridge_, rel=1e-9)
    assert_same_gram(found.transform(X), whole.transform(X), 1e-6)
    np.testing.assert_allclose(found.label_loadings_, whole.label_loadings_, atol=1e-5)


def test_a_template_of_the_rows_themselves_takes_their_gram_matrix(monkeypatch):
    monkeypatch.setattr("proxembed.estimator.sums.DENSE_LIMIT", 20)
    X, Y = told(150, d=40)
    for method in (MLSI(form="ratio"), MLLS()):
        found, whole = method.fit(RowBlocks.from_arrays(X, Y, block_rows=31)), clone(method).fit(X, Y)
        assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)


def test_rows_left_out_take_no_part_in_any_product(monkeypatch):
    monkeypatch.setattr("proxembed.estimator.sums.DENSE_LIMIT", 20)
    X, Y = told(150, d=40)
    y = Y.astype(float)
    y[40:80, 1] = np.nan
    with pytest.warns(UserWarning, match="40 of 150"):
        found = OPLS(ridge=1.0, unknown="drop").fit(RowBlocks.from_arrays(X, y, block_rows=30))
    rows = np.r_[0:40, 80:150]
    assert_same_gram(found.transform(X), OPLS(ridge=1.0).fit(X[rows], Y[rows]).transform(X), 1e-6)
    found = OPLS(ridge=1.0).fit(RowBlocks.from_arrays(X, y, block_rows=30))
    assert_same_gram(found.transform(X), OPLS(ridge=1.0).fit(X, y).transform(X), 1e-6)


def test_what_a_stream_of_rows_cannot_do(monkeypatch):
    monkeypatch.setattr("proxembed.estimator.sums.DENSE_LIMIT", 20)
    X, Y = told(150, d=40)
    for options, words in (({"ridge": 0.0}, "ridge=0 needs a decomposition"), ({"n_components": 0.5}, "integer")):
        with pytest.raises(ValueError, match=words):
            OPLS(**options).fit(RowBlocks.from_arrays(X, Y))


@pytest.mark.default_configuration
def test_transform_by_blocks():
    X, Y = told()
    model = OPLS().fit(X, Y)
    blocks = model.transform(RowBlocks.from_arrays(X, Y, block_rows=100))
    np.testing.assert_allclose(blocks.stacked(), model.transform(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(np.vstack([y for _, y in blocks]), Y)
    model = MLLS().fit(X, Y)
    for name in ("predict", "decision_function"):
        read = getattr(model, name)
        np.testing.assert_allclose(read(RowBlocks.from_arrays(X, block_rows=100)).stacked(), read(X), atol=1e-12)
    assert isinstance(OPLS().fit_transform(RowBlocks.from_arrays(X, Y)), RowBlocks)


@pytest.mark.parametrize("method", [OPLS(), CopyLDA(), HSL(center=False), MLDA()], ids=lambda one: type(one).__name__)
def test_leave_one_out_errors_are_those_of_rows_in_memory(method):
    """Of more than 4,096 rows with some weight, evenly spaced ones; rows without labels weigh nothing under copies."""
    X, Y = told(4500, d=3, c=3)
    Y[::11] = 0
    blocks, grid = RowBlocks.from_arrays(X, Y, block_rows=1000), np.array([1e-3, 1.0, 1e3])
    method.resolve()
    rows, whole = summed_rows(method, blocks), method._validate(X, Y)
    template = method.template(whole)
    problem = Problem(template, X, aim=Aim(ridge="auto"))
    expected = loo_errors(problem.coordinates, template.target, grid)
    np.testing.assert_allclose(rows._left_out(grid), expected, rtol=1e-9)
    weights = None if problem.uniform else problem.weights
    expected = sampled_loo_errors(problem.rows, weights, template.target, grid)
    np.testing.assert_allclose(rows._sampled(grid), expected, rtol=1e-9)


def test_a_ridge_from_rows_that_are_read_once():
    """Generalised cross-validation from the sums, at most a step of the grid from leave-one-out."""
    X, Y = told(600)
    for method in (OPLS(), CopyLDA(), MESD(), CCA()):
        exact = clone(method).fit(X, Y).ridge_
        once = method.fit(RowBlocks(iter(cut(X, Y, [100, 222])))).ridge_
        assert abs(np.log10(once / exact)) < 0.51


def test_memory_is_that_of_some_blocks():
    """Six blocks of X in float64, and neither X nor a vector of all rows."""
    rows, d, number = 4096, 64, 60
    W = np.random.default_rng(0).normal(size=(d, 5))

    def read():
        for seed in range(number):
            X = np.random.default_rng(seed).normal(size=(rows, d))
            yield X, (X @ W > 5).astype(np.int8)

    block = 8 * rows * d
    OPLS(ridge=0.1).fit(RowBlocks(lambda: [next(read())]))
    with traced_memory() as memory:
        OPLS(ridge=0.1).fit(RowBlocks(read))
    assert memory.peak < 6 * block < number * block / 4


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (LPP(), "LPP cannot be fitted on blocks: it links pairs of rows"),
        (Kernelized(OPLS()), "it compares all rows with each other; set n_prototypes, such as 1000"),
        (Kernelized(LPP(), n_prototypes=9), "the wrapped LPP cannot: it links pairs of rows"),
        (MESD(LFDA()), "its method needs all rows; FDA and MMC do not"),
        (MOPE(weights="gaussian"), "weights=None with n_links=None needs their labels alone"),
        (MOPE("latent", latent=PCA()), "latent='pca' and 'lsi' need sums"),
        (MOPE(similarity="features"), "similarity='dice' needs their numbers alone"),
    ],
)
def test_methods_that_need_all_rows_say_so(method, words):
    X, Y = told()
    with pytest.raises(ValueError, match=words):
        method.fit(RowBlocks.from_arrays(X, Y))


def test_estimators_that_are_no_methods_take_no_blocks():
    X, Y = told()
    with pytest.raises(ValueError, match="BSML does not take blocks of rows here"):
        BSML().fit(RowBlocks.from_arrays(X, Y), Y)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda X, Y: OPLS().fit(RowBlocks.from_arrays(X), Y), "y must come with the blocks"),
        (lambda X, Y: OPLS().fit(RowBlocks.from_arrays(X)), "target y is None in a block"),
        (lambda X, Y: MLDA().fit(RowBlocks(iter([(X, Y)]))), "needs the labels of all rows before the rows"),
        (lambda X, Y: FDA().fit(RowBlocks.from_arrays(X, Y)), r"Use MESD\(FDA\(\)\)"),
        (lambda X, Y: FDA().fit(RowBlocks.from_arrays(X, np.zeros(len(X), dtype=int))), "holds one class only"),
        (lambda X, Y: OPLS().fit(RowBlocks.from_arrays(np.ones_like(X), Y)), "X is constant"),
        (lambda X, Y: OPLS().fit(RowBlocks([(X[:1], Y[:1])])), "minimum of 2 is required"),
        (lambda X, Y: OPLS(n_components=6).fit(RowBlocks.from_arrays(X, Y)), "more than the 5 components"),
        (lambda X, Y: OPLS().fit(RowBlocks([(X[:9], Y[:9]), (X[9:, :4], Y[9:])])), "4 features"),
        (lambda X, Y: OPLS().fit(RowBlocks([(X[:9], Y[:9]), (X[9:] * np.nan, Y[9:])])), "NaN"),
        (lambda X, Y: OPLS().fit(RowBlocks([(X[:9], Y[:9]), (X[9:] * 1e90, Y[9:])])), "Divide X by"),
        (lambda X, Y: LSI(n_components=9).fit(RowBlocks.from_arrays(X)), "more than the 8 components"),
        (lambda X, Y: MDDM(label_kernel="rbf").fit(RowBlocks.from_arrays(X, Y * np.nan)), "minimum of 2"),
    ],
)
def test_bad_blocks_are_refused(build, words):
    X, Y = told()
    with pytest.raises(ValueError, match=words):
        build(X, Y)


def test_a_constant_feature_far_away_has_no_weight():
    X, Y = told()
    X = np.column_stack([X, np.full(len(X), 1e8 / 3)])
    found = OPLS(ridge=0.0).fit(RowBlocks.from_arrays(X, Y, block_rows=33))
    assert not found.components_[:, -1].any()


def test_blocks_warn_of_nothing_by_themselves():
    X, Y = told(100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in (OPLS(), MLDA(), HSL(), MESD(), SFEHS(), PCA()):
            method.fit(RowBlocks.from_arrays(X, y_for(method, Y), block_rows=1))
