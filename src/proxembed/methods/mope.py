"""MOPE: the proximity of rows designed from their label sets, alone or together with their features."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from proxembed.algebra.arrays.blas import symmetrise
from proxembed.algebra.arrays.centred import CentredMatrix
from proxembed.algebra.arrays.matrix import equal_rows, guard_dense, row_blocks
from proxembed.algebra.operators.structured import (
    Centering,
    Dense,
    Identity,
    Laplacian,
    LowRank,
    Operator,
    Repeats,
    Sparse,
)
from proxembed.algebra.pencil.direct import Placement, solve_direct
from proxembed.algebra.pencil.eigen import Solution, choose_ridge
from proxembed.algebra.pencil.linear import ridge_solve
from proxembed.algebra.pencil.problem import Aim, Problem
from proxembed.algebra.template import Template, centred
from proxembed.estimator.base import PencilEmbedder, SpectralEmbedder
from proxembed.estimator.direct import DirectEmbedder
from proxembed.estimator.explain import label_loadings
from proxembed.estimator.low_rank import OfLowRank
from proxembed.estimator.neighborly import MATRICES, SCALE_DOC, WEIGHTS_DOC
from proxembed.estimator.rows import Rows, reciprocal
from proxembed.estimator.traits import Traits
from proxembed.estimator.weights import as_given
from proxembed.params import constant, log, param
from proxembed.proximity.combine import check_combination, combine, combine_grouped, sparsify, unit_weights
from proxembed.proximity.label_similarity import OF_FEATURES, OF_LATENT, SCHEMES, LabelSimilarity, label_similarity
from proxembed.proximity.weights import LOCAL_NEIGHBORS, WEIGHTS, AllPairs
from proxembed.targets.labels import LabelMatrix

from .preserving import NeighborProjection


class Regressed(DirectEmbedder, abstract=True):
    """A method that places labelled rows, and new ones by the ridge regression of Z on X. [yu2005mlsi]"""

    columns = ("intercept_",)
    ridge: float | str = param(
        default="auto",
        low=0,
        choices=("auto",),
        search="ridge",
        doc="Ridge of the regression that embeds new rows; auto: least leave-one-out error.",
    )
    ridge_scale: str = param(
        default="trace", choices=("trace", "absolute"), doc="Unit of the ridge: tr(Xc'Xc) / min(n, d), or 1."
    )

    def projects(self) -> bool:
        return True

    def learn(self, rows: Rows, found: Solution) -> None:
        """The regression of the places on the features."""
        Z, own = self.embedding_, as_given(rows)
        values = None if own.labels is None else own.labels.row_values
        equal = equal_rows(own.X, values) if self.ridge == "auto" else None
        if equal is not None:  # left out together
            first, place = equal
            Z, own = Z[first], replace(own.take(first), counts=np.bincount(place, own.counts).astype(np.float64))
        times = None if own.counts is None else Repeats(own.counts)
        factor = Z if own.labels is None else own.labels.Y
        regression = Template(LowRank(factor), Centering(), b=0, offset=own.ones, target=Z)
        regression = regression if times is None else regression.repeated(times)
        aim = Aim(ridge=self.ridge, ridge_scale=self.ridge_scale)
        raw = found.gram_of(own.X) if times is None else None
        factors = [Z if times is None else times.of(Z)]
        problem = Problem(regression, own.X, raw_gram=raw, aim=aim, factors=factors)
        ridge = choose_ridge(problem, self.ridge, self.ridge_scale)
        gram = problem.gram if problem.plan.decomposes else None
        W, self.intercept_ = ridge_solve(problem.rows, Z, ridge, gram=gram, weights=own.counts)
        self.ridge_, self.components_ = problem.of_rows(ridge), np.ascontiguousarray(W.T / problem.unit)
        if own.labels is not None:
            self.label_loadings_ = label_loadings(problem.rows, own.label_matrix, self.components_, times)

    def extend(self, X: Any) -> np.ndarray:
        return CentredMatrix(X).dot(self.components_.T) + self.intercept_


SIMILARITY_DOC = (
    'How label sets are compared. scheme="labels": "and", "cosine", "dice" (None), "scaled_dice", "jaccard", '
    '"hamming", "hamming_linear", or a callable of the u x c distinct label sets, to u x u. "latent": "cosine" (None), '
    '"minkowski", "tanimoto", "gaussian", "local_scaling", "alternative", "pearson", "spearman", "kendall", '
    '"geodesic", "reconstruction", or a callable of the u latent points, to u x u. "classes": "cooccurrence", "dice" '
    '(None), "jaccard", "cosine", "scaled_dice", "hamming", "hamming_linear", "latent_cosine", "latent_minkowski", '
    '"latent_tanimoto", "latent_gaussian", "latent_local_scaling", "latent_alternative", "latent_pearson", '
    '"latent_spearman", "latent_kendall", "latent_geodesic", "latent_reconstruction" (of latent variables of the '
    'classes), "features", "features_gaussian", "features_local_scaling", "features_alternative", "features_pearson", '
    '"features_spearman", "features_kendall", "features_geodesic", "features_reconstruction", "features_binary", '
    '"features_binary_gaussian", a c x c array of the classes, or a callable of the c x n array of labels, to c x c.'
)


class MOPE(OfLowRank, PencilEmbedder, NeighborProjection, labels="multi"):
    """Multi-output proximity-based embedding: A = Psi(W, G), G from label sets, W from features, Bp = I.
    [mu2012mesd]

    Rows with similar labels (G), and optionally similar features (W), are embedded close together. ``scheme`` sets how
    label sets are compared: as strings of labels, by latent variables, or by the similarity of the classes. Label
    factors, distinct label sets and links represent the n x n matrix, which is formed only for ``graph="full"`` without
    ``n_links``.

    Attributes
    ----------
    components_ : (k, d) array, P'.
    mean_ : (d,) array subtracted before projection; zeros with center=False.
    eigenvalues_ : (k,) array, descending; the ascending costs of ``objective="laplacian"``.
    ridge_ : float, the ridge used, absolute.
    recall_ : float or None, the sampled recall of an approximate search of neighbours; None for an exact one or none.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        For a similarity that the scheme does not have, parameters of W or of latent variables where there are none,
        n_components above the number of positive eigenvalues, no rows of positive proximity (of a Laplacian, no two),
        weights of all pairs above the size guard, bad X or y.

    See Also
    --------
    proxembed.DirectMOPE : MOPE that places the rows themselves.
    proxembed.SSMOPE : MOPE with unlabelled rows.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from proxembed import MOPE
    >>> from proxembed.classify import LabelKNN
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> method = MOPE("labels", weights="gaussian", n_links=10, n_components=6)
    >>> model = make_pipeline(method, LabelKNN()).fit(data.X[:1200], data.Y[:1200])
    >>> model.score(data.X[1200:], data.Y[1200:]) > 0.8  # rows whose whole label set is right
    True
    """

    scheme: str = param(
        default="classes",
        choices=SCHEMES,
        kw_only=False,
        search=SCHEMES,
        doc="What is compared: label sets, latent variables of label sets, or the classes that they hold.",
    )
    similarity: Any = param(
        default=None,
        choices=(None,),
        kind=(str, np.ndarray),
        callable=True,
        search=(None, "cosine"),
        doc=SIMILARITY_DOC,
    )
    label_tau: float | None = param(
        default=None,
        above=0,
        choices=(None,),
        doc='Width of "hamming", "minkowski", "alternative", "geodesic" and the Gaussians; None: their own default. '
        "Other similarities have none and ignore it.",
    )
    p: float = param(default=2.0, low=1, doc='Exponent of "minkowski"; other similarities ignore it.')
    latent: Any = param(
        default="pca",
        choices=("pca", "lsi"),
        kind=SpectralEmbedder,
        search=("pca", "lsi"),
        doc='Latent variables of scheme="latent", and of classes by what begins with "latent": by name, or a method '
        "without labels, which is fitted on Y, or on Y'; otherwise ignored.",
    )
    n_latent: int | None = param(
        default=None,
        low=1,
        integer=True,
        choices=(None,),
        doc='Number of latent variables of "pca" or "lsi"; None: those with 90 % of the spectrum; else not allowed.',
    )
    center_latent: bool = param(
        default=False,
        kind=bool,
        doc='Centre Y in the latent variables "pca" and "lsi", False as in the paper; ignored without them.',
    )
    weights: Any = param(
        default=None,
        choices=(None, *WEIGHTS, "reconstruction"),
        kind=MATRICES,
        callable=True,
        search=(None, "gaussian"),
        doc="W over its largest entry, negative ones 0; None: labels alone, Psi = G^a. " + WEIGHTS_DOC,
    )
    n_scale: int = param(
        default=LOCAL_NEIGHBORS, low=1, integer=True, doc=SCALE_DOC + " Likewise for label sets under this similarity."
    )
    combine: Any = param(
        default="priority",
        choices=("priority", "hadamard", "sum"),
        callable=True,
        doc="Psi: gamma g^a / (1 + beta (1 - w^b)) + (1 - gamma) w^b, g w, beta g + (1 - beta) w, or a callable of "
        '(w, g), arrays. weights=None: "priority", then g^a, or a callable, then of ones and g.',
    )
    a: float = param(default=1.0, low=0, search=log(0.1, 3.0), doc='Exponent of g in "priority" alone.')
    b: float = param(default=1.0, low=0, doc='Exponent of w in "priority" alone; without W it has no effect.')
    beta: float = param(
        default=1.0,
        low=0,
        doc='How far the features count in "priority", share of the labels in [0, 1] in "sum"; without W it has no '
        "effect.",
    )
    gamma: float = param(
        default=1.0, low=0, high=1, doc='Share of the labels against W alone in "priority"; 1 where weights=None.'
    )
    n_links: int | None = param(
        default=None,
        low=1,
        integer=True,
        choices=(None,),
        search=(None, 5, 10, 20),
        doc="Number of largest proximities kept per row, ties by row number; n - 1 or more, and None: all of them.",
    )
    link: str = param(
        default="undirected",
        choices=("undirected", "mutual", "directed"),
        doc="Links either way, both ways, or one way (averaged).",
    )
    values: str = param(default="psi", choices=("psi", "binary"), doc="What a link carries: its proximity, or 1.")
    self_loops: bool = param(
        default=False,
        kind=bool,
        doc='Keep the proximity of a row to itself beside its links, and under named weights w_ii, which graph="full" '
        "always has.",
    )
    objective: str = param(
        default="proximity",
        choices=("proximity", "laplacian", "normalized"),
        search=("proximity", "laplacian", "normalized"),
        doc="A itself, A - D(A) (a minimisation of distances), or D^-1/2 A D^-1/2, D(A) the row sums.",
    )
    constraint: str = param(
        default="projection",
        choices=("projection", "embedding"),
        search=("projection", "embedding"),
        doc="What is orthonormal: P, or the embedding XP, up to the ridge.",
    )
    center: bool = param(default=True, kind=bool, doc="Centre the rows; False as in the paper.")

    @property
    def traits(self) -> Traits:
        """Sums suffice where label sets alone give the proximity; the costs of a Laplacian are positive."""
        of_sets = {
            "labels": True,
            "latent": isinstance(self.latent, str),
            "classes": not callable(self.similarity)
            and not _is_among(OF_FEATURES, self.similarity)
            and (isinstance(self.latent, str) or not _is_among(OF_LATENT, self.similarity)),
        }
        alone = self.weights is None and self.n_links is None
        reason = "its classes are compared by all rows that hold them; similarity='dice' needs their numbers alone"
        if not alone:
            reason = "it links pairs of rows; weights=None with n_links=None needs their labels alone"
        elif self.scheme == "latent":
            reason = (
                "its latent variables are fitted on the labels of all rows; latent='pca' and 'lsi' need sums of them"
            )
        return replace(
            super().traits,
            from_sums="labels" if alone and of_sets.get(self.scheme, False) else None,
            needs_all_rows=reason,
            positive_only=self.objective != "laplacian",
        )

    fit = SpectralEmbedder.fit  # rows may have weights where label sets alone count

    @property
    def weighs_rows(self) -> bool:
        return self.follows_from_sums

    @property
    def loops_count(self) -> bool:
        return self.objective != "laplacian"

    @property
    def searches(self) -> bool:
        """Whether the n_neighbors of rows are searched: not where labels alone count."""
        return self.weights is not None and super().searches

    def template(self, rows: Rows) -> Template:
        A = self._stated_objective(self.proximity(rows))
        sense = -1 if self.objective == "laplacian" else 1
        offset = rows.ones if self.center else None
        if self.center and self.objective != "laplacian":
            A = centred(A, rows.ones)
        if self.constraint == "projection":
            return Template(A, offset=offset, sense=sense)
        B = Centering() if self.center else Identity(rows.n)
        return Template(A, B, b=0, offset=offset, target=rows.labels.Y, sense=sense)

    def proximity(self, rows: Rows) -> Operator:
        """Psi(W, G) of the rows as a structured operator."""
        self._check_combination()
        G = self._label_similarity(rows)
        W = self._feature_weights(rows)
        if self.n_links is not None:
            options: dict[str, Any] = {
                "link": self.link,
                "values": self.values,
                "self_loops": self.self_loops,
                **self._exponents,
            }
            K = min(self.n_links, rows.n - 1)
            psi: Any = Sparse(sparsify(G, K, W, self.combine, **options))
        else:
            psi = self._of_all_pairs(G, W) if callable(W) else self._structured(G, W, rows)
        if rows.labels.of_block:
            self._check_sets(psi, G, rows)
        else:
            self._check_proximity(psi, rows)
        return psi

    def _check_combination(self) -> None:
        """Parameters that would be ignored without W, or without named latent variables, are refused."""
        name = type(self).__name__
        if not callable(self.combine):
            check_combination(self.combine, **self._exponents)
            if self.weights is None and self.combine != "priority":
                raise ValueError(
                    f"{name}: combine={self.combine!r} is not allowed with weights=None: there is no W to combine. "
                    "Pass weights, such as 'gaussian', or leave combine at 'priority'."
                )
        if self.weights is None and self.gamma < 1.0:
            raise ValueError(
                f"{name}: gamma={self.gamma!r} is not allowed with weights=None: there is no W to take a share. Pass "
                "weights, such as 'gaussian', or leave gamma at 1."
            )
        if self.n_latent is not None and not (self._has_latent and isinstance(self.latent, str)):
            here = f"latent={self.latent!r}" if self._has_latent else f"scheme={self.scheme!r}"
            raise ValueError(
                f"{name}: n_latent={self.n_latent!r} is not allowed with {here}: it counts the latent variables 'pca' "
                "or 'lsi' of scheme='latent', or of classes by a similarity 'latent_...'. Leave it at None, and set "
                "n_components of a method."
            )

    def _check_proximity(self, psi: Operator, rows: Rows) -> None:
        """Refuse a Psi of zeros; for a Laplacian, which knows no diagonal, a diagonal one."""
        sums = psi @ rows.ones
        if self.objective == "laplacian":
            places, least = np.arange(rows.n) / rows.n, 1e-12 * np.abs(sums).max()
            sums = sums * places - psi @ places  # 0 where only rows themselves have any
            sums[np.abs(sums) <= least] = 0.0
        self._refuse_none(bool(sums.any()))

    def _check_sets(self, psi: LowRank, G: LabelSimilarity, rows: Rows) -> None:
        """The same of the proximities of all rows of blocks, by their label sets."""
        total, own = float(psi.sums @ psi.weigh(psi.sums)), 0.0
        if self.objective == "laplacian":
            own = float(rows.labels.set_counts() @ (G.own() if self._of_similarity else np.diag(np.asarray(psi.S))))
        self._refuse_none(abs(total - own) > 1e-12 * abs(total))

    def _refuse_none(self, any_above: bool) -> None:
        """A ValueError where no proximity is above 0."""
        if not any_above:
            who = "no two rows have" if self.objective == "laplacian" else "no row has"
            raise ValueError(
                f"{type(self).__name__}: {who} a proximity above 0 under scheme={self.scheme!r}, "
                f"objective={self.objective!r}. {self._remedies()}"
            )

    def _remedies(self) -> str:
        """What would give more proximities than these settings."""
        found = ["a similarity under which some label sets are alike, such as scheme='labels', similarity='hamming'"]
        if self.weights is None:
            found.append("weights of the features with gamma below 1")
        elif callable(self.combine):
            found.append("a combine that gives values above 0")
        else:
            if self.combine == "priority" and self.gamma == 1.0:
                found.append("gamma below 1")
            elif self.combine == "hadamard" or (self.combine == "sum" and self.beta == 1.0):
                found.append("combine='sum' with beta below 1")
            if self.graph != "full":
                found.append("a graph with more neighbors")
        if self.n_links is not None and self.link == "mutual":
            found.append("link='undirected'")
        if self.objective == "laplacian":
            found.append("objective='proximity'")
        return f"Use {', '.join(found[:-1])} or {found[-1]}."

    def _label_similarity(self, rows: Rows) -> LabelSimilarity:
        labels, similarity = rows.label_matrix, self.similarity
        if isinstance(similarity, np.ndarray):
            similarity = _of_kept_classes(similarity, labels)
        return label_similarity(
            labels,
            self.scheme,
            similarity,
            tau=self.label_tau,
            p=self.p,
            latent=self._latent_variables(labels),
            n_latent=self.n_latent,
            centred=self.center_latent,
            class_features=rows.X,
            n_scale=self.n_scale,
        )

    @property
    def _has_latent(self) -> bool:
        """Whether latent variables are compared, of label sets or of classes."""
        return self.scheme == "latent" or (self.scheme == "classes" and _is_among(OF_LATENT, self.similarity))

    def _latent_variables(self, labels: LabelMatrix) -> str | Callable[..., Any]:
        """A name, or the map of label sets, or classes, by an unsupervised method fitted on the labels."""
        if isinstance(self.latent, str):
            return self.latent
        if not self._has_latent:
            return "pca"
        if self.latent.traits.labels is not None or not hasattr(self.latent, "transform"):
            raise ValueError(
                f"latent={self.latent!r} is not allowed: latent variables of label sets come from an unsupervised "
                "method that embeds new rows, such as PCA(), LPP() or Isomap()."
            )
        Y = labels.Y if self.scheme == "latent" else labels.Y.T
        fitted = clone(self.latent).fit(sparse.csr_array(Y))
        return lambda sets: fitted.transform(sparse.csr_array(sets, dtype=np.float64))

    def _feature_weights(self, rows: Rows) -> sparse.csr_array | Callable[..., Any] | None:
        """W over its largest entry: CSR, or a function of blocks of rows for all pairs; None where labels alone
        count."""
        if self.weights is None:
            return None
        if self.graph != "full" or not self._of_graph:
            W = unit_weights(self._graph_weights(rows))
            return W if self.graph != "full" else lambda part: W[part].toarray()
        paths = self._neighbor_graph(rows, "undirected") if self.weights == "geodesic" else None
        return AllPairs(rows.X, self.weights, self.tau, paths=paths, n_scale=self.n_scale, **self._search)

    @property
    def _exponents(self) -> dict[str, float]:
        return {"a": self.a, "b": self.b, "beta": self.beta, "gamma": self.gamma}

    @property
    def _of_similarity(self) -> bool:
        """Whether Psi is G where there is no W."""
        return self.combine in ("hadamard", "sum") or (self.combine == "priority" and self.a == 1.0)

    def _structured(self, G: LabelSimilarity, W: sparse.csr_array | None, rows: Rows) -> Operator:
        """The label factor where Psi is G and that is the smaller form, else label sets and the edges of W."""
        factor = G.factor() if W is None and self._of_similarity else None
        if factor is not None and factor[0].shape[1] <= G.u:
            F, S, sums = factor
            return LowRank(F, S, sums=sums)
        index, base, change = combine_grouped(G, W, self.combine, **self._exponents)
        sets = sparse.csc_array((np.ones(G.n), (np.arange(G.n), index)), shape=(G.n, G.u))
        if change is None:
            return LowRank(sets, base, sums=rows.labels.set_counts() if rows.labels.of_block else None)
        return LowRank(sets, base) + Sparse(change) if base.any() else Sparse(change)

    def _of_all_pairs(self, G: LabelSimilarity, W: Callable[..., Any]) -> Dense:
        guard_dense((G.n, G.n), "The proximity of all pairs of rows")
        index, Gu = G.grouped()
        psi = np.empty((G.n, G.n))
        for part in row_blocks(G.n, G.n):
            psi[part] = combine(self.combine, W(part), Gu[index[part]][:, index], **self._exponents)
        return Dense(symmetrise(psi))

    def _stated_objective(self, A: Operator) -> Operator:
        if self.objective == "proximity":
            return A
        if self.objective == "laplacian":
            return -Laplacian(A)
        degree = A.row_sums()
        if degree.min(initial=0.0) < -1e-12 * np.abs(degree).max(initial=0.0):
            raise ValueError(
                f"objective='normalized' needs proximities of rows that sum to 0 or more; the least sum is "
                f"{degree.min():.3g}. Use objective='proximity', or similarities that are not negative."
            )
        return A.weighted(np.sqrt(reciprocal(np.maximum(degree, 0.0))))


class DirectMOPE(Regressed, MOPE):
    """MOPE of the rows themselves: maximise tr Z'AZ subject to Z'Z = I, A = Psi(W, G) from label sets and features.
    [mu2012mesd]

    The embedding that ``MOPE`` restricts to projections: rows with similar labels (and optionally similar features) are
    placed close together, also if no linear map can do so. Training rows keep the places that their labels give them,
    and new rows are embedded by the ridge regression of Z on X. A classifier trained on the former is therefore too
    confident on the latter. Do not use a Laplacian as the objective: its smallest eigenvectors only separate groups of
    label sets that share nothing.

    Attributes
    ----------
    embedding_ : (n, k) array, Z.
    components_ : (k, d) array, and
    intercept_ : (k,) array, the regression that embeds new rows.
    eigenvalues_ : (k,) array, descending and positive.
    ridge_ : float, the ridge of the regression for new rows, absolute.
    recall_ : float or None, the sampled recall of an approximate search of neighbours; None for an exact one or none.
    algorithm_ : str or None, the search that ran; None for none.

    Raises
    ------
    ValueError
        As ``MOPE`` does.

    See Also
    --------
    proxembed.MOPE : Proximities of your own design.
    proxembed.DirectMESD : MESD that places the rows themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed import DirectMOPE
    >>> from proxembed.data import digits
    >>> data = digits()
    >>> model = DirectMOPE("labels", n_components=3).fit(data.X[:300], data.Y[:300])
    >>> bool(np.allclose(model.embedding_.T @ model.embedding_, np.eye(3)))
    True
    >>> model.transform(data.X[300:310]).shape  # new rows, by the regression
    (10, 3)
    """

    constraint: str = constant("embedding")
    fill: str = constant("none")
    objective: str = param(
        default="proximity",
        choices=("proximity", "normalized"),
        search=("proximity", "normalized"),
        doc="A itself, or D^-1/2 A D^-1/2, D(A) the row sums.",
    )
    center: bool = param(default=True, kind=bool, doc="Centre A, so that each component of Z sums to 0.")

    @property
    def traits(self) -> Traits:
        """Only as one fit of all rows, with components of positive eigenvalue."""
        reason = "it places all rows together; MOPE with weights=None and n_links=None does not"
        return replace(super().traits, from_sums=None, needs_all_rows=reason, positive_only=True)

    def template(self, rows: Rows) -> Template:
        A = self._stated_objective(self.proximity(rows))
        return Template(centred(A, rows.ones) if self.center else A)

    def place(self, template: Template, rows: Rows, k: int | None) -> Placement:
        return solve_direct(template.A, k).with_positive_eigenvalues(template.A)


def _is_among(kinds: tuple[str, ...], similarity: Any) -> bool:
    return isinstance(similarity, str) and similarity in kinds


def _of_kept_classes(sigma: np.ndarray, labels: LabelMatrix) -> np.ndarray:
    """The rows and columns of the classes that some row has."""
    c = len(labels.classes_)
    if sigma.shape != (c, c):
        raise ValueError(
            f"similarity is an array of shape {sigma.shape}; {(c, c)} is needed, one row and column for each of the "
            f"{c} classes."
        )
    return sigma if labels.kept_columns is None else sigma[np.ix_(labels.kept_columns, labels.kept_columns)]
