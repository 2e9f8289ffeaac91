"""Collections of dask as rows: fits where the pieces are, lazy results, and what cannot be paired is refused."""

import subprocess
import sys

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import delayed
from scipy import sparse
from sklearn.base import clone

import strategies
from invariants.cases import assert_same_gram
from proxembed import (
    BSML,
    FDA,
    HSL,
    LPP,
    MDDM,
    MESD,
    MLDA,
    MLLS,
    OPLS,
    PCA,
    PLS,
    CopyLDA,
    Kernelized,
    RowBlocks,
)
from proxembed.data import parquet_blocks

pytestmark = pytest.mark.default_configuration

TOLERANCE = 1e-10
N, D, C = 240, 8, 5
X, Y = strategies.labelled_rows(N, D, C, 3)
CLASSES = np.array(["ant", "bee", "cow"])[np.argmax(X[:, :3], axis=1)]
FEATURES, LABELS = [f"x{j}" for j in range(D)], [f"label{j}" for j in range(C)]
METHODS = [
    OPLS(), PCA(n_components=3), PLS(), CopyLDA(), MLLS(), HSL(), MLDA(), MDDM(label_kernel="rbf"),
    MESD(weighting="mimj"), Kernelized(OPLS(), n_prototypes=20, random_state=0),
    Kernelized(OPLS(), n_prototypes=20, constraint="coef", tau=9.0, random_state=0),
]  # fmt: skip


def frame(partitions: int = 7) -> dd.DataFrame:
    table = pd.DataFrame(X, columns=FEATURES).assign(kind=CLASSES)
    table[LABELS] = Y
    return dd.from_pandas(table, npartitions=partitions)


def arrays(rows=(100, 1, 139), columns=(5, 3)) -> tuple[da.Array, da.Array]:
    return da.from_array(X, chunks=(rows, columns)), da.from_array(Y, chunks=(50, 2))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_a_fit_on_pieces_is_that_of_all_rows(method):
    """Blocks that are cut by columns too, labels that are cut elsewhere, and the ridge of the same rows left out."""
    found, whole = clone(method).fit(*arrays()), clone(method).fit(X, Y)
    assert_same_gram(found.transform(X), whole.transform(X), TOLERANCE)
    assert found.ridge_ == pytest.approx(whole.ridge_, rel=1e-10)
    assert (found.n_features_in_, found.n_components_) == (D, whole.n_components_)


@pytest.mark.parametrize("chunks", [3, 31, 240])
def test_the_tree_of_any_number_of_pieces(chunks):
    found = OPLS().fit(da.from_array(X, chunks=(chunks, D)), Y)
    assert_same_gram(found.transform(X), OPLS().fit(X, Y).transform(X), TOLERANCE)


def test_the_same_bits_whatever_runs_the_tasks():
    found = []
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            found.append(OPLS().fit(*arrays((30,) * 8)).components_)
    np.testing.assert_array_equal(*found)


def test_tables_with_names_and_classes():
    table, whole = frame(), FDA().fit(pd.DataFrame(X, columns=FEATURES), CLASSES)
    found = FDA().fit(table[FEATURES], table["kind"])
    assert found.classes_.tolist() == ["ant", "bee", "cow"] and found.feature_names_in_.tolist() == FEATURES
    assert_same_gram(
        found.transform(pd.DataFrame(X, columns=FEATURES)), whole.transform(pd.DataFrame(X, columns=FEATURES)), 1e-9
    )
    labelled = OPLS().fit(table[FEATURES], table[LABELS])
    assert labelled.classes_.tolist() == LABELS


