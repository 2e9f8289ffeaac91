"""Sources that are read several times: each reading must give the rows of the first, however they are cut."""

import numpy as np
import pandas as pd
import pytest
from dask import delayed
from scipy import sparse

from proxembed import MDDM, MLDA, OPLS, PCA, Kernelized, RelationFeatures, RowBlocks, Scaling
from proxembed.blocks.readings import Readings, row_codes
from proxembed.classify import MultiOutputRidge
from proxembed.data import parquet_blocks
from proxembed.data.table_writer import TableWriter
from proxembed.evaluate.diagnose import crossfit_embedding, diagnose

N = 600
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 6))
Y = (X[:, :3] + rng.normal(size=(N, 3)) > 0.3).astype(int)


def blocks(rows=slice(None), size=100):
    own, labels = X[rows], Y[rows]
    return [(own[i : i + size], labels[i : i + size]) for i in range(0, len(own), size)]


def source(later, first=None):
    """Rows whose first reading is ``first`` and every further one ``later()``."""
    readings = [0]

    def read():
        readings[0] += 1
        return iter(blocks() if first is None else first) if readings[0] == 1 else iter(later())

    return RowBlocks(read)


OTHERS = {
    "no rows": lambda: [],
    "fewer rows": lambda: blocks(slice(0, 300)),
    "more rows": lambda: [*blocks(), *blocks(slice(0, 100))],
    "rows in another order": lambda: blocks(slice(None, None, -1)),
    "one other cell": lambda: [(np.where(np.arange(6) == 5, own + 1e-9, own), y) for own, y in blocks()],
    "other labels": lambda: [(own, 1 - y) for own, y in blocks()],
    "columns in another order": lambda: [(own[:, ::-1], y) for own, y in blocks()],
}
FITS = {
    "OPLS": lambda rows: OPLS().fit(rows),
    "MLDA": lambda rows: MLDA().fit(rows),
    "MDDM with a kernel": lambda rows: MDDM(label_kernel="rbf").fit(rows),
    "Kernelized": lambda rows: Kernelized(OPLS(), n_prototypes=20, random_state=0).fit(rows),
    "MultiOutputRidge": lambda rows: MultiOutputRidge(penalty="auto").fit(rows),
    "RelationFeatures": lambda rows: RelationFeatures("polynomial", prototypes="kmeans", n_prototypes=9).fit(rows),
    "diagnose": lambda rows: diagnose(OPLS(n_components=2), rows, None, n_resamples=2),
    "crossfit": lambda rows: list(crossfit_embedding(OPLS(n_components=2), rows, cv=2)),
}


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("other", OTHERS)
def test_a_reading_that_differs_is_refused(fit, other):
    with pytest.raises(ValueError, match=r"RowBlocks\(read\) gave .* every reading must give the same rows"):
        FITS[fit](source(OTHERS[other]))


def test_the_error_names_the_rows_of_both_readings_and_the_remedy():
    generator = iter(blocks())
    words = (
        r"RowBlocks\(<lambda>\) gave 600 rows in reading 1 and 0 rows in reading 2.*RowBlocks\(lambda: iter\(blocks\)\)"
    )
    with pytest.raises(ValueError, match=words):
        OPLS().fit(RowBlocks(lambda: generator))


def test_labels_that_are_read_alone_are_compared():
    rows = RowBlocks(lambda: iter(blocks()), labels=lambda: (1 - y for _, y in blocks()))
    with pytest.raises(ValueError, match="gave other rows in reading 2"):
        MLDA().fit(rows)
    same = RowBlocks(lambda: iter(blocks()), labels=lambda: (y.astype(float) for _, y in blocks(size=7)))
    whole = MLDA().fit(RowBlocks(lambda: iter(blocks())))
    np.testing.assert_allclose(MLDA().fit(same).eigenvalues_, whole.eigenvalues_, rtol=1e-9)


def test_equal_readings_may_be_cut_in_other_places():
    found = OPLS().fit(source(lambda: blocks(size=17)))
    assert found.ridge_ == pytest.approx(OPLS().fit(X, Y).ridge_, rel=1e-9)


@pytest.mark.default_configuration
def test_each_fit_compares_its_own_readings():
    """Rows may be replaced between two fits, and between a fit and a transform."""
    held = [blocks()]
    rows = RowBlocks(lambda: iter(held[0]))
    model = OPLS().fit(rows)
    held[0] = blocks(slice(0, 300))
    assert OPLS().fit(rows).ridge_ == pytest.approx(OPLS().fit(X[:300], Y[:300]).ridge_, rel=1e-9)
    assert model.transform(rows).stacked().shape[0] == 300


def test_rows_that_a_model_computes_are_compared_before_it():
    """A rounding error of the model is no difference; another row of the source is one."""
    draws = np.random.default_rng(0)
    noisy = RowBlocks(lambda: iter(blocks())).map(lambda own: own + 1e-15 * draws.normal(size=own.shape))
    assert OPLS().fit(noisy).ridge_ == pytest.approx(OPLS().fit(X, Y).ridge_, rel=1e-6)
    with pytest.raises(ValueError, match="every reading"):
        OPLS().fit(source(OTHERS["one other cell"]).map(np.negative))


