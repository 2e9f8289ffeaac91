"""The engines of a search: whichever runs on the training rows, its findings come out in one form."""

from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np
from sklearn.base import clone

from proxembed.estimator.catalogue import settings, title_of
from proxembed.estimator.weights import weights_of
from proxembed.evaluate.part import choose_scaling, rows_scored
from proxembed.evaluate.results import sign_of
from proxembed.execute.budget import WorkBudget
from proxembed.features.encoded import encoded, is_supervised
from proxembed.features.scaling import scaling_apply
from proxembed.features.table import features_fit
from proxembed.measures.measures import measure_for, measures_of_kind, neighbors_of
from proxembed.measures.statistics import choose, expected_score, repeated_scores
from proxembed.methods.adaptive import EmbeddingModel
from proxembed.methods.around import ReadoutAxes, with_size
from proxembed.methods.layout import Layout, method_for
from proxembed.methods.pipeline import training_labels
from proxembed.report.adaptive import adaptive_section, best_of_each_model, vector_text
from proxembed.splits.splits import Splitting, make_splits
from proxembed.study.candidates import suited
from proxembed.study.defc.model_strategies import ModelStrategy
from proxembed.study.defc.search import DEFC, carried_over
from proxembed.study.embedding_search import FINAL_SEED, EmbeddingSearch
from proxembed.study.trials import STRATEGIES, final_fold_count, fold_count, preferred_among, untuned
from proxembed.tables import RawRows
from proxembed.targets.labels import LabelMatrix

from .labelled_data import component_range
from .options import OptionError, SearchOptions
from .plan import LEADERS
from .record import complete_scores

INNER_FOLDS = 3
MANY_ROWS = 2000  # above which one adaptive model alone is compared: its fit grows with the cube of the rows
MOST_ROWS = 10_000  # the adaptive model compares all pairs of rows
TRIALS_KEPT = 1000


@dataclass(frozen=True)
class SearchFindings:
    """What a search has found on the training rows."""

    leaders: tuple[tuple[str, Any], ...]
    trials: list[dict[str, Any]]
    seconds: float
    interrupted: bool = False
    adaptive: dict[str, Any] | None = None
    scaling: str | None = None
    work: float = 0.0
    by_clock: bool = False
    choice: dict[str, Any] | None = None
    by_fold: dict[tuple[str, int], np.ndarray] = field(default_factory=dict)
    near_by_fold: dict[tuple[str, int], np.ndarray] = field(default_factory=dict)  # by the measure of neighbours
    further_sizes: frozenset[int] = frozenset()  # of the leaders of goals that have another measure
    repeated: np.ndarray | None = None
    anchored: bool = True
    unweighted: tuple[str, ...] = ()  # sentences on methods that take no weights of rows

    def choose(self, entries: list[dict[str, Any]], name: str) -> dict[str, Any] | None:
        """The choice among the leaders at all their sizes, by the folds of the search and those of the comparison."""
        leaders = dict(self.leaders)
        ours = [entry for entry in entries if entry["arm"] in leaders and entry["components"] and not entry["failures"]]
        if self.choice is not None:
            ours = [entry for entry in ours if (entry["arm"], entry["k"]) in self.by_fold]
        if not ours:
            return self.choice
        values = sign_of(name) * np.array([entry["scores"][name]["by_fold"] for entry in ours], dtype=float)
        known = 0
        if self.choice is not None:
            earlier = np.array([self.by_fold[entry["arm"], entry["k"]] for entry in ours])
            values, known = np.hstack([earlier, values]), earlier.shape[1]
        arms = [leaders[entry["arm"]] for entry in ours]
        preferred = preferred_among(arms)
        anchor = [self.anchored and untuned(arm, preferred) for arm in arms]
        kept = kept_by_fold(ours, values.shape[1]) if self.laid_out else None
        at, repeated = choose(values, anchor, kept), repeated_scores(values, anchor, kept)
        ahead = ours[choose(values)]
        if known and repeated is not None:  # on the folds of the search the choice was among all that it had tried
            repeated = np.concatenate([self.repeated if self.repeated is not None else [], repeated[known:]])
        score = expected_score(repeated)
        return {
            "method": ours[at]["arm"],
            "k": ours[at]["k"],
            "mean": sign_of(name) * float(np.nanmean(values[at])),
            "score": None if score is None else sign_of(name) * score,
            "anchored": ours[at] is not ahead,
            "ahead": f"{ahead['arm']} at k = {ahead['k']}" if ours[at] is not ahead else None,
            "configurations": len(leaders) if self.choice is None else self.choice["configurations"],
            "folds": values.shape[1],
        }

    @property
    def laid_out(self) -> bool:
        """Whether a layout was tried, or leads."""
        tried = (trial["method"] for trial in self.trials if trial["complete"] or trial.get("final"))
        return any(name.startswith("Layout(") for name in (*tried, *(name for name, _ in self.leaders)))

    @property
    def sizes(self) -> set[int]:
        """The sizes of the leaders."""
        return {method.n_components for _, method in self.leaders} | self.further_sizes


