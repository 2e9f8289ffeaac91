"""The protocol of a comparison: arms x sizes x folds x read-outs, every choice made inside the training part."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from proxembed.execute import clock
from proxembed.execute.executor import Progress, in_this_process, silent
from proxembed.execute.loop import Loop
from proxembed.splits.splits import Split, Splitting, make_splits, splitting_kind, standard_split
from proxembed.targets.known import known_cells

from .arms import Arm
from .compare import SIDES
from .measures import (
    AVERAGE_PRECISION,
    JACCARD,
    MEASURES,
    NEW_JACCARD,
    Measure,
    is_jaccard,
    measure_of,
)
from .metrics import row_jaccard, same_rows
from .parallel import ArmScores, EveryArm
from .part import rows_scored
from .results import NEIGHBORS, RIDGE, SAME_ROWS, TEST, Results, merged_notes
from .scoring import BY_KEY, Measures, Pairs
from .verdict import FOLDS, TEST_ROWS, too_few

__all__ = ["Protocol", "Results", "run"]

KNOWN_CELLS = (
    "{partly:,} of {rows:,} rows have known and unknown labels. Methods learn from their known cells and are scored on "
    "known cells only; methods that cannot learn from such rows leave them out."
)


@dataclass(frozen=True)
class Protocol:
    """What a comparison does, fixed before it runs.

    Parameters
    ----------
    arms : tuple of Arm
        Entrants; names must differ.
    sizes : tuple of int
        Values of k, the number of components.
    splitting : Splitting, default=Splitting()
        How folds are made (inside the training rows when ``standard`` is True).
    standard : bool, default=False
        Also train on the data's standard training rows and score its test rows once, as fold "test".
    n_neighbors : int, default=10
        Neighbours of the cosine read-out and of the Jaccard measure.
    min_positives : int, default=1
        Labels with fewer positive held-out rows are left out of the average precision of that fold.
    seed : int, default=0
        Seed of the inner folds on which thresholds and probabilities are tuned.
    n_jobs : int, default=1
        Worker processes, each with one BLAS thread; -1 is one per core, and 1 runs in this process.
    max_seconds : float, optional
        Budget of each arm on each split, fit and read-outs together; what is not scored by then is a loss.
    contrasts : tuple of (a, b), default=(("best method", "all features"),)
        Pairs to be tested, declared beforehand; see ``compare.contrasts``.
    keep_predictions : bool, default=True
        Keep the ridge scores of the held-out rows.
    measure : str, Measure or callable, default="macro average precision"
        The primary measure, which orders the leaderboard and decides; see ``measures.measure_of``.
    notes : tuple of str, default=()
        What to tell beside the results, such as the rivals that take no part.
    train_rows, test_rows : int arrays, optional
        Rows that take part, of the training and of the test rows of the standard split; None for all.
    decided : tuple of str, optional
        Names of the arms whose decisions and probabilities are measured; None for all.
    deadline : float, optional
        ``clock.now()`` from which on no further fold is begun; two folds and the test rows are scored whatever it says.

    Raises
    ------
    ValueError
        No arm, arms of one name, a size below 1, a budget of 0, or a contrast with an unknown side.

    Examples
    --------
    >>> from proxembed.evaluate.arms import Arm
    >>> from proxembed.evaluate.protocol import Protocol
    >>> Protocol((Arm("all features", None, rival=True),), sizes=(2, 5)).n_folds
    5
    """

    arms: tuple[Arm, ...]
    sizes: tuple[int, ...]
    splitting: Splitting = Splitting()
    standard: bool = False
    n_neighbors: int = 10
    min_positives: int = 1
    seed: int = 0
    n_jobs: int = 1
    max_seconds: float | None = None
    contrasts: tuple[tuple[str, str], ...] = (("best method", "all features"),)
    keep_predictions: bool = True
    measure: str | Measure | Callable[..., Any] = AVERAGE_PRECISION
    notes: tuple[str, ...] = ()
    train_rows: np.ndarray | None = None
    test_rows: np.ndarray | None = None
    decided: tuple[str, ...] | None = None
    deadline: float | None = None

    def __post_init__(self) -> None:
        measure_of(self.measure)
        names = self.names
        if not names or len(set(names)) < len(names):
            raise ValueError(f"arms must be at least one, with different names; got {names}.")
        if not self.sizes or any(int(k) != k or k < 1 for k in self.sizes):
            raise ValueError(f"sizes={self.sizes!r} must be whole numbers of at least 1, such as (2, 5, 10).")
        if self.max_seconds is not None and not self.max_seconds > 0:
            raise ValueError(f"max_seconds={self.max_seconds!r} must be above 0, or None for no limit.")
        for side in (side for pair in self.contrasts for side in pair):
            if side not in (*names, *SIDES):
                raise ValueError(f"contrasts name {side!r}, which is no arm; use one of {', '.join([*SIDES, *names])}.")
        object.__setattr__(self, "sizes", tuple(sorted({int(k) for k in self.sizes})))

    @property
    def n_folds(self) -> int:
        """Number of folds of one repeat."""
        return self.splitting.n_folds

    @property
    def measures(self) -> tuple[tuple[str, str], ...]:
        """Pairs (measure, read-out): the primary one, then those that need no threshold."""
        primary = measure_of(self.measure)
        first = primary.name, NEIGHBORS if primary.goal == "neighbours" else RIDGE
        near = ((name, NEIGHBORS) for name in (AVERAGE_PRECISION, *(each.name for each in self.neighbor_measures)))
        return tuple(dict.fromkeys((first, (AVERAGE_PRECISION, RIDGE), *near)))

    @property
    def neighbor_measure(self) -> Measure:
        """The Jaccard measure of neighbours: the primary one, or that of ``n_neighbors``."""
        primary = measure_of(self.measure)
        return primary if is_jaccard(primary.name) else measure_of(JACCARD.format(self.n_neighbors))

    @property
    def new_neighbor_measure(self) -> Measure:
        """The same of held-out rows among themselves."""
        return measure_of(NEW_JACCARD.format(self.neighbor_measure.n_neighbors))

    @property
    def neighbor_measures(self) -> tuple[Measure, Measure]:
        """Both."""
        return self.neighbor_measure, self.new_neighbor_measure

    @property
    def names(self) -> list[str]:
        """Names of the leaderboard in the order of the arms."""
        return [name for arm in self.arms for name in arm.names]

    def measure_named(self, name: str) -> Measure:
        """The measure of a pair: the primary one may be a function of the user's."""
        primary = measure_of(self.measure)
        return primary if primary.name == name else measure_of(name)

    @property
    def further_measures(self) -> tuple[tuple[str, str], ...]:
        """Pairs (measure, read-out) beside them: decisions by the one shared threshold rule, and probabilities."""
        pairs = ((measure.name, RIDGE) for measure in MEASURES.values() if measure.further)
        return tuple(pair for pair in pairs if pair not in self.measures)

    def further_of(self, arm: Arm) -> tuple[tuple[str, str], ...]:
        """The further measures of an arm: none where its decisions are not asked for."""
        return self.further_measures if self.decided is None or arm.name in self.decided else ()

    def refitted(self, arm: Arm) -> bool:
        """Whether cuts are tuned by fits on inner folds: where the arm's decisions or the primary measure need them."""
        return bool(self.further_of(arm)) or measure_of(self.measure).reads in ("labels", "probabilities")

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
        )

    def _named(self, pairs: tuple[tuple[str, str], ...]) -> Pairs:
        return tuple((self.measure_named(name), readout) for name, readout in pairs)

    def describe(self) -> dict[str, Any]:
        """The protocol as plain data."""
        plain = {
            key: value
            for key, value in vars(self).items()
            if key not in ("arms", "splitting", "measure", "notes", *_ROWS)
        }
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


