"""Who enters the experiments of the MESD and MOPE paper, with the grid of each.  [mu2012mesd]

MOPE is that of section 3.3.2: the Gaussian weights W of all pairs of rows are combined with G, then the K largest psi
of each row are kept; a, b, beta and gamma of (43) and its extension, and K, are in the grid.
"""

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

RIDGES = (1e-2, 1e-1, 1.0, 10.0)
NEIGHBORS = (5, 15, 50)
LINKS = (5, 15, 50, 150)
PSI = {"a": (0.5, 1.0, 2.0), "b": (0.5, 1.0, 2.0), "beta": (0.5, 2.0, 8.0), "gamma": (0.5, 0.9, 1.0), "n_links": LINKS}
PAIRS = (5, 20, 80)
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
        Entrant("MORP", MORP(), {"penalty": (1e-1, 1.0, 10.0, 100.0)}, PUBLISHED),
    )


def _extended() -> tuple[Entrant, ...]:
    """The three single-label methods that the paper extends, and two more."""
    return (
        Entrant("MESD(FDA)", MESD(FDA()), {"method__ridge": RIDGES}, EXTENDED),
        Entrant("MESD(LFDA)", MESD(LFDA()), {"method__ridge": RIDGES}, EXTENDED),
        Entrant("MESD(OLPP-R)", MESD(OLPPR()), {"method__beta": (0.1, 1.0, 10.0, 100.0)}, EXTENDED),
        Entrant("MESD(MFA)", MESD(MFA(ridge=1e-6)), {"method__ridge": RIDGES, "method__n_enemies": PAIRS}, EXTENDED),
        Entrant("MESD(DNE)", MESD(DNE()), {"method__n_neighbors": NEIGHBORS}, EXTENDED),
    )


def _labels_only() -> tuple[Entrant, ...]:
    constraints = {"constraint": ("projection", "embedding")}
    return tuple(Entrant(name, MOPE(**how), constraints, LABELS_ONLY) for name, how in LABEL_SCHEMES.items())


def _combined() -> tuple[Entrant, ...]:
    """Scheme 3 with the Gaussian weights of the features, by the three rules; and these weights alone."""
    hadamard, added = _with(joined(), combine="hadamard"), _with(joined(), combine="sum")
    shares = {"beta": (0.25, 0.5, 0.75), "n_links": LINKS}
    return (
        Entrant("MOPE G3 and W, priority", joined(), PSI, COMBINED),
        Entrant("MOPE G3 and W, Hadamard", hadamard, {"n_links": LINKS}, COMBINED),
        Entrant("MOPE G3 and W, weighted sum", added, shares, COMBINED),
        Entrant("MOPE W", _with(joined(), gamma=0.0), {"n_links": LINKS}, COMBINED),
    )


def joined() -> MOPE:
    """MOPE of section 3.3.2 with scheme 3: W on all pairs of rows, then the 15 largest psi of each row.

    Examples
    --------
    >>> from papers.mesd_mope.entrants import joined
    >>> joined().graph, joined().n_links
    ('full', 15)
    """
    return MOPE(scheme="classes", similarity="dice", weights="gaussian", graph="full", n_links=15)


def _with(estimator: MOPE, **values: object) -> MOPE:
    return MOPE(**{**estimator.get_params(deep=False), **values})


def partly_labelled_entrants() -> tuple[Entrant, ...]:
    """Everything of experiment 2."""
    mixed = {"mix": (0.1, 0.5, 0.9), "balance": ("none", "trace"), "unsupervised__n_neighbors": NEIGHBORS}
    mixed |= {"unsupervised__objective": (OLPP_OBJECTIVE,)}
    mixed |= {f"supervised__{name}": values for name, values in PSI.items()}
    return (
        Entrant("OLPP", OLPP(), GRAPH, UNSUPERVISED),
        Entrant("MOPE", joined(), PSI, COMBINED),
        Entrant("SSMOPE", SSMOPE(joined(), OLPP()), mixed, TOGETHER),
        Entrant("ML-LGC", MLLGC(sigma_form="similarity"), _as_printed(), TOGETHER, direct=True),
        Entrant("no embedding", None, {}, REFERENCE),
    )


def _as_printed() -> tuple[dict, ...]:
    """The grids of ML-LGC by (25): l2 is below one over the largest eigenvalue of Sigma, which its kind decides."""
    graph = {"smoothness": (0.1, 1.0, 10.0, 100.0), "n_neighbors": (3, *NEIGHBORS)}
    return (
        {**graph, "sigma": ("cosine",), "label_smoothness": (0.01, 0.1, 0.3)},
        {**graph, "sigma": ("gaussian",), "label_smoothness": (0.01, 0.05, 0.15)},
    )
