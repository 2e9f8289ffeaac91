"""What was found, in one sentence per goal that names no method: goals with figures in, sentences for anyone out."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from proxembed.estimator.base import Estimator
from proxembed.evaluate.arms import ALL_FEATURES
from proxembed.evaluate.results import RIDGE, SAME_ROWS, sign_of
from proxembed.evaluate.rivals.rival import rivals
from proxembed.evaluate.verdict import BETTER, CANNOT_TELL, LEVEL, WORSE
from proxembed.measures.measures import AVERAGE_PRECISION, is_near
from proxembed.params import declared

CONSTANT = "the same answer for every row"
TRIED = " tried"  # where some are missing
FAR = 100  # times the rows; what takes more is out of reach
BOTH_CLASSES = "; Jaccard@10: share of neighbours of the same class, mean over both classes"
OUTSIDE = "rows that were not in the fit"
NO_COPIES = " (without copied rows)"
SEARCHES = {"predict": "predictions", "neighbours": "neighbours", "map": "maps", "compress": "small sizes"}
OWN_CLASSIFIER = "its own classifier"  # of a measure of predictions, in place of the ridge
BY_ITSELF = "† predicts by itself, not by a ridge on its numbers"
NOT_ITS_NUMBERS = "which reads the features and not the numbers of the embedding"
COUNTS = "no one two three four five six seven eight nine ten eleven twelve".split()

GLOSSARY = {
    "embedding": "Each row as k numbers that are learned from its features. The same method places new rows.",
    "k": "Number of learned numbers (components) per row.",
    "better": "Above what it is compared with, by more than other test rows could explain.",
    "level": "No loss that matters: as good, neither better nor worse.",
    "no loss, gain": "Of fewer numbers: level in both measures, or above all features in both.",
    CONSTANT: "What a model reaches that ignores the features: the mean of the training rows for every row; of "
    "neighbours and maps the ten training rows that suit most rows.",
    "worse": "A loss that matters.",
    "cannot tell": "Too few rows to say any of these.",
    "interval": "A range made so that it covers the value for other test rows of the same kind in 95 of 100 cases.",
    "ridge": "A linear regression of the targets on the numbers of a row, with a penalty: how embeddings predict "
    "unless their method predicts by itself.",
    "cosine kNN": "The ten nearest training rows of a row, by the angle between their numbers.",
    "saved model": "The model in the folder of a search, which predict and transform use. It is chosen for the goal "
    "that was asked for, else for predictions; another search saves that of another goal.",
    "kept, chance": "The share of a row's ten nearest training rows in the features that are among its ten nearest on "
    "a map; chance: what ten training rows drawn at random would have.",
    "shuffled": "The same method fitted to targets that are shuffled over the rows: what chance alone looks like.",
}
OF_LABELS = {
    "average precision": "How high the rows with a label rank by its predicted score: 1 is perfect, the share of rows "
    "with the label is chance. Macro: the mean over labels.",
    "sensitivity, specificity": "The share of the rows with a label for which it is predicted, and the share of the "
    "other rows for which it is not; the rest of these are false alarms.",
    "Jaccard@10": "Labels that a row and its ten nearest training rows have in common, over those that either has. "
    "Of one yes/no label it is the share of neighbours of the same class, the mean over both classes, so that the "
    "rarer one counts as much: one list for all rows has 0.5.",
    "agreement": "Jaccard@10, in sentences.",
}
OF_NUMBERS = {
    "Q2": "The share of the variance of held-out numbers that is predicted: 1 is perfect, the training mean has 0.",
    "A@10": "How well the outputs of a row agree with those of its ten nearest training rows: 0 is chance, 1 perfect.",
    "agreement": "A@10, in sentences.",
}


RIVALS = {
    "label lookup": "A rival: a new row is placed at its scores by a random forest, a training row at its labels, and "
    "neighbours are found between the two.",
    "forest scores": "A rival: the scores of the labels by a random forest; neighbours are those of similar scores.",
    "label scores": "A rival: the scores of the labels by a ridge, as components.",
}


def glossary(numbers: bool) -> list[tuple[str, str]]:
    """The terms of the verdict and what they mean, for labels or for numbers."""
    own = OF_NUMBERS if numbers else {**OF_LABELS, **RIVALS}
    return [*own.items(), *GLOSSARY.items()]


@dataclass(frozen=True)
class Missing:
    """What a budget has cut of what words speak of: the ``rivals`` that each goal lacks, what the ``search`` lacks, and
    the number of rows, in words, that ``forests`` of rivals grow on (empty: all)."""

    rivals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    search: Sequence[str] = ()
    forests: str = ""

    def plain(self) -> dict[str, Any]:
        """The same as a record takes it."""
        rivals = {goal: list(names) for goal, names in self.rivals.items()}
        return {"rivals": rivals, "search": list(self.search), "forests": self.forests}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> "Missing":
        """What a record holds."""
        return cls(plain["rivals"], plain["search"], plain["forests"])


@dataclass(frozen=True)
class Subject:
    """What is predicted, and what neighbours have in common, of one data set."""

    targets: str
    shared: tuple[str, str]  # more of it, and as much
    features: str
    predictor: str = "classifier"

    @classmethod
    def of(cls, facts: Mapping[str, Any], features: int) -> "Subject":
        """By the facts of the data set and the number of its features."""
        whole = f"all {features:,} features" if features != 1 else "the one feature"
        if facts.get("outputs") is not None:
            return cls(
                "these outputs", ("have more similar outputs than", "have outputs as similar as"), whole, "regression"
            )
        if facts["single_label"]:
            return cls(
                "the class", ("are more often of the same class than", "are as often of the same class as"), whole
            )
        one = [name for name, _ in facts["label_counts"]] if facts["labels"] == 1 else []
        shared = ("are more often of the same class than", "are as often of the same class as")
        several = ("share more labels than", "share as many labels as")
        return cls(one[0] if one else "these labels", shared if one else several, whole)


def short(value: float) -> str:
    """A value to two decimals, without the 0 before the point; one below 1 is never shown as 1, but for rounding."""
    if not abs(value) < 1 - 5e-7:
        return f"{value:.2f}"
    told = next((text for digits in (2, 3, 4) if "1." not in (text := f"{value:.{digits}f}")), f"{value:.6f}")
    return told.replace("0.", ".", 1)


def three_decimals(value: float) -> str:
    """A value to three decimals, without the 0 before the point."""
    return f"{value:.3f}".removeprefix("0")


def counted(k: int) -> str:
    """Numbers per row, small counts as words."""
    return f"{COUNTS[k] if k < len(COUNTS) else f'{k:,}'} number{'s' * (k != 1)}"


def above_base(goal: Mapping[str, Any]) -> bool:
    """Whether the rival is no worse than the baseline."""
    return bool(sign_of(goal["measure"]) * (goal["rival"]["value"] - goal["base"]["value"]) >= 0)


def plain_sentence(name: str, goal: Mapping[str, Any], subject: Subject) -> str:
    """One goal in one sentence without the name of a method of ours."""
    tell = {"predict": _predicted, "neighbours": _neighbors, "map": _mapped, "compress": _compressed}[name]
    text = tell(goal, subject) + _without_copies(goal)
    return f"{text[0].upper()}{text[1:]}."


def _without_copies(goal: Mapping[str, Any]) -> str:
    """The word of a goal without test rows that have a copy in training, where it is another."""
    if not goal.get("without_copies"):
        return ""
    rows, said, *ends = goal["without_copies"]
    which = "the test row that has" if rows == 1 else f"the {rows:,} test rows that have"
    act = "which is the one to act on unless your new rows repeat training rows, too"
    span = ""
    if ends and ends[0]:
        interval, margin = ends[0]
        level = f"; a loss up to {margin:.2g} counts as level" if margin else ""
        span = f"{_span(interval, ' (')}{level})"
    return f"; without {which} a copy in training the verdict is “{said}”{span}, {act}"


def acted_on(goal: Mapping[str, Any]) -> str:
    """The word of a goal to act on: that without copies where it is another."""
    return str((goal.get("without_copies") or (0, goal["word"]))[1])


def entry_of(summary: Mapping[str, Any], *own: Any) -> Mapping[str, Any] | None:
    """The entry of an arm and its size on the leaderboard, or of the choice; of nested folds that of the choices in
    each."""
    chosen = summary.get("choice") or {}
    arm, k = own or (chosen.get("method"), chosen.get("k"))
    return next((each for each in summary.get("best", ()) if (each["arm"], each["k"]) == (arm, k)), None)


def headline(goals: Mapping[str, Mapping[str, Any]], asked: str | None = None) -> str:
    """The sentence of the goal that leads, else of the first one; before it, that nothing helps, where this holds of
    every goal. If no goal was ``asked`` for, after it what else came out, and what did not."""
    name = next((name for name, goal in goals.items() if goal.get("lead")), next(iter(goals)))
    first = goals[name]
    if all(acted_on(goal) == WORSE for goal in goals.values()):
        where = " on rows without a copy" if first.get("without_copies") else ""
        return f"No embedding{_tried(first)} helps here{where}. {first['plain']}"
    also = _helps(first) and not predicts_from_features(first)
    return first["plain"] + ("" if asked else _others({key: goal for key, goal in goals.items() if key != name}, also))


def _others(goals: Mapping[str, Mapping[str, Any]], also: bool) -> str:
    """For which other uses an embedding helps (``also``: as for the first one), and for which not, with their words."""
    uses = {name: f"{SEARCHES[name]}{NO_COPIES * bool(goal.get('without_copies'))}" for name, goal in goals.items()}
    if "neighbours" in goals and word_among_new(goals["neighbours"]) in (WORSE, NO_GAIN):
        uses["neighbours"] += " among the rows of the fit"
    better = [name for name, goal in goals.items() if acted_on(goal) == BETTER]
    helps = [uses[name] for name in better if not predicts_from_features(goals[name])]
    own = [name for name in better if predicts_from_features(goals[name])]
    small = goals.get("compress", {"word": "", "components": 0})
    s = "s" * (small["components"] == 1)
    better_than = f"predict{s} better and find{s} better neighbours than the features"
    does = better_than if above_whole(small) else f"keep{s} what the features have"
    fewer = f" {counted(small['components']).capitalize()} {does}."
    level = [name for name, goal in goals.items() if acted_on(goal) == LEVEL and not _helps(goal)]
    level = [uses[name] for name in level if not predicts_from_features(goals[name])]
    lost = {name: acted_on(goal) for name, goal in goals.items() if acted_on(goal) in (WORSE, CANNOT_TELL)}
    lacks = [f"{uses[name]} ({word})" for name, word in lost.items()]
    parts = (f"An embedding {'also ' * also}helps for", helps), ("An embedding is as good, no better, for", level)
    said = [f" {begin} {and_words(names)}." for begin, names in parts if names]
    said += [fewer * _helps(small), f" An embedding is not shown to help for {and_words(lacks)}." if lacks else ""]
    return "".join([*said, " The own classifier of a method, which reads the features, predicts better." * bool(own)])


def _helps(goal: Mapping[str, Any]) -> bool:
    """Whether the embedding is better, or as good with fewer numbers."""
    return acted_on(goal) == BETTER or (acted_on(goal) == LEVEL and goal.get("tone") == "yes")


def and_words(names: Sequence[str]) -> str:
    """Names as words: commas, and "and" before the last."""
    *others, last = names
    return f"{', '.join(others)}{' and ' if others else ''}{last}"


def _tried(goal: Mapping[str, Any]) -> str:
    """That embeddings are missing, which might do better, or that the search was for another goal."""
    if searched := goal.get("searched_for"):
        return f" tried in this run (which searched for {SEARCHES[searched]})"
    return " that was tried" if goal.get("short_search") else ""


def _predicted(goal: Mapping[str, Any], subject: Subject) -> str:
    own = goal.get("reads_features")  # its predictions are not made of the numbers alone
    ours, base = counted(goal["components"]), _base(goal, subject)
    base = f"a linear model of {base}" if base == subject.features else base
    if own:
        ours = f"the method's own {subject.predictor}, {NOT_ITS_NUMBERS},"
    verb = f"predict{'s' * (own or goal['components'] == 1)} {subject.targets}"
    if goal["word"] == WORSE:
        none = f"no {'method' if own else 'embedding'}{_tried(goal)} predicts {subject.targets}"
        return f"{none} as well as {base}{_figures(goal)}{_rival(goal)}"
    said = _said(goal, ours, (f"{verb} better than", f"{verb} as well as"), base)
    return said + _by_neighbors(goal) + _rival(goal)


def _by_neighbors(goal: Mapping[str, Any]) -> str:
    """That neighbours in all features predict as well as ours, where the linear model of these does not."""
    value = goal.get("by_neighbours")
    return "" if value is None else f"; so do the ten nearest rows in all features ({short(value)})"


def _neighbors(goal: Mapping[str, Any], subject: Subject) -> str:
    near, base = f"neighbours found by {counted(goal['components'])}", _base(goal, subject)
    if goal["word"] == WORSE:
        lost = f"neighbours found by {base} {subject.shared[0]} those of any embedding{_tried(goal)}{_figures(goal)}"
        return lost + _contrary_new_rows(goal, subject.features)
    said = _said(goal, near, subject.shared, base if base == SAME_ROWS else f"those found by {base}")
    return said + _contrary_new_rows(goal, subject.features) + _rival(goal)


def _mapped(goal: Mapping[str, Any], subject: Subject) -> str:
    near, base = "neighbours on the map", f"those on {other_map(goal)}"
    if goal["word"] == WORSE:
        ours = f"those on ours{_figures(goal)}{_below_constant(goal)}{_kept(goal)}"
        if not goal["base"]["k"]:
            return f"{SAME_ROWS} {subject.shared[0]} {ours}{_laid_out(goal)}"
        return f"neighbours on {other_map(goal)} {subject.shared[0]} {ours}{_laid_out(goal)}"
    said = _said(goal, near, subject.shared, base if goal["base"]["k"] else _base(goal, subject))
    return said + _below_constant(goal) + _kept(goal) + _highest(goal) + _laid_out(goal)


def other_map(goal: Mapping[str, Any]) -> str:
    """The other map that ours is compared with, and whether there was a choice."""
    on_folds = " on the folds" * bool(goal.get("highest"))
    return f"the {'only' if goal.get('others') == 1 else 'best'} other map{TRIED * bool(goal.get('untried'))}{on_folds}"


def _below_constant(goal: Mapping[str, Any]) -> str:
    """The best other map where it is below the constant, which is then what the sentence compares with."""
    if not (other := goal.get("below_constant")):
        return ""
    return f"; {other_map(goal)} is below that: {other['arm']}, {short(other['value'])}"


def _highest(goal: Mapping[str, Any]) -> str:
    """The other map that is highest on the rows scored, where it is not the best on the folds."""
    if not (other := goal.get("highest")):
        return ""
    return f"; that map is of {goal['base']['arm']}; {highest_words(goal)} ({short(other['value'])})"


def highest_words(goal: Mapping[str, Any]) -> str:
    """Which other map is highest on the rows scored, behind that which is the best on the folds."""
    return f"the highest other compared on the rows scored here is {goal['highest']['arm']}"


def option_words(name: str, value: object, in_python: bool) -> str:
    """An argument of Python with its value, such as goal='map', or the option of the program that is the same."""
    if in_python:
        return f"{name}={value!r}"
    flag = f"--{name.replace('_', '-')}"
    return flag if value is True else f"{flag} {value}"


def laid_out_words(goal: Mapping[str, Any], in_python: bool = False) -> str:
    """The same as a line of what was cut."""
    best, option = goal["laid_out"], option_words("goal", "map", in_python)
    return (
        f"maps laid out from all components are drawn, but not compared; the best of these ({best['title']}) has "
        f"{short(best['score'])}, the map of the verdict {short(goal['value'])}: use {option} "
        "before you use one"
    )


def _laid_out(goal: Mapping[str, Any]) -> str:
    """That maps laid out from all components are drawn with a higher figure, but were not compared."""
    if not (best := goal.get("laid_out")):
        return ""
    return (
        "; maps laid out from all components are drawn on the page, too, but were not compared: the best of these "
        f"({best['title']}) has {short(best['score'])}{_without_labels(best.get('without_labels'))}"
    )


def _without_labels(best: Mapping[str, Any] | None) -> str:
    """The map laid out without labels, where it has a higher figure, too, and what it keeps."""
    if best is None:
        return ""
    keeps = "" if best["kept"] is None else f" and keeps {per_cent(best['kept'])}"
    return f"; that of {best['title']}, which uses no labels, has {short(best['score'])}{keeps}"


def _said(goal: Mapping[str, Any], ours: str, does: tuple[str, str], base: str) -> str:
    """That ours does more than the baseline, or as much, or that this cannot be told."""
    if goal["word"] in (BETTER, LEVEL):
        return f"{ours} {does[goal['word'] == LEVEL]} {base}{_figures(goal)}"
    why = "it cannot be told" if goal.get("few") else "too few rows to tell"
    return f"{why} whether {ours} {does[1]} {base}{_span(goal['interval'])}{more_rows(goal)}{_figures(goal)}"


def _span(interval: Any, colon: str = ": ") -> str:
    """How much worse or better one may be than the other: both ends of the interval of its gain."""
    if not interval:
        return ""
    ends = [f"{three_decimals(abs(end))} {'worse' if end < 0 else 'better'}" for end in interval]
    return f"{colon}between {ends[0]} and {ends[1]}"


def more_rows(goal: Mapping[str, Any]) -> str:
    """About how many rows would be enough, if the difference stayed as it is: empty where that is not known."""
    needed, rows = goal.get("rows_needed"), goal["rows"]
    if goal.get("few") or goal.get("without_copies") or not needed or needed <= rows:
        return ""
    unit, enough = (goal.get("units") or (rows, ""))[1], "would be enough if the difference stayed as it is"
    what = f"{unit}s" if unit else "rows"
    if needed > FAR * rows:
        return f"; not even {FAR} times as many {what} {enough}"
    times = math.ceil(10 * needed / rows) / 10 if needed < 10 * rows else math.ceil(needed / rows)
    if goal.get("test_rows_named") and not unit:
        return f"; {needed:,} test rows in place of {rows:,} {enough}"
    total = goal.get("all_rows", 0)
    exact = math.ceil(total * needed / rows)
    step = 10 ** max(0, len(str(exact)) - 2)  # two figures
    if exact and not unit:
        return f"; about {math.ceil(exact / step) * step:,} rows in place of {total:,} {enough}"
    return f"; about {times:g} times as many {what} {enough}"


NO_GAIN = "not shown to be better"


def word_among_new(goal: Mapping[str, Any]) -> str:
    """What the nearest of new rows among themselves say, where they contradict the word or do not bear out a gain."""
    ends = (goal.get("new_rows") or {}).get("interval")
    if not ends:
        return ""
    if goal["word"] in (BETTER, LEVEL) and ends[1] < 0:
        return WORSE
    if goal["word"] == BETTER and ends[0] <= 0:
        return NO_GAIN
    return BETTER if goal["word"] == WORSE and ends[0] > 0 else ""


def _contrary_new_rows(goal: Mapping[str, Any], features: str) -> str:
    """The same in words, with the figures."""
    said = word_among_new(goal)
    if not said:
        return ""
    values = f"{short(goal['new_rows']['value'])} and {short(goal['new_rows']['base'])}"
    return f"; but between {OUTSIDE} alone the embedding is {said} than {features} ({values})"


def largest_loss(goal: Mapping[str, Any]) -> str:
    """The largest loss inside the interval of a goal that cannot be told, and of what it is; empty where the features
    tell nothing."""
    if shares := {name: each for name, each in goal.get("shares", {}).items() if each["interval"]}:
        name, share = min(shares.items(), key=lambda each: each[1]["interval"][0])
        lost, base = 1 - share["interval"][0], share.get("base")
        if lost < 0.01 or goal.get("at_chance"):
            return ""
        figure = "" if base is None else f" ({short(lost * base)} of {short(base)})"
        return f"{100 * lost:.0f} % of the {measured(name)} of the features{figure}"
    if not goal.get("interval") or goal.get("margin") is None or goal["interval"][0] > -0.005:
        return ""
    return f"{short(-goal['interval'][0])} of {measured(goal['measure'])}"


def _compressed(goal: Mapping[str, Any], subject: Subject) -> str:
    ours = f"{counted(goal['components'])} in place of {subject.features}"
    shares = [each["share"] for each in goal["shares"].values() if each["share"] is not None]
    s = "s" * (goal["components"] == 1)
    if above_whole(goal):
        return f"{ours} give{s} better predictions and better neighbours than these"
    if goal["word"] == LEVEL and all(round(100 * share) >= 100 for share in shares):
        have = "has" if goal["components"] == 1 else "have"
        return f"{ours} {have} no loss that counts, neither in predictions nor in the agreement of neighbours"
    kept = _parts_of_features({name: each["share"] for name, each in goal["shares"].items()})
    keep = kept and f"{ours} keep{s} {kept}{_parts_of_constant(goal)}"
    if goal["word"] == LEVEL:
        return keep
    few = f"too few rows to tell whether a smaller size keeps enough{more_rows(goal)}"
    lost = f"no smaller size{_tried(goal)} keeps enough" if goal["word"] == WORSE else few
    return f"{lost}. On the rows scored, {keep}" if keep else lost


def above_whole(goal: Mapping[str, Any]) -> bool:
    """Whether both intervals of a small size lie above what all features have."""
    ends = [each.get("interval") for each in goal.get("shares", {}).values()]
    return goal["word"] == LEVEL and bool(ends) and all(end is not None and end[0] > 1 for end in ends)


def _parts_of_features(shares: Mapping[str, float | None], again: bool = False) -> str:
    """Shares of what all features reach, by measure: "98 % of their average precision and 90 % of .."; ``again``: after
    a sentence with these measures."""
    parts = []
    for name, share in shares.items():
        first = f"the {measured(name)} of their neighbours" if is_near(name) else f"their {measured(name)}"
        if share is not None:
            parts.append(f"{100 * share:.0f} % of {f'that {measured(name)}' if again else first}")
    return " and ".join(parts)


def _parts_of_constant(goal: Mapping[str, Any]) -> str:
    """The same of a baseline that no feature has a part in."""
    kept = _parts_of_features(goal.get("constant", {}), again=True)
    return f"; {CONSTANT}, which needs no feature, has {kept}" if kept else ""


def _base(goal: Mapping[str, Any], subject: Subject) -> str:
    """The baseline: all features, or a constant."""
    if goal["base"]["arm"] == ALL_FEATURES:
        return subject.features
    return SAME_ROWS if is_near(goal["measure"]) else CONSTANT


def _figures(goal: Mapping[str, Any]) -> str:
    """The measure with the values of who is named first and second, and the rows."""
    pair = (goal["value"], goal["base"]["value"])
    first, second = map(short, pair[::-1] if goal["word"] == WORSE and is_near(goal["measure"]) else pair)
    what = measured(goal["measure"])
    alike = ", both classes weighted equally," if goal.get("yes_no") and is_near(goal["measure"]) else ""
    return f" ({what}{alike} {first} and {second}{_nothing(goal)}, n = {goal['rows']:,})"


def _nothing(goal: Mapping[str, Any]) -> str:
    """What a baseline that no feature has a part in reaches, unless the sentence compares with it."""
    chance, base = goal.get("chance"), goal["base"]
    if chance is None or base["arm"] == SAME_ROWS:
        return ""
    return f"; {SAME_ROWS if is_near(goal['measure']) else CONSTANT} {short(chance)}"


LOOKUP = "label lookup"
SORTS = ", but a lookup merely sorts rows by the predicted class and does not find rows that are alike"


def merely_sorts(goal: Mapping[str, Any]) -> bool:
    """Whether the rival of a goal merely sorts rows by their class: a lookup of one yes/no label."""
    near = goal.get("yes_no") and is_near(goal.get("measure", ""))
    return bool(near and (goal.get("rival") or {}).get("arm") == LOOKUP)


def rival_among_new(goal: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The rival of the highest figure among new rows; None where it is the rival of the goal."""
    other: Mapping[str, Any] | None = (goal.get("new_rows") or {}).get("best_rival")
    if other is None or other["value"] is None:
        return None
    return None if (other["arm"], other["k"]) == (goal["rival"]["arm"], goal["rival"]["k"]) else other


