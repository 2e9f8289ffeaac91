"""Every spectral method of the registry with its important variants, and the data on which the laws are checked.

A method that is registered later enters in default construction by itself; `VARIANTS` adds settings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

import strategies
from designs import WHOLE, share, singled, turn_of
from proxembed import (
    CCA,
    DNE,
    FDA,
    LFDA,
    LLE,
    LPP,
    LSI,
    MDDM,
    MESD,
    MFA,
    MLDA,
    MLLS,
    MMC,
    MOPE,
    NPP,
    OLPP,
    OLPPR,
    ONPP,
    OPLS,
    PCA,
    PLS,
    SSDR,
    DirectMOPE,
    ForestLeaves,
    Kernelized,
    LaplacianEigenmaps,
    Views,
)
from proxembed.algebra.template import Template
from proxembed.estimator.base import SpectralEmbedder, registry
from proxembed.methods.spectral_maps import GraphMap

RIDGE = {"ridge": 0.05, "ridge_scale": "trace"}
NONE = {"ridge": 0.0}
MEANS = {"n_components": 3}  # copies of four classes have three directions between their means

# Class name -> settings beside the default one. A method is a positional argument, given as a builder.
VARIANTS: dict[str, list[dict]] = {
    "PCA": [{"whiten": True}, {"scaling": "eigenvalue"}],
    "LSI": [{"scaling": "unit"}],
    "MVMD": [{"beta": 0.0}, {"beta": 1.0}, {"beta": 0.3, "coding": "01"}, {"balance": "trace"}],
    "LPP": [
        RIDGE,
        {"constraint": "gram"},
        {"center": False, **RIDGE},
        {"center": False, "constraint": "gram"},
        {"weights": "local_scaling"},
        {"graph": "mutual", "weights": "constant", "n_neighbors": 8},
        {"graph": "directed", "metric": "cosine"},
        {"graph": "full", "tau": 20.0},
    ],
    "OLPP": [
        {"weights": "alternative"},
        {"graph": "mutual", "n_neighbors": 8},
        {"objective": "laplacian"},
        {"objective": "laplacian", "graph": "mutual", "n_neighbors": 8},
    ],
    "NPP": [RIDGE, {"center": False}, {"n_neighbors": 8, "reg": 0.1}],
    "ONPP": [{"n_neighbors": 3, "metric": "cosine"}],
    "ClassicalMDS": [{"scaling": "template"}],
    "Isomap": [{"n_neighbors": 8, "scaling": "unit"}, {"metric": "cosine"}],
    "LLE": [{"n_neighbors": 8, "reg": 0.1}, {"scaling": "unit", "solver": "shift-invert"}],
    "LaplacianEigenmaps": [
        {"normalization": "symmetric", "weights": "local_scaling"},
        {"normalization": "symmetric", "drop_trivial": False, "row_normalize": True, "n_components": 3},
        {"n_neighbors": 8, "solver": "lanczos"},
        {"graph": "directed", "n_neighbors": 8, "weights": "constant"},
        {"weights": "alternative"},
    ],
    "FDA": [RIDGE, NONE, {"constraint": "within", **RIDGE}, {"criterion": "trace_ratio", "n_components": 2, **RIDGE}],
    "MMC": [{"lam": 0.1}, {"lam": 3.0}],
    "LFDA": [RIDGE, {"scope": "global", **RIDGE}, {"affinity": "constant", **RIDGE}],
    "MFA": [RIDGE, {"pairs": "point", **RIDGE}, {"weights": "gaussian", **RIDGE}],
    "DLA": [{"lam": 0.9, "n_friends": 3}],
    "DNE": [{"scope": "class"}, {"weights": "gaussian", "n_components": 3}],
    "OLPPR": [{"ws": "indicator", "weights": "gaussian"}, {"balance": "trace", "weights": "constant"}],
    "SONPP": [{"n_neighbors": 8, "reg": 0.1}],
    "DONPP": [{"n_neighbors": 5}],
    "ONPPR": [{"weights": "constant", "beta": 0.1}],
    "CopyLDA": [RIDGE, {**NONE, **MEANS}, {"scaling": "orthonormal"}],
    "MLDA": [RIDGE, {"correlation": False, **RIDGE}, {"normalize": False, **RIDGE}],
    "DMLDA": [RIDGE, {"weights": "mlda", **RIDGE}],
    "CCA": [RIDGE, NONE, {"ridge_y": 0.3, **RIDGE}],
    "PLS": [{"scaling": "eigenvalue"}],
    "OPLS": [RIDGE, NONE, {"ridge": 0.3, "ridge_scale": "absolute"}, {"scaling": "orthonormal"}],
    "MDDM": [
        {"metric": "features", "mix": 0.7},
        {"label_kernel": "rbf"},
        {"label_kernel": "cosine", "metric": "features"},
        {"label_kernel": "tanimoto"},
        {"fill": "null", "n_components": 7},
    ],
    "SFEHS": [{"estimator": "biased"}, {"label_kernel": "rbf"}],
    "HSL": [
        RIDGE,
        {"expansion": "clique", **RIDGE},
        {"expansion": "star", **RIDGE},
        {"expansion": "clique", "self_loops": False, **RIDGE},
        {"center": False, **RIDGE},
    ],
    "SLVM": [{"beta": 0.8, "balance": "none", **RIDGE}, {"center": True, **RIDGE}],
    "MORP": [
        {"beta": 0.2, "penalty": 0.1, "eps": 1e-2},
        {"form": "ratio", "balance": "trace", "penalty": 0.1},
    ],
    "MLSI": [{"center": True}, {"form": "ratio"}, {"form": "ratio", "center": True, "beta": 0.8}],
    "MLLS": [{"alpha": 0.1, "beta": 1.0}],
    "MESD": [
        {"method": FDA(**RIDGE)},
        {"method": FDA(**RIDGE), "weighting": "mimj"},
        {"method": FDA(**RIDGE), "weighting": "printed"},
        {"method": FDA(constraint="within", **RIDGE), **MEANS},
        {"method": MMC()},
        {"method": MMC(lam=0.1), "weighting": "mimj"},
        {"method": MMC(lam=0.1), "weighting": "printed"},
        {"method": LFDA(**RIDGE)},
        {"method": MFA(**RIDGE), "copies": "count", "enemy": "disjoint"},
        {"method": DNE(), "weighting": "mimj"},
        {"method": OLPPR(), "weighting": "printed"},
    ],
    "DirectMOPE": [
        {"scheme": "labels", "similarity": "hamming", **RIDGE},
        {"scheme": "labels", "weights": "gaussian", "objective": "normalized", "center": False, **RIDGE},
    ],
    "MOPE": [
        {"scheme": "labels"},
        {"scheme": "latent", "similarity": "gaussian"},
        {"scheme": "labels", "similarity": "hamming", "objective": "normalized"},
        {"scheme": "labels", "weights": "gaussian", "beta": 3.0},
        {"weights": "gaussian", "graph": "full", "n_links": 8, "gamma": 0.7},
        {"weights": "gaussian", "graph": "full", "combine": "hadamard", "objective": "normalized"},
        {"weights": "gaussian", "objective": "laplacian", "n_components": 3},
        {"constraint": "embedding", **RIDGE},
        {"weights": "gaussian", "constraint": "embedding", **RIDGE},
        {"center": False},
        {"center": False, "constraint": "embedding", **RIDGE},
    ],
    "SSDR": [
        {"supervised": MESD(FDA(**RIDGE)), "unsupervised": LPP(), "constraint": "mixed"},
        {"supervised": OPLS(), "unsupervised": PCA(), "constraint": "mixed", "mix": 0.1, "balance": "trace"},
        {"supervised": CCA(), "unsupervised": NPP(), "constraint": "mixed", "balance": "spectral", **RIDGE},
        {"supervised": MDDM(), "unsupervised": LLE(), "mix": 0.2, "balance": "spectral"},
        {
            "supervised": MESD(MFA()),
            "unsupervised": OLPP(objective="laplacian"),
            "constraint": "supervised",
            "flip": True,
            **RIDGE,
        },
        {"supervised": OPLS(), "unsupervised": LSI(), "mix": 0.3, "constraint": "mixed"},
        {"supervised": MESD(DNE()), "unsupervised": ONPP(), "mix": 0.1},
        {"supervised": Kernelized(OPLS(), tau=20.0), "unsupervised": Kernelized(PCA(), tau=20.0), "balance": "trace"},
        {"supervised": OPLS(**RIDGE), "unsupervised": PCA(), "mix": 0.0, "constraint": "mixed"},
        {"supervised": OPLS(), "unsupervised": LaplacianEigenmaps(), "mix": 1.0, "constraint": "mixed", **RIDGE},
    ],
    "ForestLeaves": [
        {"rows": "oob", "n_estimators": 20},
        {"method": MDDM(), "match_scale": False},
        {"method": MESD(FDA()), "min_samples_leaf": 1},
    ],
    "Views": [
        {"method": OPLS(**RIDGE), "views": ["features", "leaves"], "weights": [1.0, 0.5], "n_estimators": 20},
        {"method": MDDM(), "views": ["features", Ridge(solver="lsqr", tol=1e-14)]},
        {"method": PCA(), "views": ["features", Kernelized(PCA(), tau=20.0)], "weights": 2.0},
        {"method": MESD(FDA()), "views": ["kernel", "scores"], "n_estimators": 10},
    ],
    "SELF": [{"beta": 0.0, **RIDGE}, {"beta": 1.0}, {"base": "lpp", **RIDGE}],
    "SSFDA": [{"graph_weight": 0.0}, {"graph_weight": 1.0, "weights": "constant", **RIDGE}],
    "SSMMC": [{"lam": 1.0, "graph_weight": 0.0}, {"graph_weight": 1.0, "n_neighbors": 8}],
    "SSMOPE": [
        {"mix": 0.1, "balance": "trace"},
        {"supervised": MOPE("labels"), "mix": 0.9},
        {"objective": "laplacian"},
    ],
    "Kernelized": [
        {"method": PCA(), "tau": 20.0, "n_components": 2},
        {"method": LSI(), "kernel": "cosine", "n_components": 2},
        {"method": OPLS(**RIDGE), "tau": 20.0},
        {"method": CCA(), "kernel": "linear"},
        {"method": MDDM(), "kernel": "polynomial"},
        {"method": MLDA(**RIDGE), "tau": 20.0, "constraint": "coef"},
        {"method": PLS(), "kernel": "cosine", "constraint": "coef"},
        {"method": FDA(**RIDGE), "tau": 20.0},
        {"method": MESD(MMC()), "tau": 20.0},
        {"method": MOPE("labels"), "tau": 20.0},
        {"method": OPLS(), "n_prototypes": 12, "prototypes": "farthest", "random_state": 0, "tau": 20.0},
    ],
}


# The default construction of these is checked with settings that take less time.
QUICK = {"ForestLeaves": {"n_estimators": 10}, "Views": {"n_estimators": 10}}


def _members(estimator: SSDR) -> list[SpectralEmbedder]:
    """The members of a combination that have a share in it."""
    shares = {"supervised": 1.0 - estimator.mix, "unsupervised": estimator.mix}
    return [getattr(estimator, role) or getattr(estimator, f"default_{role}")() for role in shares if shares[role] > 0]


def _moves_with_origin(estimator) -> bool:
    """Whether a shift of X changes the embedding, as declared: no centring, or a kernel that sees the origin."""
    if isinstance(estimator, Kernelized):
        inner = OPLS() if estimator.method is None else estimator.method
        return estimator.kernel in ("cosine", "polynomial") or (
            estimator.kernel == "linear" and _moves_with_origin(inner)
        )
    if isinstance(estimator, SSDR):
        return any(_moves_with_origin(member) for member in _members(estimator))
    if isinstance(estimator, Views):
        return False  # blocks of dense rows are centred
    if isinstance(estimator, MESD):
        return _moves_with_origin(FDA() if estimator.method is None else estimator.method)
    if getattr(estimator, "metric", None) == "cosine" or getattr(estimator, "weights", None) == "alternative":
        return True
    if isinstance(estimator, DirectMOPE):
        return False  # A alone is centred
    return isinstance(estimator, LSI) or not getattr(estimator, "center", True)


@dataclass(frozen=True)
class Data:
    """Rows to fit, their labels in the form the method takes, and rows held out."""

    name: str
    X: object
    Y: np.ndarray
    new: np.ndarray = field(repr=False)
    single: bool = False

    @property
    def dense(self) -> np.ndarray:
        return self.X if isinstance(self.X, np.ndarray) else self.X.toarray()

    @property
    def y(self) -> np.ndarray:
        return self.Y.argmax(axis=1) if self.single else self.Y

    def with_rows(self, X, new=None) -> Data:
        return replace(self, X=X, new=self.new if new is None else new)


@dataclass(frozen=True)
class Case:
    """One setting of one method; ``build`` makes a fresh unfitted estimator."""

    name: str
    prototype: SpectralEmbedder

    def build(self, **options) -> SpectralEmbedder:
        return clone(self.prototype).set_params(**options)

    @property
    def default(self) -> bool:
        """Whether the construction is the default one."""
        return self.name.endswith("()") and self.name.count("(") == 1

    @property
    def labels(self) -> str | None:
        return self.prototype.traits.labels

    @property
    def moves_with_origin(self) -> bool:
        return _moves_with_origin(self.prototype)

    @property
    def lifted(self) -> bool:
        """Whether a kernel map, leaves or several views are projected, not X."""
        return isinstance(getattr(self.prototype, "unsupervised", self.prototype), Kernelized | ForestLeaves | Views)

    @property
    def axis_bound(self) -> bool:
        """Whether single features are looked at, so that a rotation of them changes the embedding."""
        return isinstance(self.prototype, ForestLeaves) or bool({"leaves", "scores"} & self.views)

    @property
    def draws_rows(self) -> bool:
        """Whether rows are drawn, so that their order decides which."""
        drawn = isinstance(self.prototype, ForestLeaves) or self.own_rows
        return drawn or getattr(self.prototype, "n_prototypes", None) is not None

    @property
    def views(self) -> set[str]:
        """What the rows are described by, side by side: names, "models" for those of scikit-learn."""
        found = getattr(self.prototype, "views", ())
        return {"models" if isinstance(view, Ridge) else str(view) for view in found}

    @property
    def own_rows(self) -> bool:
        """Whether fit's own rows are described otherwise than new ones: out of bag, or by models of other folds."""
        return getattr(self.prototype, "rows", "all") == "oob" or bool({"leaves", "scores", "models"} & self.views)

    @property
    def nested(self) -> bool:
        """Whether the first components of a solution are the solution of fewer components."""
        return getattr(self.prototype, "criterion", "ratio_trace") != "trace_ratio"

    @property
    def explains(self) -> bool:
        """Whether components are weights of features: not where rows are placed without a projection."""
        return hasattr(self.prototype, "explain")

    @property
    def on_graph(self) -> bool:
        """Whether the components are the smallest eigenvectors of a graph, which have no share of a spectrum."""
        return isinstance(self.prototype, GraphMap)

    def wants_smallest(self, data: Data) -> bool:
        """Whether the small eigenvalues are the good ones, whatever their sign, as the method's template says."""
        estimator = self.build()
        template = stated(estimator, data.X, None if self.labels is None else data.y)
        return template.sense < 0 and not estimator.traits.positive_only

    def fit(self, data: Data, **options) -> SpectralEmbedder:
        return self.build(**options).fit(data.X, None if self.labels is None else data.y)


