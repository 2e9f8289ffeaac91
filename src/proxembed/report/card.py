"""The data card: facts of a data set in words, and what in them may leak or mislead."""

from typing import Any


def data_card(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """Facts of a data set as pairs of words, for the page and the terminal.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.report import data_card
    >>> data_card(digits().describe())[1]
    ('rows x features', '1,797 x 64 (dense)')
    """
    kind = "sparse" if facts["sparse"] else "dense"
    rows = [
        ("name", facts["name"]),
        ("rows x features", f"{facts['n']:,} x {facts['d']:,} ({kind})"),
        ("labels", f"{facts['labels']:,}" + (" classes, one per row" if facts["single_label"] else "")),
        ("labels per row (cardinality)", f"{facts['cardinality']:.3f}"),
        ("label density", f"{facts['density']:.3f}"),
        ("distinct label sets", f"{facts['label_sets']:,}"),
        (
            "rows without a label" if facts.get("negative") is None else f"rows with {facts['negative']}",
            f"{facts['rows_without_label']:,}",
        ),
        ("cells with unknown label", f"{facts['unknown_cells']:,}"),
        ("labels without a row", f"{facts['labels_without_row']:,}"),
        ("all-zero feature rows", f"{facts['zero_rows']:,}"),
        ("duplicate rows (may leak between folds)", f"{facts['duplicate_rows']:,}"),
        ("constant features", f"{facts['constant_features']:,}"),
        ("share of nonzero features", f"{facts['nonzero_share']:.3f}"),
    ]
    if facts.get("groups") is not None:
        rows.append(("groups", f"{facts['groups']:,}"))
    if facts.get("time_order"):
        rows.append(("time of each row", "known"))
    if facts["train"] is not None and facts["test"] is not None:
        rows.append(("training rows / test rows", f"{facts['train']:,} / {facts['test']:,}"))
    if facts["licence"]:
        rows.append(("licence", facts["licence"]))
    return rows


def leak_warnings(facts: dict[str, Any], protocol: dict[str, Any]) -> list[str]:
    """What in the data may flatter or spoil the scores, one sentence each with its remedy.

    Parameters
    ----------
    facts : dict
        From ``Dataset.describe``.
    protocol : dict
        From ``Protocol.describe``; its ``splitting`` tells whether groups and time were kept apart.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.report.card import leak_warnings
    >>> leak_warnings({**digits().describe(), "duplicate_rows": 3}, {})[0]
    '3 rows have the features of an earlier row: a copy in training of a held-out row flatters every score. ...'
    """
    splitting = protocol.get("splitting")
    kind = splitting.get("kind") if isinstance(splitting, dict) else "stratified"
    found = []
    if facts["duplicate_rows"]:
        count, remedy = facts["duplicate_rows"], "Drop the copies, or keep them together with --groups."
        copies = "a copy in training of a held-out row flatters every score"
        found.append(f"{_rows(count)} the features of an earlier row: {copies}. {remedy}")
    if facts.get("groups") is not None and kind not in ("groups", "time"):
        found.append(
            "Rows have groups, but the folds did not keep them together: rows of one group may be on both sides."
        )
    if facts.get("time_order") and kind != "time":
        found.append(
            "Rows have a time, but the folds did not follow it: later rows may have helped to score earlier ones."
        )
    found += _kept_apart(facts, kind)
    if facts["zero_rows"]:
        found.append(f"{_rows(facts['zero_rows'])} no feature but zeros; no method can tell such rows apart.")
    if facts["labels_without_row"]:
        found.append(f"{facts['labels_without_row']:,} of {facts['labels']:,} labels have no row, and count nowhere.")
    if facts["unknown_cells"]:
        partly = facts["rows_partly_known"]
        found.append(
            f"{_rows(partly)} known and unknown labels: only known cells are learned from and scored."
            if partly
            else "Rows without a known label are used for training where a method can, and never scored."
        )
    return found


def _kept_apart(facts: dict[str, Any], kind: str | None) -> list[str]:
    """What keeps groups together and follows time, and what does not; nothing where there are no such rows."""
    kept = []
    if facts.get("groups") is not None and kind in ("groups", "time"):
        kept.append("folds, test rows, cuts and read-outs keep groups together")
    if facts.get("time_order") and kind == "time":
        kept.append("folds and test rows follow time")
    if not kept:
        return []
    rest = "a ridge that a method chooses itself, and the cross-fitting of label scores, leave out single rows"
    text = f"{', and '.join(kept)}; {rest}."
    return [text[0].upper() + text[1:]]


def _rows(count: int) -> str:
    return f"{count:,} row has" if count == 1 else f"{count:,} rows have"