def size_words(entry: Mapping[str, Any]) -> str:
    """The size of an arm, and how many components there are where the rows give fewer; empty where it has none."""
    given = given_words(entry)
    return "" if entry["k"] is None else f" at k = {entry['k']}{f' ({given})' if given else ''}"


def given_words(entry: Mapping[str, Any]) -> str:
    """How many components the rows of a fit give where these are fewer than were asked for."""
    found = entry.get("components", entry["k"])
    few = entry["k"] is not None and found < entry["k"]
    return f"the training rows give {found} component{'s' * (found != 1)}" if few else ""


def _rival(goal: Mapping[str, Any]) -> str:
    """A rival that is not behind for certain, with its lead and the interval of it."""
    said, rival = place_of_rival(goal), goal.get("rival")
    if not said or rival is None:
        return ""
    lead = sign_of(goal["measure"]) * (rival["value"] - goal["value"])
    gap = lead_text(-rival.get("gain", -lead), rival.get("interval")).removeprefix("ahead " * (said == AHEAD))
    if said == AHEAD or short(rival["value"]) != short(goal["value"]):
        gap = gap.replace("equal", "by less than .01" if said == AHEAD else "no clear difference", 1)
    figure = f"{short(rival['value'])}{forest_words(rival['arm'], goal)}"
    whom = said if said == AS_GOOD else place_words(said, goal)
    sorts = SORTS * merely_sorts(goal)
    return f"; the rival {rival['arm']} ({figure}) {whom}{' ' if said == AHEAD else ': '}{gap}{sorts}"