def stated(estimator: SpectralEmbedder, X, y) -> Template:
    """The template of an estimator, which is made ready for these rows as in fit, and not fitted."""
    estimator.resolve()
    rows = estimator._validate(X, y)
    estimator.make_ready(rows)
    return estimator.template(rows)


def _name(cls: type, options: dict) -> str:
    words = [f"{k}={v!r}" for k, v in options.items() if k != "ridge_scale"]
    return f"{cls.__name__}({', '.join(words)})".replace("\n", "").replace(" ", "")


def cases() -> list[Case]:
    """Default construction of every registered spectral method, then the variants."""
    found = []
    for name, cls in registry().items():
        if issubclass(cls, SpectralEmbedder) and cls.__module__.startswith("proxembed."):
            options = [QUICK.get(name, {}) | each for each in ({}, *VARIANTS.get(name, []))]
            found += [Case(_name(cls, each), cls(**each)) for each in options]
    return found


def _told(name: str, n: int, d: int, c: int, seed: int, single: bool) -> Data:
    Y = strategies.one_hot(strategies.labels_classes(n, c, seed)) if single else strategies.labels_multi(n, c, seed)
    X = strategies.told_by_labels(strategies.features_dense(n, d, seed), Y, seed)
    return Data(name, X, Y, X[:6] + strategies.features_dense(6, d, seed + 50), single)


