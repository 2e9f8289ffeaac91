"""A made-up record of any size: a map with labels that have places, a comparison, diagnosis, labels, components."""

import numpy as np

from proxembed.evaluate.compare import contrasts
from proxembed.evaluate.results import Results
from proxembed.evaluate.verdict import summarise
from proxembed.report import (
    label_section,
    make_record,
    map_section,
    proximity_section,
    reliability_section,
    worded,
)

HOSTILE = (
    "</script><script>alert(1)</script>",
    "\"quoted\" & 'single'",
    "{{ 7 * 7 }} {% raw %}",
    "right\u202eto left\u2066",
    "<img src=x onerror=alert(2)>",
)
MEASURES = [
    ["macro average precision", "ridge"],
    ["macro average precision", "cosine kNN"],
    ["Jaccard@10", "cosine kNN"],
]
FURTHER = [["macro F1", "ridge"], ["Hamming loss", "ridge"], ["calibration error", "ridge"], ["Brier score", "ridge"]]
ARMS = (
    ("OPLS", False, 0.71), ("Kernelized(OPLS)", False, 0.735), ("MDDM", False, 0.66), ("MESD(FDA)", False, 0.64),
    ("all features", True, 0.69), ("label scores", True, 0.70), ("PCA", True, 0.55), ("forest proximity", True, 0.62),
    ("random projection", True, 0.42),
)  # fmt: skip


def made_labels(n: int, c: int, seed: int = 0):
    """Rows in the plane, each label a soft disc about a place of its own; returns (places (n, 2), Y (n, c))."""
    rng = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi, c, endpoint=False)
    centres = np.column_stack([np.cos(angle), np.sin(angle)]) * rng.uniform(1.2, 3.0, (c, 1))
    Z = centres[rng.integers(0, c, n)] * rng.uniform(0.4, 1.1, (n, 1)) + rng.normal(scale=0.55, size=(n, 2))
    distance = np.linalg.norm(Z[:, None] - centres[None], axis=2)
    return Z, (distance < rng.uniform(0.55, 1.25, c)).astype(np.uint8)