def lead_text(
    lead: float, gains: Any = None, figure: Callable[[float], str] = short, level: str = "", ours: str = ""
) -> str:
    """How far one is ahead of ``ours``, with the interval of that lead; ``gains``: the interval of our gain over it.
    Its ends are without a sign, and say which way they point where they point both ways."""
    place = "behind" if lead < 0 else "ahead of" if ours else "ahead"
    said = f"{f'{place} {ours}'.rstrip()} by {figure(abs(lead))}"
    if figure(abs(lead)) == figure(0.0):
        said = f"equal{f' to {ours}' * bool(ours)}"
    if not gains:
        return said
    low, high = sorted(-end for end in gains)
    if low < 0 < high:
        return f"{said} ({level}from {figure(-low)} behind to {figure(high)} ahead)"
    return f"{said} ({level}{' to '.join(figure(end) for end in sorted((abs(low), abs(high))))})"


def forest_words(arm: str, goal: Mapping[str, Any]) -> str:
    """That a rival grew its forest on fewer rows than there are, behind its figure; empty of others."""
    return f", its forest grown on {goal['forests']} only" if goal.get("forests") and arm in of_forests() else ""


@cache
def of_forests() -> frozenset[str]:
    """The rivals that grow a forest."""
    grown = [rival for rival in rivals() if issubclass(rival, Estimator) and "max_rows" in declared(rival)]
    return frozenset(name for rival in grown for name in (rival.title, rival.lookup) if name)


