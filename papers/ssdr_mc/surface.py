"""The paper preset over alpha and the threshold: neighbours and their Gram matrices are found once an alpha, and the
embedding, which takes most of a fit, not at all.  [qian2010ssdrmc]"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from papers.ssdr_mc.entrants import NEIGHBORS
from papers.ssdr_mc.rows import LabelledRows
from proxembed.evaluate.results import reason_of
from proxembed.measures.metrics import micro_f1
from proxembed.methods.transductive.label_iteration import Alternation, Blend, Inference, InferredLabels, LocalWeights
from proxembed.methods.transductive.propagator import neighbour_pattern, reaches
from proxembed.methods.transductive.ssdr_mc import PRESETS, SLACK
from proxembed.proximity.backends import nearest


def row_of_surface(alpha: float, cuts: Sequence[float], rows: LabelledRows, known: np.ndarray) -> dict:
    """The entry of one alpha: micro F1 of the unlabelled rows, passes and whether they converged, at every threshold.

    Returns
    -------
    dict
        Plain data: ``entrant, alpha, cuts, f1, passes, converged, cpu_seconds, seconds, failure``.
    """
    started, cpu, failure = time.perf_counter(), time.process_time(), None
    entry: dict[str, Any] = {"entrant": f"alpha {alpha:g}", "alpha": alpha, "cuts": list(cuts)}
    entry |= {"f1": [], "passes": [], "converged": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a setting that does not converge is told as such
        try:
            for found in settings(alpha, cuts, rows, known):
                entry["f1"].append(micro_f1(rows.Y[~known], found.labels[~known]))
                entry["passes"].append(len(found.trace))
                entry["converged"].append(found.status == "converged")
        except Exception as error:
            failure = reason_of(error)
    spent = {"cpu_seconds": time.process_time() - cpu, "seconds": time.perf_counter() - started}
    return {**entry, **spent, "failure": failure}


def settings(alpha: float, cuts: Sequence[float], rows: LabelledRows, known: np.ndarray) -> list[InferredLabels]:
    """How SSDRMC ends at one alpha and every threshold.

    Raises
    ------
    ValueError
        Some row has no path along its neighbours to a labelled one, for which SSDRMC changes a neighbour.
    """
    index = nearest(rows.X, min(NEIGHBORS, len(rows.Y) - 1)).index
    if not reaches(neighbour_pattern(index), known).all():
        raise ValueError("some rows have no path along their neighbours to a labelled one; label more rows.")
    reg, kind = PRESETS["paper"]
    local = LocalWeights(rows.X, index, Blend(alpha, reg, kind), rows.Y.shape[1])
    cells = np.broadcast_to(known[:, None], rows.Y.shape)
    return [
        Alternation(local, cells, rows.Y, Inference(), lambda soft, cut=cut: soft >= cut - SLACK).run() for cut in cuts
    ]
