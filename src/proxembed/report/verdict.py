"""The verdict in words: does any embedding beat all features, and by how much?"""

import numpy as np

from proxembed.evaluate.arms import ALL_FEATURES
from proxembed.evaluate.compare import chosen_elsewhere, nadeau_bengio

HEADLINES = {
    "embed": "Embed",
    "unclear": "No clear gain",
    "do not embed": "Do not embed",
    "no comparison": "No verdict",
}


def _by_fold(entries: list[dict], name: str) -> np.ndarray:
    """(entries, folds): values of a measure, on the folds where it is defined."""
    table = np.array([entry["scores"][name]["by_fold"] for entry in entries], dtype=float)
    return table[:, ~np.isnan(table).all(axis=0)]


def _label(entry: dict) -> str:
    return entry["arm"] if entry["k"] is None else f"{entry['arm']} at k = {entry['k']}"


def _number(value: float, sign: bool = False) -> str:
    return f"{value:+.3f}" if sign else f"{value:.3f}"


def _against(entries: list[dict], rivals: list[dict], name: str, sizes: list[dict]) -> dict:
    """Gain over rivals with arm and k of both sides chosen on the other folds, and its interval."""
    gain = chosen_elsewhere(_by_fold(entries, name)) - chosen_elsewhere(_by_fold(rivals, name))
    parts = [(size["train"], size["held_out"]) for size in sizes]
    interval = nadeau_bengio(gain, *np.mean(parts, axis=0)) if parts else None
    return {"gain": float(gain.mean()), "interval": None if interval is None else list(interval)}


def _top(entries: list[dict], name: str) -> dict:
    return max(entries, key=lambda entry: entry["scores"][name]["mean"])


def _sentence(name: str, best: dict, raw: dict, versus: dict) -> tuple[str, str]:
    found = f"{_label(best)} has {name} {_number(best['scores'][name]['mean'])}"
    base = f"{raw['arm']} {_number(raw['scores'][name]['mean'])}"
    gain = f"difference {_number(versus['gain'], True)} with arm and k chosen on the other folds"
    low, high = versus["interval"] or (versus["gain"], versus["gain"])
    if versus["interval"]:
        gain += f", 95 % interval {_number(low, True)} to {_number(high, True)}"
    if low > 0:
        return "embed", f"{found}, {base} ({gain})."
    if high > 0:
        return "unclear", f"No embedding beats all features beyond chance. The best, {found}, {base} ({gain})."
    return "do not embed", f"No embedding beats all features. The best, {found}, {base} ({gain})."


def _rival_sentence(name: str, best: dict, rival: dict) -> str:
    ours, theirs = best["scores"][name]["mean"], rival["scores"][name]["mean"]
    close = _number(ours) == _number(theirs)
    relation = "level with" if close else "above" if ours > theirs else "below"
    return f"It is {relation} the best rival embedding, {_label(rival)} ({_number(theirs)})."


def _neighbor_sentence(name: str, methods: list[dict], raw: dict) -> str:
    best = _top(methods, name)
    base = raw["scores"][name]["mean"]
    relation = "best" if best["scores"][name]["mean"] > base else "best (still not above all features)"
    found = f"{_label(best)} with {name} {_number(best['scores'][name]['mean'])}"
    return f"For neighbours, {relation}: {found}; all features {_number(base)}."


def judge(entries: list[dict], names: list[str], sizes: list[dict]) -> dict:
    """Judge the embeddings against all features, with arm and k chosen on the other folds.

    Parameters
    ----------
    entries : list of dict
        The leaderboard.
    names : list of str
        Measures, the primary one first, the neighbour measure last.
    sizes : list of dict
        ``train`` and ``held_out`` of each fold.

    Returns
    -------
    dict
        ``decision`` ("embed", "unclear", "do not embed" or "no comparison"), ``headline``, ``text``, ``arm``, ``k``,
        ``gain``, ``interval`` (over all features) and ``rival`` (the same over the best rival embedding, or None).

    Examples
    --------
    >>> from proxembed.report.verdict import judge
    >>> judge([], ["macro average precision (ridge)"], [])["decision"]
    'no comparison'
    """
    name = names[0]
    methods = [entry for entry in entries if not entry["rival"]]
    raw = next((entry for entry in entries if entry["arm"] == ALL_FEATURES), None)
    if not methods or raw is None:
        text = "It needs a method and all features, both finished."
        return {"decision": "no comparison", "headline": HEADLINES["no comparison"], "text": text}
    best, versus = _top(methods, name), _against(methods, [raw], name, sizes)
    decision, text = _sentence(name, best, raw, versus)
    sentences = [text]
    rivals = [entry for entry in entries if entry["rival"] and entry is not raw]
    over_rival = None
    if rivals:
        top = _top(rivals, name)
        over_rival = {"arm": top["arm"], "k": top["k"], **_against(methods, rivals, name, sizes)}
        sentences.append(_rival_sentence(name, best, top))
    if best["scores"][name]["test"] is not None and raw["scores"][name]["test"] is not None:
        ours, theirs = best["scores"][name]["test"], raw["scores"][name]["test"]
        sentences.append(f"On the test rows, looked at once: {_number(ours)}, all features {_number(theirs)}.")
    sentences.append(_neighbor_sentence(names[-1], methods, raw))
    words = {"decision": decision, "headline": HEADLINES[decision], "text": " ".join(sentences)}
    return {**words, "arm": best["arm"], "k": best["k"], **versus, "rival": over_rival}