AHEAD, PERHAPS, AS_GOOD, UNTOLD = "is ahead", "is perhaps ahead", "is as good", "cannot be told"


def place_words(place: str, goal: Mapping[str, Any]) -> str:
    """Where a rival is, and beside whom."""
    joined = {AS_GOOD: "as", UNTOLD: "from"}.get(place, "of")
    return f"{place} {joined} {own_words(goal)}"


def own_words(goal: Mapping[str, Any]) -> str:
    """What the figures of a goal are of: the embedding, or predictions that are not made of its numbers."""
    return "the method's own predictions" if predicts_from_features(goal) else "the embedding"


def predicts_from_features(goal: Mapping[str, Any]) -> bool:
    """Whether a goal is of predictions by a method's own classifier, which reads the features."""
    return bool(goal.get("reads_features") and not is_near(goal["measure"]))


def place_of_rival(goal: Mapping[str, Any]) -> str:
    """Where a rival is by the interval of its lead: as good only inside the margin; nothing where it is behind. Without
    an interval by the lead alone."""
    rival = goal.get("rival")
    if rival is None or rival["value"] is None or rival["arm"] in goal.get("ties", ()):
        return ""
    lead, margin = sign_of(goal["measure"]) * (rival["value"] - goal["value"]), goal.get("margin") or 0.0
    low, high = sorted(-end for end in rival.get("interval") or (-lead, -lead))
    if low >= -margin and high <= margin:
        return AS_GOOD
    if low > 0 or high < 0:
        return AHEAD if low > 0 else ""
    return PERHAPS if lead > margin else UNTOLD