def _text(n: int, c: int, seed: int, single: bool) -> Data:
    X = strategies.features_text(n + 6, 120, seed)
    Y = strategies.one_hot(strategies.labels_classes(n, c, seed)) if single else strategies.labels_multi(n, c, seed)
    return Data("sparse text", X[:n], Y, X[n:].toarray(), single)


@cache
def _data(single: bool) -> tuple[Data, ...]:
    return _told("tall", 60, 11, 4, 2, single), _told("wide", 30, 60, 4, 6, single), _text(40, 4, 4, single)


def data_for(case: Case) -> tuple[Data, ...]:
    """More rows than features, more features than rows, and sparse rows; classes where the method needs them."""
    return _data(case.labels == "single")


def tall(case: Case) -> Data:
    return data_for(case)[0]


def in_feature_space(estimator: SpectralEmbedder, X, y=None) -> SpectralEmbedder:
    """A copy in the middle of its fit, with what it projects as a matrix: of a kernel the coordinates of its map."""
    own = clone(estimator)
    own.resolve()
    own.make_ready(own._validate(X, y))
    own.explicit()
    return own


def projected_rows(estimator: SpectralEmbedder, X, y=None) -> np.ndarray:
    """The rows of fit as they are projected."""
    return in_feature_space(estimator, X, y).prepared_.training


