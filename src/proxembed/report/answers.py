"""What the chosen model answers for rows that it was fitted without, in words: what it finds, and false alarms."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .next_steps import Run
from .plain_words import entry_of, is_yes_no, per_cent

ONE = "On the test rows the model of the training rows", "finds", "it finds", "is"
SEVERAL = "On rows held out in nested folds, models {} without these", "find", "they find", "are"


def answers_words(summary: Mapping[str, Any], run: Run | None = None) -> str:
    """How many held-out rows with a label the chosen model finds, with how many false alarms, by its cuts and where the
    more probable is predicted, and how many answers are wrong beside a constant one; of two classes those of the rarer
    one, of more how many are wrong. Empty where it is not known."""
    saved, facts = summary.get("saved") or {}, summary["dataset"]
    entry = entry_of(summary, saved.get("arm"), saved.get("k")) if saved else entry_of(summary)
    if entry is None or not entry.get("decisions"):
        return ""
    counts = np.array(entry["decisions"])  # by rule, without or with the label, not predicted or predicted, and label
    who, finds, again, is_ = ONE if not summary.get("nested") else SEVERAL
    who = who.format("chosen" if not saved else f"of {saved['arm']} fitted")
    if facts["single_label"] and facts["labels"] > 2:
        return f"{who} {is_} {_wrong_classes(counts[0], facts)}."
    names, constant = [f"“{name}”" for name, _ in facts["label_counts"]], ("“no”", "“yes”")
    if facts["single_label"]:  # whose rule is one
        rarer = int(counts[0, 1].sum(axis=0).argmin())
        counts, constant, names = counts[:1, ..., [rarer]], (names[1 - rarer], ""), [names[rarer]]
    elif counts.shape[-1] < len(names):
        names = [""]
    share = float(counts[0, 1].sum() / counts[0].sum())  # of answers that should be yes
    what, always = "answers, one per label,", f"to predict no label would be wrong in {per_cent(share)}"
    if is_yes_no(facts):
        what, always = "answers", f"always {constant[share > 0.5]} would be wrong in {per_cent(min(share, 1 - share))}"
    half = "predict_proba above 0.5" if run is not None and run.in_python else "--cut 0.5"
    wrong = [per_cent(float((rule[0, 1] + rule[1, 0]).sum() / rule.sum())) for rule in counts]
    instead = "".join(f" ({text} with {half})" for text in wrong[1:])
    found = [_found(name, counts[..., j], half, again) for j, name in enumerate(names) if counts[0, 1, :, j].sum()]
    of_label = f"{who} {finds} {'; '.join(found)}. " if found else ""
    return f"{of_label}Of all {what} on these rows {wrong[0]} are wrong{instead}; {always}."


def _wrong_classes(counts: np.ndarray, facts: Mapping[str, Any]) -> str:
    """In how many rows another class is predicted, and beside it in how many the commonest class is not right."""
    rows, right = counts[1].sum(), counts[1, 1].sum()  # each row is one of its own class
    name, most = max(facts["label_counts"], key=lambda pair: pair[1])
    other = per_cent(1 - most / sum(count for _, count in facts["label_counts"]))
    share = per_cent(float((rows - right) / rows))
    always = f"always “{name}”, the commonest class, would be wrong in {other}"
    return f"wrong in {rows - right:,.0f} of {rows:,.0f} rows ({share}); {always}"


def _found(name: str, counts: np.ndarray, half: str, finds: str) -> str:
    """How many rows with one label (labels of any name, if it is "") are found, and false alarms, by each rule;
    ``counts``: (rule, 2, 2)."""
    others, rows = counts[0].sum(axis=1)
    what = f"{rows:,.0f} rows with {name}" if name else f"the {rows:,.0f} labels of these rows"
    told = (
        f"{counts[0, 1, 1]:,.0f} of {what} (sensitivity {_rate(counts[0, 1, 1], rows)}), with "
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
