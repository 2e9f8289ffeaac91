"""What a budget has cut, for anyone: a line per verdict that says what is missing and which way it bears on it, why,
and the command that cuts nothing."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxembed.evaluate.costs import PROTOTYPES
from proxembed.evaluate.rivals.rival import FOREST_ROWS
from proxembed.report.next_steps import Run
from proxembed.report.plain_words import Missing, and_words
from proxembed.report.verdict import GROWN_ON, LEFT_OUT
from proxembed.study.candidates import DEAR_BASES
from proxembed.study.method_strategies import WEIGHTS

from .plan import DIAGNOSIS, LEADERS, SHARES, Plan, round_up

RIVALS, SIZES, SEARCHED, CHOSEN, JUDGED, CHANCE, FITTED, SHOWN, STOPPED, UNFINISHED = (
    "rivals", "sizes", "searched", "chosen", "judged", "chance", "fitted", "shown", "stopped", "unfinished",
)  # fmt: skip
BEARS = {  # the verdicts that a kind of cut concerns, and which way
    SEARCHED: ("Every goal", "a longer search may choose another, better embedding; the verdicts here are of this one"),
    CHOSEN: ("Every goal", "the choice of method and size is less sure; the scores of test rows are not touched"),
    JUDGED: ("Every goal", "more rows make intervals narrower, and leave less that cannot be told"),
    STOPPED: ("Every goal", "a longer run may find a better embedding, and judges it more surely"),
    SIZES: ("Compress", "fewer numbers may be enough"),
    CHANCE: ("Beside chance", "no verdict rests on it; the same answer for every row is a guide to chance"),
    FITTED: ("Saved model", "it has learned from fewer rows, but no verdict changes"),
    SHOWN: ("No verdict", "missing from the page, but no verdict changes"),
    UNFINISHED: ("Not finished", "the run was interrupted before; what is shown rests on the steps before these"),
}
CHOICE_ALONE = "of the embeddings, only the chosen one is compared with rivals"
OTHERS = "one of them may be better still"
OTHER_MAPS = "one of these may be better than ours"


@dataclass(frozen=True)
class Cut:
    """One thing that is missing or smaller, in a few words, and its kind."""

    kind: str
    text: str


def told_cuts(plan: Plan, run: Run) -> dict[str, Any]:
    """What was cut (``what``), a pair (verdicts, words) per line (``lines``), why (``why``), and how to cut nothing
    (``undo``) by which ``command``; these are empty where there is nothing to say."""
    cuts = cuts_of(plan)
    told: dict[str, Any] = {"lines": _lines(plan, cuts), "why": "", "undo": "", "command": ""}
    if not cuts:
        limit = f": the whole job fits into the budget of {_asked(plan)}" if plan.bounded else ""
        return {"what": f"Nothing was cut{limit}.", **told}
    told = {"what": "Left out or made smaller, by the verdict that this weakens:", **told}
    if plan.unfinished:
        how = "resume it" if run.in_python else "run it with --resume"
        undo = f"To finish it from there, {how}:" if run.resumed() else ""
        return told | {"why": "Why: the run was interrupted.", "undo": undo, "command": run.resumed()}
    beside = {*plan.too_dear, *plan.sampled_fit, *plan.killed}  # which no budget is known to undo
    if not plan.bounded or all(cut.text in beside for cut in cuts):
        return told
    option, value = _enough(plan)
    if any(cut.kind != STOPPED and cut.text not in beside for cut in cuts):
        took = "" if plan.options.max_work is None else f" ({core_time(float(value))})"
        told["why"] = (
            f"Why: the whole job needs about {float(value):,g} {_unit(plan)}{took}, and the budget was {_asked(plan)}."
        )
    else:
        option, value = "--max-work", f"{plan.work:g}"
        told["why"] = f"Why: the run was slower than its forecast, and its time of {_asked(plan)} was over."
    undo = f"{option[2:].replace('-', '_')}={value}" if run.in_python else f"{option} {value}"
    other = "" if run.in_python else ", into a folder of its own"
    command = with_budget(run.in_folder("whole"), option, value)
    return told | {"undo": f"To cut nothing: {undo}{other}.", "command": command}


def with_budget(command: str, option: str, value: str) -> str:
    """A command, of the program or of Python, with another budget."""
    if command.startswith("proxembed.search("):
        call = re.sub(r", max_(seconds|work)=[^,)]*", "", command)[:-1]
        return f"{call}, {option[2:].replace('-', '_')}={value})"
    return re.sub(r" --max-(seconds|work)[ =]\S+", "", command) + f" {option} {value}"


def untried(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The rivals that are missing from each verdict: the budget had no room, or their library is not installed."""
    out = [each for each in plan.rivals if each.arm.name in plan.cuts.left_out]
    told = [(each, each.arm.name) for each in out]
    told += [(each, f"{each.arm.name} (not installed)") for each in plan.absent if each.rival.not_installed()]
    every = tuple(name for each, name in told if each.rival.goal != "map")
    maps = tuple(name for each, name in told if not each.rival.predicts)
    return {name: names for name, names in (("predict", every), ("neighbours", every), ("map", maps)) if names}