def kept_by_fold(entries: list[dict[str, Any]], folds: int) -> np.ndarray:
    """What the layouts among entries keep of the neighbours in X, by the last of some folds; NaN of other entries."""
    found = np.full((len(entries), folds), np.nan)
    for own, entry in zip(found, entries, strict=True):
        if entry.get("kept") and entry["arm"].startswith("Layout("):
            own[folds - len(entry["kept"]["by_fold"]) :] = entry["kept"]["by_fold"]
    return found


def with_layouts(found: SearchFindings, options: SearchOptions, train: Any) -> SearchFindings:
    """What was found, led by layouts of all components of the leaders (and of what Layout() lays out, where no methods
    are named), for a map whose search has tried no layouts."""
    methods = [
        clone(method).set_params(n_components=None) for _, method in found.leaders if not isinstance(method, Layout)
    ]
    if options.methods is None:
        n, d = train.X.shape
        methods.append(suited(method_for(n, d, train.outputs is None), n, options.seed))
    layouts: dict[str, Layout] = {}
    for method in methods:
        layout = Layout(method, random_state=options.seed)
        layouts.setdefault(title_of(layout), layout)
    return replace(found, leaders=(*layouts.items(), *found.leaders), choice=None)


def run_engine(
    options: SearchOptions, dataset: Any, split: Any, progress: Any, plan: Any = None, storage: Any = None
) -> SearchFindings:
    """The search on the training rows, within its part of the plan; groups and time are respected by its folds."""
    train = training_rows(dataset, split.train)
    engine = adaptive_models if options.engine == "defc" else registered_methods
    return engine(options, train, progress, plan, storage)


def registered_methods(
    options: SearchOptions, train: Any, progress: Any, plan: Any = None, storage: Any = None
) -> SearchFindings:
    """The best of all registered methods, or of those named; for a map of these and of their layouts."""
    for_map = options.goal == "map"
    laid_out = for_map and (plan is None or plan.cuts.weights > 0)
    sizes = None if plan is None or for_map or plan.cuts.sizes == plan.sizes else plan.cuts.sizes
    rows, groups = train.X.shape[0], _groups(train)
    n_folds, n_final = fold_count(rows, groups), final_fold_count(rows, groups)
    if plan is not None and not plan.races:
        n_folds, n_final = min(n_final or n_folds, plan.cuts.folds), 0
    study = EmbeddingSearch(
        None if options.methods is None else list(options.methods),
        component_range(None if for_map else options.n_components, train) if sizes is None else sizes,
        _seconds(options, plan),
        make_splits(train, Splitting(n_folds=n_folds, seed=options.seed)),
        final_cv=n_final and make_splits(train, Splitting(n_folds=n_final, seed=options.seed + FINAL_SEED)),
        random_state=options.seed,
        n_jobs=options.n_jobs,
        max_trials=options.max_trials,
        measure=options.measure,
        strategy=options.strategy or "auto",
        max_work=_work(plan),
        layouts=laid_out,
        further_measures=near_measures(options, train),
        refit=False,
        storage=storage,
        progress=progress,
    )
    interrupted = fitted_or_interrupted(
        study, train.X, training_labels(train), groups=train.groups, **weights_of(train.sample_weight)
    )
    found = findings_of(study, interrupted, options.measure, train.outputs is not None)
    return with_layouts(found, options, train) if for_map and not (laid_out and study.final_) else found


