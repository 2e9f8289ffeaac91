"""What to do about a goal, and whom to take for it: goals with figures in, advice for anyone out."""

from collections.abc import Mapping
from typing import Any

from proxembed.evaluate.arms import ALL_FEATURES
from proxembed.evaluate.results import sign_of
from proxembed.evaluate.verdict import BETTER, CANNOT_TELL, LEVEL, WORSE
from proxembed.measures.measures import is_near

from .plain_words import (
    AHEAD,
    AS_GOOD,
    LOOKUP,
    OUTSIDE,
    PERHAPS,
    UNTOLD,
    above_base,
    given_words,
    largest_loss,
    merely_sorts,
    option_words,
    own_words,
    place_of_rival,
    place_words,
    predicts_from_features,
    rival_among_new,
    size_words,
    word_among_new,
)

SAVED = " (the saved model)"
AS_FEATURES = ", which are as good"
NEAREST = f"the ten nearest rows in {ALL_FEATURES}"
DO, FIRST = "What to do", "If you do only one thing"
DOES = {"predict": "predict with", "neighbours": "find neighbours with", "map": "use the map of"}
OURS, RIVAL, FEATURES, SAVED_RIVAL, NOBODY = "ours", "rival", "features", "saved rival", ""


def who(name: str, goal: Mapping[str, Any]) -> str:
    """Whom to take for a goal: our embedding, a rival, the features, the rival that is saved, or nobody for sure."""
    said = goal["word"]
    if goal.get("saved_rival"):
        return SAVED_RIVAL
    if said == CANNOT_TELL:  # what is safe to do, if that is known
        return {"predict": FEATURES, "map": OURS}.get(name, NOBODY) if largest_loss(goal) else NOBODY
    if name in ("predict", "neighbours"):
        if place_of_rival(goal) == AHEAD and above_base(goal) and not merely_sorts(goal):
            return RIVAL
        fewer = goal["components"] < goal.get("features", goal["components"] + 1)
        return OURS if said == BETTER or said == LEVEL and fewer else FEATURES
    if name == "map":
        return NOBODY if said == WORSE else OURS
    return OURS if said != WORSE and goal["components"] < goal["d"] else FEATURES


def asks_for_maps(name: str, goal: Mapping[str, Any]) -> bool:
    """Whether a search for maps is advised: a map helps, and this search was not for maps, or drew better ones than it
    compared."""
    searched = goal.get("asked", "map") == "map"
    return name == "map" and (bool(goal.get("laid_out")) or (not searched and goal["word"] != WORSE))


def advice(name: str, goal: Mapping[str, Any]) -> str:
    """What to do about a goal, in one sentence without its beginning."""
    said, place, taken = goal["word"], place_of_rival(goal), who(name, goal)
    if taken == SAVED_RIVAL:
        return f"{DOES[name]} {goal['saved_rival']}{SAVED}."
    if taken == RIVAL:
        return f"{DOES[name]} {goal['rival']['arm']}{_where_lookup_holds(name, goal)}{_search_for_goal(name, goal)}."
    ours = _ours(name, goal)
    if asks_for_maps(name, goal):
        option = option_words("goal", "map", goal.get("in_python", False))
        return f"search with {option} before you use a map: it also compares maps laid out from all components."
    if name == "map":
        other = goal["base"]["arm"] if goal["base"]["k"] else "use no map"
        or_other = f" or that of {other}" if goal["base"]["k"] else ""
        told = {BETTER: f"use the map of {ours}", LEVEL: f"use the map of {ours}{or_other}"}
        told |= {WORSE: f"use the map of {other}" if goal["base"]["k"] else other}
    elif name == "compress":
        stored = f"store the numbers of {ours} in place of the features, unless another use needs these"
        told = {LEVEL: stored if taken == OURS else "keep the features"}
        told |= {BETTER: told[LEVEL], WORSE: "keep the features"}
    else:
        purpose = "to predict" if name == "predict" else "to find neighbours"
        level = _as_good(name, goal, ours) if taken == OURS else "keep the features"
        near = said == BETTER and goal.get("by_neighbours") is not None
        told = {BETTER: f"use {ours} {_purpose(name, goal)}", LEVEL: level, WORSE: f"keep the features {purpose}"}
        if merely_sorts(goal):
            return f"{told.get(said) or _unless(name, goal, told[WORSE], '')}."
        said_already = place == AS_GOOD and said == LEVEL and taken == OURS
        if place in (AS_GOOD, PERHAPS) and said in (BETTER, LEVEL) and not said_already:
            both = f"{told[said]}, or take {goal['rival']['arm']}, which {place_words(place, goal)}"
            return f"{both}{f'; {NEAREST} do as well' * near}."
        told[BETTER] += f", or {NEAREST}, which do as well" * near
    if said == CANNOT_TELL:
        return f"{_unless(name, goal, told[LEVEL if name == 'map' else WORSE], place)}."
    return f"{told[said]}."


def _search_for_goal(name: str, goal: Mapping[str, Any]) -> str:
    """That a search for a goal may turn the order of a rival and the embedding, where the search was for another."""
    turned = bool(goal.get("short_search")) and name != goal.get("asked", name)
    option = option_words("goal", name, goal.get("in_python", False))
    return f"; a search with {option} compares embeddings that are chosen for this goal" * turned


def _as_good(name: str, goal: Mapping[str, Any], ours: str) -> str:
    """Ours where it is level, or what is as good."""
    linear, own = name == "predict", predicts_from_features(goal)  # fewer numbers do not tell of it
    others = [f"a linear model of {ALL_FEATURES}" if linear else "keep the features"]
    if place_of_rival(goal) == AS_GOOD:
        others.append(f"{'' if linear else 'take '}{goal['rival']['arm']}")
    alike = ", which is as good" if linear and len(others) == 1 else AS_FEATURES
    return f"use {ours}{', or' if own else ' if fewer numbers help; else'} {' or '.join(others)}{alike}"


