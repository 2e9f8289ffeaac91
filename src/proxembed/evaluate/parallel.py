"""Who does the work of a comparison: this process, one arm after the other, or workers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from proxembed.execute import clock
from proxembed.execute.executor import Executor, killed
from proxembed.splits.splits import Split

from .part import Part, prepare
from .results import TEST
from .scoring import Outcome, lost, run_arm

if TYPE_CHECKING:
    from .protocol import Protocol

LEAST_SPLITS = 3  # two folds and the test rows


class Finished(NamedTuple):
    """What one arm did on one split, by their numbers, with facts of the split."""

    split: int
    arm: int
    outcome: Outcome
    scaling: str
    sizes: dict[str, Any]
    rows: Any  # array of the held-out row numbers


def split_order(splits: list[Split]) -> list[int]:
    """The splits in the order in which they are worked on: the test rows after two folds."""
    folds = [i for i, split in enumerate(splits) if split.name != TEST]
    test = [i for i, split in enumerate(splits) if split.name == TEST]
    return [*folds[:2], *test, *folds[2:]]


def too_late(protocol: Protocol) -> bool:
    """Whether the deadline has passed."""
    return protocol.deadline is not None and clock.now() >= protocol.deadline


def _finished(split: int, arm: int, outcome: Outcome, part: Part) -> Finished:
    return Finished(split, arm, outcome, part.scaling, part.sizes, part.rows)


def phase_name(split: Split) -> str:
    """What progress calls the rows of a split.

    Examples
    --------
    >>> import numpy as np
    >>> from proxembed.evaluate.parallel import phase_name
    >>> from proxembed.splits.splits import Split
    >>> [phase_name(Split(name, np.arange(2), np.arange(2, 3))) for name in ("0", "test")]
    ['fold 0', 'test rows']
    """
    return "test rows" if split.name == TEST else f"fold {split.name}"


def one_by_one(
    protocol: Protocol, dataset: Any, splits: list[Split], report: Callable[[str], None], store: Any = None
) -> Iterator[Finished]:
    """Every arm on every split in this process; what the store has is not done again."""
    bounded: set[int] = set()
    for number, i in enumerate(split_order(splits)):
        if number >= LEAST_SPLITS and too_late(protocol):
            return
        split, part = splits[i], None
        for j, arm in enumerate(protocol.arms):
            report(f"{phase_name(split)}: {arm.name}")
            found = _stored(store, protocol, splits, i, j)
            if found is None:
                part = prepare(dataset, split, protocol.seed) if part is None else part
                found = _kept(
                    store, protocol, splits, _finished(i, j, run_arm(arm, part, protocol, j in bounded), part)
                )
            if i == 0 and found.outcome.bounded:
                bounded.add(j)
            yield found


def _stored(store: Any, protocol: Protocol, splits: list[Split], split: int, arm: int) -> Finished | None:
    """What the store has of an arm on a split."""
    found = None if store is None else store.find(protocol, splits[split], protocol.arms[arm])
    return None if found is None else found._replace(split=split, arm=arm)


def _kept(store: Any, protocol: Protocol, splits: list[Split], found: Finished) -> Finished:
    """What an arm has done, which is in the store now."""
    if store is not None:
        store.keep(protocol, splits[found.split], protocol.arms[found.arm], found)
    return found


class _Prepared:
    """The data set and its splits, in a worker with the part that it prepared last."""

    def __init__(self, dataset: Any, splits: list[Split], seed: int):
        self.dataset, self.splits, self.seed = dataset, splits, seed
        self.last: tuple[int, Part] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "last": None}

    def part(self, number: int) -> Part:
        if self.last is None or self.last[0] != number:
            self.last = None  # one part in memory, not two
            self.last = number, prepare(self.dataset, self.splits[number], self.seed)
        return self.last[1]


def in_parallel(
    protocol: Protocol, dataset: Any, splits: list[Split], report: Callable[[str], None], store: Any = None
) -> Iterator[Finished]:
    """Every arm on every split by workers; an arm whose worker is ended from outside, also alone, has failed.

    The first split goes first: it tells which arms are bounded below the largest size (they are not tried in vain
    again, just as in one process) and which take long (they start first on the other splits). What the store has is
    not done again.
    """
    arms = range(len(protocol.arms))
    bounded: dict[int, bool] = {}
    seconds: dict[int, float] = {}
    report("starting the workers")
    with Executor(protocol.n_jobs, _Prepared(dataset, splits, protocol.seed), ordered=False) as executor:

        def done(pairs: list[tuple[int, int]]) -> Generator[Finished, None, None]:
            known = {pair: _stored(store, protocol, splits, *pair) for pair in pairs}
            yield from (found for found in known.values() if found is not None)
            items = [_item(protocol, i, j, bounded.get(j, False)) for (i, j), found in known.items() if found is None]
            with closing(executor.map(_arm, items, partial(_died, executor.shared))) as work:
                yield from (_kept(store, protocol, splits, found) for found in work)

        with closing(done([(0, j) for j in arms])) as work:
            for found in work:
                bounded[found.arm], seconds[found.arm] = found.outcome.bounded, found.outcome.seconds
                yield found
                report(f"{phase_name(splits[0])}: {protocol.arms[found.arm].name} done")
        order, later = sorted(arms, key=lambda j: -seconds[j]), split_order(splits)[1:]
        owed = {(i, j) for i in later[: LEAST_SPLITS - 1] for j in arms}
        with closing(done([(i, j) for i in later for j in order])) as work:
            for found in work:
                yield found
                owed.discard((found.split, found.arm))
                if not owed and too_late(protocol):
                    return
                report(f"{phase_name(splits[found.split])}: {protocol.arms[found.arm].name} done")


def _item(protocol: Protocol, split: int, arm: int, natural: bool) -> tuple[Any, ...]:
    """A task: a worker gets no arm but its own."""
    return replace(protocol, arms=(protocol.arms[arm],), contrasts=()), split, arm, natural


def _arm(shared: _Prepared, item: tuple[Any, ...]) -> Finished:
    """One arm on one split."""
    protocol, split, arm, natural = item
    part = shared.part(split)
    return _finished(split, arm, run_arm(protocol.arms[0], part, protocol, natural), part)


def _died(shared: _Prepared, item: tuple[Any, ...], reason: str) -> Finished:
    protocol, split, arm, _ = item
    part = shared.part(split)
    return _finished(split, arm, lost(protocol.arms[0], part, protocol, killed(reason)), part)
