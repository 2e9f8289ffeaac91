"""Who enters the benchmark, with the few values tried of each parameter; no one has more trials than another may."""

from __future__ import annotations

from papers.entrants import OLPP_OBJECTIVE, Entrant
from proxembed import (
    CCA,
    FDA,
    HSL,
    LFDA,
    LSI,
    MDDM,
    MESD,
    MFA,
    MLGFHF,
    MLLGC,
    MOPE,
    MORP,
    MVMD,
    OLPP,
    OPLS,
    PCA,
    SELF,
    SMSE,
    SSDR,
    SSMOPE,
    LabelScores,
)
from proxembed.evaluate.arms import ALL_FEATURES

RIDGES = (1e-4, 1e-2, 1e-1, 1.0, 10.0)
CONSTRAINTS = ("projection", "embedding")
SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
MOPE_GRIDS = (
    {"constraint": CONSTRAINTS},
    {"weights": ("gaussian",), "combine": ("priority", "sum"), "beta": (0.3, 0.7), "constraint": CONSTRAINTS},
)
GRAPH = {"objective": (OLPP_OBJECTIVE,), "n_neighbors": (3, 10, 20)}
OURS = "proposed in the paper"
PUBLISHED = "multi-label"
SUPERVISED = "labelled rows alone"
UNSUPERVISED = "unsupervised"
TOGETHER = "semi-supervised, published"
PROPAGATION = "propagation"
REFERENCE = "reference"


def supervised_entrants(seed: int = 0) -> tuple[Entrant, ...]:
    """The entrants of the benchmark with all labels known.

    Examples
    --------
    >>> from papers.benchmark.entrants import supervised_entrants
    >>> [entrant.name for entrant in supervised_entrants()][-2:]
    ['label scores', 'all features']
    """
    return (
        Entrant("MOPE, scheme 1", MOPE(scheme="labels"), MOPE_GRIDS, OURS),
        Entrant("MOPE, scheme 2", MOPE(scheme="latent"), MOPE_GRIDS, OURS),
        Entrant("MOPE, scheme 3", MOPE(scheme="classes"), MOPE_GRIDS, OURS),
        Entrant("MESD(FDA)", MESD(FDA()), {"method__ridge": RIDGES, "weighting": ("none", "mimj")}, OURS),
        Entrant(
            "MESD(LFDA)", MESD(LFDA(ridge=1e-2)), {"method__ridge": RIDGES, "method__n_neighbors": (3, 7, 15)}, OURS
        ),
        Entrant("MESD(MFA)", MESD(MFA(ridge=1e-2)), {"method__ridge": RIDGES, "method__n_friends": (3, 5, 10)}, OURS),
        *published_entrants(),
        *reference_entrants(seed),
    )


def published_entrants() -> tuple[Entrant, ...]:
    """Methods published before the paper, and MVMD."""
    return (
        Entrant("MDDM", MDDM(), {"metric": ("projection", "features"), "mix": SHARES}, PUBLISHED),
        Entrant("CCA", CCA(), {"ridge": RIDGES}, PUBLISHED),
        Entrant("OPLS", OPLS(), {"ridge": RIDGES}, PUBLISHED),
        Entrant("HSL", HSL(), {"ridge": RIDGES, "expansion": ("zhou", "clique", "star")}, PUBLISHED),
        Entrant("MORP", MORP(), {"penalty": (1e-3, 1e-1, 10.0), "beta": SHARES}, PUBLISHED),
        Entrant("MVMD", MVMD(), {"beta": SHARES, "balance": (None, "trace")}, PUBLISHED),
    )


def reference_entrants(seed: int) -> tuple[Entrant, ...]:
    """Maps that see no label, cross-fitted label scores, and all features."""
    return (
        Entrant("PCA", PCA(), {}, UNSUPERVISED, rival=True),
        Entrant("LSI", LSI(), {}, UNSUPERVISED, rival=True),
        Entrant("OLPP", OLPP(), {**GRAPH, "weights": ("gaussian", "constant")}, UNSUPERVISED),
        Entrant("label scores", LabelScores(random_state=seed), {"penalty": RIDGES}, REFERENCE, rival=True),
        Entrant(ALL_FEATURES, None, {}, REFERENCE, rival=True),
    )


def partly_labelled_entrants(seed: int = 0) -> tuple[Entrant, ...]:
    """The entrants of the benchmark with a part of the labels known."""
    mixes = {"mix": SHARES, "balance": ("none", "trace")}
    bounded = {**mixes, "constraint": ("projection", "mixed")}
    with_olpp = {"unsupervised__objective": (OLPP_OBJECTIVE,)}
    return (
        Entrant("SSMOPE", SSMOPE(None, OLPP()), {**mixes, **with_olpp}, OURS),
        Entrant("SSDR(MESD(FDA), OLPP)", SSDR(MESD(FDA()), OLPP()), {**bounded, **with_olpp}, OURS),
        Entrant("SSDR(MESD(LFDA), PCA)", SSDR(MESD(LFDA(ridge=1e-2)), PCA()), bounded, OURS),
        Entrant("SSDR(MDDM, PCA)", SSDR(MDDM(), PCA()), mixes, OURS),
        Entrant("MESD(SELF)", MESD(SELF()), {"method__beta": SHARES}, TOGETHER),
        *propagation_entrants(),
        Entrant("MOPE", MOPE(), MOPE_GRIDS, SUPERVISED),
        Entrant("OPLS", OPLS(), {"ridge": RIDGES}, SUPERVISED),
        Entrant("PCA", PCA(), {}, UNSUPERVISED, rival=True),
        Entrant("OLPP", OLPP(), GRAPH, UNSUPERVISED),
        Entrant("label scores", LabelScores(random_state=seed), {"penalty": RIDGES}, REFERENCE, rival=True),
        Entrant(ALL_FEATURES, None, {}, REFERENCE, rival=True),
    )


def propagation_entrants() -> tuple[Entrant, ...]:
    """Methods that give labels to the unlabelled rows of a graph, and to new rows by one step more."""
    neighbors = (3, 5, 10, 20)
    smooth = {"n_neighbors": neighbors, "smoothness": (0.01, 0.1, 1.0, 10.0)}
    return (
        Entrant("ML-LGC", MLLGC(), smooth, PROPAGATION, direct=True),
        Entrant("ML-GFHF", MLGFHF(), {"n_neighbors": neighbors}, PROPAGATION, direct=True),
        Entrant("SMSE", SMSE(), smooth, PROPAGATION, direct=True),
    )