@pytest.mark.parametrize("name", ["OPLS", "PLS"])
def test_numbers_and_classes_of_pieces(name, tmp_path):
    """A table of classes and numbers in partitions, in a Parquet file, and in parts that are added, some of them
    pieces."""
    method = {"OPLS": OPLS(ridge=0.1, unknown="mean"), "PLS": PLS(unknown="mean")}[name]
    y = pd.DataFrame({"kind": CLASSES, "size": np.where(np.arange(N) % 5 == 0, np.nan, X[:, 0] + 1e3)})
    order = np.argsort(CLASSES, kind="stable")  # a partition has one class or two
    rows, y = pd.DataFrame(X[order], columns=FEATURES), y.iloc[order].reset_index(drop=True)
    whole = clone(method).fit(rows, y).predict(rows)
    pieces = dd.from_pandas(rows, npartitions=5), dd.from_pandas(y, npartitions=5)
    rows.assign(**y).to_parquet(tmp_path / "rows.parquet", row_group_size=50)
    files = parquet_blocks(tmp_path / "rows.parquet", ["kind", "size"], features=FEATURES, block_rows=70)
    added = clone(method).partial_fit(rows[:99], y[:99])
    last = dd.from_pandas(rows[99:], npartitions=3), dd.from_pandas(y[99:], npartitions=3)
    for found in (clone(method).fit(*pieces), clone(method).fit(files), added.partial_fit(*last)):
        new = rows if hasattr(found, "feature_names_in_") else X[order]
        predicted = pd.DataFrame(found.predict(new)).set_axis(["kind", "size"], axis=1)
        assert predicted["kind"].tolist() == whole["kind"].tolist()
        np.testing.assert_allclose(predicted["size"].astype(float), whole["size"], rtol=1e-9)


def test_sparse_blocks_and_delayed_pieces():
    rows = sparse.csr_array(np.where(X > 0.5, X, 0.0))
    whole = OPLS().fit(rows, Y).transform(rows)
    blocks = arrays((80, 80, 80), (D,))[0].map_blocks(lambda block: sparse.csr_array(np.where(block > 0.5, block, 0.0)))
    found = OPLS().fit(blocks, Y)
    assert_same_gram(found.transform(rows), whole, TOLERANCE)
    assert_same_gram(found.transform(blocks).compute(), whole, TOLERANCE)
    pairs = RowBlocks.from_dask([delayed((rows[i : i + 60], Y[i : i + 60])) for i in range(0, N, 60)])
    assert_same_gram(OPLS().fit(pairs).transform(rows), whole, TOLERANCE)


def test_pieces_that_are_sources_themselves(tmp_path):
    """Paths are sent; a piece is read in blocks where its file is."""
    pieces = []
    for number, part in enumerate((slice(0, 100), slice(100, N))):
        np.save(tmp_path / f"X{number}.npy", X[part])
        np.save(tmp_path / f"y{number}.npy", Y[part])
        paths = tmp_path / f"X{number}.npy", [f"{tmp_path}/y{number}.npy"]
        pieces.append(delayed(RowBlocks.from_npy)(*paths, block_rows=30))
    rows = RowBlocks.from_dask(pieces)
    for method in (OPLS(), MLDA()):
        assert_same_gram(clone(method).fit(rows).transform(X), clone(method).fit(X, Y).transform(X), TOLERANCE)
    model = PCA(n_components=2).fit(rows)
    assert_same_gram(model.transform(rows).stacked(), model.transform(X), TOLERANCE)
    np.testing.assert_array_equal(np.concatenate([y for _, y in rows]), Y)


def test_partitions_without_rows_and_of_unknown_lengths():
    table = frame()
    some = table[table["x0"] > np.quantile(X[:, 0], 0.99)]
    assert min(some.map_partitions(len).compute()) == 0
    kept = X[:, 0] > np.quantile(X[:, 0], 0.3)
    whole = PCA(n_components=2).fit(X[X[:, 0] > np.quantile(X[:, 0], 0.99)])
    assert_same_gram(
        PCA(n_components=2).fit(some[FEATURES].to_dask_array()).transform(X), whole.transform(X), TOLERANCE
    )
    more = table[table["x0"] > np.quantile(X[:, 0], 0.3)]
    rows, labels = more[FEATURES].to_dask_array(), more[LABELS].to_dask_array()
    found = OPLS().fit(rows, labels)
    assert_same_gram(found.transform(X), OPLS().fit(X[kept], Y[kept]).transform(X), TOLERANCE)
    assert found.transform(rows).compute().shape == (kept.sum(), found.n_components_)


