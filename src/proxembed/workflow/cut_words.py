"""What a budget has cut, in three sentences for anyone: what is missing, why, and the command that cuts nothing."""

import re
from typing import Any

from proxembed.evaluate.costs import PROTOTYPES

from .plan import LEADERS, SHARES, Cuts, Plan, round_up

SHOWN = 4  # things that are named; the page has a list of all


def told_cuts(plan: Plan, command: str) -> dict[str, Any]:
    """What was cut (``what``), why (``why``), and how to cut nothing (``undo``) by which ``command``; the last three
    are empty where there is nothing to say."""
    cut, clock = _cut(plan), list(plan.by_clock)
    told = {"why": "", "undo": "", "command": ""}
    if not cut and not clock and not plan.too_dear:
        limit = f": the whole job fits into the budget of {_asked(plan)}" if plan.bounded else ""
        return {"what": f"Nothing was cut{limit}.", **told}
    things = [*cut, *plan.too_dear, *clock]
    more = len(things) - SHOWN if len(things) > SHOWN + 1 else 0
    rest = [f"and {more} smaller things that the page lists under “How to repeat it”"] if more else []
    what = f"Left out or made smaller: {'; '.join([*things[: len(things) - more], *rest])}."
    if not plan.bounded:
        return {"what": what, **told}
    option, value = _enough(plan)
    if cut:
        told["why"] = (
            f"Why: the whole job needs about {float(value):,g} {_unit(plan)}, and the budget was {_asked(plan)}."
        )
    elif clock:
        option, value = "--max-work", f"{plan.work:g}"
        told["why"] = f"Why: the run was slower than its forecast, and its time of {_asked(plan)} was over."
    else:
        return {"what": what, **told}
    in_python = command.startswith("proxembed.search(")
    undo = f"{option[2:].replace('-', '_')}={value}" if in_python else f"{option} {value}"
    return {"what": what, "why": told["why"], "undo": f"To cut nothing: {undo}.",
            "command": with_budget(command, option, value)}  # fmt: skip


def with_budget(command: str, option: str, value: str) -> str:
    """A command, of the program or of Python, with another budget."""
    if command.startswith("proxembed.search("):
        call = re.sub(r", max_(seconds|work)=[^,)]*", "", command)[:-1]
        return f"{call}, {option[2:].replace('-', '_')}={value})"
    return re.sub(r" --max-(seconds|work)[ =]\S+", "", command) + f" {option} {value}"


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


def _cut(plan: Plan) -> list[str]:
    """What is missing or smaller, in a few words each, what matters most first."""
    cuts, asked = plan.cuts, plan.options.folds
    folds = [f"{cuts.folds} folds of the comparison instead of {asked}"] if cuts.folds < asked else []
    first = [*_rows(plan, cuts), *_rivals(cuts), *_checks(plan, cuts), *_maps(cuts)]
    return [*first, *_tried(plan, cuts), *folds, *_scores(plan, cuts)]


def _rows(plan: Plan, cuts: Cuts) -> list[str]:
    found, split = [], plan.split
    if cuts.rows is not None:
        saved = "all rows" if plan.options.refit_all else "all training rows"
        found.append(
            f"search and comparison on {cuts.rows:,} of {len(split.train):,} rows (the saved model has {saved})"
        )
    if cuts.test_rows is not None:
        found.append(f"{cuts.test_rows:,} of {len(split.held_out):,} test rows scored")
    if cuts.outer < plan.outer[0]:
        kept = f"{cuts.outer} nested folds" if cuts.outer > 1 else "a quarter of the rows held out"
        found.append(f"{kept} instead of {plan.outer[0]} nested folds")
    return found


def _rivals(cuts: Cuts) -> list[str]:
    rivals = cuts.left_out
    return [f"{len(rivals)} rival{'s' * (len(rivals) != 1)} ({', '.join(rivals)})"] if rivals else []


def _checks(plan: Plan, cuts: Cuts) -> list[str]:
    what = "outputs" if plan.numbers else "labels"
    if cuts.shuffles < plan.options.shuffles:
        return [f"the check against shuffled {what}"]
    return [f"the check against shuffled {what} on fewer rows"] if cuts.diagnosis < Cuts.diagnosis else []


def _maps(cuts: Cuts) -> list[str]:
    return [] if cuts.layouts else ["maps laid out from all components"]


def _tried(plan: Plan, cuts: Cuts) -> list[str]:
    """What the search and the comparison did not try."""
    found = []
    if cuts.anchors is not None:
        of = len(plan.anchors)
        found.append(f"{of - len(cuts.anchors)} of the {of} kinds of embedding that a search begins with")
    if cuts.share < SHARES[0]:
        found.append("variants of the embeddings")
    if cuts.leaders < LEADERS:
        found.append("other embeddings than the best in the comparison")
    if cuts.sizes != plan.sizes:
        found.append(f"sizes other than {', '.join(map(str, cuts.sizes))}")
    return found


def _scores(plan: Plan, cuts: Cuts) -> list[str]:
    found = []
    if not plan.numbers and (cuts.leading or not cuts.decisions):
        found.append("F1 and probabilities" + " of rivals" * cuts.decisions)
    if cuts.forest < Cuts.forest:
        found.append(f"forests of rivals on {cuts.forest:,} rows")
    if cuts.prototypes is not None and cuts.prototypes < PROTOTYPES:
        found.append(f"kernels with at most {cuts.prototypes} prototypes")
    return found
