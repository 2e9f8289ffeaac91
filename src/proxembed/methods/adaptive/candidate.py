"""Candidate: one model on one part of the data, stage by stage; each stage is made once, or taken from the cache; its
criterion, and candidates one after another on the same rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from proxembed.algebra.arrays.blas import matmul
from proxembed.algebra.arrays.matrix import Matrix
from proxembed.algebra.pencil.symmetric import NotDefinite, lead_signs, orthonormal_columns, top, top_of_pencil
from proxembed.pairs.formulas import RELATIONS, InnerProducts, measure_products, median_or_mean
from proxembed.targets.labels import LabelMatrix

from . import pairs, points
from .copies import Copies, copies_of
from .pairs import PairOptions, Ranks, rank_matrices
from .points import Projection, Space, by_features, feature_space, gram_space, relation_features, relation_space
from .switches import MEASURE_PARAMETERS, Switches

COINCIDE = 1e-10  # spread of a component as a share of the longest row of T times the length of its vector


class Cache(Protocol):
    """What the stages ask of a cache."""

    def get(self, key: tuple[Any, ...]) -> Any:
        """The value of the key, or None."""

    def put(self, key: tuple[Any, ...], value: Any, nbytes: int) -> None:
        """Keep a value of this size."""


@dataclass(frozen=True)
class Embedded:
    """The embedding by one candidate: ``Z`` (n, k_max) and ``Z_val`` (m, k_max), nested in k; or why there is none.
    ``repairs`` lists the rules that have made the candidate usable, ``failed`` is None or the reason why it is not;
    ``eigenvalues`` are those of the objective. In the first ``flat`` components all rows of the fit coincide except for
    rounding: neighbours among them mean nothing."""

    Z: Any = None
    Z_val: Any = None
    eigenvalues: Any = None
    place: Callable[[], Projection] | None = field(default=None, repr=False)
    repairs: tuple[str, ...] = ()
    failed: str | None = None
    flat: int = 0

    @cached_property
    def projection(self) -> Projection | None:
        """What places further rows, made when it is asked for: a search of candidates needs none."""
        return None if self.place is None else self.place()


@dataclass(frozen=True)
class Setting:
    """What all candidates on one part share: its rows (columns that vary), labels, cache and settings; ``width``: the
    features given to fit, constant ones among them."""

    X: Matrix
    X_val: Matrix
    columns: np.ndarray
    width: int
    labels: LabelMatrix
    pairs: pairs.PairLabels
    copies: Copies | None
    cache: Cache | None
    name: tuple[Any, ...]
    k_cap: int
    options: PairOptions

    @property
    def lam_scale(self) -> str:
        """The unit of lam."""
        return self.options.lam_scale

    def cached(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """The value of the cache, or a new one that is put there."""
        if self.cache is None:
            return make()
        key = (*self.name, *key)
        value = self.cache.get(key)
        if value is None:
            value = make()
            self.cache.put(key, value, size_of(value))
        return value


class Candidate:
    """The six stages of one switch vector and its parameters; a ValueError says why they cannot be used here."""

    def __init__(self, setting: Setting, switches: Switches, values: dict[str, Any], repairs: list[str]):
        self.setting, self.switches, self.values, self.repairs = setting, switches, values, repairs
        self.options = switches.options()
        self.n = setting.labels.n
        relation, similarity = (
            tuple(value for name, value in values.items() if name.startswith(role))
            for role in ("relation", "similarity")
        )
        self.relation_key = switches.p, switches.r, *relation
        self.space_key = *self.relation_key, switches.t if switches.r else 0
        self.similarity_key = switches.p, switches.s, *similarity
        self.order = RELATIONS[self.options["similarity"]].order
        self.order_key = (switches.p, switches.s) if self.order else self.similarity_key
        self.weight_key = switches.g, *(self.similarity_key if switches.g == 2 else self.order_key)

    def embed(self) -> Embedded:
        """All stages, one after the other."""
        T = self.space.T
        if "correlation" in (self.options["relation"], self.options["similarity"]) and self.inner[0].d < 3:
            self.repairs.append("correlation of fewer than 3 features: the cosine of centred rows instead")
        w, P = self.solved(min(T.shape[1], self.setting.k_cap, self.n - 1))
        if self.switches.o and self.options["objective"] == "ratio":
            P = orthonormal_columns(P)  # stage 6; its first k columns depend on the first k of P alone
        Z, Z_val = matmul(T, P), matmul(self.space.T_new, P)
        signs = lead_signs(Z)
        Z *= signs
        Z_val *= signs
        if not (np.isfinite(Z).all() and np.isfinite(Z_val).all()):
            raise ValueError("The embedding holds values that are not finite.")
        flat = flat_columns(Z, self.space.reach, P)
        if flat == Z.shape[1]:
            raise ValueError("All rows coincide in the embedding, up to rounding.")
        return Embedded(Z, Z_val, w, lambda: self.projection(P * signs), tuple(self.repairs), flat=flat)

    @cached_property
    def points(self) -> tuple[points.Preprocessing, points.CentredRows, points.CentredRows]:
        """Stage 1: what it has learned, and the preprocessed rows of both parts."""

        def make() -> Any:
            learned = points.Preprocessing.fit(self.options["preprocessing"], self.setting.X)
            return learned, learned.apply(self.setting.X), learned.apply(self.setting.X_val)

        return self.setting.cached(("points", self.switches.p), make)

    @cached_property
    def inner(self) -> tuple[InnerProducts, InnerProducts, float]:
        """Inner products of both parts with the rows of the fit, and the median squared distance."""

        def make() -> Any:
            _, rows, new = self.points
            own = points.inner(rows, rows)
            if not np.isfinite(own.G).all():
                raise ValueError("The inner products of the rows overflow: scale X.")
            return own, points.inner(new, rows), median_or_mean(own.d2[np.triu_indices(len(own.d2), 1)])

        return self.setting.cached(("inner", self.switches.p), make)

    def measure(self, role: str) -> tuple[str, float | None]:
        """The measure of a role, and its parameter as it is used."""
        kind = self.options[role]
        name = MEASURE_PARAMETERS.get(kind)
        value: Any = self.values.get(f"{role}_{name}")
        return kind, value * self.inner[2] if name == "sigma" else value

    @cached_property
    def relation(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Stage 2: relation features of both parts, and their divisor."""

        def make() -> Any:
            kind, value = self.measure("relation")
            return relation_features(kind, *self.inner[:2], value)

        return self.setting.cached(("relation", *self.relation_key), make)

    @cached_property
    def space(self) -> Space:
        """Stage 3: row-space coordinates of the features."""

        def make() -> Any:
            _, rows, new = self.points
            if self.switches.r:
                return relation_space(*self.relation[:2], self.options["relation_preprocessing"])
            if by_features(rows):
                return feature_space(rows.X, new.X, self.setting.width)
            return gram_space(self.inner[0].G, self.inner[1].G, self.setting.width)

        return self.setting.cached(("space", *self.space_key), make)

    @cached_property
    def similarity(self) -> np.ndarray:
        """Stage 4: similarities of the preprocessed rows, n x n; kept as the ranks and weights that they give."""
        kind, value = self.measure("similarity")
        own = self.inner[0]
        S = measure_products(kind, own, own.level, value)
        if not np.isfinite(S).all():
            raise ValueError(f"The similarities ({kind}) are not finite: the features are too large for them.")
        return S

    @cached_property
    def ranks(self) -> Ranks:
        """Rank matrices of the similarities; the same for every sigma and tau."""

        def make() -> Any:
            options = self.setting.options
            S = self.order(self.inner[0]) if self.order else self.similarity
            if self.setting.copies is not None:
                return self.setting.copies.ranks(S, options)
            return rank_matrices(S, self.setting.labels, options.link, options.enemy_pool)

        return self.setting.cached(("ranks", *self.order_key), make)

    @cached_property
    def weights(self) -> np.ndarray | None:
        """g(s) of all pairs, of copies where these are counted; None where it is 1."""
        if self.options["pair_weights"] == "constant":
            return None
        setting = self.setting
        weights = setting.cached(
            ("weights", *self.similarity_key), lambda: pairs.pair_weights(self.similarity, setting.options.g_raw)
        )
        return weights if setting.copies is None else setting.copies.spread(weights)

    def scatter(self, W: np.ndarray) -> np.ndarray:
        """T'L(W)T of weights of pairs, of copies where these are counted."""
        return pairs.laplacian_product(
            self.space.T, W if self.setting.copies is None else self.setting.copies.collapse(W)
        )

    def pair_key(self, part: str, number: str) -> tuple[Any, ...]:
        """The key of a matrix of pairs: part of the objective, space, weights and number of neighbours."""
        return part, self.space_key, self.weight_key, self.values[number]

    @cached_property
    def keys(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The keys of M_A and M_B; empty for the one that the objective does not look at."""
        if self.options["criterion"] == "fisher":
            key = ("scatter", self.space_key) if self.global_fisher else self.pair_key("fisher", "n_neighbors")
            return key, key
        apart = self.pair_key("enemies", "n_enemies") if "n_enemies" in self.values else ()
        return apart, self.pair_key("friends", "n_friends") if "n_friends" in self.values else ()

    @cached_property
    def friends(self) -> np.ndarray:
        """M_B of friends."""

        def make() -> Any:
            B = pairs.friend_matrix(self.ranks, self.values["n_friends"], self.weights, self.setting.pairs)
            return self.scatter(B)

        return self.setting.cached(self.keys[1], make)

    @cached_property
    def enemies(self) -> tuple[np.ndarray, int]:
        """M_A of enemies, and the number used."""

        def make() -> Any:
            A, used = pairs.enemy_matrix(self.ranks, self.values["n_enemies"], self.weights)
            return self.scatter(A), used

        return self.setting.cached(self.keys[0], make)

    @property
    def global_fisher(self) -> bool:
        """Whether local Fisher weights are those of all pairs alike, for which no similarity is needed."""
        k = self.values["n_neighbors"]
        return (k is None or k >= self.setting.pairs.labels.n - 1) and self.options["pair_weights"] == "constant"

    @cached_property
    def fisher(self) -> tuple[np.ndarray, np.ndarray]:
        """M_A and M_B of local Fisher weights."""

        def make() -> Any:
            if self.global_fisher:
                return pairs.global_fisher(self.space.T, self.setting.labels)
            A, B = pairs.fisher_matrices(self.ranks, self.values["n_neighbors"], self.weights, self.setting.pairs)
            return self.scatter(A), self.scatter(B)

        return self.setting.cached(self.keys[0], make)

    def matrices(self) -> tuple[Any, Any]:
        """M_A and M_B, None where the objective does not look at it; repairs and refusals where one is zero."""
        M_A: Any = None
        M_B: Any = None
        apart, together = self.options["objective"] != "friends", self.options["objective"] != "enemies"
        if self.options["criterion"] == "fisher":
            M_A, M_B = self.fisher
        else:
            if apart:
                M_A, used = self.enemies
                asked = self.values["n_enemies"]
                if used != pairs.count(asked):
                    self.repairs.append(f"no enemies for n_enemies = {asked}: n_enemies = {used} instead")
            M_B = self.friends if together else None
        if not all(M is None or np.isfinite(M).all() for M in (M_A, M_B)):
            raise ValueError("Weights of pairs times squared features overflow: scale X, or weigh with g_raw=False.")
        if apart and not M_A.any():
            raise ValueError("No pair of different classes has a weight, or all of these coincide: no enemies.")
        if together and not np.trace(M_B) > 0:
            self.check_friends(M_B)
        return M_A, M_B

    def check_friends(self, M_B: np.ndarray) -> None:
        """Repair or refusal where friends weigh nothing, or less than that: only similarities as they are can do so."""
        objective = self.options["objective"]
        if M_B.any() and self.setting.options.g_raw and self.weights is not None:
            if objective in ("ratio", "difference") and self.setting.lam_scale == "trace":
                raise ValueError("The similarities of friends are below 0 on the whole: weigh pairs with g_raw=False.")
        elif objective != "difference":
            raise ValueError("No pair of the same class has a weight, or all of these coincide: no friends.")
        else:
            self.repairs.append("no friends: enemies only")

    def solved(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Stage 5: eigenvalues and eigenvectors in row-space coordinates, k of them."""
        objective, scale, dimensions = self.options["objective"], self.setting.lam_scale, self.space.dimensions
        M_A, M_B = self.matrices()
        lam = 0.0
        if "lam" in self.values:
            lam = effective_lam(objective, self.values["lam"], M_A, M_B, dimensions, scale)

        def make() -> Any:
            if objective == "ratio":
                return solve_ratio(M_A, M_B, lam, k, dimensions)
            return *solve_plain(objective, M_A, M_B, lam, k), 0

        w, P, raised = self.setting.cached(("solution", *self.keys, objective, self.values.get("lam")), make)
        if raised:
            self.repairs.append(f"M_B + lam I was not positive definite: {10**raised:,} times the lam")
        return w, P

    def projection(self, P: np.ndarray) -> Projection:
        """The way of new rows through all stages."""
        learned, rows, _ = self.points
        relation = None
        if self.switches.r:
            relation = (*self.measure("relation"), self.relation[2], self.inner[0].level)
        compared = None if relation is None and by_features(rows) else rows
        found = self.space
        return Projection(self.setting.columns, learned, compared, relation, found.state, found.basis, P)


def flat_columns(Z: np.ndarray, reach: float, P: np.ndarray) -> int:
    """How many of the first columns of Z = T P hold one value, up to the rounding of the product; the longest row of T
    has the length ``reach``."""
    for j, (column, vector) in enumerate(zip(Z.T, P.T, strict=True)):
        if np.ptp(column) > COINCIDE * reach * np.sqrt(vector @ vector):
            return j
    return Z.shape[1]


def size_of(value: Any) -> int:
    """Bytes of the arrays in the value of a stage."""
    if isinstance(value, tuple):
        return sum(size_of(part) for part in value)
    return int(getattr(value, "nbytes", 0))


NEVER_SINGULAR = 1e-12
MOST_RAISES = 5


def effective_lam(objective: str, lam: float, M_A: np.ndarray, M_B: np.ndarray, dimensions: int, scale: str) -> float:
    """lam as it is used: "raw" as it is; "trace" in units of tr M_B / min(n, d) in (18), of |tr M_A| / tr M_B in (17).
    ``dimensions`` is min(n, d) of the features that are projected. Where M_B is zero, (17) has only its first part."""
    b = float(np.trace(M_B))
    if scale == "raw":
        return float(lam)
    if objective == "ratio":
        return lam * b / dimensions
    return lam * abs(float(np.trace(M_A))) / b if b > 0 else 0.0


def solve_ratio(
    M_A: np.ndarray, M_B: np.ndarray, lam: float, k: int, dimensions: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """The k largest eigenvalues of (M_A, M_B + lam I), their vectors with P'(M_B + lam I)P = I, and how often lam was
    taken tenfold, up to five times, because the constraint was not positive definite to working precision."""
    lam += NEVER_SINGULAR * max(float(np.trace(M_B)), 0.0) / dimensions
    for raised in range(MOST_RAISES + 1):
        constraint = M_B.copy()
        constraint[np.diag_indices_from(constraint)] += lam * 10.0**raised
        try:
            return *top_of_pencil(M_A, constraint, k), raised
        except NotDefinite:
            continue
    raise ValueError(f"M_B + lam I is not positive definite, even with {10**MOST_RAISES:,} times the lam of {lam:.3g}.")


def solve_plain(objective: str, M_A: Any, M_B: Any, lam: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(17), (23), (24): the k best eigenvalues, as the method states them, and orthonormal vectors. Of M_A and M_B, the
    one that the objective does not look at may be None."""
    if objective == "friends":
        w, P = top(-M_B, k)
        return -w, P
    return top(M_A if objective == "enemies" or lam == 0 else M_A - lam * M_B, k)


K_CAP = 100


@dataclass(frozen=True)
class StageRows:
    """What is embedded: rows X (n, d), dense or CSR, their labels (all known), and rows X_val (m, d) or None."""

    X: Matrix
    labels: LabelMatrix
    X_val: Matrix | None = None


class Stages:
    """The stages of candidates on one part of the data.  [mu2012defc]"""

    def __init__(
        self,
        part: StageRows,
        cache: Cache | None = None,
        *,
        name: tuple[Any, ...] = (),
        k_cap: int = K_CAP,
        **options: Any,
    ):
        _check_part(part)
        self.labels, chosen = pairs.distinguishing_labels(part.labels), PairOptions(**options)
        copies = copies_of(self.labels, chosen)
        columns = points.varying(part.X)
        new = part.X[:0] if part.X_val is None else part.X_val
        self._dropped = part.X.shape[1] - len(columns)
        self._setting = Setting(
            points.float64(part.X)[:, columns],
            points.float64(new)[:, columns],
            columns,
            part.X.shape[1],
            self.labels,
            pairs.PairLabels(self.labels if copies is None else copies.labels, chosen.label_similarity),
            copies,
            cache,
            tuple(name),
            k_cap,
            chosen,
        )

    @property
    def n(self) -> int:
        """Rows of the fit."""
        return self.labels.n

    def embed(self, switches: Switches, params: Mapping[str, float]) -> Embedded:
        """The embedding of both parts by one candidate, for every k up to min(r, k_cap, n - 1)."""
        values = switches.values(params)
        repairs = [f"{self._dropped} constant features removed"] if self._dropped else []
        try:
            if not len(self._setting.columns):
                raise ValueError("X is constant: no feature varies.")
            return Candidate(self._setting, switches, values, repairs).embed()
        except ValueError as error:
            return Embedded(repairs=tuple(repairs), failed=str(error))


def _check_part(part: StageRows) -> None:
    labels = part.labels
    if labels.unknown is not None:
        raise ValueError("labels hold unknown cells, for which there is no rule here: take the fully known rows.")
    if labels.n != part.X.shape[0]:
        raise ValueError(f"X has {part.X.shape[0]} rows, labels has {labels.n}: one set of labels per row is needed.")
    if part.X_val is not None and part.X_val.shape[1] != part.X.shape[1]:
        raise ValueError(
            f"X_val has {part.X_val.shape[1]} features, X has {part.X.shape[1]}: pass rows with the same columns."
        )
    if not labels.differ:
        raise ValueError("labels are the same in every row: rows of at least two classes are needed.")