def test_rows_too_wide_for_a_gram_matrix_are_read_where_they_are(monkeypatch):
    monkeypatch.setattr("proxembed.estimator.sums.DENSE_LIMIT", 4)
    monkeypatch.setattr("proxembed.algebra.pencil.problem.DENSE_LIMIT", 4)
    rows, whole = arrays()[0], OPLS(ridge=1.0).fit(X, Y)
    for ridge in (1.0, "auto"):
        found = OPLS(ridge=ridge).fit(rows, Y)
        assert found.solver_ == "iterative"
    assert_same_gram(OPLS(ridge=1.0).fit(rows, Y).transform(X), whole.transform(X), 1e-6)


def test_kernels_by_prototypes_of_a_sample_of_all_pieces():
    rows, labels = arrays()
    method = Kernelized(OPLS(), n_prototypes=30, random_state=0)
    found, blocks = clone(method).fit(rows, labels), clone(method).fit(RowBlocks.from_arrays(X, Y, block_rows=70))
    np.testing.assert_array_equal(found.prototypes_, blocks.prototypes_)
    assert_same_gram(found.transform(X), blocks.transform(X), 1e-8)
    assert_same_gram(found.transform(rows).compute(), blocks.transform(X), 1e-8)


def test_results_are_lazy():
    calls = []
    rows, labels = arrays()
    model = OPLS(n_components=3).fit(rows, labels)
    Z = model.transform(rows.map_blocks(lambda block: calls.append(1) or block, dtype=X.dtype, meta=np.empty((0, 0))))
    assert isinstance(Z, da.Array) and Z.chunks == ((100, 1, 139), (3,)) and calls == []
    assert_same_gram(Z.compute(), model.transform(X), TOLERANCE)
    assert calls
    assert model.transform(rows.astype(np.float32)).dtype == np.float32
    table = frame()
    named = OPLS(n_components=3).fit(table[FEATURES], table[LABELS]).transform(table[FEATURES])
    assert isinstance(named, dd.DataFrame) and named.divisions == table.divisions
    assert named.columns.tolist() == named.compute().columns.tolist() == ["opls0", "opls1", "opls2"]


def test_two_models_with_the_same_parameters_are_two():
    """dask names what it computes by its arguments, and an estimator by its parameters."""
    table = frame()
    one, two = (OPLS(ridge=0.1).fit(table[FEATURES], table[names]) for names in (LABELS, LABELS[:2]))
    both = dask.compute(one.transform(table[FEATURES])["opls0"], two.transform(table[FEATURES])["opls0"])
    assert not np.allclose(both[0], both[1])


