"""The leaderboard of a run as CSV text."""

import io
from typing import Any

from proxembed.data.table_writer import CsvRows

COLUMNS = (
    "arm", "kind", "k", "components", "readout", "measure", "mean", "standard_error", "folds", "labels", "test",
    "seconds", "failures",
)  # fmt: skip


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def leaderboard_csv(summary: dict[str, Any]) -> str:
    """The leaderboard as CSV text: one line for each arm, k and measure.

    Parameters
    ----------
    summary : dict
        From ``evaluate.summary.summarise``.

    Returns
    -------
    str

    Examples
    --------
    >>> from proxembed.report.files import leaderboard_csv
    >>> leaderboard_csv({"leaderboard": [], "folds": []}).strip().split(",")[:3]
    ['arm', 'kind', 'k']
    """
    out = io.StringIO()
    writer = CsvRows(out)
    writer.add([COLUMNS])
    for entry in summary["leaderboard"]:
        for name, score in entry["scores"].items():
            measure, readout = name.removesuffix(")").rsplit(" (", 1)
            values = {
                "arm": entry["arm"],
                "kind": "rival" if entry["rival"] else "method",
                "k": entry["k"],
                "components": entry["components"],
                "readout": readout,
                "measure": measure,
                "mean": _rounded(score["mean"]),
                "standard_error": _rounded(score["standard_error"]),
                "folds": len(summary["folds"]),
                "labels": entry["labels"],
                "test": _rounded(score["test"]),
                "seconds": round(entry["seconds"], 3),
                "failures": " | ".join(entry["failures"]),
            }
            writer.add([[values[name] for name in COLUMNS]])
    return out.getvalue()