def missing_of(plan: Plan) -> Missing:
    """What the words of a verdict must know."""
    search = tuple(cut.text for cut in cuts_of(plan) if cut.kind in (SEARCHED, SIZES))
    return Missing(untried(plan), search, f"{plan.cuts.forest:,} rows" if _forests_are_cut(plan) else "")


def _forests_are_cut(plan: Plan) -> bool:
    """Whether forests of rivals grow on fewer rows than there are, or than they take."""
    return plan.cuts.forest < min(FOREST_ROWS, plan.cuts.rows or len(plan.split.train))


def cuts_of(plan: Plan) -> list[Cut]:
    """Everything that is missing or smaller, what matters most first."""
    stopped = [Cut(STOPPED, f"the clock decided: {text}") for text in plan.by_clock]
    stopped += [Cut(FITTED, text) for text in plan.sampled_fit]
    tried = [*_rivals(plan), *_sizes(plan), *_searched(plan), *_chosen(plan)]
    stopped += [Cut(UNFINISHED, text) for text in plan.unfinished]
    return [*tried, *_judged(plan), *_checked(plan), *_shown(plan), *stopped]


def _lines(plan: Plan, cuts: Sequence[Cut]) -> list[list[str]]:
    """The cuts, those of a verdict together; rivals are told per goal."""
    forests = "".join(f"; {cut.text}" for cut in cuts if cut.kind == RIVALS and not cut.text.startswith("rivals"))
    found = []
    of_goal = untried(plan)
    if names := of_goal.get("predict"):
        found.append(["Predict, neighbours", f"not compared with {and_words(names)}{forests}: {OTHERS}"])
    elif forests:
        found.append(["Predict, neighbours", f"{forests[2:]}: with more they may be ahead of the embedding"])
    if names := of_goal.get("map"):
        found.append(["Map", f"not compared with {and_words(names)}: {OTHER_MAPS}"])
    if unfit := [f"{each.arm.name} ({each.lacks})" for each in plan.absent if not each.rival.not_installed()]:
        found.append(["Under any budget", f"{and_words(unfit)} cannot take part"])
    kinds: Mapping[str, list[str]] = {kind: [cut.text for cut in cuts if cut.kind == kind] for kind in BEARS}
    return found + [[BEARS[kind][0], f"{'; '.join(texts)}: {BEARS[kind][1]}"] for kind, texts in kinds.items() if texts]


def core_time(work: float) -> str:
    """About how long one core takes for some units of work."""
    size, unit = next((each for each in ((3600, "hour"), (60, "minute")) if work >= 1.5 * each[0]), (1, "second"))
    count = f"{work / size:.2g}" if work < 10 * size else f"{work / size:,.0f}"
    return f"about {count} {unit}{'s' * (count != '1')} of one core"


def unit_note(plan: Plan) -> str:
    """What a unit of work takes, behind a forecast in these; empty behind one in seconds."""
    return "" if plan.options.max_work is None else "; a unit of work is about one second of one core"


def _unit(plan: Plan) -> str:
    return "seconds" if plan.options.max_work is None else "units of work"


def _asked(plan: Plan) -> str:
    asked: Any = plan.options.max_seconds if plan.options.max_work is None else plan.work
    return f"{asked:g} {_unit(plan)}"


def _enough(plan: Plan) -> tuple[str, str]:
    """The option of the budget, with a value that cuts nothing."""
    if plan.options.max_work is not None:
        return "--max-work", round_up(plan.enough)
    seconds: Any = plan.options.max_seconds
    more = (1.01 * plan.enough - plan.work) / plan.rate  # work has three digits
    return "--max-seconds", round_up(seconds + max(more, 0.0))


