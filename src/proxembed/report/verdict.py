"""The verdict in words: one sentence per goal."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from proxembed.evaluate.arms import ALL_FEATURES, MAP_SIZE
from proxembed.evaluate.gains import FOLDS, NESTED, TEST_ROWS
from proxembed.evaluate.part import KEPT_AMONG
from proxembed.evaluate.results import NEIGHBORS, RIDGE, SAME_ROWS, TEST, sign_of
from proxembed.evaluate.verdict import (
    AS_SHOWN,
    BETTER,
    CANNOT_TELL,
    LEVEL,
    WORSE,
    feature_count,
    neighbor_measure,
    share_of,
)
from proxembed.measures.measures import DEFAULT_NEIGHBORS, is_near
from proxembed.splits.splits import NO_TEST_ROWS

from .advice import RIVAL
from .answers import answers_words
from .next_steps import Run, with_next_steps
from .plain_words import (
    AHEAD,
    CONSTANT,
    COUNTS,
    NOT_ITS_NUMBERS,
    SEARCHES,
    TRIED,
    UNTOLD,
    Missing,
    Subject,
    above_whole,
    and_words,
    entry_of,
    forest_words,
    headline,
    highest_words,
    is_yes_no,
    lead_text,
    measure_words,
    measured,
    merely_sorts,
    option_words,
    other_map,
    per_cent,
    place_of_rival,
    place_words,
    plain_sentence,
    predicts_from_features,
    rival_among_new,
    short,
    size_words,
    word_among_new,
)
from .sections import verdict_warnings

TITLES = {"predict": "Predict", "neighbours": "Neighbours", "map": "Map", "compress": "Compress"}
TONES = {BETTER: "yes", LEVEL: "level", WORSE: "no", CANNOT_TELL: "unclear"}
HUB = 0.2
GAP, GAP_ERRORS = 0.1, 4  # between the test rows and the folds: at least, and in standard errors
LEFT_OUT, GROWN_ON = "rivals left out: ", "forests of rivals grown on "  # of the lines of cuts
OF_DATA = "d", "labels", "single_label"  # what words need of the data, of a goal, and of that of small sizes
OF_GOAL = "word measure value base arm k components rows gain interval margin rival".split()
OF_SIZES = "word arm k components d shares rows bytes bytes_all_features kept_on_folds rivals".split()
LARGEST = " (the largest size tried)"
UNUSED = "Not used as features"
LEVEL_95 = "95 % interval "
LACKS = {
    "arms": "No verdict: it needs a method and all features, both finished.",
    NESTED: "No verdict: Ctrl-C came before every row was held out once.",
    "test rows": "No verdict: the test rows were not scored, and the search has seen the rows of the folds.",
}


def worded(
    summary: dict[str, Any],
    refitted: bool | None = None,
    run: Run | None = None,
    missing: Missing | None = None,
) -> dict[str, Any]:
    """The summary of a comparison, its verdict with a ``sentence`` and a ``tone`` per goal, ``warnings``, a ``note``
    and a ``text``; ``refitted``: the saved model is fitted on all rows, not on those of the model that was judged;
    ``run``: the search or comparison, by which it is told what to do; ``missing``: what a budget
    has cut. None: as the verdict says."""
    verdict = summary["verdict"]
    if verdict["lacks"]:
        return {**summary, "verdict": {**verdict, "headline": "", "text": LACKS[verdict["lacks"]], "note": ""}}
    told: dict[str, Any] = {"refitted": verdict.get("refitted", False) if refitted is None else refitted}
    if missing is None:
        missing = Missing.of(verdict["missing"]) if "rivals" in verdict.get("missing", {}) else Missing()
    told["missing"] = missing.plain()
    goals = _worded_goals(summary, missing)
    verdict = verdict | {"answers": answers_words(summary, run)}
    if "predict" in goals:
        goals["predict"]["answers"] = verdict["answers"]
    summary = {**summary, "verdict": verdict}
    with_next_steps(goals, summary, run)
    goals = dict(sorted(goals.items(), key=lambda each: not each[1]["lead"]))
    first = _answer(goals, summary, run) or headline(goals, verdict.get("asked"))
    told_goals = (((goal.get("answers"), goal["sentence"]), goal) for goal in goals.values())
    lines = [f"{goal['title']}: {goal['said']}. {' '.join(filter(None, texts))}" for texts, goal in told_goals]
    lines = [first, *lines, *_saved_rival(goals, summary), *cut_lines(verdict.get("cut"))]
    more: dict[str, Any] = {"headline": first, "text": "\n".join(lines)}
    more["note"] = _note({**verdict, "goals": goals}, summary, told["refitted"])
    facts, copies = summary["dataset"], copies_words(verdict, goals)
    more["warnings"] = verdict_warnings(facts, summary.get("protocol", {}), copies, run)
    grouped = run.for_copies() if run is not None and run.is_search and facts.get("groups") is None else ""
    more["warning_command"] = grouped * bool(facts.get("duplicate_rows"))
    return {**summary, "verdict": {**verdict, **told, "goals": goals, **more}}


def reworded(record: dict[str, Any], folder: str | None = None, framed: bool = True) -> dict[str, Any]:
    """A stored record with the words of its verdict made again from its figures; ``stored_words`` is true where it
    lacks some of these, so that the words stay those of the version that wrote it. ``framed``: as of ``Run``."""
    summary, search = record["summary"], record.get("search") or {}
    verdict = summary["verdict"]
    goals = verdict["goals"]
    given: dict[str, Any] = {"run": Run(record["command"], folder, framed)}
    if record["kind"] == "search":
        given["refitted"] = verdict.get("refitted", search.get("fitted_on", {}).get("all", False))
        known = "rivals" in verdict.get("missing", {})
        given["missing"] = Missing.of(verdict["missing"]) if known else _missing_of_record(goals, search)
    if lacks_figures(summary):
        return {**record, "stored_words": True}
    return {**record, "summary": worded(summary, **given)}


def lacks_figures(summary: Mapping[str, Any]) -> bool:
    """Whether an earlier version did not write some of the figures that the words of a verdict are made of."""
    verdict, facts = summary["verdict"], summary["dataset"]
    if verdict.get("lacks", "") is not None:
        return "lacks" not in verdict
    known = all(key in verdict for key in ("basis", "tolerance")) and all(key in facts for key in OF_DATA)
    needed = {name: OF_SIZES if name == "compress" else OF_GOAL for name in verdict["goals"]}
    return not known or any(key not in verdict["goals"][name] for name, keys in needed.items() for key in keys)


def _missing_of_record(goals: Mapping[str, Any], search: Mapping[str, Any]) -> Missing:
    """What a budget has cut, from a record of a version that did not write it: of its goals, else of the lines of its
    cuts."""
    cuts = (search.get("budget") or {}).get("cuts", ())
    left_out = [text.removeprefix(LEFT_OUT) for text in cuts if text.startswith(LEFT_OUT)]
    short_search = any(goal.get("short_search") for goal in goals.values())
    grown = [text.removeprefix(GROWN_ON) for text in cuts if text.startswith(GROWN_ON)]
    return Missing(
        {name: goal.get("untried", left_out) for name, goal in goals.items()},
        ("a longer search",) if short_search else (),
        next(iter(grown), ""),
    )


def _worded_goals(summary: dict[str, Any], missing: Missing) -> dict[str, dict[str, Any]]:
    """The goals in their order, each with its words."""
    verdict, facts = summary["verdict"], summary["dataset"]
    features = feature_count(summary.get("best", []), facts["d"])
    subject, goals = Subject.of(facts, features), {}
    named = "notes" in facts and not any(note.startswith(NO_TEST_ROWS) for note in facts["notes"])
    for name in sorted(verdict["goals"], key=partial(_place, verdict.get("asked"))):
        goal = {**verdict["goals"][name], "yes_no": is_yes_no(facts), "all_rows": facts.get("n", 0)}
        goal["test_rows_named"] = verdict["basis"] == TEST_ROWS and named
        goal |= {"untried": list(missing.rivals.get(name, ())), "short_search": bool(missing.search)}
        goal["searched_for"] = "" if name == verdict.get("asked") else verdict.get("asked")
        goal["laid_out"] = verdict.get("laid_out") if name == "map" else None
        goal["without_copies"] = _changed_without_copies(verdict, name)
        goal |= {"forests": missing.forests, "labels": 1 if facts["single_label"] else facts["labels"]}
        tried = {entry["k"] for entry in summary.get("leaderboard", ()) if entry["arm"] == goal["arm"] and entry["k"]}
        goal["largest"] = len(tried) > 1 and goal["k"] == max(tried)
        if name == "predict":
            goal["by_neighbours"] = _by_neighbors(summary, goal)
        if name == "compress":
            goal["rival_shares"] = _rival_shares(summary, goal)
        if goal.get("kept"):
            goal["kept"] = {**goal["kept"], "chance": kept_by_chance(summary)}
        told = {"plain": plain_sentence(name, goal, subject), "sentence": _sentence(name, goal, features)}
        told |= {"title": TITLES[name], "tone": _tone(name, goal), "said": _said(name, goal) + _than(name, goal)}
        goals[name] = {**goal, **told}
    return goals


def _rival_shares(summary: Mapping[str, Any], goal: Mapping[str, Any]) -> dict[str, list[float]]:
    """What each rival of a small size keeps of both measures of all features on the test rows; empty where that is not
    known."""
    of = {(entry["arm"], entry["k"]): entry["scores"] for entry in summary.get("leaderboard", ())}
    found: dict[str, list[float]] = {}
    for arm, k in goal["rivals"].items():
        pairs = [
            (of.get((arm, k), {}).get(name, {}).get(TEST), each.get("base")) for name, each in goal["shares"].items()
        ]
        found[arm] = [value / base for value, base in pairs if value is not None and base]
        if len(found[arm]) < len(pairs) or summary["verdict"]["basis"] != TEST_ROWS:
            found[arm] = []
    return found


def _changed_without_copies(verdict: Mapping[str, Any], name: str) -> tuple[int, str, Any] | None:
    """How many test rows have a copy in training, and the word of a goal without these with the interval of its gain,
    where it is another word."""
    found = verdict.get("without_copies") or {"goals": {}}
    alone = found["goals"].get(name, {"word": None})
    same = alone["word"] in (None, verdict["goals"][name]["word"])
    ends = alone.get("interval") and (alone["interval"], alone.get("margin"))
    return None if same else (found["rows"], alone["word"], ends)


def _by_neighbors(summary: Mapping[str, Any], goal: Mapping[str, Any]) -> float | None:
    """What neighbours in all features have on the test rows, where they predict better than the linear model of these,
    and as well as ours; else None."""
    whole = entry_of(summary, ALL_FEATURES, None) or {"scores": {}}
    name, margin = goal["measure"].replace(f"({RIDGE})", f"({NEIGHBORS})"), goal.get("margin") or 0.0
    value = whole["scores"].get(name, {}).get(TEST) if name != goal["measure"] else None
    if value is None or summary["verdict"]["basis"] != TEST_ROWS:
        return None
    sign = sign_of(goal["measure"])
    as_ours = sign * (value - goal["value"]) >= -margin and sign * (value - goal["base"]["value"]) > margin
    return float(value) if as_ours else None


def kept_by_chance(summary: Mapping[str, Any]) -> float | None:
    """The share of its ten nearest training rows that ten training rows drawn at random have; None if these are not
    counted."""
    sizes = summary.get("fold_sizes", {})
    of = [sizes[TEST]] if TEST in sizes else [sizes[fold] for fold in summary["folds"] if fold in sizes]
    if not of:
        return None
    return sum(min(1.0, DEFAULT_NEIGHBORS / min(size["train"], KEPT_AMONG)) for size in of) / len(of)


def cut_lines(cut: Mapping[str, Any] | None) -> list[str]:
    """What was cut, as lines of text; none where that is not known."""
    if cut is None:
        return []
    why = " ".join(filter(None, (cut["why"], cut["undo"])))
    of_goals = [f"{goals}: {text}." for goals, text in cut.get("lines", ())]  # an earlier version wrote one text
    lines = [f"What was cut: {cut['what']}", *of_goals, why]
    return [line for line in lines if line]


def copies_words(verdict: Mapping[str, Any], goals: Mapping[str, Mapping[str, Any]]) -> str:
    """What the verdict is on the test rows that have no copy among the training rows; empty where that is unknown."""
    found = verdict.get("without_copies")
    if not found:
        return ""
    pairs = {name: found["goals"][name] for name in goals if name in found["goals"]}
    figures = [
        f"{SEARCHES[name]} {short(each['value'])} instead of {short(each['base'])}{_rival_alone(goals[name], each)}"
        for name, each in pairs.items()
        if each["value"] is not None
    ]
    changed = [
        f"{SEARCHES[name]} from “{goals[name]['word']}” to “{each['word']}”"
        for name, each in pairs.items()
        if each["word"] != goals[name]["word"]
    ]
    unknown = [SEARCHES[name] for name in goals if name not in pairs]
    rows = "this row" if found["rows"] == 1 else f"these {found['rows']:,} rows"
    if not pairs:
        return f"What the verdict is without {rows} is not known."
    same = f"the verdict is the same for {and_words([SEARCHES[name] for name in pairs]) if unknown else 'every goal'}"
    what = f"the verdict changes for {and_words(changed)}" if changed else same
    beside = f" (the embedding instead of what it is compared with): {', '.join(figures)}" if figures else ""
    beyond = f"; it is not known for {and_words(unknown)}" if unknown else ""
    return f"Without {rows}{beside}; {what}{beyond}."


def _rival_alone(goal: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """The value of a rival without copied rows, where it is what to do."""
    value = found.get("rival")
    return f" ({goal['rival']['arm']} {short(value)})" if goal.get("taken") == RIVAL and value is not None else ""


def _answer(goals: dict[str, dict[str, Any]], summary: dict[str, Any], run: Run | None) -> str:
    """That another model predicts better and is saved in place of the embedding; empty if the embedding is saved."""
    saved = summary.get("saved") or {}
    if "embedding" not in saved:
        return ""
    name, goal = saved["arm"], goals["predict"]
    told = "Use all features with a ridge: they predict" if name == ALL_FEATURES else f"Use {name}: it predicts"
    option = option_words("embedding", True, run is not None and run.in_python)
    rival = goal.get("rival")
    other = rival if rival is not None and rival["arm"] == name else {**goal, "value": goal["base"]["value"]}
    lead = lead_text(-other["gain"], other.get("interval")).removeprefix("ahead ")
    figures = f"{measured(goal['measure'])} {short(other['value'])} and {short(goal['value'])}, n = {goal['rows']:,}"
    return (
        f"{told} better than every embedding that was tried, {lead} ({figures}). The saved model is that; {option} "
        "saves the best embedding instead."
    )


def _saved_rival(goals: dict[str, dict[str, Any]], summary: dict[str, Any]) -> list[str]:
    """That the saved model is the embedding of a rival, also added to the goal that was asked for."""
    saved = summary.get("saved")
    if not saved or "embedding" in saved:
        return []
    text = (
        f"The saved model is the rival {label(saved)}, which is ahead of ours on the folds by more than a standard "
        "error."
    )
    if (asked := summary["verdict"].get("asked")) in goals:
        goals[asked]["sentence"] += f" {text}"
    return [text]


def _said(name: str, goal: dict[str, Any]) -> str:
    """The word of a goal as it is shown; that of a small size follows its intervals."""
    if goal["word"] == LEVEL and _tone(name, goal) == "yes":
        return "gain" if above_whole(goal) else "no loss"
    return str(goal["word"])


def _than(name: str, goal: dict[str, Any]) -> str:
    """What follows the word of a goal: fewer numbers, than what it is better, a rival ahead, contrary new rows."""
    base, parts = goal.get("base"), []
    if goal["word"] == LEVEL and _tone(name, goal) == "yes":
        parts.append(" with fewer numbers")
    if goal["word"] == BETTER and base is not None:
        constant = SAME_ROWS if is_near(goal["measure"]) else CONSTANT
        other = other_map(goal) if base["k"] else constant
        rivals = f"{_above_rivals(goal)}{TRIED * bool(goal['untried'])}" if _above_rivals(goal) else ""
        features = f"{'a linear model of ' * (name == 'predict')}{ALL_FEATURES}{rivals}"
        parts.append(f" than {features if base['arm'] == ALL_FEATURES else other}")
        parts.append(", by less than matters" * (goal["gain"] <= (goal.get("margin") or 0.0)))
        parts.append("; the ten nearest rows in all features predict as well" * (goal.get("by_neighbours") is not None))
    means = " in the mean over labels" * (name == "predict" and goal["labels"] > 1)
    parts.append(means * (goal["word"] == LEVEL))
    if place_of_rival(goal) == AHEAD:
        parts.append(f"; a rival {'that merely sorts rows by class ' * merely_sorts(goal)}is ahead")
    if said := word_among_new(goal):
        parts.append(f"; {said} among new rows")
    if goal.get("without_copies"):
        alone = goal["without_copies"][1]
        parts.append(f"; {alone}{means * (alone == LEVEL)} without copied rows")
    return "".join(parts)


def _above_rivals(goal: dict[str, Any]) -> str:
    """That the best rival is behind for certain, and whether by more than counts as level; empty where it is not."""
    rival = goal.get("rival") or {}
    ends: Sequence[float] = rival.get("interval") or ()
    if not len(ends) or ends[0] <= 0:
        return ""
    matters = rival["gain"] > (goal.get("margin") or 0.0)
    return f" and{'' if matters else ', by less than matters,'} the best rival"


def _place(asked: str | None, name: str) -> tuple[bool, int]:
    """The goal that was asked for comes first, then predictions."""
    return name != asked, list(TITLES).index(name)


def _tone(name: str, goal: dict[str, Any]) -> str:
    """To keep what all features have at a smaller size is the success of compression."""
    smaller = name == "compress" and goal["components"] < goal["d"]
    return "yes" if smaller and goal["word"] == LEVEL else TONES[goal["word"]]


def _note(verdict: dict[str, Any], summary: dict[str, Any], refitted: bool) -> str:
    """What the figures rest on."""
    rows = next((goal["rows"] for goal in verdict["goals"].values()), 0)
    share, goals = 100 * verdict["tolerance"], verdict["goals"]
    margins = [f"{goal['margin']:.2g} ({name})" for name, goal in goals.items() if goal.get("margin")]
    limit = (
        f"A loss counts as level up to {f'{and_words(margins)}: ' if margins else ''}{share:g} % of what all features "
        f"gain over a constant prediction, or {2 * share:g} % of what they miss (at least {AS_SHOWN:g} "
        "where the best value is 1), whichever is less"
    )
    if any(goal.get("p_holm") is not None for goal in goals.values()):
        limit += (
            ". Each interval is of one comparison; “better” is corrected for the number of goals"
            f"{' beside the one asked for' if verdict.get('asked') else ''} (Holm)"
        )
    whys = (one_axis, no_small_size, judged_labels, fold_gap)
    limit += "".join(f". {text}" for why in whys if (text := why(summary)))
    if verdict["basis"] == FOLDS:
        folds = len(summary["folds"])
        return (
            f"Means over {folds} fold{'s' * (folds != 1)}, each choice made on the other folds. The 95 % intervals are "
            f"those of the models of the folds, not of a model fitted on all rows. {limit}."
        )
    if verdict["basis"] == NESTED:
        nested = summary["nested"]
        methods = and_words([f"{name} at k = {k} {times(number)}" for name, k, number in nested["chosen"]])
        return (
            f"On {rows:,} rows, each held out {times(nested['repeats'])}: in {nested['folds']} nested folds the "
            f"whole choice was made anew without the rows that are held out ({methods}). Values and intervals are "
            f"those of this procedure, for other rows; the saved model is chosen and fitted on all rows. {limit}."
        )
    saved = (
        "The saved model is refitted on all rows; values and intervals are those of the model of the training rows. "
    )
    return (
        f"On {rows:,} test rows, scored once, with method and k chosen on the training rows. The 95 % intervals are "
        f"for other test rows, not for other training rows. {saved if refitted else ''}{limit}."
    )


def one_axis(summary: Mapping[str, Any]) -> str:
    """Why no map is judged, where two components were asked for and the rows give one."""
    ours = [entry for entry in summary.get("leaderboard", ()) if not entry["rival"] and entry["k"] == MAP_SIZE]
    if not ours or "map" in summary["verdict"]["goals"] or any(entry["components"] > 1 for entry in ours):
        return ""
    names = list(dict.fromkeys(entry["arm"] for entry in ours))
    return f"No map is judged: {and_words(names)} give{'s' * (len(names) == 1)} one axis, and a map has two"


def no_small_size(summary: Mapping[str, Any]) -> str:
    """Why no small size is judged, where the predictions of every method read the features."""
    ours = [entry for entry in summary.get("leaderboard", ()) if not entry["rival"] and entry["components"]]
    if not ours or "compress" in summary["verdict"]["goals"] or not all(entry.get("reads_features") for entry in ours):
        return ""
    names = list(dict.fromkeys(entry["arm"] for entry in ours))
    return f"No small size is judged: the predictions of {and_words(names)} read the features and not their numbers"


def judged_labels(summary: Mapping[str, Any]) -> str:
    """How many labels the means over labels are of, where some have no row with the label to be judged by."""
    labels = summary["dataset"]["labels"]
    judged = min((entry.get("labels", labels) for entry in summary.get("best", ())), default=labels)
    few = labels - judged
    if summary["dataset"].get("outputs") is not None or few <= 0:
        return ""
    others = (
        f"the other {COUNTS[few] if 1 < few < len(COUNTS) else f'{few:,}'} have" if few > 1 else "the other one has"
    )
    return f"Means over labels are of at least {judged:,} of the {labels:,} labels: {others} too few rows in some fold"


def fold_gap(summary: Mapping[str, Any]) -> str:
    """Where the choice has another value on the test rows than on the folds, by more than other folds could explain."""
    entry = entry_of(summary)
    if entry is None or summary.get("nested"):
        return ""
    gaps = []
    for name in dict.fromkeys((summary["measures"][0], neighbor_measure(summary["measures"]))):
        score = entry["scores"].get(name, {})
        test, error = score.get("test"), score.get("standard_error")
        if test is not None and error is not None and abs(test - score["mean"]) > max(GAP, GAP_ERRORS * error):
            gaps.append(f"{name} {number(score['mean'])} on the folds and {number(test)} on the test rows")
    if not gaps:
        return ""
    return f"{label(entry)} has {and_words(gaps)}, a larger difference than that between folds"


def _sentence(name: str, goal: dict[str, Any], features: int) -> str:
    return _compressed(goal) if name == "compress" else _compared(goal, features)


def _compared(goal: dict[str, Any], features: int) -> str:
    """Ours against the baseline, equal arms, the best rival where it is above ours, and a hub where there is one."""
    sentences = [_against(goal, features)]
    if goal.get("ties"):
        sentences.append(f"It is {equal_to(goal['ties'])}.")
    if (rival := goal.get("rival")) and rival["value"] is not None and rival["arm"] not in goal.get("ties", ()):
        place, tried = place_of_rival(goal), TRIED * bool(goal["untried"])
        own = {UNTOLD: place_words(place, goal)}.get(place, place)
        said = f"A rival {own}" if place else f"Best rival{tried}"
        over = ""
        if "gain" in rival:
            over = f" It is {lead_text(-rival['gain'], rival['interval'], number, LEVEL_95, 'ours')}."
        sentences.append(f"{said}: {label(rival)}, {number(rival['value'])}{forest_words(rival['arm'], goal)}.{over}")
    if goal.get("by_neighbours") is not None:
        value = number(goal["by_neighbours"])
        sentences.append(f"The ten nearest rows in all features predict as well ({value}, not tested against ours).")
    among = goal.get("new_rows")
    if among is not None:
        whole = f"{number(among['value'])} instead of {number(among['base'])} of {ALL_FEATURES}{_ends(among)}"
        if (other := among.get("rival")) is not None:
            whole += f"; {label(goal['rival'])}, the rival above, {number(other)}"
        if (best := rival_among_new(goal)) is not None:
            ends = _ends(best) if best.get("interval") else " (not tested)"
            whole += (
                f"; {label(best)}, the highest rival there, {number(best['value'])}{ends.replace('(gain', '(our gain')}"
            )
        sentences.append(f"New rows among themselves: {whole}.")
    if other := goal.get("below_constant"):
        what = f"{other_map(goal)}, {label(other)}, is below that: {number(other['value'])}."
        sentences.append(f"{what[0].upper()}{what[1:]}")
    if other := goal.get("highest"):
        text = f"{highest_words(goal)}{size_words(other)}, {number(other['value'])}"
        sentences.append(f"The best other map on the folds is {label(goal['base'])}; {text}.")
    if kept := goal.get("kept"):
        sentences.append(_kept(kept))
    hub = goal.get("hub")
    if hub is not None and hub > HUB:
        sentences.append(f"One training row is among the neighbours of {100 * hub:.0f} % of the rows.")
    return " ".join(sentences)


def _against(goal: dict[str, Any], features: int) -> str:
    base, said = goal["base"], goal["word"]
    values = f"{number(goal['value'])} instead of {number(base['value'])} of {label(base)}"
    own = predicts_from_features(goal)  # its predictions are the same at every size
    arm = f"{label(goal)}{LARGEST * bool(goal.get('largest'))}"
    arm = f"the own predictions of {goal['arm']}, {NOT_ITS_NUMBERS}" if own else arm
    ours, whole = f"{arm}, {measure_words(goal['measure'], bool(own))}", base["arm"] == ALL_FEATURES
    if said == BETTER:
        return f"{values}{_ends(goal)}: {ours}."
    if said == WORSE:
        what = "Do not embed for this goal" if whole else f"Below {label(base)}"
        low, high = sorted(-end for end in goal["interval"])
        return f"{what}: it loses {number(-goal['gain'])} ({number(low)} to {number(high)}); {values}: {ours}."
    kept = f"Keeps {_share(share_of(goal))} of the value of {ALL_FEATURES}" if whole else f"{values}{_ends(goal)}"
    size = f" with {count(goal['components'])} instead of {features:,}" if whole and not own else ""
    if _only_alone(goal):
        return f"{values}{_ends(goal)}: {ours}. {_not_alone(goal)}"
    if said == LEVEL:
        return f"{kept}{size}: {ours}, {values}." if whole else f"{kept}: {ours}."
    if chance := _chance(goal):
        why = chance
    elif goal["interval"] or goal.get("few"):
        why = _unsure(goal, behind=bool(goal["interval"]) and goal["interval"][1] < 0)
    else:
        why = "no interval, so nothing can be told"
    return f"{kept}{size}: {ours}; {why}."


def _kept(kept: dict[str, Any]) -> str:
    """What a map keeps of the neighbours in X, beside a rival."""
    other = "" if kept["rival_share"] is None else f"; {kept['rival']} {per_cent(kept['rival_share'])}"
    chance = "" if kept.get("chance") is None else f"; ten rows drawn at random would be {per_cent(kept['chance'])}"
    return f"The map keeps {per_cent(kept['share'])} of each held-out row's ten nearest training rows{other}{chance}."


def _only_alone(goal: dict[str, Any]) -> bool:
    """Whether a goal would be better if it were the only one."""
    return bool(goal["word"] == LEVEL and goal["interval"][0] > 0)


def _not_alone(goal: dict[str, Any]) -> str:
    """Why a goal that is ahead is level."""
    return (
        f"This is ahead (p = {goal['p']:.3f}), but {goal['family']} goals were tested at once, which takes stronger "
        f"evidence (corrected p = {goal['p_holm']:.3f}). A goal that is named before the run is judged alone."
    )


def _compressed(goal: dict[str, Any]) -> str:
    first, second = goal["shares"].items()
    size = f"{count(goal['components'])} instead of {goal['d']:,}"
    whole = goal["bytes_all_features"]
    sparse = " (sparse)" * (whole is not None and whole < 4 * goal["d"])
    instead = "" if whole is None else f" instead of {whole:,}{sparse}"
    memory = f"{goal['bytes']:,} bytes per row{instead}, stored as 32-bit numbers"
    kept = f"{_share(first[1])} of the {first[0]} and {_share(second[1])} of the {second[0]}"
    ours = label(goal)
    sentences = [f"{ours[0].upper()}{ours[1:]} keeps {kept} with {size} ({memory})."]
    if not goal["kept_on_folds"]:
        sentences.insert(0, "Every size tried loses more than counts as level on the folds.")
    if goal["word"] == CANNOT_TELL and goal.get("at_chance") and not goal.get("few"):
        whys = [no_better(name, value, chance, ALL_FEATURES) for name, (value, chance) in goal["at_chance"].items()]
        sentences += [f"{why[0].upper()}{why[1:]}." for why in whys]
    elif goal["word"] == CANNOT_TELL:
        behind = any(share["interval"] and share["interval"][1] < 1 for share in goal["shares"].values())
        sentences.append(f"{_unsure(goal, behind).capitalize()}.")
    if goal["rivals"]:
        parts = {
            arm: " and ".join(f"{100 * each:.0f} %" for each in goal["rival_shares"][arm]) for arm in goal["rivals"]
        }
        needs = [
            f"{label({'arm': arm, 'k': k})}{f' ({parts[arm]})' * bool(parts[arm])}" for arm, k in goal["rivals"].items()
        ]
        on = " (in brackets what they keep on the test rows)" * any(parts.values())
        sentences.append(f"Rivals that lose no more than counts as level on the folds{on}: {', '.join(needs)}.")
    return " ".join(sentences)


def duration(seconds: float) -> str:
    """A short time in milliseconds, a longer one in seconds, to two figures."""
    return f"{float(f'{1000 * seconds:.2g}'):g} ms" if seconds < 0.9995 else f"{float(f'{seconds:.2g}'):g} s"


def query_times(summary: dict[str, Any]) -> str:
    """The measured time of 1,000 neighbour queries in the embedding that compresses, beside that in all features."""
    goal = summary["verdict"]["goals"].get("compress")
    if goal is None:
        return ""
    of = {(entry["arm"], entry["k"]): entry.get("query_seconds") for entry in summary["leaderboard"]}
    ours, whole = of.get((goal["arm"], goal["k"])), of.get((ALL_FEATURES, None))
    if not ours or not whole:
        return ""
    times = f"1,000 neighbour queries took {duration(ours)} instead of {duration(whole)}"
    return f"{times} (measured once, on this machine under its load then; no verdict rests on it)."


def _share(share: dict[str, Any]) -> str:
    """What is left of the value of all features, in per cent."""
    if share["share"] is None:
        return "all, which is 0,"
    if share["interval"] is None:
        return f"{100 * share['share']:.1f} %"
    low, high = share["interval"]
    return f"{100 * share['share']:.1f} % (95 % interval {100 * low:.1f} to {100 * high:.1f})"


def _chance(goal: dict[str, Any]) -> str:
    """Why it cannot be told where a baseline is no better than a constant; empty where it is, or rows are few."""
    if goal.get("few") or goal.get("chance") is None or goal["margin"] is not None:
        return ""
    return no_better(goal["measure"], goal["base"]["value"], goal["chance"], label(goal["base"]))


def no_better(measure: str, value: float, chance: float, baseline: str) -> str:
    """That a baseline is no better than the constant one: there is no gain of which a share could be lost."""
    constant = SAME_ROWS if is_near(measure) else "one constant prediction"
    do = "do" if baseline == ALL_FEATURES else "does"
    return f"{baseline} ({number(value)}) {do} no better than {constant} ({number(chance)}), so nothing can be told"


def _unsure(goal: dict[str, Any], behind: bool) -> str:
    """Why it cannot be told, also where the interval lies below 0."""
    if goal.get("few"):
        return goal["few"]
    rows = goal["rows"]
    units, unit = goal.get("units") or (rows, "")
    text = "behind, but perhaps by no more than counts as level: " if behind else ""
    return f"{text}{rows:,} rows{f' of {units:,} {unit}s' if unit else ''} are too few to tell"


def _ends(goal: Mapping[str, Any]) -> str:
    if not goal["interval"]:
        return ""
    return f" (gain {number(goal['gain'], True)}{_interval(goal)})"


def _interval(goal: Mapping[str, Any]) -> str:
    """The interval of a gain; empty where it has none."""
    if not goal["interval"]:
        return ""
    low, high = goal["interval"]
    return f", 95 % interval {number(low, True)} to {number(high, True)}"


def label(entry: Mapping[str, Any]) -> str:
    """Name of an arm, with its size where it has one, and how many components the rows gave where these are fewer."""
    return f"{entry['arm']}{size_words(entry)}"


def equal_to(names: Sequence[str]) -> str:
    """What an arm equals in every fold."""
    return f"equal to {and_words(names)} in every fold"


def number(value: Any, sign: bool = False) -> str:
    """A value of a measure."""
    return f"{value:+.3f}" if sign else f"{value:.3f}"


def times(number: int) -> str:
    """How often."""
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def count(k: int) -> str:
    """Numbers per row."""
    return f"{k:,} number{'' if k == 1 else 's'}"
