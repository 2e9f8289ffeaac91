"""What README.md says of the methods, on every one of the registry."""

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from contracts.estimators import REPRESENTATIVES, X, Y, build, gram_distance, y_for
from designs import in_turn
from proxembed import DMLDA, LFDA, MFA, MORP, MVMD, SLVM, LaplacianEigenmaps
from proxembed.estimator.base import Embedder
from proxembed.estimator.catalogue import estimators
from proxembed.proximity.label_similarity import CLASS_SIMILARITIES, LATENT_KINDS, SET_SIMILARITIES

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
METHODS = [
    cls for cls in estimators().values() if issubclass(cls, Embedder) and cls.__module__.startswith("proxembed.")
]
NEW = X[:3] + 0.1

methods = pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
several_methods = in_turn("cls", METHODS, 3, REPRESENTATIVES, ids=lambda cls: cls.__name__)


@cache
def fitted(cls: type) -> Embedder:
    return build(cls).fit(X, y_for(cls))


def named(start: str) -> set[str]:
    """The methods that the item of README.md with this start names before it says why."""
    item = re.search(rf"^- {start}(.*?)(?=\n- |\n\n)", README, re.MULTILINE | re.DOTALL)[1]
    return set(re.findall(r"`(\w+)`", item)) & set(estimators())


@several_methods
def test_every_method_takes_sparse_rows_and_embeds_new_ones(cls):
    expected = fitted(cls).transform(NEW)
    found = build(cls).fit(sp.csr_array(X), y_for(cls)).transform(sp.csr_array(NEW))
    assert found.shape == expected.shape and len(expected) == len(NEW)


def test_one_setting_has_no_rule_for_new_rows():
    assert not hasattr(LaplacianEigenmaps(normalization="none").fit(X), "transform")
    assert '`LaplacianEigenmaps(normalization="none")` alone has no rule' in " ".join(README.split())


def test_every_method_has_a_citation():
    """But for the encoding of tables, which is of no paper."""
    without = [cls.__name__ for cls in METHODS if not cls.citation().startswith("@")]
    assert without == ["TableEncoder"] and len(METHODS) > 40


@methods
def test_components_of_one_eigenproblem_can_be_truncated(cls):
    fit = fitted(cls)
    assert hasattr(fit, "truncate") == hasattr(fit, "eigenvalues_")
    assert hasattr(fit, "truncate") != (cls.__name__ in named("No `truncate`") | named("Neither"))
    if hasattr(fit, "truncate"):
        short, small = fit.truncate(1), clone(fit).set_params(n_components=1).fit(X, y_for(cls))
        assert short.n_components_ == 1 and len(short.get_feature_names_out()) == 1
        assert gram_distance(short.transform(X), small.transform(X)) < 1e-6
        with pytest.raises(ValueError, match="k=0 is not allowed"):
            fit.truncate(0)


@several_methods
def test_components_that_are_weights_of_features_are_explained(cls):
    fit = fitted(cls)
    assert hasattr(fit, "explain") == hasattr(fit, "components_")
    assert hasattr(fit, "explain") != (cls.__name__ in named("No `explain`") | named("Neither"))
    if hasattr(fit, "explain"):
        assert len(fit.explain(0, n_features=2).features) == 2


def test_the_number_of_similarities_of_labels():
    kinds = len(SET_SIMILARITIES) + len(LATENT_KINDS) + len(CLASS_SIMILARITIES)
    assert f"{kinds} similarities of labels" in README


@pytest.mark.parametrize(
    ("cls", "need"),
    [(cls, "more components than labels") for cls in (MVMD, SLVM, MORP, DMLDA)]
    + [(cls, "one class per row") for cls in (LFDA, MFA)],
)
def test_methods_with_more_components_than_labels(cls, need):
    """On rows with fewer labels than features."""
    row = re.search(rf"^\| {need} \|(.*)\|$", README, re.MULTILINE)[1]
    options = {"form": "ratio", "balance": "trace"} if cls is MORP else {}
    given = ", ".join(f'{name}="{value}"' for name, value in options.items())
    assert f"`{cls.__name__}({given})`" in row
    k = Y.shape[1] + 2
    fit = cls(n_components=k, **options).fit(X, y_for(cls))
    assert fit.transform(NEW).shape == (3, k) and np.linalg.matrix_rank(fit.transform(X)) == k