@pytest.mark.parametrize("kind", ["npy", "npz", "csr"])
def test_files_that_are_replaced_between_two_readings(tmp_path, kind):
    def write(own, y):
        np.save(tmp_path / "y.npy", y)
        if kind == "npy":
            np.save(tmp_path / "new.npy", own)
            (tmp_path / "new.npy").replace(tmp_path / "X.npy")
        elif kind == "npz":
            sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(own))
        else:
            for name in ("data", "indices", "indptr"):
                np.save(tmp_path / f"{name}.npy", getattr(sparse.csr_array(own), name))

    write(X, Y)
    files = {"npy": tmp_path / "X.npy", "npz": tmp_path / "X.npz", "csr": tmp_path}
    options = (files[kind], 6) if kind == "csr" else (files[kind],)
    rows = getattr(RowBlocks, f"from_{kind}")(*options, [tmp_path / "y.npy"], block_rows=100).checked()
    assert sum(own.shape[0] for own, _ in rows) == N
    for own, y, words in ((X[:300], Y[:300], "gave 600 rows in reading 1 and 300 rows"), (X + 1, Y, "gave other rows")):
        write(own, y)
        with pytest.raises(ValueError, match=f"{files[kind].name}.*{words}.*Leave the files as they are"):
            list(rows)


def test_a_parquet_part_that_is_replaced_between_two_readings(tmp_path):
    def write(rows):
        with TableWriter(tmp_path / "part-1.parquet") as table:
            table.add({f"x{j}": X[:rows, j] for j in range(6)} | {f"y{j}": Y[:rows, j] for j in range(3)})

    write(N)
    rows = parquet_blocks(tmp_path, labels=["y0", "y1", "y2"], block_rows=100).checked()
    assert len(list(rows)) == 6 and sum(len(y) for y in rows.labels()) == N
    write(200)
    with pytest.raises(ValueError, match="part-1.parquet gave 600 rows in reading 1 and 200 rows in reading 3"):
        list(rows.labels())


@pytest.mark.parametrize("other", OTHERS)
def test_pieces_of_dask(other):
    readings = [0]

    def piece():
        readings[0] += 1
        return RowBlocks(blocks() if readings[0] == 1 else OTHERS[other]())

    rows = RowBlocks.from_dask([delayed((X, Y)), delayed(piece, pure=False)()])
    with pytest.raises(ValueError, match=r"Piece 1 of the dask collection gave .*persist\(\)"):
        OPLS().fit(rows)


def test_rows_in_memory_are_not_read_for_a_checksum(tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for rows in (RowBlocks(blocks()), RowBlocks.from_arrays(X, Y), RowBlocks.from_arrays(sparse.csr_array(X))):
        assert rows.checked() is rows
    for rows in (mapped, np.asarray(mapped)[1:]):
        assert RowBlocks.from_arrays(rows).checked() is not rows and RowBlocks.from_arrays(rows).checked()._readings


FORMS = {
    "array": X, "columns first": np.asfortranarray(X), "float32": X.astype(np.float32), "integers": Y.astype(np.int8),
    "sparse": sparse.csr_array(np.where(X > 0, X, 0.0)), "csc": sparse.csc_array(np.where(X > 0, X, 0.0)),
    "frame": pd.DataFrame(X), "mixed frame": pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "u", "v")}),
    "classes": np.where(X[:, 0] > 0, "u", "v"), "sets": [frozenset(np.flatnonzero(y).tolist()) for y in Y],
    "lists": [np.flatnonzero(y).tolist() for y in Y], "unknown": np.where(X > 1, np.nan, X),
    "dates": pd.Series(np.arange(N).astype("datetime64[D]")),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_codes_do_not_depend_on_the_cuts_and_tell_rows_apart(form):
    rows = FORMS[form]
    cut = (lambda part: rows.iloc[part]) if hasattr(rows, "iloc") else (lambda part: rows[part])
    codes = row_codes(rows)
    assert codes.shape == (N,) and codes.dtype == np.uint64
    np.testing.assert_array_equal(np.concatenate([row_codes(cut(slice(i, i + 7))) for i in range(0, N, 7)]), codes)
    distinct = {
        str(row) for row in (rows.toarray() if sparse.issparse(rows) else np.asarray(rows, dtype=object)).tolist()
    }
    assert len(set(codes.tolist())) == len(distinct)


def test_codes_do_not_depend_on_how_numbers_are_held():
    held = np.where(X > 0, X, 0.0)
    for form in (np.asfortranarray, sparse.csr_array, sparse.csc_array, pd.DataFrame):
        np.testing.assert_array_equal(row_codes(form(held)), row_codes(held))
    np.testing.assert_array_equal(row_codes(Y.astype(bool)), row_codes(Y.astype(float)))


def test_rows_of_equal_sums_are_told_apart():
    """One-hot rows in another order have the same sums by row and by column."""
    rows = np.eye(4)[np.arange(N) % 4]
    readings = Readings("rows")
    list(readings.over([(rows, None)]))
    with pytest.raises(ValueError, match="rows gave other rows in reading 2 than before, within the first 600 rows"):
        list(readings.over([(rows[::-1], None)]))


def test_a_malformed_matrix_is_left_to_the_checks_of_a_fit():
    rows = sparse.csr_array(np.eye(3))
    rows.indices[1] = 7
    assert row_codes(rows).shape == (3,)
    with pytest.raises(ValueError, match="malformed csr matrix"):
        PCA().fit(RowBlocks(lambda: iter([rows])))


def test_scalings_read_once_and_raise_nothing():
    assert Scaling("standard").fit(source(OTHERS["no rows"])).state_ is not None
