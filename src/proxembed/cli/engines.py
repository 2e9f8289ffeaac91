"""The engines of `search`: whichever runs on the training rows, what it has found comes out in one form."""

from dataclasses import dataclass
from typing import Any

ENGINES = ("methods", "defc")
STRATEGIES = ("reduced8", "ga", "random")
CLASSIFIERS = ("1nn", "flda")
INNER_FOLDS = 3
LEADERS = 3
MANY_ROWS = 2000  # above which one adaptive model alone is compared: its fit grows with the cube of the rows
EVALUATIONS = {"reduced8": 200, "random": 200, "ga": 4000}  # of the adaptive model, where none are asked for
MOST_ROWS = 10_000  # the adaptive model compares all pairs of rows
TRIALS_KEPT = 1000


@dataclass(frozen=True)
class Found:
    """What a search has found on the training rows.

    Parameters
    ----------
    leaders : tuple of (name, estimator)
        The best few, best first, unfitted and at their best sizes.
    trials : list of dict
        As the record holds them, see ``told_trials``.
    seconds : float
    interrupted : bool
        Whether an interruption ended the search.
    adaptive : dict or None
        The section of the page on the adaptive model.

    Examples
    --------
    >>> from proxembed import OPLS
    >>> from proxembed.cli.engines import Found
    >>> Found((("OPLS", OPLS(n_components=3)),), [], 0.0).sizes
    {3}
    """

    leaders: tuple[tuple[str, Any], ...]
    trials: list[dict]
    seconds: float
    interrupted: bool = False
    adaptive: dict | None = None

    @property
    def sizes(self) -> set[int]:
        """The sizes of the leaders."""
        return {method.n_components for _, method in self.leaders}


def check_engine(engine: str, strategy: str | None, classifier: str | None, methods: str | None) -> None:
    """Raise for an unknown engine, and for options of the other one.

    Examples
    --------
    >>> from proxembed.cli.engines import check_engine
    >>> check_engine("methods", "ga", None, None)
    Traceback (most recent call last):
    ValueError: --defc-search ga is an option of the adaptive model; add --engine defc, or leave it out.
    """
    choices = {"--engine": (engine, ENGINES), "--defc-search": (strategy, STRATEGIES)}
    choices["--classifier"] = (classifier, CLASSIFIERS)
    for name, (value, allowed) in choices.items():
        if value is not None and value not in allowed:
            raise ValueError(f"{name} {value} is unknown; choose one of {', '.join(allowed)}.")
        if value is not None and name != "--engine" and engine != "defc":
            raise ValueError(f"{name} {value} is an option of the adaptive model; add --engine defc, or leave it out.")
    if engine == "defc" and methods is not None:
        raise ValueError(
            f"--methods {methods} names methods, but --engine defc makes its own; leave one of the two out."
        )


def searching(job: Any, dataset: Any, split: Any, progress: Any) -> Found:
    """The search on the training rows; groups and time are respected by its folds."""
    train = dataset.take(split.train)
    return (adaptive_models if job.engine == "defc" else registered_methods)(job, train, progress)


def registered_methods(job: Any, train: Any, progress: Any) -> Found:
    """The best of all registered methods, or of those named."""
    from proxembed import EmbeddingSearch
    from proxembed.evaluate.arms import title_of
    from proxembed.model import training_labels
    from proxembed.splits.splits import Splitting, make_splits

    from .job import parse_sizes
    from .outputs import told_trials

    searched = EmbeddingSearch(
        job.methods,
        parse_sizes(job.sizes, train.Y.shape[1], train.X.shape[1]),
        job.max_seconds,
        make_splits(train, Splitting(n_folds=inner_folds(train), seed=job.seed)),
        random_state=job.seed,
        n_jobs=job.jobs,
        max_trials=job.max_trials,
        progress=progress,
    )
    interrupted = fitted_or_interrupted(searched, train.X, training_labels(train), groups=train.groups)
    leaders = tuple((title_of(method), method) for method in searched.leaders_[:LEADERS])
    seconds = sum(trial["seconds"] for trial in searched.trials_)
    return Found(leaders, told_trials(searched.trials_), seconds, interrupted)


def fitted_or_interrupted(searched: Any, *data: Any, **options: Any) -> bool:
    """Fit a search; whether Ctrl-C came into it, also into its last fit, which takes nothing from what was searched.

    Raises
    ------
    KeyboardInterrupt
        Nothing was searched by then.
    """
    try:
        return searched.fit(*data, **options).interrupted_
    except KeyboardInterrupt:
        if not hasattr(searched, "interrupted_"):
            raise
        return True


