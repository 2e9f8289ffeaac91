"""The verdict in words: does any embedding beat all features, and by how much?

A comparison is judged on its folds. Arms that a search has chosen on these very rows are judged on the test rows, which
it has not seen.
"""

from collections.abc import Callable

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
    """(entries, folds): values of a measure; NaN on a fold where it is not defined."""
    return np.array([entry["scores"][name]["by_fold"] for entry in entries], dtype=float)


def _label(entry: dict) -> str:
    return entry["arm"] if entry["k"] is None else f"{entry['arm']} at k = {entry['k']}"


def _number(value: float, sign: bool = False) -> str:
    return f"{value:+.3f}" if sign else f"{value:.3f}"


def _against(entries: list[dict], rivals: list[dict], name: str, sizes: list[dict]) -> dict:
    """Gain over rivals with arm and k of both sides chosen on the other folds, and its interval."""
    ours, theirs = _by_fold(entries, name), _by_fold(rivals, name)
    defined = np.isfinite(np.vstack([ours, theirs])).all(axis=0)
    gain = chosen_elsewhere(ours[:, defined]) - chosen_elsewhere(theirs[:, defined])
    parts = [(size["train"], size["held_out"]) for size in sizes]
    interval = nadeau_bengio(gain, *np.mean(parts, axis=0)) if parts else None
    return {"gain": float(gain.mean()), "interval": None if interval is None else list(interval)}


def _top(entries: list[dict], name: str) -> dict:
    return max(entries, key=lambda entry: entry["scores"][name]["mean"])


def _decided(versus: dict) -> str:
    low, high = versus["interval"] or (-np.inf, versus["gain"])  # one fold says little for an embedding
    return "embed" if low > 0 else "unclear" if high > 0 else "do not embed"


def _interval_text(versus: dict) -> str:
    if not versus["interval"]:
        return ""
    low, high = versus["interval"]
    return f", 95 % interval {_number(low, True)} to {_number(high, True)}"


def _sentence(name: str, best: dict, raw: dict, versus: dict) -> str:
    found = f"{_label(best)} has {name} {_number(best['scores'][name]['mean'])}"
    base = f"{raw['arm']} {_number(raw['scores'][name]['mean'])}"
    gain = f"difference {_number(versus['gain'], True)} with arm and k chosen on the other folds"
    return _told(_decided(versus), found, f"{base} ({gain}{_interval_text(versus)}).")


def _told(decision: str, found: str, base: str) -> str:
    if decision == "embed":
        return f"{found}, {base}"
    beyond = " beyond chance" if decision == "unclear" else ""
    return f"No embedding beats all features{beyond}. The best, {found}, {base}"


def _test_sentence(name: str, best: dict, raw: dict, versus: dict) -> str:
    ours, theirs = (entry["scores"][name] for entry in (best, raw))
    found = f"{_label(best)} has {name} {_number(ours['test'])} on {versus['rows']:,} test rows, looked at once"
    gain = f"difference {_number(versus['gain'], True)}{_interval_text(versus)} by drawing test rows again"
    told = _told(_decided(versus), found, f"{raw['arm']} {_number(theirs['test'])} ({gain}).")
    means = f"{_number(ours['mean'])}, all features {_number(theirs['mean'])}"
    return f"{told} On the folds, whose rows the search has seen: {means}."


def _rival_sentence(name: str, best: dict, rival: dict, part: str = "mean") -> str:
    ours, theirs = best["scores"][name][part], rival["scores"][name][part]
    close = _number(ours) == _number(theirs)
    relation = "level with" if close else "above" if ours > theirs else "below"
    return f"It is {relation} the best rival embedding, {_label(rival)} ({_number(theirs)})."


def _neighbor_sentence(name: str, methods: list[dict], raw: dict) -> str:
    best = _top(methods, name)
    base = raw["scores"][name]["mean"]
    relation = "best" if best["scores"][name]["mean"] > base else "best (still not above all features)"
    found = f"{_label(best)} with {name} {_number(best['scores'][name]['mean'])}"
    return f"For neighbours on the folds, {relation}: {found}; all features {_number(base)}."


OnTest = Callable[[dict, dict], dict | None]


def judge(entries: list[dict], names: list[str], sizes: list[dict], on_test: OnTest | None = None) -> dict:
    """Judge the embeddings against all features, with arm and k chosen on the other folds, or on the test rows.

    Parameters
    ----------
    entries : list of dict
        The leaderboard.
    names : list of str
        Measures, the primary one first, the neighbour measure last.
    sizes : list of dict
        ``train`` and ``held_out`` of each fold.
    on_test : callable, optional
        Of two entries the gain on the test rows as ``evaluate.bootstrap.held_out_gain`` tells it. Given where arms were
        searched on the rows of the folds: then test rows decide alone.

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
        return _no_verdict("It needs a method and all features, both finished.")
    rivals = [entry for entry in entries if entry["rival"] and entry is not raw]
    best, rival = _top(methods, name), _top(rivals, name) if rivals else None
    if on_test is None:
        versus = _against(methods, [raw], name, sizes)
        sentences = [_sentence(name, best, raw, versus)]
        over_rival = None if rival is None else _against(methods, rivals, name, sizes)
    else:
        versus = on_test(best, raw)
        if versus is None:
            return _no_verdict("The test rows were not scored, and the search has seen the rows of the folds.")
        sentences = [_test_sentence(name, best, raw, versus)]
        over_rival = None if rival is None else on_test(best, rival)
    if rival is not None:
        over_rival = {"arm": rival["arm"], "k": rival["k"], **over_rival}
        sentences.append(_rival_sentence(name, best, rival, "mean" if on_test is None else "test"))
    if on_test is None and None not in (best["scores"][name]["test"], raw["scores"][name]["test"]):
        ours, theirs = best["scores"][name]["test"], raw["scores"][name]["test"]
        sentences.append(f"On the test rows, looked at once: {_number(ours)}, all features {_number(theirs)}.")
    sentences.append(_neighbor_sentence(names[-1], methods, raw))
    decision = _decided(versus)
    words = {"decision": decision, "headline": HEADLINES[decision], "text": " ".join(sentences)}
    return {**words, "arm": best["arm"], "k": best["k"], **versus, "rival": over_rival}


def _no_verdict(text: str) -> dict:
    return {"decision": "no comparison", "headline": HEADLINES["no comparison"], "text": text}