def _kept(goal: Mapping[str, Any]) -> str:
    """What a map keeps of the neighbours in the features, beside another map."""
    kept = goal.get("kept")
    if not kept:
        return ""
    own, other = (None if share is None else per_cent(share) for share in (kept["share"], kept["rival_share"]))
    chance = "" if kept.get("chance") is None else f"chance {per_cent(kept['chance'])}"
    beside = "; ".join(filter(None, (chance, "" if other is None else f"{kept['rival']} {other}")))
    beside = f" ({beside})" if beside else ""
    fewer = other is not None and kept["share"] < kept["rival_share"] and own != other
    if fewer and goal["word"] in (BETTER, LEVEL):
        return f", but it keeps fewer of each row's nearest neighbours in the features: {own}{beside}"
    return f"; it keeps {own} of each row's nearest neighbours in the features{beside}"


def per_cent(share: float) -> str:
    """A share in per cent: without decimals, below 1 % with one figure."""
    return f"{100 * share:.0f} %" if share >= 0.01 or not share else f"{100 * share:.1g} %"


def measure_words(name: str, own: bool) -> str:
    """A measure, with a method's own classifier in place of the ridge by which others predict."""
    return name.replace(f"({RIDGE})", f"({OWN_CLASSIFIER})") if own else name


def predicts_itself(entry: Mapping[str, Any]) -> bool:
    """Whether an arm predicts by itself, and not by a ridge on its numbers."""
    return bool(entry.get("reads_features")) or entry["arm"] in _that_predict()


def by_itself(summary: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    """Which entries of a leaderboard predict by themselves; none where no measure is of a ridge."""
    return predicts_itself if any(f"({RIDGE})" in name for name in summary["measures"]) else lambda entry: False


@cache
def _that_predict() -> frozenset[str]:
    """The rivals that predict by themselves, and their lookups."""
    return frozenset(name for rival in rivals() if rival.predicts for name in (rival.title, rival.lookup) if name)


def measured(name: str) -> str:
    """A measure in one or two words."""
    if is_near(name):
        return "agreement"
    return "average precision" if name.startswith(AVERAGE_PRECISION) else name.partition(" (")[0]


def is_yes_no(facts: Mapping[str, Any]) -> bool:
    """Whether the facts of a data set are of one yes/no label: a single one, or the two classes of a column."""
    return facts.get("outputs") is None and (facts["labels"] == 1 or (facts["labels"] == 2 and facts["single_label"]))
