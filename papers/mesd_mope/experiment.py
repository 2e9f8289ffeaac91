"""The experiments of the MESD and MOPE paper on Reuters: supervised, and with 40 and 80 % of the labels.  [mu2012mesd]

Ten overlapping categories in three random parts of near equal size, drawn anew five times, and for the sentence about
the three schemes of MOPE on labels alone ten times; relation features
(Euclidean distances to the training rows); one Fisher discriminant a category; macro F1. In each draw everything is
tuned on the validation part, the number of components among it, and the test part is scored once an entrant; and once
more at the paper's number of components, 1,800 and 800.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from papers.defc.flda_trials import chosen_readout, compete, compete_at
from papers.entrants import Entrant
from papers.experiment import Kept, Request, run_part
from papers.mesd_mope.claims import Claim, partly_labelled_claims, supervised_claims
from papers.mesd_mope.draws import part_name
from papers.mesd_mope.entrants import LABELS_ONLY, partly_labelled_entrants, supervised_entrants
from papers.mesd_mope.page import figures, page
from papers.mesd_mope.reuters_ten import Stage, reuters_ten

SUPERVISED, PARTLY = "mesd-mope-reuters", "mesd-mope-reuters-partly-labelled"
SHARES = (0.4, 0.8)
QUICK: dict[str, Any] = {"rows": 450, "limit": 2, "draws": 2, "further": {}, "published_k": 100}


@dataclass(frozen=True)
class Plan:
    """One of the two experiments, fixed before it runs; ``limit``: the most settings per entrant and draw; ``further``:
    the draws of a kind of entrants that has more than ``draws``."""

    name: str
    title: str
    entrants: tuple[Entrant, ...]
    claims: Callable[[int], tuple[Claim, ...]]
    sizes: tuple[int, ...]
    shares: tuple[float, ...] = (1.0,)
    published_k: int = 1800
    draws: int = 5
    further: Mapping[str, int] = field(default_factory=dict)
    limit: int = 24
    rows: int | None = None

    @property
    def last(self) -> int:
        """The number of the last draw."""
        return max(self.draws, *self.further.values()) if self.further else self.draws

    def entrants_of(self, draw: int) -> list[Entrant]:
        """Who enters a draw, counted from 1."""
        return [each for each in self.entrants if draw <= max(self.draws, self.further.get(each.group, 0))]


def supervised_plan() -> Plan:
    """Experiment 1: existing and proposed methods, all training labels known."""
    sizes = (5, 10, 50, 100, 200, 400, 800, 1800)
    title = "Multi-label embeddings of Reuters documents"
    return Plan(SUPERVISED, title, supervised_entrants(), supervised_claims, sizes, further={LABELS_ONLY: 10})


def partly_labelled_plan() -> Plan:
    """Experiment 2: 40 and 80 % of the training rows labelled."""
    sizes = (5, 10, 50, 100, 200, 400, 800)
    title = "Embeddings of partly labelled Reuters documents"
    return Plan(PARTLY, title, partly_labelled_entrants(), partly_labelled_claims, sizes, SHARES, published_k=800)


def run_supervised(request: Request) -> dict:
    """Run experiment 1; the record, plain data."""
    return run(supervised_plan(), request)


def run_partly_labelled(request: Request) -> dict:
    """Run experiment 2; the record, plain data."""
    return run(partly_labelled_plan(), request)


def run(plan: Plan, request: Request) -> dict:
    """Run one of the experiments: every entrant in every draw and at every share of labels, then the claims.

    Parameters
    ----------
    plan : Plan
    request : Request

    Returns
    -------
    dict
        The record: ``stages, readouts, parts, claims``; ``parts`` maps a share of labels and a draw (and the paper's
        number of components) to its entrants, ``stages`` and ``readouts`` to its sizes and its discriminants.
    """
    plan = replace(plan, **QUICK) if request.quick else plan
    plan = replace(plan, draws=request.draws, further={}) if request.draws else plan
    described = [{**each.describe(), "usual": usual_values(each)} for each in plan.entrants]
    stated = {"seed": request.seed, "rows": plan.rows, "limit": plan.limit, "sizes": plan.sizes}
    kept = Kept(request, plan.name, {**stated, "entrants": described})
    kept.record |= {"title": plan.title, "published_k": plan.published_k, "stages": {}, "readouts": {}}
    done = 0
    for draw in range(1, plan.last + 1):
        stage = reuters_ten(request.data, seed_of(request.seed, draw), plan.rows)
        for share in plan.shares:
            done = _run_share(kept, plan, request, stage, share, draw, done)
    stages = list(kept.record["stages"].values())
    test = sum(stage["test"] for stage in stages) / len(stages)
    kept.record["claims"] = [claim.check(kept.record["parts"], test) for claim in plan.claims(plan.published_k)]
    kept.write(page(kept.record), figures(kept.record))
    return kept.record


def seed_of(seed: int, draw: int) -> int:
    """The seed of a draw, counted from 1: of the parts, of the labelled rows and of the settings tried.

    Examples
    --------
    >>> from papers.mesd_mope.experiment import seed_of
    >>> seed_of(1, 1) == seed_of(1, 2)
    False
    """
    return int(np.random.SeedSequence([seed, draw]).generate_state(1)[0])


def usual_values(entrant: Entrant) -> dict:
    """The values that the parameters of the grid have before they are tuned.

    Examples
    --------
    >>> from proxembed import MMC
    >>> from papers.entrants import Entrant
    >>> from papers.mesd_mope.experiment import usual_values
    >>> usual_values(Entrant("MMC", MMC(lam=3.0), {"lam": (0.1, 1.0)}))
    {'lam': 3.0}
    """
    grids = [entrant.grid] if isinstance(entrant.grid, Mapping) else entrant.grid
    return {name: entrant.estimator.get_params()[name] for grid in grids for name in grid}


def _run_share(kept: Kept, plan: Plan, request: Request, stage: Stage, share: float, draw: int, done: int) -> int:
    """Run the entrants of one draw at one share of labels; how many entrants are done then, in all."""
    seed, name = seed_of(request.seed, draw), part_name(share, draw)
    part = stage if share == 1 else stage.with_labels(share, seed)
    printed, readout = part_name(share, draw, plan.published_k), chosen_readout(part)
    total = 2 * len(plan.shares) * sum(len(plan.entrants_of(each)) for each in range(1, plan.last + 1))
    known = {entry["entrant"] for entry in kept.record["parts"].get(name, ())}  # of an earlier run with more draws
    entrants = [each for each in plan.entrants if each in plan.entrants_of(draw) or each.name in known]
    for each in (name, printed):
        if request.force:
            kept.drop(each)
        kept.record["stages"][each], kept.record["readouts"][each] = part.describe(), readout
    tasks = {each.name: (each, part, plan.sizes, readout, plan.limit, seed) for each in entrants}
    done = run_part(kept, name, tasks, compete, request, done, total)
    tuned = {entry["entrant"]: entry for entry in kept.record["parts"][name]}
    tasks = {
        each.name: (each, part, plan.published_k, tuned[each.name], readout, plan.limit, seed) for each in entrants
    }
    return run_part(kept, printed, tasks, compete_at, request, done, total)
