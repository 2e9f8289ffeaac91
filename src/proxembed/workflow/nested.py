"""Nested folds: of few rows every one is scored, by choices that were made anew without it.

Each nested fold has a search of its own on its training rows, with an equal share of the budget. What this search would
choose, and the rivals, are then fitted on these rows and measured on the rows held out. The saved model is that of one
more search, on all rows.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from proxembed.algebra.shared import Shared
from proxembed.evaluate.arms import embedding_arm
from proxembed.evaluate.gains import FOLDS
from proxembed.evaluate.results import Key, Results, joined, renamed
from proxembed.evaluate.run import Protocol, run
from proxembed.evaluate.verdict import too_few
from proxembed.execute.executor import Progress
from proxembed.execute.ledger import Ledger, read_header
from proxembed.splits.splits import LEAST_GROUPS, Split, Splitting, fold_limit, make_splits, splitting_kind

from .engines import SearchFindings, run_engine
from .labelled_data import has_test_rows
from .options import SearchOptions
from .plan import OUTER_FOLDS, Plan

CHOICE = "our choice in each fold"
NEAR = "our choice for neighbours in each fold"
ALONE = "our choice in each fold, of methods whose numbers alone predict"
BELOW = 500  # rows with known labels
REPEATS = 2
OUTER_SEED = 2  # added to the seed: folds of the search have 0, those of a comparison 1
STUDY_OF = ".study-{}.jsonl"  # the ledger of the search inside a fold


def outer_counts(dataset: Any, options: SearchOptions) -> tuple[int, ...]:
    """How many splits may hold rows out, the most first: two repeats of nested folds, one, or one split alone."""
    known = np.flatnonzero(dataset.targets.rows_any)
    kind = splitting_kind(dataset, Splitting())
    if has_test_rows(dataset) or options.engine != "methods" or kind == "time" or len(known) >= BELOW:
        return (1,)
    if kind == "groups":
        groups = len(np.unique(dataset.groups[known]))
        if groups < LEAST_GROUPS:
            return (1,)
        if groups <= OUTER_FOLDS:  # each group is a fold, and a further repeat has the same ones
            return groups, 1
    return REPEATS * OUTER_FOLDS, OUTER_FOLDS, 1


def outer_splits(dataset: Any, seed: int, count: int) -> list[list[Split]]:
    """The nested folds, by repeat: each holds out every row with a known label once."""
    folds = fold_limit(dataset, min(count, OUTER_FOLDS))
    names = range(1, count // folds + 1)
    rules = [Splitting(n_folds=folds, seed=seed + OUTER_SEED + 100 * repeat) for repeat in names]
    each = [make_splits(dataset, rule) for rule in rules]
    return [
        [split._replace(name=f"{repeat}.{split.name}") for split in splits]
        for repeat, splits in zip(names, each, strict=True)
    ]


class Choice(NamedTuple):
    """What a search chooses: the name of the method, the unfitted method at its size, and the size."""

    name: str
    method: Any
    k: int


@dataclass(frozen=True)
class Nested:
    """What nested folds gave: their results, and the first of them with its choice, which figures of single rows
    show."""

    results: Results
    split: Split
    shown: Choice
    chosen: tuple[Choice, ...]

    def describe(self) -> dict[str, Any]:
        """The same as plain data, for the summary."""
        counts = Counter((each.name, each.k) for each in self.chosen).most_common()
        return {
            "folds": len(self.chosen),
            "repeats": len(self.results.repeats),
            "chosen": [[name, k, times] for (name, k), times in counts],
            "shown": {
                "fold": self.split.name,
                "method": self.shown.name,
                "k": self.shown.k,
                "train": len(self.split.train),
                "held_out": len(self.split.held_out),
            },
        }


def choice_at(found: SearchFindings, k: int | None = None, near: bool = False) -> Choice:
    """What a search chooses, of all sizes or at one: there the leader of the best mean on its folds, ``near`` by the
    measure of neighbours."""
    leaders, at, by_fold = dict(found.leaders), k, found.near_by_fold if near else found.by_fold
    name, k = found.leaders[0][0], k or found.leaders[0][1].n_components
    if at is None and found.choice is not None:
        name, k = found.choice["method"], found.choice["k"]
    elif at is not None:
        name = max(leaders, key=lambda each: _mean(by_fold.get((each, at))))
    return Choice(name, clone(leaders[name]).set_params(n_components=k), k)


def numbers_alone(found: SearchFindings) -> SearchFindings | None:
    """What a search has found, of leaders whose predictions are made of their numbers alone; None without any."""
    leaders = tuple((name, method) for name, method in found.leaders if not embedding_arm(name, method).reads_features)
    if len(leaders) == len(found.leaders):
        return found
    return replace(found, leaders=leaders, choice=None) if leaders else None


def _shown(parts: list[Results], part: Results) -> set[Key]:
    """The arms and sizes of a part that are shown: without those that repeat the choice of every fold."""
    read = any(row["reads_features"] for each in parts for row in each.rows if row["arm"] == CHOICE)
    same = all(_values(each, CHOICE) == _values(each, NEAR) for each in parts)
    hidden = {name for name, repeats in ((ALONE, not read), (NEAR, same)) if repeats}
    return {(row["arm"], row["k"]) for row in part.rows if row["arm"] not in hidden}


def _values(part: Results, name: str) -> dict[tuple[int, str, str], float]:
    """The values of an arm of some size by size, measure and read-out."""
    rows = [row for row in part.rows if row["arm"] == name and row["k"] is not None]
    return {(row["k"], row["measure"], row["readout"]): row["value"] for row in rows}


def chosen_anew(_entries: list[dict[str, Any]], _measure: str) -> dict[str, Any]:
    """The choice of nested folds as ``summarise`` takes it: an arm of its own, at no size of all folds."""
    return {"method": CHOICE, "k": None, "score": None}


def _mean(values: Any) -> float:
    return -np.inf if values is None or not np.isfinite(values).any() else float(np.nanmean(values))


def nested_comparison(
    dataset: Any,
    options: SearchOptions,
    plan: Plan,
    protocol: Protocol,
    progress: Progress,
    study: Ledger | None,
    store: Ledger | None,
    shared: Shared | None = None,
) -> Nested | None:
    """The search and the comparison with rivals in each nested fold; None where Ctrl-C came into the first one.
    ``protocol``: that of the rivals; ``study``: the ledger of the search on all rows; ``store``: of comparisons;
    ``shared``: by the fits of the comparison in the first fold and those that follow."""
    repeats = outer_splits(dataset, options.seed, plan.cuts.outer)
    parts: list[Results] = []
    chosen: list[Choice] = []
    for split in (split for repeat in repeats for split in repeat):
        if len(parts) >= len(repeats[0]) and plan.leave_for("last fit and page") <= 0:
            plan.by_clock.append(f"{len(parts)} of {plan.cuts.outer} nested folds were scored")
            break
        told = _told(progress, split)
        try:
            with study_of(study, split.name) as storage:
                found = run_engine(options, dataset, split, told, plan, storage)
            given = split, found, protocol, plan, told, store, None if parts else shared
            part = None if found.interrupted else _compared(dataset, *given)
        except KeyboardInterrupt:
            part = None
        if part is None or part.interrupted:
            parts = [replace(each, interrupted=True) for each in parts]
            break
        parts.append(part)
        chosen.append(choice_at(found))
    if not parts:
        return None
    results = joined([renamed(part, {key: key for key in _shown(parts, part)}) for part in parts])
    results.repeats = [[split.name for split in repeat] for repeat in repeats]
    results.few[FOLDS] = too_few(dataset, np.concatenate(list(results.held_out.values())))
    return Nested(results, repeats[0][0], chosen[0], tuple(chosen))


def _compared(
    dataset: Any,
    split: Split,
    found: SearchFindings,
    protocol: Protocol,
    plan: Plan,
    progress: Progress,
    store: Ledger | None,
    shared: Shared | None,
) -> Results:
    """What a search chooses beside the rivals, on the rows that are held out of a nested fold."""
    choice, rivals, alone = choice_at(found), protocol.names, numbers_alone(found)
    sizes = tuple(sorted({*protocol.sizes, choice.k}))
    at = {k: choice if plan.cuts.leaders == 1 else choice_at(found, k) for k in sizes}
    near = {k: choice_at(found, k, near=True) for k in sizes} if found.near_by_fold and plan.cuts.leaders > 1 else at
    by_numbers = {} if alone is None or alone is found else {k: choice_at(alone, k) for k in sizes}
    methods = at_largest_size([choice, *at.values(), *near.values(), *by_numbers.values()])
    arms = [embedding_arm(_own(name), method) for name, method in methods.items()]
    decided = protocol.decided and (*protocol.decided, _own(choice.name))
    own = replace(protocol, arms=(*arms, *protocol.arms), sizes=sizes, decided=decided)
    results = run(own, dataset, progress, store, [split], shared)
    named: dict[Key, Key] = {(CHOICE, None): (_own(choice.name), choice.k)}
    named |= {(CHOICE, k): (_own(each.name), k) for k, each in at.items()}
    named |= {(NEAR, k): (_own(each.name), k) for k, each in near.items()}
    named |= {(ALONE, k): (_own(each.name), k) for k, each in (by_numbers or at).items() if alone is not None}
    named |= {(name, k): (_own(name), k) for name in methods if name not in rivals for k in sizes}
    named |= {(name, k): (name, k) for name in rivals for k in (None, *sizes)}
    named_anew = renamed(results, named)
    named_anew.arms = (*(embedding_arm(*each) for each in methods.items() if each[0] not in rivals), *protocol.arms)
    return named_anew


def at_largest_size(choices: list[Choice]) -> dict[str, Any]:
    """Each method of some choices, at the largest of its sizes: one that is fitted for each size is scored up to it."""
    return {each.name: each.method for each in sorted(choices, key=lambda each: each.k)}


def _own(name: str) -> str:
    """The name of a method that a search has chosen, which a rival may have too."""
    return f"{name}, chosen"


def _told(progress: Progress, split: Split) -> Progress:
    return lambda done, total, text: progress(done, total, f"nested fold {split.name}: {text}")


@contextmanager
def study_of(study: Ledger | None, name: str) -> Iterator[Ledger | None]:
    """The ledger of the search inside a fold, beside that of the search on all rows."""
    if study is None:
        yield None
        return
    path = study.path.with_name(STUDY_OF.format(name))
    header = read_header(path)
    same = header is not None and header["facts"].get("study") == study.id
    ledger = Ledger(path, {"study": study.id}, resume=same, budget=study.budget)
    try:
        yield ledger
    finally:
        ledger.close()


def remove_studies(folder: Path) -> None:
    """Remove the ledgers of the searches inside folds."""
    for path in folder.glob(STUDY_OF.format("*")):
        path.unlink(missing_ok=True)