_ROWS = "train_rows", "test_rows", "deadline"
_PAIRS = ("measures", "further_measures", "contrasts")


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
    if dataset.Y.sum() == 0:
        raise ValueError(f"{dataset.name} has no row with a label; check which columns hold the labels.")


def run(protocol: Protocol, dataset: Any, progress: Progress | None = None, store: Any = None) -> Results:
    """Run a comparison: every arm sees the same splits, scaling and read-outs, and is fitted once per split for all k.

    Features are standardised where they are dense; of words, as 0/1 or counts, the scaling (as they are, rows of length
    1, sublinear tf-idf) is chosen by inner folds of the training part, the same for every arm. The read-outs are
    multi-output ridge, its penalty chosen on the training part by closed-form leave-one-out (by folds of whole groups
    where rows have groups), and the nearest training rows by cosine. Arms that predict by themselves, such as logistic
    regression, are measured by their own scores in place of ridge scores, and their neighbours are those of the scores.
    Cuts and probabilities come from scores of training rows by models that have not seen them. An arm that raises or
    runs out of its budget gets the worst value. Rows with an unknown label are there to train on, for methods that can,
    and are never scored; where every row has one, known cells are scored.

    Parameters
    ----------
    protocol : Protocol
        What to do.
    dataset : proxembed.data.Dataset
    progress : callable, optional
        Called as ``progress(done, total, text)``: before each arm (one process) or after each (several), and at the
        end.
    store : Ledger, optional
        Keeps what each arm has done on each split of these data, and has what an ended run has kept.

    Returns
    -------
    Results
        With ``interrupted=True`` and all rows so far after a KeyboardInterrupt.

    Raises
    ------
    ValueError
        The data have no label, or none that is known, or the folds cannot be made.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.arms import Arm
    >>> from proxembed.evaluate.protocol import Protocol, run
    >>> from proxembed.splits.splits import Splitting
    >>> protocol = Protocol((Arm("all features", None, rival=True),), sizes=(2,), splitting=Splitting(n_folds=2))
    >>> results = run(protocol, digits())
    >>> len(results.rows), results.predictions["all features", None, "1"].shape == (len(results.held_out["1"]), 7)
    (18, True)
    """
    started = time.perf_counter()
    _check(dataset)
    splits = _splits(protocol, dataset)
    counts = [[str(name), int(count)] for name, count in zip(dataset.label_names, dataset.Y.sum(axis=0), strict=True)]
    described = protocol.describe()
    described["splitting"]["kind"] = splitting_kind(dataset, protocol.splitting)
    facts = {**dataset.describe(), "label_counts": counts}
    results = Results(dataset=facts, protocol=described, measure=measure_of(protocol.measure))
    _collect(protocol, dataset, splits, results, progress or silent, store)
    if facts["rows_partly_known"]:
        results.notes.insert(0, KNOWN_CELLS.format(partly=facts["rows_partly_known"], rows=facts["n"]))
    for basis in (FOLDS, TEST_ROWS):
        rows = [rows for name, rows in results.held_out.items() if (name == TEST) == (basis == TEST_ROWS)]
        results.few[basis] = too_few(dataset, np.concatenate(rows)) if rows else None
    results.seconds = time.perf_counter() - started
    return results


