"""The models of a leaderboard: every arm, method or rival, as a pipeline that is fitted, predicts and can be saved."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from proxembed.estimator.weights import takes_weights
from proxembed.evaluate.arms import Arm, entrants
from proxembed.evaluate.gains import top
from proxembed.evaluate.results import Results, sign_of
from proxembed.evaluate.rivals.numbers import RidgeNumbers
from proxembed.evaluate.score_space import ScoreSpace
from proxembed.evaluate.verdict import WORSE, word
from proxembed.measures.statistics import choose
from proxembed.methods.around import with_size
from proxembed.methods.pipeline import fit_on
from proxembed.methods.relation import Scaling
from proxembed.params import safe_repr
from proxembed.report import worded
from proxembed.report.next_steps import Run

from .labelled_data import has_whole_rows


def arm_model(name: str, results: Results, best: Sequence[dict[str, Any]], dataset: Any) -> Any:
    """The model of the arm of a name, at its best size of a comparison, fitted to a data set."""
    entry = next((each for each in best if each["arm"].lower() == str(name).strip().lower()), None)
    if entry is None:
        known = ", ".join(each["arm"] for each in best)
        raise ValueError(f"name={safe_repr(name)} is not on the leaderboard; its rows are {known}.")
    if entry["failures"]:
        raise ValueError(f"{entry['arm']} failed in the comparison, so that it has no model: {entry['failures'][0]}.")
    arm = next((each for each in results.arms if entry["arm"] in each.names), None)
    if arm is None:
        raise ValueError(
            f"name={safe_repr(name)} is chosen anew in each fold; its model on all rows is that of the search."
        )
    lookup, numbers = entry["arm"] != arm.name, dataset.outputs is not None
    method = arm_method(arm, entry["components"], numbers, lookup, results.protocol["seed"])
    return fit_on(method, dataset, scaling=results.preprocessing)


def arm_method(arm: Arm, components: int | None, numbers: bool, lookup: bool = False, seed: int = 0) -> Any:
    """The unfitted transformer of an arm: an embedding at a size; of an arm that predicts its scores, or its
    ``lookup``; of all features these themselves, which a ridge reads out."""
    if arm.predicts:
        return ScoreSpace(clone(arm.estimator), arm.grid, lookup, seed)
    if arm.estimator is None:
        return ScoreSpace(RidgeNumbers()) if numbers else Scaling("none")
    if not hasattr(arm.estimator, "transform"):
        raise ValueError(f"{arm.name} places no new rows and predicts nothing, so that there is no model of it.")
    return with_size(arm.estimator, components)


@dataclass(frozen=True)
class Predictor:
    """A model that predicts better than the embedding that was chosen."""

    name: str
    method: Any  # the unfitted transformer

    @property
    def facts(self) -> dict[str, Any]:
        """The choice as plain data."""
        return {"method": self.name}


def predictor_ahead(
    summary: dict[str, Any], results: Results, own: tuple[str, int | None], run: Run | None = None
) -> Predictor | None:
    """All features or the best rival that predicts, if the verdict's rule finds the chosen embedding worse than it; of
    two that which is better on the folds. There it must also lead the embedding that would be saved, ``own``, which may
    be a rival's, by more than counts as level (``leads``). The answer is written into the verdict."""
    goal = summary["verdict"]["goals"].get("predict")
    if goal is None:
        return None
    able = [arm for arm in results.arms if arm.rival and (arm.predicts or arm.estimator is None)]
    weighed = results.dataset.get("weights") is not None
    arms = {arm.name: arm for arm in able if not weighed or arm.estimator is None or takes_weights(arm.estimator)}
    ahead = [goal["base"]["arm"]] if goal["word"] == WORSE else []
    rival = goal["rival"]
    if rival is not None and word(rival["gain"], rival["interval"], goal["margin"] or 0.0) == WORSE:
        ahead.append(rival["arm"])
    measure = goal["measure"]
    found = [e for e in summary["best"] if e["arm"] in ahead and e["arm"] in arms and not e["failures"]]
    saved = [e for e in summary["leaderboard"] if (e["arm"], e["k"]) == own]
    if not found:
        return None
    best, margin = top(found, measure), goal["margin"] or 0.0
    if any(not leads(best["scores"][measure], e["scores"][measure], margin, sign_of(measure)) for e in saved):
        return None
    summary["saved"] = {"arm": best["arm"], "k": None, "rival": True, "embedding": list(own)}
    summary.update(worded(summary, run=run))
    numbers, seed = results.protocol["numbers"], results.protocol["seed"]
    method = arm_method(arms[best["arm"]], best["components"], numbers, seed=seed)
    return Predictor(best["arm"], method)


def leads(best: dict[str, Any], other: dict[str, Any], margin: float, sign: float) -> bool:
    """Whether the scores of one arm are above those of another by more than a margin: on the folds by a paired standard
    error more, and on the test rows if there are some."""
    folds = sign * np.array([other["by_fold"], best["by_fold"]], dtype=float)
    folds[1] -= margin
    tested = None not in (best["test"], other["test"])
    return choose(folds, [True, False]) == 1 and not (tested and sign * (best["test"] - other["test"]) <= margin)


def check_kept(name: str, dataset: Any, methods: Sequence[str]) -> None:
    """A ValueError for a name that no arm of a comparison will have, before it runs: with the reason where a rival does
    not suit the data, else with the names of those that take part."""
    known = {"whole_rows": has_whole_rows(dataset)}
    found = entrants(dataset.X, dataset.targets, **known)
    reasons = {each: entrant.lacks or unsaved(entrant) for entrant in found for each in entrant.arm.names}
    asked = str(name).strip().lower()
    rival = next((each for each in reasons if each.lower() == asked), None)
    if rival is not None and reasons[rival]:
        raise ValueError(f"{rival} cannot be kept: {reasons[rival]}.")
    if rival is None and asked not in {each.lower() for each in methods}:
        able = ", ".join(each for each, lacks in reasons.items() if not lacks)
        raise ValueError(f"{safe_repr(name)} is neither a rival nor a method; the rivals are {able}.")


def unsaved(entrant: Any) -> str:
    """Why the model of a rival cannot be saved; "" where it can."""
    return "" if entrant.rival.library is None else f"a model of {entrant.rival.library} is not stored as plain arrays"
