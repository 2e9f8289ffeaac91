"""A kernel or a relation with prototypes on blocks of rows is that of all rows: the lift is made a tile at a time."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import strategies
from designs import each_value, pairwise
from invariants.cases import assert_same_gram
from memory import traced_memory
from proxembed import (
    CCA,
    DMLDA,
    FDA,
    HSL,
    LSI,
    MDDM,
    MESD,
    MLLS,
    MLSI,
    MMC,
    MORP,
    MVMD,
    OPLS,
    PCA,
    PLS,
    SFEHS,
    CopyLDA,
    Kernelized,
    RelationFeatures,
    RowBlocks,
)

TOLERANCE = 1e-9
INNER = [OPLS(), CCA(ridge=0.1), PCA(n_components=3), LSI(), PLS(), MVMD(), MDDM(label_kernel="rbf"), MLLS(), MORP()]
INNER += [MLSI(), MLSI(form="ratio"), CopyLDA(ridge=0.1), DMLDA(ridge=0.1), HSL(ridge=0.1, center=False), SFEHS()]
PROTOTYPES = 30


def told(n: int = 400, d: int = 6, c: int = 4, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    Y = strategies.labels_multi(n, c, seed)
    return np.tanh(strategies.told_by_labels(strategies.features_dense(n, d, seed), Y, seed)), Y


def given(rows):
    """A choice of prototypes that is the same for every sample."""
    return lambda X, n_prototypes, y_groups=None, random_state=None: (rows, None)


def of_signs(X, P):
    """A kernel that is a function: of the signs of features."""
    return np.exp((sparse.csr_array(X).sign() @ sparse.csr_array(P).sign().T).toarray() / 3)


KERNELS = {name: name for name in ("linear", "polynomial", "cosine", "gaussian")} | {"function": of_signs}


def y_for(estimator, Y):
    return None if estimator.traits.labels is None else Y


@each_value
@pytest.mark.parametrize("constraint", ["feature", "coef"])
@pytest.mark.parametrize("inner", INNER, ids=lambda method: type(method).__name__)
def test_blocks_are_the_whole(inner, constraint):
    """Of fewer rows than the sample holds, prototypes and width are those of a fit in memory, too."""
    X, Y = told()
    method = Kernelized(inner, n_prototypes=PROTOTYPES, constraint=constraint, tau=4.0, random_state=0)
    y = y_for(method, Y)
    found, whole = method.fit(RowBlocks.from_arrays(X, y, block_rows=67)), clone(method).fit(X, y)
    np.testing.assert_array_equal(found.prototypes_, whole.prototypes_)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)
    np.testing.assert_allclose(found.eigenvalues_, whole.eigenvalues_, rtol=1e-8, atol=1e-10)
    assert found.ridge_ == pytest.approx(whole.ridge_, rel=1e-9) and found.tau_ == whole.tau_ == 4.0
    assert found.solver_ == whole.solver_


@pytest.mark.parametrize("inner", [OPLS(), PCA(), CCA(ridge=0.1)], ids=lambda method: type(method).__name__)
def test_width_and_ridge_that_are_chosen(inner):
    X, Y = told()
    method = Kernelized(inner, n_prototypes=PROTOTYPES, random_state=0)
    y = y_for(method, Y)
    found, whole = method.fit(RowBlocks.from_arrays(X, y, block_rows=67)), clone(method).fit(X, y)
    assert found.tau_ == whole.tau_ and found.ridge_ == pytest.approx(whole.ridge_, rel=1e-9)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)


@pairwise
@pytest.mark.parametrize(
    "kernel", ["linear", "polynomial", "cosine", "gaussian", of_signs], ids=lambda k: getattr(k, "__name__", k)
)
@pytest.mark.parametrize("constraint", ["feature", "coef"])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_the_same_prototypes_give_the_same_map_of_more_rows_than_the_sample(kernel, constraint, stored, monkeypatch):
    monkeypatch.setattr("proxembed.methods.relation.SAMPLE_ROWS", 90)
    X, Y = told(700)
    X = np.where(np.abs(X) < 0.2, 0.0, X)
    options = {"n_prototypes": PROTOTYPES, "prototypes": given(X[10::23]), "tau": 4.0, "constraint": constraint}
    method = Kernelized(OPLS(), kernel=kernel, **options)
    found = method.fit(RowBlocks.from_arrays(stored(X), Y, block_rows=101))
    whole = clone(method).fit(stored(X), Y)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)
    assert found.ridge_ == pytest.approx(whole.ridge_, rel=1e-8) or kernel == "gaussian"
    np.testing.assert_allclose(found.label_loadings_, whole.label_loadings_, atol=1e-8)


@pytest.mark.parametrize(
    "wrapped", [MESD(Kernelized(FDA(ridge=0.1), n_prototypes=PROTOTYPES, tau=4.0, random_state=0))]
)
@pytest.mark.parametrize("weighting", ["none", "mimj"])
def test_copies_of_a_kernel_method(wrapped, weighting):
    X, Y = told()
    method = clone(wrapped).set_params(weighting=weighting)
    found, whole = method.fit(RowBlocks.from_arrays(X, Y, block_rows=67)), clone(method).fit(X, Y)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)


@pytest.mark.parametrize("inner", [FDA(), MMC()], ids=lambda method: type(method).__name__)
def test_classes(inner):
    X, Y = told()
    classes = np.array(["b", "e", "a", "d"])[Y.argmax(axis=1)]
    method = Kernelized(inner, n_prototypes=PROTOTYPES, random_state=0)
    found, whole = method.fit(RowBlocks.from_arrays(X, classes, block_rows=7)), clone(method).fit(X, classes)
    assert found.classes_.tolist() == whole.classes_.tolist()
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)


def test_cuts_of_blocks_do_not_matter(monkeypatch):
    monkeypatch.setattr("proxembed.methods.relation.SAMPLE_ROWS", 90)
    X, Y = told(500)
    method = Kernelized(OPLS(), n_prototypes=PROTOTYPES, random_state=0)
    one, other = (clone(method).fit(RowBlocks.from_arrays(X, Y, block_rows=rows)) for rows in (500, 13))
    np.testing.assert_array_equal(one.prototypes_, other.prototypes_)
    assert one.tau_ == other.tau_
    assert_same_gram(one.transform(X), other.transform(X), TOLERANCE)


def test_rows_with_unknown_labels_take_no_part():
    X, Y = told()
    y = Y.astype(float)
    y[:150], y[170, 2] = np.nan, np.nan
    method = Kernelized(OPLS(unknown="drop"), n_prototypes=PROTOTYPES, random_state=0)
    with pytest.warns(UserWarning, match="151 of 400 rows have one and are left out"):
        found = method.fit(RowBlocks.from_arrays(X, y, block_rows=50))
    known = np.r_[150:170, 171:400]
    assert_same_gram(found.transform(X), clone(method).fit(X[known], Y[known]).transform(X), TOLERANCE)
    method = Kernelized(OPLS(), n_prototypes=PROTOTYPES, random_state=0)
    with pytest.warns(UserWarning, match="150 of 400 rows have no known label and are left out"):
        found = method.fit(RowBlocks.from_arrays(X, y, block_rows=50))
    with pytest.warns(UserWarning, match="150 of 400 rows have no known label and are left out"):
        whole = clone(method).fit(X, y)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)


@pytest.mark.default_configuration
def test_transform_by_blocks():
    X, Y = told()
    model = Kernelized(OPLS(), n_prototypes=PROTOTYPES, random_state=0).fit(X, Y)
    blocks = model.transform(RowBlocks.from_arrays(X, Y, block_rows=130))
    np.testing.assert_allclose(blocks.stacked(), model.transform(X), rtol=1e-9, atol=1e-11)


@pytest.mark.default_configuration
@pytest.mark.parametrize("kind", ["cosine", "gaussian", "polynomial", "euclidean"])
def test_relation_features_of_blocks(kind):
    X, Y = told()
    relate = RelationFeatures(kind, prototypes="kmedoids", n_prototypes=PROTOTYPES, random_state=0)
    pipeline = make_pipeline(relate, OPLS(ridge=0.1))
    blocks = RowBlocks.from_arrays(X, Y, block_rows=67)
    found, whole = clone(pipeline).fit(blocks), clone(pipeline).fit(X, Y)
    assert found[0].scale_ == whole[0].scale_ and found[0].tau_ == whole[0].tau_
    np.testing.assert_array_equal(found[0].prototypes_, whole[0].prototypes_)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)
    assert_same_gram(found.transform(blocks).stacked(), whole.transform(X), TOLERANCE)


def test_the_scale_of_a_polynomial_is_that_of_all_rows(monkeypatch):
    monkeypatch.setattr("proxembed.methods.relation.SAMPLE_ROWS", 90)
    X, _ = told()
    X[77] *= 50.0
    relate = RelationFeatures("polynomial", prototypes=given(X[:9]), n_prototypes=9)
    assert relate.fit(RowBlocks.from_arrays(X, block_rows=40)).scale_ == clone(relate).fit(X).scale_


def test_label_sets_choose_the_prototypes_of_blocks():
    X, Y = told()
    relate = RelationFeatures(prototypes="stratified", n_prototypes=PROTOTYPES, random_state=0)
    sets = [set(np.flatnonzero(row).tolist()) for row in Y]
    found = relate.fit(RowBlocks.from_arrays(X, sets, block_rows=67)).prototypes_
    np.testing.assert_array_equal(found, clone(relate).fit(X, Y).prototypes_)


def test_memory_is_that_of_some_blocks():
    """Neither X nor its kernel values are held: of those of a block, a tile of some megabytes at a time."""
    rows, d, number = 8192, 8, 28
    W = np.random.default_rng(0).normal(size=(d, 3))

    def read():
        for seed in range(number):
            X = np.random.default_rng(seed).normal(size=(rows, d))
            yield X, (np.tanh(X) @ W > 1).astype(np.int8)

    method = Kernelized(OPLS(ridge=0.1), n_prototypes=120, prototypes="random", tau=20.0, random_state=0)
    clone(method).fit(RowBlocks(lambda: [next(read())]))
    with traced_memory() as memory:
        method.fit(RowBlocks(read))
    kernel_of_all = 8 * 120 * rows * number
    assert memory.peak < 64 << 20 < kernel_of_all / 3


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda X, Y: Kernelized(OPLS()), "set n_prototypes, such as 1000"),
        (lambda X, Y: Kernelized(OPLS(), n_prototypes=9, prototypes="all"), 'prototypes="kmedoids"'),
        (lambda X, Y: Kernelized(OPLS(), n_prototypes=9, kernel="precomputed"), "use a named kernel and n_prototypes"),
        (lambda X, Y: RelationFeatures(), "Set n_prototypes, such as 1000"),
    ],
)
def test_without_prototypes_the_remedy_is_named(build, words):
    X, Y = told()
    with pytest.raises(ValueError, match=words):
        build(X, Y).fit(RowBlocks.from_arrays(X, Y))


def test_blocks_that_can_be_read_once_are_refused():
    X, Y = told()
    with pytest.raises(ValueError, match="Kernelized needs a sample of all rows before the rows"):
        Kernelized(OPLS(), n_prototypes=9).fit(RowBlocks(iter([(X, Y)])))


def test_too_few_rows_are_refused():
    X, Y = told()
    with pytest.raises(ValueError, match="minimum of 2 is required by Kernelized"):
        Kernelized(OPLS(), n_prototypes=9).fit(RowBlocks([(X[:1], Y[:1])]))


def test_rows_cannot_be_added_later():
    with pytest.raises(AttributeError) as error:
        Kernelized(OPLS(), n_prototypes=9).partial_fit(*told())
    assert "its prototypes are chosen from a sample of all rows: fit it on RowBlocks" in str(error.value.__cause__)