def _collect(
    protocol: Protocol, dataset: Any, splits: list[Split], results: Results, progress: Progress, store: Any
) -> None:
    """Add what arms do on splits to the results; a split counts as complete when all its arms are done."""
    tasks = [(arm, protocol.measures_of(arm)) for arm in protocol.arms]
    arms = EveryArm(tasks, splits, progress, alone=in_this_process(protocol.n_jobs))
    seconds = None if protocol.deadline is None else protocol.deadline - clock.now()
    bounds: dict[str, Any] = {"max_seconds": seconds, "n_jobs": protocol.n_jobs, "ordered": False}
    loop = Loop(ArmScores(dataset, splits, protocol.seed), **bounds, ledger=store, report=arms.report).run(arms)
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
            same = same_rows_similarity(protocol, dataset, split.train, found.rows)
            results.similarity[SAME_ROWS, None, split.name] = same
    results.interrupted = loop.interrupted
    results.preprocessing = _shared_scaling(results.scalings)
    results.notes = [*dict.fromkeys(protocol.notes), *merged_notes(notes)]
    _sort_arms(protocol, splits, results)
    text = "interrupted" if results.interrupted else "all scored"
    progress(len(results.folds) * len(protocol.arms), len(splits) * len(protocol.arms), text)


def _shared_scaling(scalings: dict[str, str]) -> str:
    """The scaling of the largest training part, that beside the test rows, else the one of most folds."""
    most = Counter(scalings[name] for name in sorted(scalings)).most_common(1)
    return scalings.get(TEST, most[0][0] if most else "")


def same_rows_similarity(protocol: Protocol, dataset: Any, train: np.ndarray, rows: Any) -> np.ndarray:
    """Similarity of each held-out row to the same training rows for every query, which no feature has a part in.

    Parameters
    ----------
    protocol : Protocol
        Says how many they are.
    dataset : proxembed.data.Dataset
    train, rows : int arrays of shapes (n,) and (m,)
        Training rows and held-out rows; training rows with an unknown label are left out.

    Returns
    -------
    array of shape (m,)
    """
    Y, train = dataset.Y.tocsr(), train[rows_scored(dataset)[train]]
    Y_train = Y[train]
    same = same_rows(Y_train, protocol.neighbor_measure.n_neighbors)
    every = np.broadcast_to(same, (len(rows), len(same)))
    weights = sp.csr_array(
        (np.full(every.size, 1 / len(same)), every.ravel(), np.arange(0, every.size + 1, len(same))),
        shape=(len(rows), Y_train.shape[0]),
    )
    known, known_train = known_cells(dataset.unknown, rows), known_cells(dataset.unknown, train)
    return row_jaccard(Y[rows], Y_train, weights, known_train, known=known)


def _sort_arms(protocol: Protocol, splits: list[Split], results: Results) -> None:
    """Put rows in the order of splits and arms, also within an arm of two names, and what is kept by sizes, too."""
    fold = {split.name: number for number, split in enumerate(splits)}
    arm = {name: number for number, name in enumerate([*protocol.names, SAME_ROWS])}
    results.rows.sort(key=lambda row: (fold[row["fold"]], arm[row["arm"]]))
    for name in BY_KEY:
        kept = getattr(results, name)
        order = sorted(kept, key=lambda key: (fold[key[2]], arm[key[0]], key[1] or 0))
        setattr(results, name, {key: kept[key] for key in order})
