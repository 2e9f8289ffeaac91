"""Whole numbers in a 1-D y: classes where few differ or each has several rows, else an error that names the remedy."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import proxembed
from proxembed import FDA, OPLS, RowBlocks, Scaled
from proxembed.classify import MultiOutputRidge, Thresholded
from proxembed.estimator.base import registry
from proxembed.evaluate.diagnose import crossfit_embedding, diagnose
from proxembed.targets.labels import LabelMatrix
from proxembed.workflow.labelled_data import labelled_data
from runs import few_rivals  # noqa: F401

RNG = np.random.default_rng(0)
Y = np.repeat(np.arange(25), 2)  # too many numbers of too few rows
X = RNG.normal(size=(50, 4)) + Y[:, None] % 5
REASON = (
    "y holds 25 different whole numbers in 50 rows, 2 rows each: (pass target_type='classes' if they are classes|"
    r"classes or measurements\? Pass target_type='real' or 'classes')"
)


def test_the_message_of_a_target():
    """In full: methods that take numbers and those that take classes say the same."""
    reason = "y holds 214 different whole numbers in 442 rows, 2 rows each: classes or measurements?"
    for method in (OPLS(), FDA(), Scaled(OPLS())):
        with pytest.raises(ValueError) as error:
            method.fit(*load_diabetes(return_X_y=True))
        assert str(error.value) == f"{reason} Pass target_type='real' or 'classes'."


@pytest.mark.parametrize(
    "y",
    [
        Y,
        Y.astype(float),
        Y.tolist(),
        Y.astype("uint8"),
        Y[:, None],
        pd.Series(Y),
        pd.Series(Y, dtype="Int64"),
        Y - 2**62,
    ],
    ids=["int", "float", "list", "uint8", "column", "Series", "nullable", "large"],
)
def test_every_form_of_whole_numbers_is_checked(y):
    with pytest.raises(ValueError, match=REASON):
        LabelMatrix.of(y, None)
    assert LabelMatrix.of(y, "classes").c == 25 and LabelMatrix.of(y).c == 25


@pytest.mark.parametrize(
    "y",
    [
        np.arange(20),
        np.repeat(np.arange(25), 3),
        Y.astype(str),
        [f"c{value}" for value in Y],
        np.eye(25)[Y],
        [{value} for value in Y],
        Y % 2 == 0,
        Y.astype("datetime64[D]"),
    ],
    ids=["20 of one row", "3 rows each", "text", "words", "indicator", "sets", "bool", "dates"],
)
def test_other_labels_are_classes(y):
    assert LabelMatrix.of(y, None).c >= 2


def test_unknown_rows_do_not_count():
    y = np.concatenate([np.repeat(np.arange(25.0), 3), [np.nan] * 10])
    assert LabelMatrix.of(y, None).c == 25
    y[0] = np.nan
    with pytest.raises(ValueError, match="25 different whole numbers in 74 rows, 2 rows each"):
        LabelMatrix.of(y, None)


FEW = {"EmbeddingSearch": dict(methods=["opls"], max_trials=1, n_components=2, cv=2), "DEFC": dict(max_evals=1)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [name for name, cls in registry().items() if cls.class_traits.labels is not None])
def test_every_estimator_that_takes_y_has_the_parameter(name):
    made = registry()[name]
    if name == "SupervisedUMAP":
        pytest.importorskip("umap")
    if getattr(made, "takes", ()) == ("numbers",):  # whole numbers are numbers to it
        with pytest.raises(ValueError, match="target_type='numbers' is not allowed"):
            made(target_type="numbers").fit(X, Y)
        return
    with pytest.raises(ValueError, match=REASON):
        made(**FEW.get(name, {})).fit(X, Y)
    with pytest.raises(ValueError, match="target_type='numbers' is not allowed; target_type must be None, 'real', "):
        made(target_type="numbers", **FEW.get(name, {})).fit(X, Y % 5)
    if name not in ("DEFC", "EmbeddingSearch", "SupervisedUMAP"):  # the first two in one test below; UMAP compiles long
        made(target_type="classes").fit(X, Y)


def test_estimators_without_y_have_no_such_parameter():
    without = [name for name, cls in registry().items() if cls.class_traits.labels is None]
    assert "PCA" in without and not any(hasattr(registry()[name](), "target_type") for name in without)


@pytest.mark.parametrize("name", ["EmbeddingSearch", "DEFC"])
@pytest.mark.filterwarnings("ignore")
def test_the_fits_of_a_search_take_its_decision(name):
    found = registry()[name](target_type="classes", **FEW[name]).fit(X, Y)
    assert set(np.asarray(found.predict(X)).tolist()) <= set(Y.tolist())
    if name == "EmbeddingSearch":  # three rows of each: of the training rows of a fold there are fewer
        registry()[name](**FEW[name]).fit(np.vstack([X, X[::2] + 0.1]), np.concatenate([Y, Y[::2]]))


def test_the_classifier_inside_and_the_estimators_of_folds_inherit():
    thresholded = Thresholded(MultiOutputRidge(), target_type="classes").fit(X, Y)
    assert thresholded.predict(X).dtype == Y.dtype and thresholded.classifier.target_type is None
    more, y = np.vstack([X, X[::2] + 0.1]), np.concatenate([Y, Y[::2]])
    method = make_pipeline(StandardScaler(), OPLS(n_components=2))
    assert crossfit_embedding(method, more, y, cv=3).shape == (75, 2)
    assert diagnose(method, more, y, n_shuffles=1, n_resamples=2).n == 75
    assert diagnose(OPLS(n_components=2, target_type="classes"), X, Y, n_shuffles=1, n_resamples=2, n_folds=2).n == 50
    assert diagnose(OPLS(n_components=2), X, Y, n_shuffles=1, n_resamples=2, n_folds=2, target_type="classes").n == 50
    for call in (lambda: crossfit_embedding(method, X, Y, cv=2), lambda: diagnose(method, X, Y, n_shuffles=1)):
        with pytest.raises(ValueError, match=REASON):
            call()


def test_blocks_are_checked_together():
    more, y = np.vstack([X] * 3), np.concatenate([Y] * 3)
    order = np.argsort(y, kind="stable")
    for blocks, model in (
        (RowBlocks.from_arrays(more[order], y[order], block_rows=10), OPLS(n_components=2)),
        (RowBlocks.from_arrays(more, y, block_rows=30), MultiOutputRidge()),
    ):
        model.fit(blocks)
    part = OPLS(n_components=2, ridge=0.1).partial_fit(X, Y)
    part.partial_fit(more, y)
    assert part.transform(X).shape == (50, 2)
    for model in (OPLS(n_components=2), MultiOutputRidge()):
        with pytest.raises(ValueError, match=REASON):
            model.fit(RowBlocks.from_arrays(X, Y, block_rows=10))
        model.set_params(target_type="classes").fit(RowBlocks.from_arrays(X, Y, block_rows=10))
    with pytest.raises(ValueError, match=REASON):
        OPLS(n_components=2).partial_fit(X, Y).transform(X)


def test_jobs_decide_once(tmp_path, few_rivals):  # noqa: F811
    frame = pd.DataFrame(X, columns=list("abcd"))
    reason = "label column '{}' holds 25 different whole numbers in 50 rows, 2 rows each; pass target_type='classes' if"
    for name, call in {
        "y": lambda **more: labelled_data(X, Y, **more),
        "n": lambda **more: labelled_data(frame.assign(n=Y), labels="n", **more),
    }.items():
        with pytest.raises(ValueError, match=reason.format(name)):
            call()
        assert len(call(target_type="classes").label_names) == 25
    options = dict(methods="opls", n_components=2, folds=2)
    with pytest.raises(ValueError, match="target_type='classes'"):
        proxembed.compare(X, Y, **options)
    more, y = np.vstack([X, X[::2] + 0.1]), np.concatenate([Y, Y[::2]])
    found = proxembed.compare(more, y, **options)
    assert not any(row.get("failed") for row in found.leaderboard) if isinstance(found.leaderboard, list) else True
    for suffix in ("npz", "npy"):
        if suffix == "npz":
            np.savez(tmp_path / "t.npz", X=X, y=Y)
            call = lambda **more: labelled_data(tmp_path / "t.npz", **more)  # noqa: E731
        else:
            np.save(tmp_path / "x.npy", X)
            np.save(tmp_path / "y.npy", Y)
            call = lambda **more: labelled_data(tmp_path / "x.npy", labels=str(tmp_path / "y.npy"), **more)  # noqa: E731
        with pytest.raises(ValueError, match="25 different whole numbers in 50 rows"):
            call()
        assert len(call(target_type="classes").label_names) == 25
