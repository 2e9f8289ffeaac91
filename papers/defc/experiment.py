"""The experiment of the DEFC paper: adaptive embeddings beside nine methods, by one nearest neighbour and FLDA.

[mu2012defc]

Three of its data sets, Reuters as far as our documents permit and a Swiss roll of our own, five random draws of the
training part each, and more of three comparisons that five leave open. Everything is tuned on the validation part, and
the test part is scored once per entrant and draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from papers.defc.criteria import CRITERIA
from papers.defc.figures import figures
from papers.defc.findings import CRITERIA_ENDING, claims, conclusions
from papers.defc.page import page
from papers.defc.parts import SOURCES, Parts, random_parts
from papers.defc.rivals import GA, ORIGINAL, REDUCED, RIVALS, rivals_on
from papers.defc.trials import PERMUTED, Task, compete
from papers.entrants import OLPP_OBJECTIVE
from papers.experiment import Kept, Request, plain, run_part
from proxembed.study.defc.model_strategies import POPULATION

NAME = "defc"
TITLE = "Adaptive embeddings (DEFC) beside nine methods on five data sets"
PLANNED_MODELS = 100
FURTHER = {"banana, 1-NN": 10, "Swiss roll, 1-NN": 15, "dna, FLDA": 10}
CLASSIFIERS = {"1nn": "1-NN", "flda": "FLDA"}


@dataclass(frozen=True)
class Plan:
    """What is run, fixed before it runs: draws of the parts and settings tried by each entrant at most.

    ``draws`` of every part, and as many as ``further`` says of those that the first ones left open.
    ``ga`` settings are one population for each of 100 models of DEFC's genetic search, so that few are bred; a rival
    may try as many. The paper has 60 to 150 models with a genetic algorithm each: this bound keeps five draws below
    five hours on two cores. ``reduced`` and ``permuted`` are shared by eight models. ``rows`` (training, validation,
    test) instead of the sizes of the paper, for a quick run.
    """

    seed: int = 0
    draws: int = 5
    further: Mapping[str, int] = field(default_factory=FURTHER.copy)
    ga: int = POPULATION * PLANNED_MODELS
    reduced: int = 800
    criterion: int = 200
    permuted: int = 400
    rows: tuple[int, int, int] | None = None

    def seed_of(self, draw: int) -> int:
        """The seed of the parts of a draw, and of what is searched on them."""
        return 1000 * self.seed + draw

    def draws_of(self, part: str) -> int:
        """How many draws of a part are run."""
        return self.further.get(part, self.draws)

    def evaluations(self, method: str) -> int:
        """The most settings that an entrant tries."""
        if method in CRITERIA:
            return self.criterion
        return {REDUCED: self.reduced, PERMUTED: self.permuted, ORIGINAL: 1}.get(method, self.ga)


QUICK = Plan(draws=2, further={}, ga=30, reduced=16, criterion=4, permuted=16, rows=(60, 80, 80))


def run(request: Request) -> dict:
    """Run what the folder does not hold yet; the record, plain data.

    Parameters
    ----------
    request : Request

    Returns
    -------
    dict
        The record: ``plan, sources, parts, conclusions, claims``; ``parts`` maps a set and a classifier, such as
        "dna, FLDA", or a set and "criteria", to the entries of its entrants and draws.
    """
    plan = replace(QUICK if request.quick else Plan(), seed=request.seed)
    stated = {
        **{name: value for name, value in asdict(plan).items() if name not in ("draws", "further")},
        "sources": [asdict(source) for source in SOURCES],
        "rivals": list(RIVALS),
    }
    stated["olpp"] = OLPP_OBJECTIVE
    kept = Kept(request, NAME, stated)
    plan = replace(plan, draws=request.draws, further={}) if request.draws else plan
    held = {part: max(entry["draw"] + 1 for entry in each) for part, each in kept.record["parts"].items() if each}
    made = _tasks(plan, request, held)
    draws = {part: 1 + max(task.draw for task in tasks) for part, tasks in made.items()}
    kept.record |= {"title": TITLE, "sources": deepcopy(stated["sources"]), "draws": draws}
    first = {part.rpartition(", ")[0]: tasks[0].parts for part, tasks in made.items()}
    for source in kept.record["sources"]:
        parts = first[source["name"]]
        source |= {"classes": len(np.unique(parts.y)), "features": parts.X.shape[1]}
    done, total = 0, sum(map(len, made.values()))
    for part, tasks in made.items():
        if request.force:
            kept.drop(part)
        done = run_part(kept, part, {task.entrant: (task,) for task in tasks}, compete, request, done, total)
    record = kept.record
    record["conclusions"] = conclusions(record["parts"])
    record["claims"] = claims(record["conclusions"])
    drawn = figures(plain(record), first)
    words = {name: told for name, (told, _) in drawn.items()}
    kept.write(page(plain(record), words), {name: svg for name, (_, svg) in drawn.items()})
    return kept.record


def _tasks(plan: Plan, request: Request, held: Mapping[str, int]) -> dict[str, list[Task]]:
    """Part -> tasks, the long ones first; of no fewer draws than are ``held``."""
    made: dict[str, list[Task]] = {}
    for source in SOURCES:
        searched = (GA, REDUCED, *rivals_on(source.name), ORIGINAL, PERMUTED)
        asked = {f"{source.name}, {title}": (searched, classifier) for classifier, title in CLASSIFIERS.items()}
        asked[source.name + CRITERIA_ENDING] = tuple(CRITERIA), "flda"
        numbers = {part: max(plan.draws_of(part), held.get(part, 0)) for part in asked}
        dataset = source.read(request.data)
        seeds = [plan.seed_of(draw) for draw in range(max(numbers.values()))]
        drawn = [random_parts(source, dataset, seed, plan.rows) for seed in seeds]
        for part, (methods, classifier) in asked.items():
            made[part] = _of_part(methods, drawn[: numbers[part]], classifier, source.largest, plan)
    return made


def _of_part(methods: tuple[str, ...], drawn: list[Parts], classifier: str, largest: int, plan: Plan) -> list[Task]:
    return [
        Task(method, draw, classifier, parts, largest, plan.evaluations(method), plan.seed_of(draw))
        for method in methods
        for draw, parts in enumerate(drawn)
    ]
