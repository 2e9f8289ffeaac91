"""The record of a run: plain data in results.json, from which the page and the files are made, and these files."""

import io
import json
import math
import platform
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from proxembed.data.table_writer import CsvRows
from proxembed.evaluate.results import name_parts

from .matrices import unpacked

FORMAT = 1
LEADERBOARD, RECORD, PAGE = "leaderboard.csv", "results.json", "index.html"  # files of a run
RECORD_KINDS = ("compare", "search")
NUMBER = (int, float)
TEXT_OR_NONE = (str, type(None))
PACKAGES = ("proxembed", "numpy", "scipy", "scikit-learn")

# What a record must hold for the page to be made: a dict of keys, [shape] for a list of such, or the types allowed.
_SCORE = {"mean": (*NUMBER, type(None)), "test": (*NUMBER, type(None)), "by_fold": list}
_ENTRY = {
    "arm": str, "rival": bool, "k": (int, type(None)), "components": int, "labels": int, "seconds": NUMBER,
    "failures": [str], "scores": dict,
}  # fmt: skip
_DATASET = {key: int for key in ("n", "d", "labels", "label_sets", "duplicate_rows", "rows_without_label")}
_SUMMARY = {
    "dataset": {"name": str, "sparse": bool, "single_label": bool, "label_counts": [list], **_DATASET},
    "protocol": {"n_folds": int, "seed": int, "min_positives": int, "n_neighbors": int},
    "preprocessing": str, "notes": [str], "seconds": NUMBER, "interrupted": bool, "measures": [str], "folds": [str],
    "fold_sizes": dict, "leaderboard": [_ENTRY], "best": [_ENTRY], "curves": dict, "failures": [list],
    "verdict": {"basis": str, "goals": dict, "note": str, "text": str},
}  # fmt: skip
_MAP = {
    "labels": [str], "members": [list], "shown": int, "held_out": int,
    "panels": [{"title": str, "x": list, "y": list, "directions": [{"label": str, "x": NUMBER, "y": NUMBER}]}],
}  # fmt: skip
_PROXIMITY = {
    "shown": int, "held_out": int, "without_label": int, "labels": [str], "n_labels": int,
    "panels": [{"kind": str, "title": str, "rows": int, "columns": int, "top": NUMBER, "clipped": bool,
                "values": str}],
}  # fmt: skip
_DIAGNOSIS = {"measure": str, "value": NUMBER, "null": [NUMBER], "p": NUMBER, "passed": bool}
_NUMBER_OR_NONE, _DICT_OR_NONE, _LIST_OR_NONE = (*NUMBER, type(None)), (dict, type(None)), (list, type(None))
_ERRORS = dict.fromkeys(("q2", "r2", "rmsep", "bias", "rpd", "spearman"), _NUMBER_OR_NONE)
_OUTPUT = {
    "name": str, "errors": {"n": int, **_ERRORS}, "measured": list, "predicted": list, "ranks": list,
    "range": _LIST_OR_NONE, "coefficients": _DICT_OR_NONE, "importance": _DICT_OR_NONE,
    "agreement": _NUMBER_OR_NONE, "rank_agreement": _NUMBER_OR_NONE,
}  # fmt: skip
_CLASSES = {
    "name": str, "classes": [str], "n": int, "accuracy": _NUMBER_OR_NONE, "balanced": _NUMBER_OR_NONE,
    "interval": _LIST_OR_NONE, "chance": NUMBER, "table": [{"class": str, "n": int}], "confusion": _LIST_OR_NONE,
    "places": list, "unknown": int,
}  # fmt: skip
_MEASURED = {
    "k": int, "train": int, "held_out": int, "curve": [list], "permutations": [list], "outputs": [_OUTPUT],
    "n_outputs": int, "classes": [_CLASSES], "other_columns": [str], "features": int, "standardised": bool,
    "absent": TEXT_OR_NONE,
    "limits": {"t2": _NUMBER_OR_NONE, "distance": _NUMBER_OR_NONE}, "plane": _DICT_OR_NONE, "vip": _DICT_OR_NONE,
    "q2": _NUMBER_OR_NONE, "r2_fit": _NUMBER_OR_NONE,
    "rows": {"ids": [str], "train": [bool], "scores": [list], "t2": list, "distance": _LIST_OR_NONE},
    "beyond": {"count": int, "rows": [{"id": str, "train": bool, "t2": NUMBER, "distance": NUMBER}]},
}  # fmt: skip
_MODEL = {
    "switches": [int], "words": str, "params": dict, "k": int, "score": NUMBER, "by_fold": list, "settings": int,
    "seconds": NUMBER, "repairs": [str],
}  # fmt: skip
_ADAPTIVE = {
    "search": str, "classifier": str, "measure": str, "rows": int, "folds": int, "n_models": int,
    "n_evaluations": int, "n_failed": int, "scaling": str, "fitted": (dict, type(None)), "models": [_MODEL],
    "history": {"evaluations": [int], "seconds": [NUMBER], "best": [NUMBER]},
    "generations": {"evaluations": [int], "best": [NUMBER], "mean": [NUMBER]},
}  # fmt: skip
_RECORD = {
    "format": int, "kind": str, "command": str, "created": str, "seed": (int, type(None)), "versions": dict,
    "data_hash": TEXT_OR_NONE, "summary": _SUMMARY, "rows": [dict],
}  # fmt: skip
_OPTIONAL: dict[str, Any] = {
    "contrasts": [{"a": str, "b": str, "measure": str}],
    "map": _MAP,
    "diagnosis": _DIAGNOSIS,
    "label_table": [{"label": str, "n": int}],
    "reliability": {
        "probability": [NUMBER],
        "share": [NUMBER],
        "cells": [NUMBER],
        "labels": int,
        "rows": int,
        "error": NUMBER,
    },
    "components": [{"component": int, "features": [list], "labels": [list]}],
    "search": dict,
    "proximity": _PROXIMITY,
    "adaptive": _ADAPTIVE,
    "measured": _MEASURED,
}
SECTIONS = tuple(_OPTIONAL)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that the numbers rest on."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed as a package"
    return found


