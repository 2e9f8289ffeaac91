"""The benchmark: the paper's methods and others on eight multi-label sets, with all labels and with some of them.

Every entrant may try the same number of configurations in the same CPU seconds inside the training part, on the same
rows; the last fit is finished whatever it costs (but for a cap that few reach), and the test part is looked at once an
entrant. What the clock ends has no score; what fails otherwise counts as the worst value, each with its reason.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np
import scipy.sparse as sp

from papers import EXPERIMENTS
from papers.benchmark.entrants import partly_labelled_entrants, supervised_entrants
from papers.benchmark.findings import conclusions
from papers.benchmark.page import benchmark_page, figures
from papers.experiment import Kept, Request, reduced, run_part
from papers.part_names import part_name, set_and_share
from papers.tuned import Effort, compete, tuning_splits
from proxembed.data import Dataset, read
from proxembed.splits.splits import standard_split

NAME = "benchmark-multilabel"
LARGE = frozenset({"tmc2007-500", "reuters"})
QUICK_SETS = ("emotions", "enron")
SIZES = (2, 5, 10)
FACTS = ("n", "d", "labels", "cardinality", "train", "test")
SHARES = (0.05, 0.1, 0.2, 0.4, 0.8)
CONTRASTS = (
    ("all labels", "MOPE, scheme 3", "MDDM"),
    ("all labels", "MOPE, scheme 3", "OPLS"),
    ("all labels", "MESD(FDA)", "CCA"),
    ("some labels", "SSMOPE", "MOPE"),
    ("some labels", "SSMOPE", "OLPP"),
    ("some labels", "SSMOPE", "ML-LGC"),
)


@dataclass(frozen=True)
class Plan:
    """The benchmark, fixed before it runs: entrants' effort, rows, shares of labelled rows, what is tested.

    Seconds are CPU seconds of an entrant's tuning, on a set or on a set and share; ``last_seconds`` those of its last
    fit. Every set has ``rows_partly`` training rows at most with some labels. Reuters, with more terms than rows, where
    a fit costs the cube of the rows, has ``rows_reuters`` and ``rows_reuters_partly``. ``contrasts`` (labels, a, b) are
    the only pairs that are tested: six can reach 0.05 on eight sets after Holm.
    """

    seed: int = 0
    configurations: int = 6
    configurations_partly: int = 5
    seconds: float = 6.0
    seconds_large: float = 30.0
    seconds_partly: float = 4.0
    seconds_partly_large: float = 15.0
    last_seconds: float = 400.0
    tuning_rows: int = 2000
    rows_partly: int = 2000
    rows_reuters: int = 4000
    rows_reuters_partly: int = 1500
    shares: tuple[float, ...] = SHARES
    rows: int | None = None
    contrasts: tuple[tuple[str, str, str], ...] = CONTRASTS

    def effort(self, name: str, partly: bool) -> Effort:
        """What an entrant may spend on a set."""
        if partly:
            configurations, seconds, large = self.configurations_partly, self.seconds_partly, self.seconds_partly_large
        else:
            configurations, seconds, large = self.configurations, self.seconds, self.seconds_large
        return Effort(configurations, large if name in LARGE else seconds, self.tuning_rows, self.last_seconds)


QUICK = Plan(configurations=2, configurations_partly=2, shares=(0.2,), rows=240)


def run(request: Request) -> dict:
    """Run what the folder does not hold yet, set by set, and write the record after each set.

    Parameters
    ----------
    request : Request

    Returns
    -------
    dict
        The record: ``plan, sets, parts, conclusions``; ``parts`` maps a part such as "yeast" or "yeast at 20 %"
        to what its entrants found.
    """
    plan = replace(QUICK if request.quick else Plan(), seed=request.seed)
    return _Run(request, plan, request.sets or (QUICK_SETS if request.quick else EXPERIMENTS[NAME].files)).record()


class _Run:
    """The benchmark under way."""

    def __init__(self, request: Request, plan: Plan, sets: tuple[str, ...]):
        self.request, self.plan, self.sets = request, plan, sets
        self.entrants = {False: supervised_entrants(plan.seed), True: partly_labelled_entrants(plan.seed)}
        self.total = len(sets) * (len(self.entrants[False]) + len(plan.shares) * len(self.entrants[True]))
        self.done = 0
        stated = {
            "effort": asdict(plan),
            "entrants": [each.describe() for part in self.entrants.values() for each in part],
        }
        self.kept = Kept(request, NAME, stated)
        self.kept.record["sets"] = {}
        self.facts: dict[str, dict] = {}

    def record(self) -> dict:
        """Run every set; the record as it is after the last one, with those that the folder held already."""
        for name in self.sets:
            dataset = self._read(name)
            for share in (None, *self.plan.shares):
                self._part(part_name(name, share), dataset, share, self.plan.effort(name, share is not None))
            self._write()
        return self.kept.record

    def _read(self, name: str) -> Dataset:
        dataset = reduced(read(self.request.data / f"{name}.npz"), self.plan.rows, self.plan.seed)
        described = dataset.describe()
        self.facts[name] = {key: described[key] for key in FACTS}
        return dataset

    def _part(self, part: str, dataset: Dataset, share: float | None, effort: Effort) -> None:
        """Every entrant on one set, with all labels known or a share of them."""
        seed, entrants = self.plan.seed, self.entrants[share is not None]
        if self.request.force:
            self.kept.drop(part)
        if share is not None:
            reuters = part.startswith("reuters")
            rows = self.plan.rows_reuters_partly if reuters else self.plan.rows_partly
            dataset = partly_labelled(dataset, share, rows, seed)
        elif part == "reuters":
            dataset = partly_labelled(dataset, 1.0, self.plan.rows_reuters, seed)
        inner = tuning_splits(dataset, effort, seed)
        sizes = tuple(sorted({*SIZES, dataset.Y.shape[1]}))
        tasks = {each.name: (each, dataset, inner, sizes, effort, seed) for each in entrants}
        self.done = run_part(self.kept, part, tasks, compete, self.request, self.done, self.total)

    def _write(self) -> None:
        record = self.kept.record
        held = {set_and_share(part)[0] for part in record["parts"]}
        for name in (name for name in EXPERIMENTS[NAME].files if name in held and name not in record["sets"]):
            if name not in self.facts:
                self._read(name)
            record["sets"][name] = self.facts[name]
        record["conclusions"] = conclusions(record)
        self.kept.write(benchmark_page(record), figures(record))


def partly_labelled(dataset: Dataset, share: float, rows: int, seed: int) -> Dataset:
    """The set with at most so many training rows, of which a random share keeps its labels; at least 8 rows do.

    Test rows keep theirs. The rows with labels at a small share are among those at a larger one.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from proxembed.data import digits
    >>> from papers.benchmark.multilabel import partly_labelled
    >>> data = replace(digits(), train_idx=range(1000), test_idx=range(1000, 1797))
    >>> part = partly_labelled(data, 0.1, 500, 0)
    >>> part.X.shape, int((part.unknown.sum(axis=1) == 0).sum()) - 797
    ((1297, 64), 50)
    """
    split = standard_split(dataset)
    order = np.random.default_rng(seed).permutation(split.train)[:rows]
    known = order[: max(8, round(share * len(order)))]
    hidden = np.setdiff1d(order, known)
    keep = np.ones(dataset.Y.shape, dtype=bool)
    keep[hidden] = False
    shown = sp.csc_array(dataset.Y.toarray() * keep)
    whole = replace(dataset, Y=shown, unknown=sp.csc_array(~keep))
    return whole.take(np.sort(np.concatenate([order, split.held_out])))