def made_results(n: int, d: int, names, counts, folds: int = 5, sizes=(2, 5, 10, 20)) -> Results:
    rng = np.random.default_rng(1)
    rows, parts = [], [str(fold + 1) for fold in range(folds)]
    for arm, rival, top in ARMS:
        for k in (None,) if arm == "all features" else sizes:
            reached = top if k is None else top * (1 - 0.5 * np.exp(-k / 3))
            for fold in [*parts, "test"]:
                values = np.clip(reached + rng.normal(scale=0.012), 0, 1) * np.array(
                    [1, 0.93, 0.8, 0.85, 0.2, 0.08, 0.1]
                )
                for (measure, readout), value in zip([*MEASURES, *FURTHER], values, strict=True):
                    rows.append(
                        {"arm": arm, "rival": rival, "k": k, "components": k or d, "fold": fold, "readout": readout,
                         "measure": measure, "value": float(value), "labels": len(names), "failure": None,
                         "seconds": 0.4 + (k or 9) / 30}
                    )  # fmt: skip
    facts = {
        "name": "made <rows>", "n": n, "d": d, "labels": len(names), "sparse": False, "single_label": False,
        "cardinality": sum(counts) / n, "density": sum(counts) / n / len(names), "label_sets": 120,
        "rows_without_label": 12, "unknown_cells": 0, "labels_without_row": 0, "zero_rows": 0, "duplicate_rows": 7,
        "constant_features": 1, "nonzero_share": 0.93, "train": None, "test": None, "licence": None, "groups": None,
        "time_order": False, "label_counts": [list(pair) for pair in zip(names, counts, strict=True)],
    }  # fmt: skip
    splitting = {"kind": "stratified", "n_folds": folds, "n_repeats": 1, "seed": 0}
    protocol = {"measures": MEASURES, "further_measures": FURTHER, "n_folds": folds, "seed": 0, "min_positives": 1,
                "n_neighbors": 10, "splitting": splitting, "sizes": list(sizes)}  # fmt: skip
    held_out = {fold: {"train": n - n // folds, "held_out": n // folds} for fold in [*parts, "test"]}
    return Results(facts, protocol, rows, held_out, ["OPLS: a warning with <b>markup</b>"], "standard", 83.4)


def made_components(names, k: int = 12) -> list[dict]:
    rng = np.random.default_rng(2)
    return [
        {
            "component": j + 1,
            "eigenvalue": float(0.93 * 0.82**j),
            "features": [
                [f"feature {f}", float(w)] for f, w in enumerate(sorted(rng.normal(size=8), key=lambda w: -abs(w)))
            ],
            "labels": [[names[(j + i) % len(names)], float(0.8 / (i + 1) * (-1) ** i)] for i in range(6)],
            "stability": float(0.98 * 0.96**j),
        }
        for j in range(k)
    ]


def made_diagnosis() -> dict:
    null = np.random.default_rng(3).normal(0.31, 0.012, 20).tolist()
    return {
        "measure": "macro average precision", "value": 0.735, "raw": 0.69, "null": null, "p": 1 / 21, "passed": True,
        "own_rows": 0.802, "held_out": 0.735, "optimism": 0.067, "worse_labels": [], "stability": [0.9], "n": 1000,
        "n_shuffles": 20,
    }  # fmt: skip


def made_record(n: int = 400, c: int = 8, d: int = 64, hostile: bool = True, sections: bool = True) -> dict:
    """A whole record; ``sections=False`` leaves out all that a plain comparison does not have."""
    Z, Y = made_labels(n, c)
    names = [*(HOSTILE if hostile else ()), *(f"topic {j}" for j in range(c))][:c]
    counts, rng = Y.sum(axis=0).tolist(), np.random.default_rng(4)
    results = made_results(n, d, names, counts)
    summary = worded(summarise(results))
    if not sections:
        return make_record("compare", summary, results.rows, "proxembed compare made.npz", seed=0)
    turned = Z @ rng.normal(size=(2, 2)) * 0.4 + rng.normal(scale=0.8, size=Z.shape)
    mean = (Y.T @ Z) / np.maximum(Y.sum(axis=0)[:, None], 1)
    arrows = [{"label": name, "x": float(x), "y": float(y)} for name, (x, y) in zip(names, mean, strict=True)]
    noise = rng.normal(size=Z.shape)
    panels = [
        ("PCA", turned, 0.55, None),
        ("Kernelized(OPLS)", Z, 0.735, arrows),
        ("ours, shuffled labels", noise, 0.31, None),
    ]
    ap = np.clip(rng.beta(5, 3, c), 0.02, 0.98)
    embedded = np.clip(ap + rng.normal(0.03, 0.06, c), 0.01, 0.99)
    return make_record(
        "search",
        summary,
        results.rows,
        "proxembed search 'made <rows>.parquet' --labels 'topic_*' --seed 0 -o out",
        seed=0,
        data_hash="sha256:" + 64 * "a",
        contrasts=contrasts(summary, [("best method", "all features"), ("best method", "best rival")]),
        map=map_section(panels, Y, names, [f"row <{i}>" for i in range(n)]),
        diagnosis=made_diagnosis(),
        label_table=label_section(names, counts, ap, embedded, rng.normal(0, 0.1, c), rng.uniform(0.01, 0.1, c)),
        reliability=reliability_section([0.1, 0.4, 0.8], [0.15, 0.4, 0.7], [40, 40, 41], c, n),
        components=made_components(names),
        proximity=proximity_section(turned, [("Kernelized(OPLS)", Z), ("shuffled <labels>", noise)], Y, names),
        search={"trials": [{"method": "OPLS", "params": {"ridge": 0.1}, "scores": {"2": 0.7}, "seconds": 1.0}],
                "seconds": 60.0, "chosen": {"method": "Kernelized(OPLS)", "k": 20}},
    )  # fmt: skip
