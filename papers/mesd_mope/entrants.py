"""Who enters the experiments of the MESD and MOPE paper, with the whole grid of each.  [mu2012mesd]"""

from __future__ import annotations

from papers.entrants import OLPP_OBJECTIVE, Entrant
from proxembed import (
    CCA,
    DNE,
    FDA,
    HSL,
    LFDA,
    LSI,
    MDDM,
    MESD,
    MFA,
    MLLGC,
    MOPE,
    MORP,
    OLPP,
    OLPPR,
    PCA,
    SSMOPE,
)

UNSUPERVISED = "unsupervised"
PUBLISHED = "existing multi-label"
EXTENDED = "MESD"
LABELS_ONLY = "MOPE, labels alone"
COMBINED = "MOPE, labels and features"
TOGETHER = "semi-supervised"
REFERENCE = "reference"

RIDGES = (1e-2, 1e-1, 1.0)
NEIGHBORS = (5, 15)
GRAPH = {"objective": (OLPP_OBJECTIVE,), "n_neighbors": NEIGHBORS}
LABEL_SCHEMES = {
    "MOPE G1, Dice": {"scheme": "labels", "similarity": "dice"},
    "MOPE G1, scaled Dice": {"scheme": "labels", "similarity": "scaled_dice"},
    "MOPE G1, Jaccard": {"scheme": "labels", "similarity": "jaccard"},
    "MOPE G1, Hamming": {"scheme": "labels", "similarity": "hamming"},
    "MOPE G2, PCA": {"scheme": "latent", "latent": "pca", "similarity": "cosine"},
    "MOPE G3, Dice": {"scheme": "classes", "similarity": "dice"},
}


def supervised_entrants() -> tuple[Entrant, ...]:
    """Everything of experiment 1: three methods without labels, existing ones, MESD's, MOPE's, and no embedding.

    Examples
    --------
    >>> from papers.mesd_mope.entrants import supervised_entrants
    >>> supervised_entrants()[0].name
    'LSI'
    """
    return (
        Entrant("LSI", LSI(), {}, UNSUPERVISED),
        Entrant("PCA", PCA(), {}, UNSUPERVISED),
        Entrant("OLPP", OLPP(), GRAPH, UNSUPERVISED),
        *_existing(),
        *_extended(),
        *_labels_only(),
        *_combined(),
        Entrant("no embedding", None, {}, REFERENCE),
    )


def _existing() -> tuple[Entrant, ...]:
    forms = ("zhou", "clique", "star")
    return (
        Entrant("MDDM", MDDM(), {}, PUBLISHED),
        Entrant("CCA", CCA(), {"ridge": RIDGES}, PUBLISHED),
        *(Entrant(f"HSL, {form}", HSL(expansion=form), {"ridge": RIDGES}, PUBLISHED) for form in forms),
        Entrant("MORP", MORP(), {"penalty": (1e-3, 1e-1, 10.0)}, PUBLISHED),
    )


def _extended() -> tuple[Entrant, ...]:
    """The three single-label methods that the paper extends, and two more."""
    return (
        Entrant("MESD(FDA)", MESD(FDA()), {"method__ridge": RIDGES}, EXTENDED),
        Entrant("MESD(LFDA)", MESD(LFDA()), {"method__ridge": RIDGES}, EXTENDED),
        Entrant("MESD(OLPP-R)", MESD(OLPPR()), {"method__beta": (0.1, 1.0, 10.0)}, EXTENDED),
        Entrant("MESD(MFA)", MESD(MFA()), {"method__ridge": RIDGES}, EXTENDED),
        Entrant("MESD(DNE)", MESD(DNE()), {"method__n_neighbors": NEIGHBORS}, EXTENDED),
    )


def _labels_only() -> tuple[Entrant, ...]:
    constraints = {"constraint": ("projection", "embedding")}
    return tuple(Entrant(name, MOPE(**how), constraints, LABELS_ONLY) for name, how in LABEL_SCHEMES.items())


def _combined() -> tuple[Entrant, ...]:
    """Scheme 3 with the Gaussian weights of the features, by the three rules; and these weights alone."""
    joined = MOPE(scheme="classes", similarity="dice", weights="gaussian")
    priority = {"a": (0.5, 1.0), "beta": (0.5, 2.0, 8.0)}
    return (
        Entrant("MOPE G3 and W, priority", joined, priority, COMBINED),
        Entrant("MOPE G3 and W, Hadamard", _with(joined, combine="hadamard"), {"n_neighbors": NEIGHBORS}, COMBINED),
        Entrant("MOPE G3 and W, weighted sum", _with(joined, combine="sum"), {"beta": (0.25, 0.5, 0.75)}, COMBINED),
        Entrant("MOPE W", _with(joined, gamma=0.0), {"n_neighbors": NEIGHBORS}, COMBINED),
    )


def _with(estimator: MOPE, **values: object) -> MOPE:
    return MOPE(**{**estimator.get_params(deep=False), **values})


def partly_labelled_entrants() -> tuple[Entrant, ...]:
    """Everything of experiment 2."""
    mope = {"scheme": "classes", "similarity": "dice", "weights": "gaussian"}
    priority = {"a": (0.5, 1.0), "beta": (0.5, 2.0, 8.0)}
    mixed = {"mix": (0.1, 0.5, 0.9), "balance": ("none", "trace"), "supervised__beta": (0.5, 2.0)}
    mixed |= {"unsupervised__objective": (OLPP_OBJECTIVE,)}
    smooth = {"smoothness": (0.01, 0.1, 1.0, 10.0), "n_neighbors": (3, *NEIGHBORS)}
    return (
        Entrant("OLPP", OLPP(), GRAPH, UNSUPERVISED),
        Entrant("MOPE", MOPE(**mope), priority, COMBINED),
        Entrant("SSMOPE", SSMOPE(MOPE(**mope), OLPP()), mixed, TOGETHER),
        Entrant("ML-LGC", MLLGC(), smooth, TOGETHER, direct=True),
        Entrant("no embedding", None, {}, REFERENCE),
    )