def test_labels_and_scores_of_new_rows():
    rows, labels = arrays()
    model, whole = MLLS().fit(rows, labels), MLLS().fit(X, Y)
    np.testing.assert_allclose(model.decision_function(rows).compute(), whole.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(model.predict(rows).compute(), whole.predict(X))
    named = MLLS().fit(rows, [set(np.flatnonzero(y).tolist()) for y in Y])
    assert [found for part, _ in named.predict(rows) for found in part] == named.predict(X)


def test_more_rows():
    """In calls of any kind, with new labels."""
    rows, labels = arrays((40,) * 6)
    found = OPLS(ridge=0.1).partial_fit(rows[:80], labels[:80]).partial_fit(X[80:90], Y[80:90])
    found.partial_fit(rows[90:], labels[90:])
    assert_same_gram(found.transform(X), OPLS(ridge=0.1).fit(X, Y).transform(X), 1e-8)
    assert found.sums_.n == N
    with pytest.raises(ValueError, match="label 'cow', which is not among classes"):
        FDA().partial_fit(rows, CLASSES, classes=["ant", "bee"])
    with pytest.raises(ValueError, match="8 in one part of the rows and 7 in another"):
        found.partial_fit(rows[:, :7], labels)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (lambda rows, labels: OPLS().fit(rows, Y[:9]), "X has 240 rows, y has 9"),
        (lambda rows, labels: OPLS().fit(rows, labels[:9]), "X has 240 rows, y has 9"),
        (lambda rows, labels: OPLS().fit(rows), "requires y to be passed"),
        (lambda rows, labels: OPLS().fit(X, labels), "y is a dask collection, but X is in memory"),
        (lambda rows, labels: OPLS().fit(rows[rows[:, 0] > 0], Y), "compute_chunk_sizes"),
        (lambda rows, labels: OPLS().fit(frame(7)[FEATURES], labels), "7 partitions of rows and y 5"),
        (lambda rows, labels: OPLS().fit(rows[rows[:, 0] > 9], labels.rechunk((100, 5))), "0 rows of X and 100 of y"),
        (lambda rows, labels: OPLS().fit(rows[:, 0], labels), "1 dimension"),
        (lambda rows, labels: LPP().fit(rows), "LPP cannot be fitted on blocks"),
        (lambda rows, labels: BSML().fit(rows, labels), "does not take dask collections here"),
        (lambda rows, labels: OPLS().fit(rows, labels).transform(rows[:, :4]), "X has 4 features, but OPLS"),
        (lambda rows, labels: OPLS().set_output(transform="pandas").fit(rows, Y).transform(rows), "set_output"),
        (lambda rows, labels: RowBlocks.from_dask([delayed(X)], labels), "y must come with the delayed pieces"),
        (lambda rows, labels: PCA().fit(RowBlocks.from_dask([delayed(X), delayed(X[:, 1:])])), "7 in another"),
    ],
)
def test_what_is_refused(step, words):
    with pytest.raises(ValueError, match=words):
        step(*arrays())


@pytest.mark.parametrize("given", [delayed(X), db.from_sequence([1, 2])])
def test_other_collections(given):
    with pytest.raises(TypeError, match="pass a dask array or a dask DataFrame"):
        PCA().fit(given)
    with pytest.raises(TypeError, match="list of dask.delayed values"):
        RowBlocks.from_dask([X])


def test_a_sample_of_pieces():
    """Of all pieces, each row at most once, in their order, whatever the workers."""
    numbered = da.from_array(np.arange(240.0)[:, None], chunks=((100, 1, 139), 1))
    rows, y = RowBlocks.from_dask(numbered).sample(60)
    assert y is None and len(rows) == len(np.unique(rows)) == 60 and np.all(np.diff(rows.ravel()) > 0)
    assert 10 < np.sum(rows < 100) < 40
    np.testing.assert_array_equal(RowBlocks.from_dask(numbered).sample(60)[0], rows)
    assert RowBlocks.from_dask(numbered).sample(1000)[0].shape == (240, 1)


@pytest.fixture(scope="module")
def fresh():
    """What a fresh process prints that fits rows in memory, and then collections one after another."""
    code = (
        "import sys, numpy as np, proxembed as p; X = np.random.default_rng(0).normal(size=(90, 3))\n"
        "p.PCA().fit(p.RowBlocks([X])).transform(X); p.OPLS().fit(X, X > 0).transform(X)\n"
        "print(len({'dask', 'distributed'} & set(sys.modules)))\n"
        "import dask.array as da\n"
        "assert 'distributed' not in sys.modules\n"
        "for _ in range(2): p.PCA(n_components=2).fit(da.from_array(X, chunks=(30, 3)))\n"
        "import dask, distributed\n"
        "print(len(dask.config.get('distributed.comm')) > 0)"
    )
    return subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def test_rows_in_memory_import_no_dask(fresh):
    assert fresh[0] == "0"


def test_fits_one_after_another_in_a_fresh_process(fresh):
    """distributed, where dask imports it in the middle of a fit, keeps its settings."""
    assert fresh[1] == "True"
