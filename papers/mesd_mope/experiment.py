"""The experiments of the MESD and MOPE paper on Reuters: supervised, and with 40 and 80 % of the labels.  [mu2012mesd]

Ten overlapping categories in three random parts of near equal size; relation features (Euclidean distances to the
training rows); one Fisher discriminant a category; macro F1. Everything is tuned on the validation part, and the test
part is scored once an entrant.
"""

from __future__ import annotations

from dataclasses import dataclass

from papers.defc.flda_trials import chosen_readout, compete
from papers.entrants import Entrant
from papers.experiment import Kept, Request, run_part
from papers.mesd_mope.claims import Claim, partly_labelled_claims, supervised_claims
from papers.mesd_mope.entrants import partly_labelled_entrants, supervised_entrants
from papers.mesd_mope.page import page
from papers.mesd_mope.reuters_ten import reuters_ten

SUPERVISED, PARTLY = "mesd-mope-reuters", "mesd-mope-reuters-partly-labelled"
SHARES = (0.4, 0.8)


@dataclass(frozen=True)
class Plan:
    """One of the two experiments, fixed before it runs."""

    name: str
    title: str
    entrants: tuple[Entrant, ...]
    claims: tuple[Claim, ...]
    sizes: tuple[int, ...]
    shares: tuple[float, ...] = (1.0,)
    published_k: int = 1800


def supervised_plan() -> Plan:
    """Experiment 1: existing and proposed methods, all training labels known."""
    sizes = (5, 10, 50, 100, 200, 400, 800, 1800)
    title = "Multi-label embeddings of Reuters documents"
    return Plan(SUPERVISED, title, supervised_entrants(), supervised_claims(), sizes)


def partly_labelled_plan() -> Plan:
    """Experiment 2: 40 and 80 % of the training rows labelled."""
    sizes = (5, 10, 50, 100, 200, 400, 800)
    title = "Embeddings of partly labelled Reuters documents"
    return Plan(PARTLY, title, partly_labelled_entrants(), partly_labelled_claims(), sizes, SHARES, published_k=800)


def run_supervised(request: Request) -> dict:
    """Run experiment 1; the record, plain data."""
    return run(supervised_plan(), request)


def run_partly_labelled(request: Request) -> dict:
    """Run experiment 2; the record, plain data."""
    return run(partly_labelled_plan(), request)


def run(plan: Plan, request: Request) -> dict:
    """Run one of the experiments: every entrant at every share of labels, the claims of the paper beside what came out.

    Parameters
    ----------
    plan : Plan
    request : Request

    Returns
    -------
    dict
        The record: ``stage, readout, parts, claims``; ``parts`` maps a share of labels to its entrants.
    """
    rows, limit = (450, 2) if request.quick else (None, None)
    stage = reuters_ten(request.data, request.seed, rows)
    described = [each.describe() for each in plan.entrants]
    stated = {"seed": request.seed, "rows": rows, "limit": limit, "sizes": plan.sizes, "entrants": described}
    kept, done, total = Kept(request, plan.name, stated), 0, len(plan.shares) * len(plan.entrants)
    record = kept.record
    record |= {"title": plan.title, "sizes": list(plan.sizes), "published_k": plan.published_k}
    record |= {"stage": stage.describe(), "readout": {}}
    for share in plan.shares:
        part, name = stage if share == 1 else stage.with_labels(share, request.seed), f"{100 * share:g} %"
        if request.force:
            kept.drop(name)
        record["readout"][name] = readout = chosen_readout(part)
        tasks = {each.name: (each, part, plan.sizes, readout, limit, request.seed) for each in plan.entrants}
        done = run_part(kept, name, tasks, compete, request, done, total)
    record["claims"] = [claim.check(record["parts"]) for claim in plan.claims]
    kept.write(page(record), {})
    return kept.record