def embedded(estimator, data: Data) -> np.ndarray:
    """The embedding of the rows that were fitted and of the rows held out, one under the other."""
    return np.vstack([estimator.transform(data.X), estimator.transform(data.new)])


def gram_distance(Z: np.ndarray, expected: np.ndarray) -> float:
    """Frobenius distance of ZZ' matrices, relative to the second."""
    G = expected @ expected.T
    return float(np.linalg.norm(Z @ Z.T - G) / np.linalg.norm(G))


def assert_same_gram(Z: np.ndarray, expected: np.ndarray, tolerance: float) -> None:
    assert Z.shape == expected.shape
    distance = gram_distance(Z, expected)
    assert distance < tolerance, f"embeddings differ by {distance:.1e}, allowed {tolerance:.1e}"


_FITTED: dict[tuple[str, str], SpectralEmbedder] = {}


def fitted(case: Case, data: Data) -> SpectralEmbedder:
    """The case fitted on the data, once a session; tests must not change it."""
    key = (case.name, data.name)
    if key not in _FITTED:
        _FITTED[key] = case.fit(data)
    return _FITTED[key]


# One class per kind of labels, and one that predicts: their default constructions meet every kind of data in every law.
EVERYWHERE = (PCA, FDA, OPLS, MLLS)


def on_cases(
    only: Callable[[Case], bool] = lambda case: True,
    kinds: tuple[str, ...] = ("tall", "wide", "sparse text"),
    shared: bool = False,
):
    """Decorator: the test runs on the chosen cases, each with one of the chosen kinds of data, arguments ``case``,
    ``data``; kinds and cases are in rotation over the tests.

    Of a law that depends on the method: every second default construction, and one variant in twelve. Where ``shared``
    is True, of a law that the base classes keep: one default construction in eight, and one variant in 32. With all
    cases (`designs.WHOLE`), a shared law meets the variants with the first kind alone.
    """

    def mark(test: Callable) -> Callable:
        chosen = [case for case in cases() if only(case)]
        pairs = [(case, data) for case in chosen for data in data_for(case) if data.name in kinds]
        if WHOLE:
            pairs = [(case, data) for case, data in pairs if not shared or case.default or data.name == kinds[0]]
        else:
            turn = turn_of(test)
            always = [case for case in chosen if everywhere(case)]
            kept = share([case for case in chosen if case.default], turn, 8 if shared else 2, always)
            kept += share([case for case in chosen if not case.default], turn, 32 if shared else 12)
            pairs = singled([(case, data) for case, data in pairs if case in kept], turn, everywhere)
        named = [pytest.param(case, data, id=f"{case.name}-{data.name}") for case, data in pairs]
        return pytest.mark.parametrize(("case", "data"), named)(test)

    return mark


def everywhere(case: Case) -> bool:
    """Whether the case meets every kind of data in every law."""
    return case.default and isinstance(case.prototype, EVERYWHERE)