def adaptive_models(job: Any, train: Any, progress: Any) -> Found:
    """The best models of different switches, searched on the features as every arm of the comparison sees them."""
    import numpy as np

    from proxembed.defc.refit import carried_over
    from proxembed.defc.search import DEFC
    from proxembed.features.scaling import scaling_apply, scaling_fit
    from proxembed.model import scaling_kind, training_labels
    from proxembed.report.adaptive import adaptive_section, best_of_each_model
    from proxembed.splits.splits import Splitting, make_splits
    from proxembed.targets.labels import LabelMatrix

    from .job import parse_sizes

    train = known_rows(train)
    folds = make_splits(train, Splitting(n_folds=inner_folds(train), seed=job.seed))
    kind, shape, y = scaling_kind(train.X), (train.Y.shape[1], train.X.shape[1]), training_labels(train)
    searched = DEFC(
        job.strategy,
        job.classifier,
        cv=folds,
        max_evals=job.max_trials or EVALUATIONS[job.strategy],
        max_seconds=job.max_seconds,
        n_components=None if job.sizes is None else max(parse_sizes(job.sizes, *shape)),
        n_jobs=job.jobs,
        random_state=job.seed,
        progress=progress,
    )
    interrupted = fitted_or_interrupted(searched, scaling_apply(scaling_fit(kind, train.X), train.X), y)
    labels, rows = LabelMatrix.of(y), float(np.mean([len(fold.train) for fold in folds]))
    best = [
        {**found, "params": carried_over(found["params"], found["switches"], labels, rows, labels)}
        for found in best_of_each_model(searched.leaderboard_)[: LEADERS if labels.n <= MANY_ROWS else 1]
    ]
    section = adaptive_section(
        searched.leaderboard_,
        searched.history_,
        search=job.strategy,
        classifier=job.classifier,
        scoring=searched.scoring_,
        rows=labels.n,
        folds=len(folds),
        scaling=kind,
        fitted=best[0]["params"],
    )
    leaders = tuple(leader(found) for found in best)
    seconds = float(searched.history_[-1]["seconds"])
    return Found(leaders, told_settings(searched.leaderboard_), seconds, interrupted, section)


def leader(found: dict) -> tuple[str, Any]:
    """The name and the model of an evaluation.

    Examples
    --------
    >>> from proxembed.cli.engines import leader
    >>> found = {"switches": (3, 5, 0, 5, 1, 2, 2, 0), "params": {"k_F": 6, "k_E": None, "lam": 0.1}, "k": 2}
    >>> name, model = leader(found)
    >>> name, model.n_friends, model.n_enemies
    ('DEFC [3,5,0,5,1,2,2,0]', 6, None)
    """
    from proxembed.adaptive import EmbeddingModel
    from proxembed.report.adaptive import vector_text

    model = EmbeddingModel.from_switches(found["switches"], found["params"], n_components=found["k"])
    return f"DEFC {vector_text(found['switches'])}", model


def known_rows(train: Any) -> Any:
    """The rows that the adaptive model learns from; refused where there are too many to compare them all.

    Examples
    --------
    >>> from proxembed.cli.engines import known_rows
    >>> from proxembed.data import digits
    >>> known_rows(digits()).X.shape[0]
    1797
    """
    import numpy as np

    from proxembed.evaluate.part import rows_known

    known = np.flatnonzero(rows_known(train))
    if len(known) > MOST_ROWS:
        raise ValueError(
            f"--engine defc compares all pairs of rows, at most {MOST_ROWS:,} of them, and there are {len(known):,} to "
            "learn from; give a file of fewer rows, or leave --engine out."
        )
    return train.take(known)


def told_settings(leaderboard: list[dict]) -> list[dict]:
    """The best 1,000 evaluations of the adaptive model in the form of the trials of the other engine.

    Examples
    --------
    >>> from proxembed.cli.engines import told_settings
    >>> entry = {"switches": (3, 5), "params": {"k_F": 3}, "k": 2, "score": 0.5, "seconds": 0.1, "failed": None}
    >>> told_settings([entry])[0]["method"]
    'DEFC [3,5]'
    """
    from proxembed.report.adaptive import vector_text

    return [
        {
            "method": f"DEFC {vector_text(entry['switches'])}",
            "params": entry["params"],
            "k": entry["k"],
            "score": entry["score"],
            "scores": None if entry["failed"] else {entry["k"]: entry["score"]},
            "seconds": entry["seconds"],
            "failure": entry["failed"],
            "complete": True,
        }
        for entry in leaderboard[:TRIALS_KEPT]
    ]


def inner_folds(train) -> int:
    """Three folds, or two where there are but two groups to keep together.

    Examples
    --------
    >>> from proxembed.cli.engines import inner_folds
    >>> from proxembed.data import digits
    >>> inner_folds(digits())
    3
    """
    if train.groups is None:
        return INNER_FOLDS
    from proxembed.evaluate.part import rows_known

    return max(2, min(INNER_FOLDS, len(set(train.groups[rows_known(train)].tolist()))))