def _rivals(plan: Plan) -> list[Cut]:
    cuts, found = plan.cuts, []
    if cuts.left_out:
        found.append(Cut(RIVALS, f"{LEFT_OUT}{', '.join(cuts.left_out)}"))
    if _forests_are_cut(plan):
        found.append(Cut(RIVALS, f"{GROWN_ON}{cuts.forest:,} rows"))
    return found


def _sizes(plan: Plan) -> list[Cut]:
    told = f"sizes other than {', '.join(map(str, plan.cuts.sizes))} were not tried"
    return [Cut(SIZES, told)] * (plan.cuts.sizes != plan.sizes)


def _searched(plan: Plan) -> list[Cut]:
    """What the search and the comparison did not try."""
    cuts, found = plan.cuts, []
    if cuts.anchors is not None:
        lost = [re.sub(r", \w+=(\([^)]*\)|[^,()]+)", "", name) for name, _ in plan.anchors if name not in cuts.anchors]
        found.append(f"the search began without {', '.join(lost)}")
    if cuts.share < SHARES[0]:
        found.append("fewer variants of the embeddings")
    if cuts.bases is not None and "TargetSpace" in (plan.kept_anchors or ()):
        found.append(f"TargetSpace without its {and_words([each for each in DEAR_BASES if each not in cuts.bases])}")
    if cuts.prototypes is not None and cuts.prototypes < PROTOTYPES:
        found.append(f"kernels with at most {cuts.prototypes} prototypes")
    if cuts.weights == 0 and plan.options.goal == "map":
        found.append("only what is best for neighbours is laid out")
    elif cuts.weights < len(WEIGHTS) and plan.options.goal == "map":
        found.append("maps with the features at weight 1 alone")
    if cuts.leaders < LEADERS:
        found.append(CHOICE_ALONE if cuts.leaders == 1 else "the choice and one other are compared")
    return [Cut(SEARCHED, text) for text in (*found, *plan.too_dear)]


def _chosen(plan: Plan) -> list[Cut]:
    """The folds that are missing from the comparison."""
    folds, asked = plan.cuts.folds, plan.options.folds
    return [Cut(CHOSEN, f"{folds} folds of the comparison instead of {asked}")] * (folds < asked)


def _judged(plan: Plan) -> list[Cut]:
    """The rows that are missing."""
    cuts, split, found = plan.cuts, plan.split, []
    if cuts.rows is not None:
        saved = "all rows" if plan.options.refit_all else "all training rows"
        found.append(
            f"search and comparison on {cuts.rows:,} of {len(split.train):,} rows (the saved model has {saved})"
        )
    if cuts.test_rows is not None:
        found.append(f"{cuts.test_rows:,} of {len(split.held_out):,} test rows scored")
    if cuts.outer < plan.outer[0]:
        kept = f"{cuts.outer} nested folds" if cuts.outer > 1 else "a quarter of the rows held out"
        found.append(f"{kept} instead of {plan.outer[0]} nested folds, in which every row is held out")
    return [Cut(JUDGED, text) for text in found]


def _checked(plan: Plan) -> list[Cut]:
    what = "outputs" if plan.numbers else "labels"
    if plan.cuts.shuffles < plan.options.shuffles:
        return [Cut(CHANCE, f"no test on shuffled {what} (a map on shuffled {what} shows one shuffle, without a test)")]
    if plan.killed:
        return [Cut(CHANCE, text) for text in plan.killed]
    rows = f"{plan.cuts.diagnosis:,}"
    few = f"shuffled {what} are tried on at most {rows} training and {rows} held-out rows"
    return [Cut(CHANCE, few)] * (plan.cuts.diagnosis < DIAGNOSIS)


def _shown(plan: Plan) -> list[Cut]:
    cuts, found = plan.cuts, []
    missing = "F1, Hamming loss and probabilities"
    unanswered = "" if plan.answered else "how many answers of the chosen model are right (sensitivity, specificity), "
    if not cuts.layouts:
        found.append("maps laid out from all components")
    if not plan.numbers and not cuts.decisions:
        found.append(f"{unanswered}{missing} in the tables, and thresholds of single labels")
    elif not plan.numbers and cuts.leading:
        found.append(f"{unanswered}{missing}, except of all features and the leading method")
    return [Cut(SHOWN, text) for text in found]
