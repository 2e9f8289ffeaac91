"""Labels of -1 and +1 are read like 0 and 1 by every reader; -1 beside 0 is refused with the reason."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from proxembed.data import DataError, Dataset, read
from proxembed.workflow.labelled_data import labelled_data

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 2)).round(3)
Y = (RNG.random((12, 3)) < 0.5).astype(int)
NAMES = ["p", "q", "r"]


def as_frame(labels, folder):
    return labelled_data(
        pd.DataFrame(X, columns=["a", "b"]).assign(**dict(zip(NAMES, labels.T, strict=True))), labels=NAMES
    )


def as_csv(labels, folder):
    pd.DataFrame(X, columns=["a", "b"]).assign(**dict(zip(NAMES, labels.T, strict=True))).to_csv(
        folder / "t.csv", index=False
    )
    return read(folder / "t.csv", labels=NAMES)


def as_parquet(labels, folder):
    pd.DataFrame(X, columns=["a", "b"]).assign(**dict(zip(NAMES, labels.T, strict=True))).to_parquet(
        folder / "t.parquet"
    )
    return read(folder / "t.parquet", labels=NAMES)


def as_npz(labels, folder):
    np.savez(folder / "t.npz", X=X, Y=labels)
    return read(folder / "t.npz")


def as_npy(labels, folder):
    np.save(folder / "x.npy", X)
    np.save(folder / "y.npy", labels)
    return read(folder / "x.npy", labels=folder / "y.npy")


def as_arff(labels, folder, values="{-1,0,1}"):
    kinds = "{-1,1}" if set(np.unique(labels[~np.isnan(labels)])) <= {-1, 1} else "numeric"
    head = [
        "@relation t",
        "@attribute a numeric",
        "@attribute b numeric",
        *(f"@attribute {name} {kinds}" for name in NAMES),
    ]
    cells = [["?" if value != value else f"{value:g}" for value in row] for row in np.hstack([X, labels])]
    (folder / "t.arff").write_text("\n".join([*head, "@data", *map(",".join, cells)]) + "\n")
    return read(folder / "t.arff", labels=NAMES)


def as_y(labels, folder):
    return labelled_data(X, labels)


def as_dataset(labels, folder):
    unknown = np.isnan(labels)
    return Dataset(X, np.where(unknown, -1 if (labels == -1).any() else 0, labels), unknown=unknown)


EVERY = [as_frame, as_csv, as_parquet, as_npz, as_npy, as_arff, as_y, as_dataset]


@pytest.mark.parametrize("made", EVERY)
@pytest.mark.parametrize("hole", [False, True], ids=["known", "with a hole"])
def test_signs_are_read_like_ones(made, hole, tmp_path):
    labels = Y.astype(float)
    if hole:
        labels[2, 1] = np.nan
    ones, signs = made(labels, tmp_path), made(2 * labels - 1, tmp_path)
    np.testing.assert_array_equal(ones.Y.toarray(), signs.Y.toarray())
    assert (ones.Y.toarray() == np.nan_to_num(labels)).all() and ones.label_names == signs.label_names
    assert (signs.unknown is not None) == hole and (not hole or signs.unknown.toarray()[2, 1])


@pytest.mark.parametrize("made", EVERY)
def test_a_mixture_is_refused_with_the_reason(made, tmp_path):
    labels = 2.0 * Y - 1
    labels[0, 0] = 0
    with pytest.raises(ValueError, match="mixe?s? -1, 0 and 1: .*-1.* may mean negative or unknown"):
        made(labels, tmp_path)


def test_sparse_indicators_and_lone_columns(tmp_path):
    full = sparse.csr_array(2.0 * Y - 1)
    assert (Dataset(X, full).Y.toarray() == Y).all()
    with pytest.raises(DataError, match="mixes -1, 0 and 1"):
        Dataset(X, sparse.csr_array(np.where(np.eye(12, 3) > 0, 0.0, 2.0 * Y - 1)))
    one = 2 * Y[:, 0] - 1
    np.savez(tmp_path / "t.npz", X=X, y=one)
    data = read(tmp_path / "t.npz")
    assert data.values == (-1, 1) and (data.Y.toarray().ravel() == Y[:, 0]).all()


@pytest.mark.parametrize(
    ("declared", "no", "yes"), [("{no,yes}", "no", "yes"), ("{TRUE,FALSE}", "FALSE", "TRUE"), ("{-1,1}", "-1", "1")]
)
def test_truth_words_of_arff_are_labels(declared, no, yes, tmp_path):
    rows = [",".join([*map(str, x), *(yes if on else no for on in y)]) for x, y in zip(X, Y, strict=True)]
    head = [
        "@relation t",
        "@attribute a numeric",
        "@attribute b numeric",
        *(f"@attribute {n} {declared}" for n in NAMES),
    ]
    (tmp_path / "t.arff").write_text("\n".join([*head, "@data", *rows]) + "\n")
    data = read(tmp_path / "t.arff", labels=NAMES)
    assert data.label_names == tuple(NAMES) and (data.Y.toarray() == Y).all()
