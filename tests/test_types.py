"""What a user writes: it runs here, and mypy checks its types (``make types``); an error that is ignored must occur."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pytest

import proxembed
from proxembed import OPLS, PCA, EmbeddingSearch, Kernelized, LabelScores, MultiLabel, RowBlocks, diagnose, load, save
from proxembed.classify import FLDAClassifier, MultiOutputRidge, Thresholds, apply_thresholds, tune_thresholds
from proxembed.data import Columns, Dataset, digits, read
from proxembed.estimator.base import SpectralEmbedder
from proxembed.estimator.explain import Explanation
from proxembed.evaluate.diagnose import Diagnosis
from proxembed.methods.multilabel import MESD
from proxembed.methods.pipeline import EmbeddingPipeline, embedding_pipeline, fit_on
from proxembed.params import Log, log, param
from proxembed.workflow.results import SearchResult

DATA = digits().take(range(200))


def test_fit_returns_its_own_class() -> None:
    model = assert_type(OPLS(n_components=2, ridge=0.1).fit(DATA.X, DATA.Y), OPLS)
    assert assert_type(model.n_components_, int) == 2
    assert model.transform(DATA.X).shape == (200, 2)
    assert assert_type(model.truncate(1), OPLS).transform(DATA.X).shape == (200, 1)
    assert isinstance(assert_type(model.explain(0), Explanation), Explanation)
    assert assert_type(OPLS.citation(), str).startswith("@")


def test_parameters_are_known_by_name_and_type() -> None:
    assert assert_type(OPLS().n_components, int | float | None) is None
    assert assert_type(Kernelized(OPLS(), kernel="gaussian").method, SpectralEmbedder | None) is not None
    with pytest.raises(ValueError, match="scaling"):
        OPLS(scaling=3).fit(DATA.X, DATA.Y)  # type: ignore[arg-type]  # a str


def test_names_are_known() -> None:
    assert isinstance(assert_type(MultiLabel(), MESD), MESD)
    assert isinstance(assert_type(proxembed.__version__, str), str)
    with pytest.raises(AttributeError, match="NoSuchMethod"):
        _ = proxembed.NoSuchMethod  # type: ignore[attr-defined]


def test_combinations_and_models() -> None:
    kernel = assert_type(Kernelized(OPLS(n_components=2), n_prototypes=50).fit(DATA.X, DATA.Y), Kernelized)
    assert kernel.transform(DATA.X).shape == (200, 2)
    model = assert_type(fit_on(OPLS(n_components=2), DATA), EmbeddingPipeline)
    assert model.transform(DATA.X).shape == (200, 2)
    assert isinstance(assert_type(embedding_pipeline(PCA(), DATA.X), EmbeddingPipeline), EmbeddingPipeline)


def test_saved_models(tmp_path: Path) -> None:
    save(OPLS(n_components=2).fit(DATA.X, DATA.Y), tmp_path / "model.skops")
    assert isinstance(assert_type(load(tmp_path / "model.skops"), Any), OPLS)


def test_classifiers_and_their_cuts() -> None:
    ridge = assert_type(MultiOutputRidge().fit(DATA.X, DATA.Y), MultiOutputRidge)
    scores = assert_type(ridge.decision_function(DATA.X), np.ndarray)
    cuts = assert_type(tune_thresholds(scores, DATA.Y.toarray()), Thresholds)
    assert assert_type(apply_thresholds(scores, cuts), np.ndarray).shape == (200, 7)
    assert 0.0 <= assert_type(FLDAClassifier().fit(DATA.X, DATA.Y).score(DATA.X, DATA.Y), float) <= 1.0


def test_data(tmp_path: Path) -> None:
    file = tmp_path / "toy.csv"
    file.write_text("hue,t_red,t_blue\n0.1,1,0\n0.9,0,1\n")
    data = assert_type(read(file, columns=Columns(labels=["t_*"])), Dataset)
    assert [name.upper() for name in data.label_names] == ["T_RED", "T_BLUE"]
    assert isinstance(assert_type(RowBlocks.from_arrays(data.X, data.Y), RowBlocks), RowBlocks)


def test_evaluation() -> None:
    assert assert_type(LabelScores(2).fit(DATA.X, DATA.Y), LabelScores).transform(DATA.X).shape == (200, 2)
    found = diagnose(OPLS(n_components=2), DATA.X, DATA.Y, 2, n_resamples=2)
    assert isinstance(assert_type(found, Diagnosis), Diagnosis)


def test_searches() -> None:
    assert isinstance(assert_type(EmbeddingSearch(max_trials=1), EmbeddingSearch), EmbeddingSearch)
    found = proxembed.search(DATA, methods="opls", n_components=2, folds=2, shuffles=0, max_trials=1, max_work=1)
    assert assert_type(found, SearchResult).embedding.shape == (200, 2)


def test_ranges_of_parameters() -> None:
    assert assert_type(log(0.1, 1.0), Log) == Log(0.1, 1.0)
    assert param(default=0, doc="A number.").default == 0