def near_measures(options: SearchOptions, train: Any) -> tuple[str, ...]:
    """The measure of neighbours, which finds leaders of its own where no goal is named."""
    numbers = train.outputs is not None
    if options.goal is not None or measure_for(options.measure, numbers).goal == "neighbours":
        return ()
    return (measures_of_kind(numbers).near.format(neighbors_of(train, np.arange(train.X.shape[0]))),)


def compared_leaders(study: EmbeddingSearch) -> list[Any]:
    """The first three leaders, and a fourth one that would be chosen for another goal where it is one of these with or
    without weighted axes, since one fit serves both."""

    def fitted(method: Any) -> tuple[str, str]:
        own = with_size(method.member() if isinstance(method, ReadoutAxes) else method, None)
        return title_of(own), repr(settings(own))

    first, further = study.leaders_[:LEADERS], study.leaders_[LEADERS : LEADERS + 1]
    known, wanted = {fitted(each) for each in first}, {title_of(each) for each in study.further_leaders_}
    return [*first, *(each for each in further if title_of(each) in wanted and fitted(each) in known)]


def findings_of(study: EmbeddingSearch, interrupted: bool, measure: Any, numbers: bool) -> SearchFindings:
    """What a fitted search says of its leaders and of its choice, with losses as they are."""
    leaders = tuple((title_of(method), method) for method in compared_leaders(study))
    near = next(iter(study.further_scores_.values()), [])
    by_fold, near_by_fold = (
        {(name, k): by for (name, _), own in zip(leaders, scores, strict=False) for k, by in own.items()}
        for scores in (study.leader_scores_, near)
    )
    sign = -1.0 if measure_for(measure, numbers).loss else 1.0
    choice = {
        "method": leaders[0][0],
        "k": leaders[0][1].n_components,
        "mean": sign * study.best_score_,
        "score": None if study.choice_score_ is None else sign * study.choice_score_,
        "anchored": study.anchored_,
        "configurations": study.n_chosen_from_,
        "folds": study.n_choice_folds_,
    }
    return SearchFindings(
        leaders,
        complete_scores(study.trials_),
        sum(trial["seconds"] for trial in study.trials_),
        interrupted,
        work=study.work_,
        scaling=study.scaling_,
        by_clock=study.stopped_by_clock_,
        choice=choice if study.final_ else None,
        by_fold=by_fold,
        near_by_fold=near_by_fold,
        further_sizes=frozenset(method.n_components for method in study.further_leaders_),
        repeated=study.choice_scores_,
        anchored=not numbers,
        unweighted=study.unweighted_,
    )


def training_rows(dataset: Any, rows: Any) -> Any:
    """The data set of training rows, without groups where no two of these rows share one."""
    train = dataset.take(rows)
    shared = train.groups is None or len(np.unique(train.groups)) < train.X.shape[0]
    return train if shared else replace(train, groups=None)


def _groups(train: Any) -> Any:
    """Groups of the rows that folds hold out; None where there are no groups."""
    return None if train.groups is None else train.groups[rows_scored(train)]


def _seconds(options: SearchOptions, plan: Any) -> float | None:
    """Seconds of the search: the emergency clock, where the plan counts work."""
    if plan is None or not plan.bounded:
        return options.max_seconds
    left = plan.leave_for("comparison", "diagnosis", "last fit and page")
    seconds: Any = options.max_seconds
    return max(left, 0.1 * seconds) / plan.searches if left < inf else None


def _work(plan: Any) -> WorkBudget | None:
    """The share of the work of a search; a fit on all rows may take an eighth of all."""
    if plan is None or not plan.bounded:
        return None
    if plan.searching is None:  # the same for the searches inside nested folds
        cuts = plan.cuts
        bounds = (
            plan.fitted_rows,
            plan.dearest,
            cuts.prototypes,
            plan.kept_anchors,
            plan.draws,
            cuts.bases,
            cuts.weights,
        )
        plan.searching = WorkBudget(plan.each_search, *bounds)
    return plan.searching