def _plain(value: Any) -> Any:
    """Numbers, text, lists and dicts of JSON; what is not finite becomes None."""
    if value is None or type(value) in (str, int, bool):  # first, as thousands of labels have most of these
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def make_record(
    kind: str,
    summary: dict[str, Any],
    rows: list[dict[str, Any]],
    command: str,
    *,
    seed: int | None,
    data_hash: str | None = None,
    **sections: Any,
) -> dict[str, Any]:
    """Gather a run as plain data, ready for ``json.dumps`` and for ``page_html``; ``sections`` are among SECTIONS."""
    if unknown := set(sections) - set(SECTIONS):
        raise TypeError(f"{min(unknown)} is not a section of a record; those are {', '.join(SECTIONS)}.")
    found = {"summary": summary, "rows": rows, **dict.fromkeys(SECTIONS), **sections}
    record = make_unfinished(kind, command, seed=seed, data_hash=data_hash, **found)
    if problem := _problem(record):
        raise ValueError(f"the record is not complete: {problem}; give the parts as the report room makes them.")
    return record


def make_unfinished(
    kind: str, command: str, *, seed: int | None, data_hash: str | None = None, **found: Any
) -> dict[str, Any]:
    """What a run that has no summary yet has found, as plain data ready for ``json.dumps``; no page is made from it."""
    if kind not in RECORD_KINDS:
        raise ValueError(
            f"kind={kind!r} is not allowed; it must be {', '.join(RECORD_KINDS[:-1])} or {RECORD_KINDS[-1]}."
        )
    head = {
        "format": FORMAT,
        "kind": kind,
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": seed,
        "versions": versions(),
        "data_hash": data_hash,
    }
    return _plain({**head, **found})


def read_record(folder: str | Path) -> dict[str, Any]:
    """Read the record that a run has left in its folder."""
    path = Path(folder) / RECORD
    remedy = "run `compare` or `search` again"
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON: {error}; {remedy}.") from error
    if isinstance(record, dict) and isinstance(record.get("format"), int) and record["format"] != FORMAT:
        found = f"{path} has format {record['format']}, but this version reads format {FORMAT}"
        raise ValueError(f"{found}; use the version that wrote it ({_writer(record)}), or {remedy}.")
    if problem := _problem(record):
        raise ValueError(f"{path} is not a record of proxembed: {problem}; {remedy}.")
    return record


def _writer(record: dict[str, Any]) -> str:
    found = record.get("versions")
    return f"proxembed {found['proxembed']}" if isinstance(found, dict) and "proxembed" in found else "not named in it"


