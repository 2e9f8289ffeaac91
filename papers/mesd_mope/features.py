"""What the MESD and MOPE paper shows beside its scores: proximity matrices (Figure 2), relation features beside the
tf-idf rows, and CPU seconds.  [mu2012mesd]

The draws are those of the supervised experiment with the same seed. Everything is chosen on the validation part, and
the test part is scored once an entrant, kind of features and draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from papers.defc.flda_trials import chosen_readout, compete
from papers.entrants import Entrant
from papers.experiment import Kept, Request, run_part
from papers.mesd_mope.draws import DRAW
from papers.mesd_mope.entrants import supervised_entrants
from papers.mesd_mope.experiment import seed_of, usual_values
from papers.mesd_mope.feature_claims import (
    FEWER,
    KINDS,
    MATRIX_PART,
    ORIGINAL,
    RELATED,
    SQUARE_PART,
    feature_claims,
    seconds_part,
)
from papers.mesd_mope.feature_page import figures, page
from papers.mesd_mope.fit_seconds import square_entrants, square_name, square_timed, timed, timed_entrants
from papers.mesd_mope.matrices import EXISTING, MATRICES, SCHEMES, measured
from papers.mesd_mope.reuters_ten import Stage, related, tfidf_ten

NAME = "mesd-mope-features"
TITLE = "Proximity matrices, relation features and CPU seconds on Reuters"
ENTERED = ("LSI", "PCA", "OLPP", "MDDM", *EXISTING, "MORP", "MESD(FDA)", *SCHEMES, "MOPE G3 and W, priority",
           "no embedding")  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """What is run, fixed before it runs: ``limit`` settings an entrant, kind of features and draw at most; ``widths``:
    terms of the d x d problems that are timed."""

    draws: int = 5
    limit: int = 3
    sizes: tuple[int, ...] = (10, 50, 200, 400, 800)
    prototypes: int = 500
    widths: tuple[int, ...] = (750, 1500, 3000)
    rows: int | None = None


QUICK = Plan(draws=2, limit=1, sizes=(5, 20), prototypes=60, widths=(20, 40), rows=450)


def entrants() -> tuple[Entrant, ...]:
    """The entrants of Figure 2 and of each kind of method, as the supervised experiment has them.

    Examples
    --------
    >>> from papers.mesd_mope.features import entrants
    >>> [each.name for each in entrants()][:3]
    ['LSI', 'PCA', 'OLPP']
    """
    return tuple(each for each in supervised_entrants() if each.name in ENTERED)


def run(request: Request) -> dict:
    """Run what the folder does not hold yet; the record, plain data.

    Parameters
    ----------
    request : Request

    Returns
    -------
    dict
        The record: ``planned`` (draws), ``stages, readouts, parts, widths, claims``; ``parts`` maps a kind of features,
        the matrices, or what is timed, each with a draw, to the entries. Claims and page are of the draws asked for.
    """
    plan = QUICK if request.quick else Plan()
    planned = plan.draws
    plan = replace(plan, draws=request.draws or planned)
    described = [{**each.describe(), "usual": usual_values(each)} for each in entrants()]
    stated = {"seed": request.seed, "rows": plan.rows, "limit": plan.limit, "sizes": plan.sizes}
    stated |= {"prototypes": plan.prototypes, "widths": plan.widths, "matrices": MATRICES}
    stated |= {"timed": [each.describe() for each in (*timed_entrants(), *square_entrants())]}
    kept = Kept(request, NAME, {**stated, "entrants": described})
    kept.record |= {"title": TITLE, "planned": planned, "widths": plan.widths, "stages": {}, "readouts": {}}
    done, first = 0, None
    for draw in range(1, plan.draws + 1):
        stage = tfidf_ten(request.data, seed_of(request.seed, draw), plan.rows)
        first = stage if first is None else first
        done = _run_draw(kept, plan, request, stage, draw, done)
    asked = [f"{DRAW}{draw}" for draw in range(1, plan.draws + 1)]
    parts = {name: entries for name, entries in kept.record["parts"].items() if name.endswith(tuple(asked))}
    told = {**kept.record, "parts": parts}
    told["claims"] = kept.record["claims"] = feature_claims(told)
    kept.write(page(told), figures(told, first))
    return kept.record


def prototype_rows(n: int, number: int, seed: int) -> np.ndarray:
    """Numbers of training rows drawn as prototypes, ascending; half of the rows where there are fewer than twice as
    many.

    Examples
    --------
    >>> from papers.mesd_mope.features import prototype_rows
    >>> len(prototype_rows(1000, 300, 0)), len(prototype_rows(100, 300, 0))
    (300, 50)
    """
    return np.sort(np.random.default_rng(seed).permutation(n)[: min(number, n // 2)])


def _run_draw(kept: Kept, plan: Plan, request: Request, stage: Stage, draw: int, done: int) -> int:
    """All of one draw; how many entries are done then, in all."""
    seed = seed_of(request.seed, draw)
    chosen = prototype_rows(len(stage.Y), plan.prototypes, seed)
    stages = {ORIGINAL: stage, RELATED: related(stage), FEWER: related(stage, chosen)}
    kept.record["stages"][str(draw)] = {**stage.describe(), "prototypes": len(chosen)}
    tasks: dict[str, tuple[Any, Mapping[str, tuple]]] = {
        MATRIX_PART: (measured, {name: (name, stages[RELATED].R, stage.Y) for name in MATRICES})
    }
    for kind in KINDS:
        readout = chosen_readout(stages[kind])
        kept.record["readouts"][f"{kind}{DRAW}{draw}"] = readout
        each = {e.name: (e, stages[kind], plan.sizes, readout, plan.limit, seed) for e in entrants()}
        tasks[kind] = compete, each
        rows = chosen if kind == FEWER else None
        fits = {e.name: (e, stage.R, stage.Y, rows, kind != ORIGINAL) for e in timed_entrants()}
        tasks[seconds_part(kind)] = timed, fits
    widths = [width for width in plan.widths if width <= stage.n_terms] or [stage.n_terms]
    square = {square_name(e.name, w): (e, stage.R, stage.Y, w) for w in widths for e in square_entrants()}
    tasks[SQUARE_PART] = square_timed, square
    kept.record["widths"] = widths
    total = plan.draws * sum(len(each) for _, each in tasks.values())
    for part, (function, arguments) in tasks.items():
        name = f"{part}{DRAW}{draw}"
        if request.force:
            kept.drop(name)
        done = run_part(kept, name, arguments, function, request, done, total)
    return done