def fitted_or_interrupted(study: Any, *data: Any, **more: Any) -> bool:
    """Fit a search; whether Ctrl-C came into it, also into its last fit, which takes nothing from what was searched."""
    try:
        return study.fit(*data, **more).interrupted_
    except KeyboardInterrupt:
        if not hasattr(study, "interrupted_"):
            raise
        return True


def adaptive_models(
    options: SearchOptions, train: Any, progress: Any, plan: Any = None, storage: Any = None
) -> SearchFindings:
    """The best models of different switches, searched on the features as every arm of the comparison sees them."""
    train = rows_for_defc(train)
    strategy, classifier = options.strategy or "reduced8", options.classifier or "1nn"
    n_folds = min(INNER_FOLDS, fold_count(train.X.shape[0], _groups(train)))
    folds = make_splits(train, Splitting(n_folds=n_folds, seed=options.seed))
    y = training_labels(train)
    train = encoded_for_defc(train)
    kind = choose_scaling(train.X, LabelMatrix.of(y), train.groups, options.seed)
    study = DEFC(
        strategy,
        classifier,
        cv=folds,
        max_evals=options.max_trials or STRATEGIES[ModelStrategy.space][strategy].evaluations,
        max_seconds=_seconds(options, plan),
        n_components=None if options.n_components is None else max(component_range(options.n_components, train)),
        n_jobs=options.n_jobs,
        random_state=options.seed,
        storage=storage,
        progress=progress,
    )
    interrupted = fitted_or_interrupted(study, scaling_apply(features_fit(kind, train.X), train.X), y)
    labels, rows = LabelMatrix.of(y), float(np.mean([len(fold.train) for fold in folds]))
    best = [
        {**entry, "params": carried_over(entry["params"], entry["switches"], labels, rows, labels)}
        for entry in best_of_each_model(study.leaderboard_)[: LEADERS if labels.n <= MANY_ROWS else 1]
    ]
    section = adaptive_section(
        study.leaderboard_,
        study.history_,
        search=strategy,
        classifier=classifier,
        measure=study.measure_,
        rows=labels.n,
        folds=len(folds),
        scaling=kind,
        fitted=best[0]["params"],
    )
    leaders = tuple(leader(entry) for entry in best)
    seconds = float(study.history_[-1]["seconds"])
    found = SearchFindings(leaders, as_trials(study.leaderboard_), seconds, interrupted, section, kind)
    return with_layouts(found, options, train) if options.goal == "map" else found


def leader(found: dict[str, Any]) -> tuple[str, Any]:
    """The name and the model of an evaluation."""
    model = EmbeddingModel.from_switches(found["switches"], found["params"], n_components=found["k"])
    return f"DEFC {vector_text(found['switches'])}", model


def encoded_for_defc(train: Any) -> Any:
    """The training rows by the encoder, if there is one; refused where it learns from labels, which the folds of this
    search would share with it."""
    if not isinstance(train.X, RawRows):
        return train
    if is_supervised(train.X.encoder):
        raise OptionError("engine", "defc", "takes no encoder that learns from labels; use the engine 'methods'.")
    X = encoded(train.X, lambda: train.targets)
    return replace(train, X=X, feature_names=None)


def rows_for_defc(train: Any) -> Any:
    """The rows that the adaptive model learns from; refused where there are too many to compare them all."""
    known = np.flatnonzero(LabelMatrix.of(train.y).rows_known)
    if not len(known):
        raise OptionError("engine", "defc", "needs rows whose labels are all known; use the engine 'methods'.")
    if len(known) > MOST_ROWS:
        raise OptionError(
            "engine",
            "defc",
            f"compares all pairs of rows and takes at most {MOST_ROWS:,} rows, but there are {len(known):,}; take "
            "fewer rows, or the engine 'methods'.",
        )
    return train.take(known)


def as_trials(leaderboard: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best 1,000 evaluations of the adaptive model in the form of the trials of the other engine."""
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
