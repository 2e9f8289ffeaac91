"""The protocol of a comparison, and its run: every arm on every split, through the loop of ``execute``."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from proxembed.algebra.shared import Shared
from proxembed.estimator.weights import held_under
from proxembed.execute import clock
from proxembed.execute.executor import Progress, in_this_process, silent
from proxembed.execute.ledger import digest
from proxembed.execute.loop import Evaluator, Loop, Strategy, Trial, Work
from proxembed.measures.measures import (
    ANY,
    LABELS,
    MEASURES,
    NUMBERS,
    KindOfMeasures,
    Measure,
    is_near,
    measure_for,
    measure_of,
    measures_of_kind,
)
from proxembed.measures.metrics import class_weights, row_jaccard, same_rows
from proxembed.splits.splits import Split, Splitting, make_splits, splitting_kind, standard_split
from proxembed.targets.known import known_cells
from proxembed.targets.values import dense_labels

from .arms import ALL_FEATURES, Arm
from .compare import BEST_METHOD, SIDES
from .constant import Cells, Constant, constant_prediction
from .gains import FOLDS, TEST_ROWS
from .part import Part, cells_of, prepare, rows_scored, some_weights
from .results import BY_KEY, NEAREST, NEIGHBORS, RIDGE, SAME_ROWS, TEST, Results, merged_notes
from .scoring import Measures, Pairs, Scores, lost, score
from .verdict import too_few

LEAST_SPLITS = 3  # two folds and the test rows
Task = tuple[Arm, Measures]
KNOWN_CELLS = (
    "{partly:,} of {rows:,} rows have known and unknown labels. Methods learn from their known cells and are scored on "
    "known cells only; methods that cannot learn from such rows leave them out."
)


class Finished(NamedTuple):
    """What one arm did on one split, with facts of the split."""

    scores: Scores
    scaling: str
    sizes: dict[str, Any]
    rows: Any  # array of the held-out row numbers


class ArmScores(Evaluator):
    """Scores arms on splits: a configuration is an arm with its measures, a step the number of a split."""

    def __init__(self, dataset: Any, splits: list[Split], seed: int, shared: Shared | None = None):
        self.dataset, self.splits, self.seed, self.shared = dataset, splits, seed, shared
        self.last: tuple[int, Part] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "last": None}

    def part(self, number: int) -> Part:
        """The part of a split."""
        if self.last is None or self.last[0] != number:
            self.last = None  # one part in memory, not two
            shown = next((i for i, split in enumerate(self.splits) if split.name == TEST), 0)
            facts = {} if self.shared is None or number != shown else {"shared": self.shared}
            self.last = number, prepare(self.dataset, self.splits[number], self.seed, **facts)
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
        facts: list[Any] = [self.seed, *measures.plain(), *["counted"] * (measures.counted and rows.name == TEST)]
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
    """Every arm on every split, the test rows after two folds; after three splits none is begun late."""

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
    """What progress calls the rows of a split; the test rows come before the last folds, for which time may run out."""
    return "test rows (before the other folds)" if split.name == TEST else f"fold {split.name}"


def _splits(protocol: Protocol, dataset: Any) -> list[Split]:
    if not protocol.standard:
        return make_splits(dataset, protocol.splitting)
    test = taking_part(standard_split(dataset), protocol.train_rows, protocol.test_rows)
    return [*make_splits(dataset, protocol.splitting, rows=np.sort(test.train)), test]


def taking_part(split: Split, train: np.ndarray | None, held_out: np.ndarray | None) -> Split:
    """A split with these of its rows alone."""
    pairs = ((split.train, train), (split.held_out, held_out))
    return Split(split.name, *(rows if some is None else rows[np.isin(rows, some)] for rows, some in pairs))


def _check(dataset: Any) -> None:
    if not rows_scored(dataset).any():
        raise ValueError(f"{dataset.name} has no known label, so that nothing can be scored; label some rows.")
    if dataset.outputs is None and dataset.Y.sum() == 0:
        raise ValueError(f"{dataset.name} has no row with a label; check which columns hold the labels.")


def run(
    protocol: Protocol,
    dataset: Any,
    progress: Progress | None = None,
    store: Any = None,
    splits: list[Split] | None = None,
    shared: Shared | None = None,
) -> Results:
    """Run a comparison: every arm sees the same splits, scaling and read-outs, and is fitted once per split
    for all k. ``splits``: some of those of the protocol; None: all. ``shared``: what fits on the training part of the
    test rows, or of the first split where there are none, share with fits that follow."""
    started = time.perf_counter()
    _check(dataset)
    protocol.primary.check_weighs(dataset.sample_weight)
    splits = _splits(protocol, dataset) if splits is None else splits
    counts = [[str(name), int(count)] for name, count in zip(dataset.label_names, dataset.Y.sum(axis=0), strict=True)]
    described = protocol.describe()
    described["splitting"]["kind"] = splitting_kind(dataset, protocol.splitting)
    facts = {**dataset.describe(), "label_counts": counts}
    results = Results(dataset=facts, protocol=described, measure=protocol.primary, arms=protocol.arms)
    scores = ArmScores(dataset, splits, protocol.seed, shared)
    _collect(protocol, scores, results, progress or silent, store)
    if facts["rows_partly_known"]:
        results.notes.insert(0, KNOWN_CELLS.format(partly=facts["rows_partly_known"], rows=facts["n"]))
    for basis in (FOLDS, TEST_ROWS):
        rows = [rows for name, rows in results.held_out.items() if (name == TEST) == (basis == TEST_ROWS)]
        results.few[basis] = too_few(dataset, np.concatenate(rows)) if rows else None
    results.seconds = time.perf_counter() - started
    return results


def _collect(protocol: Protocol, scores: ArmScores, results: Results, progress: Progress, store: Any) -> None:
    """Add what arms do on splits to the results; a split counts as complete when all its arms are done."""
    dataset, splits = scores.dataset, scores.splits
    tasks = [(arm, protocol.measures_of(arm)) for arm in protocol.arms]
    arms = EveryArm(tasks, splits, progress, alone=in_this_process(protocol.n_jobs))
    seconds = None if protocol.deadline is None else protocol.deadline - clock.now()
    bounds: dict[str, Any] = {"max_seconds": seconds, "n_jobs": protocol.n_jobs, "ordered": False}
    loop = Loop(scores, **bounds, ledger=store, report=arms.report).run(arms)
    notes: list[str] = []
    for number, split in enumerate(splits):
        finished = {trial.title: trial.outcomes[number] for trial in arms.trials if number in trial.outcomes}
        for arm, found in finished.items():
            results.rows += found.scores.rows
            for name in BY_KEY:
                getattr(results, name).update(getattr(found.scores, name))
            notes += [f"{arm}: {note}" for note in found.scores.notes]
            results.scalings[split.name], results.held_out[split.name] = found.scaling, found.rows
        if len(finished) == len(arms.trials):
            results.folds[split.name] = found.sizes
        if finished:
            add_constants(results, protocol, dataset, split, found.rows)
    results.interrupted = loop.interrupted
    results.preprocessing = _shared_scaling(results.scalings)
    results.notes = [*dict.fromkeys(protocol.notes), *merged_notes(notes)]
    _sort_arms(protocol, splits, results)
    text = "interrupted" if results.interrupted else "all scored"
    progress(len(results.folds) * len(protocol.arms), len(splits) * len(protocol.arms), text)


def _shared_scaling(scalings: dict[str, str]) -> str:
    """The scaling of the training part of the test rows (the largest part), else the most frequent one of the folds."""
    most = Counter(scalings[name] for name in sorted(scalings)).most_common(1)
    return scalings.get(TEST, most[0][0] if most else "")


def add_constants(results: Results, protocol: Protocol, dataset: Any, split: Split, rows: Any) -> None:
    """Add the baselines without features: one list of neighbours, and one prediction for every held-out row."""
    name = split.name
    if dataset.outputs is not None:  # by definition both are 0
        train, truth = (dataset.targets.take(part) for part in (split.train, rows))
        weights = some_weights(dataset.sample_weight, split.train)
        cells = cells_of(truth, (train if weights is None else held_under(train, weights)).level_and_scale)
        none = np.zeros(cells.shape)
        listed = np.stack([none, none, none + 1.0], axis=1)
        results.similarity[SAME_ROWS, None, name], results.same_rows[name] = listed, 0.0
        results.constants[name] = Constant(0.0, none[:1].ravel())
        results.truths[name] = cells
        return
    same = same_rows_similarity(protocol, dataset, split.train, rows)
    weights = some_weights(dataset.sample_weight, rows)
    weights = class_weights(dataset.Y.tocsr()[rows], known_cells(dataset.unknown, rows), weights)
    mean = float(np.average(same, weights=weights))
    results.similarity[SAME_ROWS, None, name], results.same_rows[name] = same, mean
    results.constants[name] = constant_of(protocol, dataset, split.train, rows)


def same_rows_similarity(protocol: Protocol, dataset: Any, train: np.ndarray, rows: Any) -> np.ndarray:
    """Similarity of each held-out row to the same training rows for every query: a baseline without features."""
    Y, train = dataset.Y.tocsr(), train[rows_scored(dataset)[train]]
    Y_train = Y[train]
    weights = some_weights(dataset.sample_weight, train)
    same = same_rows(Y_train, protocol.neighbor_measure.n_neighbors, sample_weight=weights)
    every = np.broadcast_to(same, (len(rows), len(same)))
    near = sp.csr_array(
        (np.full(every.size, 1 / len(same)), every.ravel(), np.arange(0, every.size + 1, len(same))),
        shape=(len(rows), Y_train.shape[0]),
    )
    known, known_train = known_cells(dataset.unknown, rows), known_cells(dataset.unknown, train)
    return row_jaccard(Y[rows], Y_train, near, known_train, known=known)


def constant_of(protocol: Protocol, dataset: Any, train: np.ndarray, rows: Any) -> Constant:
    """One prediction for every held-out row, in the measure of predictions."""
    Y, train = dataset.Y.tocsr(), train[rows_scored(dataset)[train]]
    own, held_out = (
        Cells(dense_labels(Y[part]), known_cells(dataset.unknown, part), some_weights(dataset.sample_weight, part))
        for part in (train, rows)
    )
    name = next(name for name, readout in protocol.measures if readout != NEIGHBORS)
    return constant_prediction(protocol.measure_named(name), own, held_out, protocol.min_positives)


def _sort_arms(protocol: Protocol, splits: list[Split], results: Results) -> None:
    """Sort the rows by split and name; sort what is kept per name, size and split by split, name and size."""
    fold = {split.name: number for number, split in enumerate(splits)}
    arm = {name: number for number, name in enumerate([*protocol.names, SAME_ROWS])}
    results.rows.sort(key=lambda row: (fold[row["fold"]], arm[row["arm"]]))
    for name in BY_KEY:
        kept = getattr(results, name)
        order = sorted(kept, key=lambda key: (fold[key[2]], arm[key[0]], key[1] or 0))
        setattr(results, name, {key: kept[key] for key in order})


@dataclass(frozen=True)
class Protocol:
    """What a comparison does, fixed before it runs."""

    arms: tuple[Arm, ...]
    sizes: tuple[int, ...]
    splitting: Splitting = Splitting()
    standard: bool = False
    n_neighbors: int = 10
    min_positives: int = 1
    seed: int = 0
    n_jobs: int = 1
    max_seconds: float | None = None
    contrasts: tuple[tuple[str, str], ...] = ((BEST_METHOD, ALL_FEATURES),)
    keep_predictions: bool = True
    measure: str | Measure | Callable[..., Any] | None = None
    notes: tuple[str, ...] = ()
    train_rows: np.ndarray | None = None
    test_rows: np.ndarray | None = None
    decided: tuple[str, ...] | None = None
    counted: tuple[str, ...] = ()
    deadline: float | None = None
    numbers: bool = False
    cuts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", measure_for(self.measure, self.numbers))
        names = self.names
        if not names or len(set(names)) < len(names):
            raise ValueError(f"arms must be at least one, with different names; got {names}.")
        if not self.sizes or any(int(k) != k or k < 1 for k in self.sizes):
            raise ValueError(f"sizes={self.sizes!r} must be whole numbers of at least 1, such as (2, 5, 10).")
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise ValueError(f"max_seconds={self.max_seconds!r} must be above 0, or None for no limit.")
        for side in (side for pair in self.contrasts for side in pair):
            if side not in (*names, *SIDES):
                raise ValueError(
                    f"contrasts name {side!r}, which is not an arm; use one of {', '.join([*SIDES, *names])}."
                )
        object.__setattr__(self, "sizes", tuple(sorted({int(k) for k in self.sizes})))

    @property
    def n_folds(self) -> int:
        """Number of folds of one repeat."""
        return self.splitting.n_folds

    @property
    def measures(self) -> tuple[tuple[str, str], ...]:
        """Pairs (measure, read-out): the primary one, then those that need no threshold."""
        primary, usual = self.primary, self.kind.predict
        nearest = NEAREST if self.numbers else NEIGHBORS
        first = primary.name, nearest if primary.goal == "neighbours" else RIDGE
        shared = () if self.numbers else (usual,)  # neighbours vote for labels
        near = ((name, nearest) for name in (*shared, *(each.name for each in self.neighbor_measures)))
        return tuple(dict.fromkeys((first, (usual, RIDGE), *near)))

    @property
    def primary(self) -> Measure:
        """The measure that decides."""
        return measure_of(self.measure)  # type: ignore[arg-type]  # set by ``__post_init__``

    @property
    def kind(self) -> KindOfMeasures:
        """The names of the measures of labels, or of numbers."""
        return measures_of_kind(self.numbers)

    @property
    def neighbor_measure(self) -> Measure:
        """The measure of neighbours: the primary one, or that of ``n_neighbors``."""
        primary = self.primary
        return primary if is_near(primary.name) else measure_of(self.kind.near.format(self.n_neighbors))

    @property
    def new_neighbor_measure(self) -> Measure:
        """The measure of held-out rows among themselves, for as many neighbours."""
        return measure_of(self.kind.new.format(self.neighbor_measure.n_neighbors))

    @property
    def neighbor_measures(self) -> tuple[Measure, Measure]:
        """Both measures of neighbours."""
        return self.neighbor_measure, self.new_neighbor_measure

    @property
    def names(self) -> list[str]:
        """Names of the leaderboard in the order of the arms."""
        return [name for arm in self.arms for name in arm.names]

    def measure_named(self, name: str) -> Measure:
        """The measure of a pair: the primary one may be a function of the user's."""
        return self.primary if self.primary.name == name else measure_of(name)

    @property
    def further_measures(self) -> tuple[tuple[str, str], ...]:
        """Further pairs (measure, read-out): of decisions by the shared threshold rule, and of probabilities."""
        takes = (ANY, NUMBERS if self.numbers else LABELS)
        pairs = ((measure.name, RIDGE) for measure in MEASURES.values() if measure.further and measure.takes in takes)
        return tuple(pair for pair in pairs if pair not in self.measures)

    def further_of(self, arm: Arm) -> tuple[tuple[str, str], ...]:
        """The further measures of an arm: none where its decisions are not asked for."""
        all_arms = self.decided is None or self.numbers  # which need no further fits
        return self.further_measures if all_arms or arm.name in (self.decided or ()) else ()

    def refitted(self, arm: Arm) -> bool:
        """Whether cuts are tuned by fits on inner folds: where the arm's decisions or the primary measure need them."""
        decided = self.primary.reads in ("labels", "probabilities")
        return not self.numbers and (bool(self.further_of(arm)) or decided)

    def measures_of(self, arm: Arm) -> Measures:
        """What is measured of an arm on each split."""
        return Measures(
            self._named(self.measures),
            self.sizes,
            self._named(self.further_of(arm)),
            self.n_neighbors,
            self.min_positives,
            self.refitted(arm),
            self.max_seconds,
            self.neighbor_measures if self.keep_predictions else None,
            self.standard,
            counted=arm.name in self.counted,
        )

    def _named(self, pairs: tuple[tuple[str, str], ...]) -> Pairs:
        return tuple((self.measure_named(name), readout) for name, readout in pairs)

    def describe(self) -> dict[str, Any]:
        """The protocol as plain data."""
        plain = {key: value for key, value in vars(self).items() if key not in _NOT_PLAIN}
        pairs = {name: [list(pair) for pair in getattr(self, name)] for name in _PAIRS}
        sizes = list(self.sizes)
        return {
            "arms": self.names,
            **plain,
            "sizes": sizes,
            "n_folds": self.n_folds,
            "splitting": asdict(self.splitting),
            **pairs,
        }


_NOT_PLAIN = "arms", "splitting", "measure", "notes", "train_rows", "test_rows", "deadline"
_PAIRS = ("measures", "further_measures", "contrasts")
