"""The work of a comparison: every arm on every split, as the loop carries it out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from proxembed.execute.executor import Progress
from proxembed.execute.ledger import digest
from proxembed.execute.loop import Evaluator, Loop, Strategy, Trial, Work
from proxembed.splits.splits import Split

from .arms import Arm
from .part import Part, prepare
from .results import TEST
from .scoring import Measures, Scores, lost, score

LEAST_SPLITS = 3  # two folds and the test rows
Task = tuple[Arm, Measures]


class Finished(NamedTuple):
    """What one arm did on one split, with facts of the split."""

    scores: Scores
    scaling: str
    sizes: dict[str, Any]
    rows: Any  # array of the held-out row numbers


class ArmScores(Evaluator):
    """Scores arms on splits: a configuration is an arm with its measures, a step the number of a split.

    The part that was prepared last is kept.
    """

    def __init__(self, dataset: Any, splits: list[Split], seed: int):
        self.dataset, self.splits, self.seed = dataset, splits, seed
        self.last: tuple[int, Part] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "last": None}

    def part(self, number: int) -> Part:
        """The part of a split."""
        if self.last is None or self.last[0] != number:
            self.last = None  # one part in memory, not two
            self.last = number, prepare(self.dataset, self.splits[number], self.seed)
        return self.last[1]

    def evaluate(self, task: Task, split: int, natural: bool = False) -> Finished:
        """The scores of the arm; ``natural``: it has fewer components than the largest size."""
        return self._finished(split, score(task[0], self.part(split), task[1], natural))

    def lost(self, task: Task, split: int, reason: str) -> Finished:
        """The worst values, as the process was ended."""
        return self._finished(split, lost(task[0], self.part(split), task[1], reason))

    def _finished(self, split: int, scores: Scores) -> Finished:
        part = self.part(split)
        return Finished(scores, part.scaling, part.sizes, part.rows)

    def key(self, task: Task, split: int) -> list[str]:
        """Arm and split, and a hash of all that the scores depend on beside the data set."""
        (arm, measures), rows = task, self.splits[split]
        facts: list[Any] = [self.seed, *measures.plain()]
        facts += [arm.rival, arm.grid, arm.each_size, arm.largest, type(arm.estimator).__name__]
        facts += [] if arm.estimator is None else sorted(arm.estimator.get_params().items())
        return [arm.name, rows.name, digest(rows.train, rows.held_out, facts)]

    def plain(self, found: Finished) -> dict[str, Any] | None:
        """What an arm has done; None if it failed: another run may fare better."""
        return None if found.scores.failure else {**found._asdict(), "scores": found.scores.plain()}

    def restored(self, plain: dict[str, Any]) -> Finished:
        """What an arm has done."""
        return Finished(**{**plain, "scores": Scores.of(plain["scores"])})


class EveryArm(Strategy):
    """Every arm on every split, the test rows after two folds; after three splits none is begun late.

    The first split tells which arms are bounded below the largest size: they are not tried in vain again. Workers begin
    with the arms that took long on it.
    """

    def __init__(self, tasks: Sequence[Task], splits: list[Split], progress: Progress, alone: bool):
        self.splits, self.progress, self.alone = splits, progress, alone
        self.trials = [Trial(task, task[0].name) for task in tasks]

    def batches(self, loop: Loop) -> Iterator[Sequence[Work]]:
        """Arm by arm in this process; with workers, the first split and all others."""
        first, *later = split_order(self.splits)
        if self.alone:
            for number, split in enumerate([first, *later]):
                if number >= LEAST_SPLITS and loop.left <= 0:
                    return
                for trial in self.trials:
                    yield [self._work(trial, split)]
            return
        yield [self._work(trial, first) for trial in self.trials]
        ranked = sorted(self.trials, key=lambda trial: -trial.outcomes[first].scores.seconds)
        owed = later[: LEAST_SPLITS - 1]
        yield [self._work(trial, split, split in owed) for split in later for trial in ranked]

    def _work(self, trial: Trial, split: int, owed: bool = True) -> Work:
        bounded = 0 in trial.outcomes and trial.outcomes[0].scores.bounded
        return Work(trial, [split], owed, {"natural": bounded})

    def report(self, loop: Loop, work: Work, done: bool) -> None:
        """Show an arm before its work in this process, and after its work by workers."""
        if self.alone and done or not self.alone and not done and loop.outcomes:
            return
        text = f"{phase_name(self.splits[work.steps[0]])}: {work.trial.title}"
        if not self.alone:
            text = f"{text} done" if done else "starting the workers"
        self.progress(len(loop.outcomes), len(self.splits) * len(self.trials), text)


def split_order(splits: list[Split]) -> list[int]:
    """The splits in the order in which they are worked on: the test rows after two folds."""
    folds = [i for i, split in enumerate(splits) if split.name != TEST]
    test = [i for i, split in enumerate(splits) if split.name == TEST]
    return [*folds[:2], *test, *folds[2:]]


def phase_name(split: Split) -> str:
    """What progress calls the rows of a split."""
    return "test rows" if split.name == TEST else f"fold {split.name}"