def _where_lookup_holds(name: str, goal: Mapping[str, Any]) -> str:
    """Among which rows a lookup has labels, and what to use among others, where it is behind there."""
    if goal["rival"]["arm"] != LOOKUP or not is_near(goal["measure"]):
        return ""
    takes, (taken, best) = ", if you search among the rows of its fit, whose labels it has", best_outside(goal)
    if taken == NOBODY:
        return takes
    use = "keep the features, which have" if taken == FEATURES else f"use {best['arm']}{size_words(best)}, which has"
    use = f"use {_ours(name, goal)}, which has" if taken == OURS else use
    others = [f"{each['arm']} {each['value']:.3f}" for _, each in _outside(goal) if each["arm"] != best["arm"]]
    return f"{takes}; else {use} {best['value']:.3f} between {OUTSIDE} ({', '.join(others)})"


def _outside(goal: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Who has which figure between rows that were not in the fit, the highest first, each with the interval of our gain
    over it where that is known; empty where a lookup has no figure."""
    among, sign = goal.get("new_rows") or {}, sign_of(goal["measure"])
    if among.get("rival") is None or (goal.get("rival") or {}).get("arm") != LOOKUP:
        return []
    found: list[tuple[str, Mapping[str, Any]]]
    found = [(OURS, {**goal, "arm": "the embedding", "value": among["value"]})]
    found += [(NOBODY, {**goal["rival"], "value": among["rival"], "interval": None})]
    whole = {**goal["base"], "value": among.get("base"), "interval": among.get("interval")}
    found += [(FEATURES, whole)] * ("base" in among)
    found += [(RIVAL, other) for other in (rival_among_new(goal),) if other is not None]
    return sorted(found, key=lambda each: -sign * each[1]["value"])


def best_outside(goal: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Whom to take between rows that were not in the fit: ours, unless the features or a rival are ahead for certain;
    nobody but the lookup where that has the highest figure."""
    found = _outside(goal)
    if not found or found[0][0] == NOBODY:
        return NOBODY, {}
    ahead = [each for each in found if each[0] != OURS and (ends := each[1].get("interval")) and ends[1] < 0]
    return ahead[0] if ahead else next(each for each in found if each[0] == OURS)


def _purpose(name: str, goal: Mapping[str, Any]) -> str:
    """What a better embedding is to be used for; not between rows outside the fit, where that is not better, too."""
    if name == "predict":
        return "to predict"
    if word_among_new(goal):
        return f"to find neighbours among the rows of its fit; keep the features to search among {OUTSIDE}"
    if goal.get("yes_no"):
        return "to find rows with a similar score; keep the features to find rows that are alike in other ways, too"
    return "to find neighbours"


def _ours(name: str, goal: Mapping[str, Any]) -> str:
    """The method that a goal is about, with its size where that matters, and which file has it."""
    alone = goal["k"] is None or (name == "predict" and goal.get("reads_features"))
    size, saved = "" if alone else f" at k = {goal['k']}", goal.get("saved")
    what = "map" if name == "map" else "one"
    does = "saves it" if goal.get("hidden") else f"looks for the best {what} and saves it"
    other = f"a search with {_saving_option(name, goal)} {does}"
    file = "" if saved is None else SAVED.strip(" ()") if saved else other
    notes = "; ".join(filter(None, ("" if alone else given_words(goal), file)))
    return f"{goal['arm']}{size}{f' ({notes})' if notes else ''}"


def _saving_option(name: str, goal: Mapping[str, Any]) -> str:
    """The option of a search that saves the embedding of a goal, of the program or of Python."""
    in_python = goal.get("in_python", False)
    return option_words("embedding", True, in_python) if goal.get("hidden") else option_words("goal", name, in_python)


def not_saved(name: str, goal: Mapping[str, Any], saved: str) -> str:
    """That the figures of a goal are of another embedding than the ``saved`` model, and how to get that one."""
    if goal["saved"] is not False:
        return ""
    found = f"{goal['arm']}{size_words({'k': goal['k']})}"
    does = "saves it" if goal.get("hidden") else "looks for the best one and saves it"
    how = "" if who(name, goal) == OURS else f"; a search with {_saving_option(name, goal)} {does}"
    return f"These are figures of {found}, not of the saved model ({saved}){goal.get('saved_figures', '')}{how}."


def _unless(name: str, goal: Mapping[str, Any], safe: str, place: str) -> str:
    """What is safe to do as long as a goal cannot be told, and what the embedding may cost."""
    loss = largest_loss(goal)
    if not loss:
        return "rely on none of this before more rows are scored"
    named = place not in ("", UNTOLD) and name in ("predict", "neighbours")
    rival = f", or take {goal['rival']['arm']}, which {place_words(place, goal)}" if named and above_base(goal) else ""
    figures = _three_figures(goal) if named else ""
    return f"{safe}{rival}; {'this map' if name == 'map' else own_words(goal)} may lose up to {loss}{figures}"


def _three_figures(goal: Mapping[str, Any]) -> str:
    """The figures of the features, of a rival and of ours, to three decimals."""
    three = {"features": goal["base"]["value"], goal["rival"]["arm"]: goal["rival"]["value"]}
    three[own_words(goal).removeprefix("the ")] = goal["value"]
    return f" ({', '.join(f'{name} {value:.3f}'.replace(' 0.', ' .') for name, value in three.items())})"
