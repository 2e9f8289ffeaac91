"""The experiment of the MVMD paper: eight methods, multi-output ridge, six measures of instances.  [xu2016mvmd]

The text at hand lacks the paper's section of experiments: what its abstract, introduction and section 5 say of them is
run. Every draw learns from two thirds of the rows; the parameter of a method and the share t of its spectrum that gives
its size are chosen on a quarter of these; the other third is scored once.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from papers.experiment import Draws, Kept, Request, run_part
from papers.mvmd.claims import MEASURES, claims
from papers.mvmd.contenders import BETAS, FEATURES, OURS, SHARES, Contender, contenders, size_of, spectrum_facts
from papers.mvmd.page import figures, page
from proxembed.classify import MultiOutputRidge
from proxembed.data import Dataset, read
from proxembed.evaluate.part import Part, make_part
from proxembed.evaluate.results import reason_of
from proxembed.features.scaling import scaling_kind
from proxembed.targets.labels import LabelMatrix

NAME = "mvmd"
SETS = ("emotions", "birds", "scene", "yeast", "enron", "corel5k", "tmc2007-500", "reuters", "wq")
SPECIES = "wq"  # counts of 14 species in river water: a label says whether one is there
CHOSEN_BY = "F1"
SIZES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 75, 100, 150, 200, 300)
NOTES, NOTE = 3, 200
EACH = (*MEASURES, "chosen", "k", "fit_seconds")  # a value a draw


@dataclass(frozen=True)
class Plan:
    """The experiment, fixed before it runs; at most ``rows`` rows of a set take part, drawn at random."""

    seed: int = 0
    draws: int = 5
    rows: int = 2000
    shares: tuple[float, ...] = SHARES
    betas: tuple[float, ...] = BETAS


QUICK = {"draws": 2, "rows": 240}


def run(request: Request) -> dict:
    """Run what the folder does not hold yet.

    Parameters
    ----------
    request : Request

    Returns
    -------
    dict
        The record: ``plan, sets, parts, claims``; a part is a data set.
    """
    plan = Plan(seed=request.seed, **(QUICK if request.quick else {}))
    entrants, names = (*contenders(), None), request.sets or SETS
    stated = {**asdict(plan), "contenders": [each.describe() for each in entrants if each]}
    kept, done = Kept(request, NAME, stated), 0
    shown = dict.fromkeys([*kept.record["parts"], *names])  # sets of an earlier run stay on the page
    sets = {name: drawn_set(request, plan, name) for name in SETS if name in shown}
    kept.record["sets"] = {
        name: {"n": data.X.shape[0], "d": data.X.shape[1], "labels": data.Y.shape[1]} for name, data in sets.items()
    }
    for name in names:
        data = sets[name]
        if request.force:
            kept.drop(name)
        titles = [FEATURES if each is None else each.title for each in entrants]
        held = {title: kept.draws(name, title, plan.draws) for title in kept.missing(name, titles)}
        tasks = {title: (each, data, plan, held.get(title)) for title, each in zip(titles, entrants, strict=True)}
        done = run_part(kept, name, tasks, compete, request, done, len(names) * len(entrants))
        kept.record["claims"] = claims(kept.record)
        kept.write(page(kept.record), figures(kept.record))
    return kept.record


def drawn_set(request: Request, plan: Plan, name: str) -> Dataset:
    """At most ``plan.rows`` rows of a set, drawn at random, in their order."""
    path = request.data / f"{name}.npz"
    data = species(path) if name == SPECIES else read(path)
    return data.take(np.sort(np.random.default_rng([plan.seed, 0]).permutation(data.X.shape[0])[: plan.rows]))


def species(path: Path) -> Dataset:
    """The rows of a file of counts, with the labels that say which counts are above 0."""
    with np.load(path, allow_pickle=False) as held:
        return Dataset(held["X"], held["Y"] > 0, label_names=held["target_names"].tolist(), name=path.stem)


def compete(contender: Contender | None, data: Dataset, plan: Plan, draws: Draws | None = None) -> dict:
    """The entry of a method (None: all features) on one set: each measure in each draw, and curves of the first one;
    finished draws are taken from ``draws``."""
    started, failure = time.perf_counter(), None
    entry: dict[str, Any] = {"entrant": FEATURES if contender is None else contender.title}
    entry |= {key: [] for key in EACH}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            for draw in range(plan.draws):
                make = partial(one_draw, contender, data, plan, draw)
                found = make() if draws is None else draws.remember(draw, make)
                for name, value in found.items():
                    entry[name] = [*entry[name], value] if name in EACH else value
        except Exception as error:
            failure = reason_of(error)
    notes = dict.fromkeys(" ".join(str(each.message).split())[:NOTE] for each in caught)
    return {**entry, "seconds": time.perf_counter() - started, "failure": failure, "notes": list(notes)[:NOTES]}


def one_draw(contender: Contender | None, data: Dataset, plan: Plan, draw: int) -> dict[str, Any]:
    """What one draw of a method gave: the measures, ``chosen, k, fit_seconds``; of the first one its curves, too."""
    part = drawn_part(data, plan.seed, draw)
    if contender is None:
        chosen = {"chosen": {}, "k": part.X.shape[1], "fit_seconds": 0.0}
        return measured(part, part.X, part.X_held_out) | chosen
    return drawn(contender, part, plan, first=draw == 0)


def drawn_part(data: Dataset, seed: int, draw: int) -> Part:
    """Two thirds of the rows to learn from, scaled by these; the others held out."""
    order = np.random.default_rng([seed, 1, draw]).permutation(data.X.shape[0])
    cut = 2 * len(order) // 3
    return _part(data.X, LabelMatrix.of(data.y), np.sort(order[:cut]), np.sort(order[cut:]))


def _part(X: Any, labels: LabelMatrix, train: np.ndarray, held_out: np.ndarray) -> Part:
    return make_part(X, labels, train, held_out, scaling_kind(X[train]))


def drawn(contender: Contender, part: Part, plan: Plan, *, first: bool) -> dict[str, Any]:
    """Choose inside the training rows, fit again, score the held-out rows once."""
    n, labels = part.X.shape[0], part.labels.Y.toarray()
    order = np.random.default_rng([plan.seed, 2]).permutation(n)
    kept, other = np.sort(order[n // 4 :]), np.sort(order[: n // 4])
    inner = Part(part.X[kept], part.labels.take(kept), part.X[other], labels[other] > 0)
    tried = {
        (number, share): value[CHOSEN_BY]
        for number, setting in enumerate(contender.settings())
        for share, value in at_shares(contender, setting, inner, plan.shares).items()
    }
    number, share = max(tried, key=tried.__getitem__)
    setting = contender.settings()[number]
    began = time.process_time()
    fitted = contender.with_share(setting).fit(part.X, labels)
    seconds = time.process_time() - began
    k = size_of(fitted.eigenvalues_, share)
    Z, new = fitted.transform(part.X), fitted.transform(part.X_held_out)
    entry: dict[str, Any] = measured(part, Z[:, :k], new[:, :k])
    entry |= {"chosen": {**setting, "share": share}, "k": k, "fit_seconds": seconds}
    if first:
        entry["spectrum"] = spectrum_facts(fitted.eigenvalues_)
        entry["correlation"] = largest_correlation(Z[:, :k])
        sizes = [size for size in SIZES if size <= Z.shape[1]]
        entry["by_size"] = {size: measured(part, Z[:, :size], new[:, :size])[CHOSEN_BY] for size in sizes}
        if contender.title == OURS:
            entry["by_beta"] = {
                beta: at_shares(contender, {"beta": beta}, part, (share,))[share][CHOSEN_BY]
                for beta in (0.0, *plan.betas, 1.0)
            }
    return entry


def at_shares(contender: Contender, setting: dict, part: Part, shares: tuple[float, ...]) -> dict[float, dict]:
    """The measures at each share of the spectrum, of one fit; none where the method does not fit."""
    try:
        fitted = contender.with_share(setting).fit(part.X, part.labels.Y.toarray())
    except ValueError:
        return {share: dict.fromkeys(MEASURES, -np.inf) for share in shares}
    Z, new = fitted.transform(part.X), fitted.transform(part.X_held_out)
    sizes = {share: size_of(fitted.eigenvalues_, share) for share in shares}
    known = {k: measured(part, Z[:, :k], new[:, :k]) for k in set(sizes.values())}
    return {share: known[k] for share, k in sizes.items()}


def measured(part: Part, Z: Any, new: Any) -> dict[str, float]:
    """The six measures of multi-output ridge on an embedding."""
    found = MultiOutputRidge().fit(Z, part.labels.Y.toarray()).predict(new)
    return {name: measure(part.Y_held_out, found > 0) for name, measure in MEASURES.items()}


def largest_correlation(Z: np.ndarray) -> float:
    """The largest absolute correlation of two components; 0 of one."""
    if Z.shape[1] < 2:
        return 0.0
    C = np.corrcoef(Z, rowvar=False)
    return float(np.abs(C - np.diag(np.diag(C))).max())