def _problem(record: Any) -> str | None:
    """The first thing that keeps the page from being made, in words."""
    if problem := _misfit(record, _RECORD, ""):
        return problem
    for key in SECTIONS:
        if record.get(key) is not None and (problem := _misfit(record[key], _OPTIONAL[key], key)):
            return problem
    return _unmatched(record)


def _misfit(value: Any, shape: Any, where: str) -> str | None:
    """How a value differs from its shape, and where; None where it fits."""
    wanted: Any
    if isinstance(shape, list):
        wanted, found = list, [(f"{where}[{i}]", shape[0], item) for i, item in enumerate(_items(value, list))]
    elif isinstance(shape, dict):
        wanted, given = dict, _items(value, dict)
        if (missing := [key for key in shape if key not in given]) and isinstance(value, dict):
            return f"{where}{'.' if where else ''}{missing[0]} is missing"
        found = [(f"{where}{'.' if where else ''}{key}", part, given.get(key)) for key, part in shape.items()]
    else:
        wanted, found = shape, []
    whole_number = isinstance(value, bool) and bool not in (wanted if isinstance(wanted, tuple) else (wanted,))
    if not isinstance(value, wanted) or whole_number:
        return f"{where or 'it'} must be {_words(wanted)}, not {type(value).__name__}"
    return next((problem for at, part, item in found if (problem := _misfit(item, part, at))), None)


def _items(value: Any, kind: type) -> Any:
    return value if isinstance(value, kind) else kind()


def _words(kinds: Any) -> str:
    names = {dict: "an object", list: "a list", str: "text", int: "a whole number", float: "a number", bool: "a truth"}
    given = dict.fromkeys(names.get(kind, "null") for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
    return " or ".join(given)


def _unmatched(record: dict[str, Any]) -> str | None:
    """Parts that have the right types but do not belong to each other."""
    summary = record["summary"]
    if not summary["measures"] or not summary["leaderboard"] or not summary["best"]:
        return "summary has no measure or no arm"
    primary = summary["measures"][0]
    for number, entry in enumerate([*summary["leaderboard"], *summary["best"]]):
        if primary not in entry["scores"]:
            return f"arm {number + 1} of the leaderboard has no {primary}"
        for score in entry["scores"].values():
            if problem := _misfit(score, _SCORE, f"arm {number + 1} of the leaderboard: score"):
                return problem
    if missing := [name for name in summary["measures"] if name not in summary["curves"]]:
        return f"summary.curves has no {missing[0]}"
    found = record.get("map")
    if found is not None:
        lengths = {len(panel[axis]) for panel in found["panels"] for axis in "xy"} | {len(found["members"])}
        if len(lengths) > 1:
            return "map.panels and map.members differ in length"
    for number, panel in enumerate((record.get("proximity") or {"panels": []})["panels"]):
        try:
            unpacked(panel)
        except ValueError as error:
            return f"proximity.panels[{number}]: {error}"
    if problem := _unequal_rows(record.get("measured")):
        return problem
    for name in ("history", "generations"):
        lists = (record.get("adaptive") or {name: {}})[name]
        if len({len(part) for part in lists.values()}) > 1:
            return f"the lists of adaptive.{name} differ in length"
    return None


def _unequal_rows(found: dict[str, Any] | None) -> str | None:
    """Whether the lists of the rows of measured outputs differ in length, in words."""
    if found is None:
        return None
    rows, outputs = found["rows"], found["outputs"]
    lists = [rows["ids"], rows["train"], rows["t2"], *rows["scores"], *([rows["distance"]] if rows["distance"] else [])]
    lists += [output[name] for output in outputs for name in ("measured", "predicted", "ranks")]
    lists += [column["places"] for column in found["classes"]]
    if len({len(each) for each in lists}) > 1 or not outputs:
        return "the lists of measured.rows and measured.outputs differ in length"
    return None


COLUMNS = (
    "arm", "kind", "k", "components", "readout", "measure", "mean", "standard_error", "folds", "labels", "test",
    "seconds", "failures",
)  # fmt: skip


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def leaderboard_csv(summary: dict[str, Any]) -> str:
    """The leaderboard as CSV text: one line for each arm, k and measure."""
    out = io.StringIO()
    writer = CsvRows(out)
    writer.add([COLUMNS])
    for entry in summary["leaderboard"]:
        for name, score in entry["scores"].items():
            measure, readout = name_parts(name)
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
