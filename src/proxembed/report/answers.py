"""What the saved model answers for held-out rows, in words: which rows with a label it finds, and false alarms."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .next_steps import Run
from .plain_words import is_yes_no, per_cent


def answers_words(summary: Mapping[str, Any], run: Run | None = None) -> str:
    """How many held-out rows with a label the saved model finds, with how many false alarms, by its cuts and where the
    more probable is predicted, and how many answers are wrong beside a constant one; of two classes those of the rarer
    one. Empty where it is not known, and of more classes."""
    entry, facts = saved_entry(summary), summary["dataset"]
    if entry is None or not entry.get("decisions") or (facts["single_label"] and facts["labels"] != 2):
        return ""
    counts = np.array(entry["decisions"])  # by rule, without or with the label, not predicted or predicted, and label
    names, constant = [f"“{name}”" for name, _ in facts["label_counts"]], ("“no”", "“yes”")
    if facts["single_label"]:  # whose rule is one
        rarer = int(counts[0, 1].sum(axis=0).argmin())
        counts, constant, names = counts[:1, ..., [rarer]], (names[1 - rarer], names[rarer]), [names[rarer]]
    elif counts.shape[-1] < len(names):
        names = ["a label (each row counts once per label)"]
    share = float(counts[0, 1].sum() / counts[0].sum())  # of answers that should be yes
    what, always = "answers, one per label,", f"to predict no label would be wrong in {per_cent(share)}"
    if is_yes_no(facts):
        what, always = "answers", f"always {constant[share > 0.5]} would be wrong in {per_cent(min(share, 1 - share))}"
    half = "predict_proba above 0.5" if run is not None and run.in_python else "--cut 0.5"
    wrong = [per_cent(float((rule[0, 1] + rule[1, 0]).sum() / rule.sum())) for rule in counts]
    instead = "".join(f" ({text} with {half})" for text in wrong[1:])
    where, verb = ("On the test rows the saved model", ("finds", "it finds"))
    if summary.get("nested") and not summary.get("saved"):
        where, verb = "On rows held out in nested folds, models chosen without these", ("find", "they find")
    elif summary.get("nested"):
        where = "On rows held out in nested folds the saved model"
    found = [_found(name, counts[..., j], half, verb[1]) for j, name in enumerate(names) if counts[0, 1, :, j].sum()]
    of_label = f"{where} {verb[0]} {'; '.join(found)}. " if found else ""
    return f"{of_label}Of all {what} on these rows {wrong[0]} are wrong{instead}; {always}."


def _found(name: str, counts: np.ndarray, half: str, finds: str) -> str:
    """How many rows with one label are found, and false alarms, by each rule; ``counts``: (rule, 2, 2)."""
    others, rows = counts[0].sum(axis=1)
    told = (
        f"{counts[0, 1, 1]:,.0f} of {rows:,.0f} rows with {name} (sensitivity {_rate(counts[0, 1, 1], rows)}), with "
        f"{_alarms(counts[0, 0, 1])} among {others:,.0f} others (specificity {_rate(counts[0, 0, 0], others)})"
    )
    for rule in counts[1:]:
        told += (
            f"; with {half} {finds} {rule[1, 1]:,.0f} ({_rate(rule[1, 1], rows)}), with {_alarms(rule[0, 1])} "
            f"(specificity {_rate(rule[0, 0], others)})"
        )
    return told


def _alarms(count: float) -> str:
    return f"{count:,.0f} false alarm{'s' * (round(count) != 1)}"


def _rate(part: float, whole: float) -> str:
    """A share in per cent, which is 100 % only where nothing is missing."""
    if not whole:
        return "unknown"
    return "above 99 %" if 0.995 <= part / whole < 1 else per_cent(part / whole)


def saved_entry(summary: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The entry of the leaderboard that the saved model is of; of nested folds that of the choices in each."""
    saved, chosen = summary.get("saved") or {}, summary.get("choice") or {}
    own = (saved["arm"], saved["k"]) if saved else (chosen.get("method"), chosen.get("k"))
    return next((each for each in summary.get("best", ()) if (each["arm"], each["k"]) == own), None)
