"""optuna, the one room that imports it: configurations proposed by its TPE sampler, and searches as its studies."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .candidates import Candidate, Draws
from .trials import MethodTrial, Study

LEARNED = 5  # proposals for one trial, before random ones: a model may ask for one again and again
REMEDY = 'install it by pip install "proxembed[search]"'


def optuna_installed() -> bool:
    """Whether optuna can be imported."""
    from importlib.util import find_spec

    return find_spec("optuna") is not None


def imported(needs: str) -> Any:
    """The library, whose messages are silenced; an ImportError that names the remedy where it is missing."""
    try:
        import optuna
    except ImportError as error:
        raise ImportError(f"{needs} needs optuna, which is not installed: {REMEDY}.") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


class TrialDraws(Draws):
    """Values that a trial of optuna suggests, by name."""

    def __init__(self, trial: Any):
        self.trial = trial

    def choice(self, name: str, options: Sequence[Any]) -> Any:
        words = [_word(option) for option in options]
        return options[words.index(self.trial.suggest_categorical(name, words))]

    def chance(self, name: str) -> bool:
        return self.trial.suggest_categorical(name, [False, True])

    def whole(self, name: str, low: int, high: int) -> int:
        return self.trial.suggest_int(name, low, high)

    def real(self, name: str, low: float, high: float) -> float:
        return self.trial.suggest_float(name, low, high)

    def log_real(self, name: str, low: float, high: float) -> float:
        return self.trial.suggest_float(name, low, high, log=True)


def _word(option: Any) -> Any:
    """An option as optuna keeps it: a class or a candidate by its name, several values as text."""
    if isinstance(option, Candidate):
        return option.title
    if isinstance(option, tuple):
        return repr(option)
    return option.__name__ if isinstance(option, type) else option


def tpe_proposal(study: Study, pool: Sequence[Candidate], attempt: int = 0) -> tuple[Any, Any]:
    """A configuration that TPE proposes after the trials of a study, and the values that it is made of."""
    optuna = imported('strategy="tpe"')
    number = len(study.entered)
    seed = int(np.random.SeedSequence([study.seed, number, attempt]).generate_state(1)[0])
    samplers = optuna.samplers.TPESampler, optuna.samplers.RandomSampler
    own = optuna.create_study(direction="maximize", sampler=samplers[attempt >= LEARNED](seed=seed))
    own.add_trials([_finished(optuna, t, pool) for t in study.trials])
    trial = own.ask()
    draws = TrialDraws(trial)
    return draws.choice("family", pool).sample(draws), trial


def _finished(optuna: Any, t: MethodTrial, pool: Sequence[Candidate]) -> Any:
    """A trial as optuna learns from it: its values where it was proposed, else its family alone; one that did not come
    to all rows of all folds as pruned there."""
    titles = [candidate.title for candidate in pool]
    if t.proposal is not None:
        params, distributions = t.proposal.params, t.proposal.distributions
    else:
        maker = next((candidate.title for candidate in pool if candidate.makes(t.config)), None)
        params = {} if maker is None else {"family": maker}
        distributions = {name: optuna.distributions.CategoricalDistribution(titles) for name in params}
    facts = {"params": params, "distributions": distributions}
    score = t.best(t.furthest)[0]
    if t.complete or t.failure or not math.isfinite(score):
        return optuna.trial.create_trial(value=score if math.isfinite(score) else t.worst, **facts)
    steps = {len(t.outcomes) + 1000 * t.rungs.index(t.furthest): score}
    return optuna.trial.create_trial(state=optuna.trial.TrialState.PRUNED, intermediate_values=steps, **facts)


def to_optuna(found: Any, storage: Any = None, name: str = "proxembed") -> Any:
    """The trials of a fitted ``EmbeddingSearch`` as a study of optuna, for its plots and its dashboard.

    A trial that was scored on all rows of all folds has its score as value, any other is pruned, and one that failed
    has failed. Parameters are "method" and those that differ from their defaults; scores by fold and sizes are user
    attributes.

    Parameters
    ----------
    found : fitted EmbeddingSearch
    storage : str or optuna storage, optional
        Such as "sqlite:///search.db", which ``optuna-dashboard sqlite:///search.db`` shows; None: in memory.
    name : str, default="proxembed"
        Name of the study, of which the storage has none yet.

    Returns
    -------
    optuna.study.Study

    Raises
    ------
    ImportError
        optuna is not installed.

    Examples
    --------
    >>> from proxembed import EmbeddingSearch, to_optuna
    >>> from proxembed.data import digits
    >>> data = digits().take(range(300))
    >>> found = EmbeddingSearch(["opls"], n_components=3, max_trials=2).fit(data.X, data.Y)
    >>> to_optuna(found).best_value == found.best_score_  # doctest: +SKIP
    True
    """
    optuna = imported("to_optuna")
    study = optuna.create_study(storage=storage, study_name=name, direction="maximize")
    own = [{"method": trial["method"], **trial["params"]} for trial in found.trials_]
    ranges = {key: _range(optuna, [params[key] for params in own if key in params]) for params in own for key in params}
    for trial, params in zip(found.trials_, own, strict=True):
        facts = {"params": {key: _stored(value) for key, value in params.items()}}
        facts |= {"distributions": {key: ranges[key] for key in params}}
        facts |= {"user_attrs": {key: trial[key] for key in ("k", "by_fold", "rows", "seconds", "failure", "final")}}
        state = optuna.trial.TrialState
        if trial["failure"]:
            made = optuna.trial.create_trial(state=state.FAIL, **facts)
        elif trial["complete"]:
            made = optuna.trial.create_trial(value=trial["score"], **facts)
        else:
            scores = {int(trial["rows"]): trial["score"]}
            made = optuna.trial.create_trial(state=state.PRUNED, intermediate_values=scores, **facts)
        study.add_trial(made)
    return study


def _range(optuna: Any, values: list[Any]) -> Any:
    """What holds the values of a parameter: a range of numbers, or a choice."""
    stored = [_stored(value) for value in values]
    if all(isinstance(value, float) for value in stored):
        return optuna.distributions.FloatDistribution(min(stored), max(stored))
    return optuna.distributions.CategoricalDistribution(list(dict.fromkeys(stored)))


def _stored(value: Any) -> Any:
    """A number as a float, all else as text."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
