"""The main job: labelled rows in, the embedding that serves their labels best out, compared with honest rivals."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from proxembed.algebra.shared import Shared
from proxembed.estimator.catalogue import settings
from proxembed.estimator.weights import takes_weights
from proxembed.evaluate.arms import (
    ALL_FEATURES,
    MAP_SIZE,
    Arm,
    embedding_arm,
    rival_arms,
    without_duplicates,
)
from proxembed.evaluate.diagnose import diagnose, diagnosed_by
from proxembed.evaluate.evidence import held_out_evidence
from proxembed.evaluate.gains import held_out_precisions
from proxembed.evaluate.part import rows_scored
from proxembed.evaluate.results import TEST, Results, sign_of
from proxembed.evaluate.run import Protocol, run
from proxembed.evaluate.verdict import label_decisions, summarise
from proxembed.execute import clock
from proxembed.execute.executor import Progress, silent
from proxembed.execute.ledger import STUDY, Ledger, as_json, digest, read_header
from proxembed.measures.measures import measure_for, neighbors_of
from proxembed.measures.statistics import choose
from proxembed.methods.around import with_size
from proxembed.methods.layout import Layout
from proxembed.methods.pipeline import embedding_pipeline, fit_on, training_labels
from proxembed.persist import check_model_path
from proxembed.report import make_unfinished, worded
from proxembed.report.answers import answers_words
from proxembed.report.next_steps import Run
from proxembed.report.plain_words import laid_out_words
from proxembed.report.verdict import UNUSED, cut_lines, no_small_size, one_axis
from proxembed.report.views import best_laid_out
from proxembed.splits.splits import Split, Splitting, fold_limit, make_splits
from proxembed.tables.notes import LeftOut, counted

from .arm_models import predictor_ahead
from .budget import counted_arms
from .comparison import data_and_head, map_options
from .cut_words import cuts_of, missing_of, told_cuts, unit_note, with_budget
from .engines import SearchFindings, run_engine
from .labelled_data import (
    check_row_weights,
    component_range,
    has_test_rows,
    weight_notes,
    with_encoded_example,
    with_every_row,
    with_test_rows,
)
from .large_fit import LargeFit
from .nested import (
    CHOICE,
    Nested,
    choice_at,
    chosen_anew,
    nested_comparison,
    numbers_alone,
    outer_counts,
    remove_studies,
)
from .one_fit import killed_fits
from .options import LEAST_SHUFFLES, OptionError, SearchOptions, measured_by, on_requested_cluster
from .plan import DIAGNOSIS, KERNEL_DIAGNOSIS, OUTER_FOLDS, Plan, compared_of, make_plan
from .record import (
    EVIDENCE,
    MODEL,
    SAVED,
    RunFolder,
    RunRecord,
    evidence_sections,
    model_section,
    named_labels,
    output_sections,
    run_folder,
    saved_model,
    unfinished,
)
from .results import SearchResult

COMPARISON = ".comparison.jsonl"
BUDGET = ("max_seconds", "max_work", "n_jobs", "dask")
FREE = {*BUDGET, "max_trials"}  # options that may differ between a run and its continuation
RIVAL_GOALS = ("predict", "neighbours", "map")  # for which the embedding of a rival is saved if it is the best


def folder_of(folder: str | Path | None, resume: str | Path | None) -> str | Path | None:
    """The folder of a run that may go on in ``resume``; an OptionError where both are named and differ."""
    if resume is None:
        return folder
    if folder is not None and Path(folder) != Path(resume):
        raise OptionError("resume", str(resume), f"is not the folder {str(folder)!r}; name one of the two.")
    return resume


def stored_work(folder: Path, options: SearchOptions) -> float | None:
    """The work of the run that a folder holds, in whose place these options would ask for seconds; None for others."""
    header = read_header(folder / STUDY)
    if header is None or any(header["budget"].get(name) != getattr(options, name) for name in BUDGET):
        return None
    return float(header["budget"]["work"])


@contextmanager
def stored_study(
    place: RunFolder | None, options: SearchOptions, dataset: Any, work: float, resume: bool, progress: Progress
) -> Iterator[Ledger | None]:
    """The ledger of a run, to which its engine adds, while the block lasts; None without a folder."""
    if place is None:
        yield None
        return
    path = place.folder / STUDY
    earlier = read_header(path) is not None
    if resume and not earlier:
        progress(0, 0, f"nothing to resume in {place.folder}: the search begins")
    if earlier and not resume:
        progress(0, 0, f"the earlier search in {place.folder} is replaced")
    given = asdict(options) | {"measure": measure_for(options.measure, dataset.outputs is not None).name}
    facts = {name: value for name, value in given.items() if name not in FREE}
    outputs = None if dataset.outputs is None else np.asarray(dataset.outputs)
    arrays = (dataset.X, dataset.Y, dataset.unknown, dataset.train_idx, dataset.test_idx, dataset.groups, dataset.times)
    arrays = (*arrays, *(each for each in (outputs, dataset.sample_weight) if each is not None))
    budget = {name: getattr(options, name) for name in BUDGET} | {"work": as_json(work)}
    ledger = Ledger(path, facts | {"data": digest(*arrays)}, resume=resume, budget=budget)
    try:
        yield ledger
    finally:
        ledger.close()
        if not ledger.empty:
            place.note(STUDY)


@contextmanager
def stored_comparison(study: Ledger | None) -> Iterator[Ledger | None]:
    """The ledger of what follows the search of a study: that of an ended run, or a new one; None without a study."""
    if study is None:
        yield None
        return
    path, facts = study.path.with_name(COMPARISON), {"study": study.id}
    header = read_header(path)
    if header is not None and header["facts"] != facts:
        path.unlink()
    ledger = Ledger(path).begin(facts)
    try:
        yield ledger
    finally:
        ledger.close()


def search(
    X: Any,
    y: Any = None,
    *,
    # the options, written by `make options` from their declarations
    methods: Sequence[str] | str | None = None,
    n_components: int | Sequence[int] | None = None,
    folds: int = 5,
    seed: int = 0,
    n_jobs: int = 1,
    measure: str | Callable[..., Any] | None = None,
    tolerance: float = 0.03,
    dask: str | None = None,
    engine: str = "methods",
    strategy: str | None = None,
    classifier: str | None = None,
    max_seconds: float | None = 60.0,
    max_trials: int | None = None,
    max_work: float | None = None,
    shuffles: int = 20,
    goal: str | None = None,
    embedding: bool = False,
    refit_all: bool = False,
    # end of the options
    groups: Any = None,
    test: Any = None,
    sample_weight: Any = None,
    encoder: Any = None,
    folder: str | Path | None = None,
    resume: str | Path | None = None,
    progress: Progress | None = None,
    **columns: Any,
) -> SearchResult:
    """Find the embedding that serves the labels best, compare it with simple rivals, and fit it.

    Test rows (those of the data, ``test``, or a quarter of all) are held out. On the others, methods, parameters and
    sizes are searched by inner folds; the best few are compared with rivals on other folds, and the test rows are
    scored once. Below 500 rows, without times and named test rows, all this is repeated in ten nested folds, which
    together hold out every row twice, if the budget has room. A diagnosis fits the choice to shuffled labels. The last
    fit is on all rows, or only on the training rows if the data or ``test`` name the test rows.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d), DataFrame, file name, or Dataset
    y : labels in any form, if X is a matrix
    methods : None or names of methods, default=None
        Names of methods and models, or "all"; rivals are always compared. None: a search takes all, a comparison a few
        that suit the data.
    n_components : None or an integer or several, default=None
        Numbers of components. None: 2, 5, 10, ... up to the number of labels (at least 10).
    folds : an integer >= 2, default=5
        Number of folds of the comparison: stratified, or by ``groups`` or ``time``.
    seed : an integer >= 0, default=0
        Seed of all that is drawn: folds, search, shuffles, rivals.
    n_jobs : -1 or an integer >= 1, default=1
        Processes; 1 leaves all cores to each fit, -1 is one per core.
    measure : None or the name of a measure or a function (Y, S) -> float, default=None
        Measure that decides: macro average precision, Jaccard@10, new-new Jaccard@10, macro F1, micro F1, subset
        accuracy, instance F1, instance precision, instance recall, instance accuracy, balanced accuracy, average
        precision of the rarest label, macro AUC, micro AUC, Hamming loss, log-loss, Brier score, calibration error, Q2,
        R2, Spearman, A@10, new-new A@10; in Python also a function of held-out labels and their scores (or numbers and
        their predictions), larger is better. None: macro average precision of labels, Q2 of numbers.
    tolerance : a number >= 0 and < 1, default=0.03
        Loss that counts as level, as a share of what all features gain over a constant prediction, and at most twice
        that share of what they miss.
    dask : None, 'local' or the address of a scheduler, such as tcp://10.0.0.5:8786, default=None
        Cluster for the fits: "local" for ``n_jobs`` local workers (1 means one per core), or the address of a dask
        scheduler, all of whose workers are used. If a worker dies, another repeats its fits.
    engine : 'methods' or 'defc', default='methods'
        Search among the methods, or with "defc" among the switches of the adaptive model.
    strategy : the name of a strategy, default=None
        Name of the search strategy. "halving": every method, then drawn configurations, with many rows on few of them
        first; "random": drawn configurations, each on all rows of all folds; "tpe": proposals of optuna, each on all
        rows of all folds; "auto": configurations that won on data sets of similar sizes, then every method, then in
        turn proposals of optuna (if it is installed) and draws, with many rows on few of them first; what is clearly
        behind is dropped. Of the engine "defc": "reduced8": the reduced search over eight models; "ga": the nested
        genetic algorithm; "random": random search over all models. "ga" makes 4,000 trials unless ``max_trials`` is
        given; allow minutes with ``max_seconds``. None: "auto", or "reduced8".
    classifier : None, '1nn', 'flda' or 'svm', default=None
        Classifier of the engine "defc". None: "1nn".
    max_seconds : None, inf or a number > 0 and <= 1e+100, default=60.0
        Time limit of the whole job; what is cut for it is reported. None: no limit.
    max_trials : None or an integer >= 1, default=None
        Largest number of configurations; makes the search repeatable.
    max_work : None or a number > 0 and <= 1e+12, default=None
        Budget in units of work instead of seconds, predicted from the sizes of the data, so that two runs do the same
        work under any load of the machine.
    shuffles : an integer >= 0, default=20
        Number of label shuffles in the diagnosis, at least 19; 0 for no diagnosis.
    goal : None, 'predict', 'neighbours', 'map' or 'compress', default=None
        Goal of the embedding, which sets the measure (for neighbours and maps "Jaccard@10", of numbers "A@10") and the
        choice; the verdict covers all four. None: a search for predictions.
    embedding : True or False, default=False
        Whether the saved model is the best embedding also where the goal is to predict and the verdict is that another
        model, such as logistic regression, predicts better, which is saved otherwise.
    refit_all : True or False, default=False
        Whether the last fit also uses the test rows of ``test``.
    groups : array of shape (n,), column name or False, optional
        None: an identifier that several rows share, such as ``patient_id``; False: no groups.
        No split divides a group.
    test : row numbers or boolean array of shape (n,), or file name, optional
        Test rows.
    sample_weight : array of shape (n,) or column name, optional
        How often each row counts, in every fit and every measure: numbers of at least 0, of which a whole one is so
        many repeats of the row; rows of weight 0 are left out. Folds, test rows and the draws of intervals are made of
        rows. Methods that take no weights are left out; rivals that take none are fitted without them, as notes say.
    encoder : transformer or Pipeline of scikit-learn, optional
        Preprocessing of your own in front of all else. A clone is fitted on the training rows of each fold, with their
        targets if its tags require some; it gets an array of the numbers, or a pandas DataFrame whose columns are not
        all numbers. Its sizes, by which forecasts go, are known from one more fit on the training rows.
    folder : str or Path, optional
        Folder to which results are written as they are finished; ``SearchResult.save`` writes them later.
    resume : str or Path, optional
        Folder of an interrupted run. It continues with the same data and options from the fits of the search and the
        diagnosis in ``study.jsonl``. The budget may differ and starts anew.
    progress : callable, optional
        Called as ``progress(done, total, text)``.
    **columns : of a file or a DataFrame
        ``labels``, ``text``, ``id``, ``time``, ``drop`` and all other columns that `proxembed.data.Columns` describes.

    Returns
    -------
    SearchResult
        After Ctrl-C it holds what was finished, and ``interrupted`` is True.

    Raises
    ------
    ValueError
        If an option or the data do not fit, or the encoder fails, changes the number of rows, or gives NaN.
    KeyboardInterrupt
        If Ctrl-C came before the first configuration was scored.

    Examples
    --------
    >>> import proxembed
    >>> from proxembed.data import digits
    >>> data = digits().take(range(300))
    >>> found = proxembed.search(data, methods="opls", n_components=[2, 5], folds=2, shuffles=0, max_trials=1,
    ...                          max_work=5)
    >>> found.name, found.embedding.shape[0]
    ('OPLS', 300)
    """
    options = SearchOptions.of(locals())
    started, folder = clock.now(), folder_of(folder, resume)
    given = {"groups": groups, "test": test, "sample_weight": sample_weight}
    dataset, head = data_and_head("search", X, y, options, encoder, **given, **columns)
    return run_search(dataset, options, head, folder, progress or silent, started, resume is not None)


@on_requested_cluster
def run_search(
    dataset: Any,
    options: SearchOptions,
    head: dict[str, Any],
    folder: str | Path | None,
    progress: Progress = silent,
    started: float | None = None,
    resume: bool = False,
    large: LargeFit | None = None,
    judged: Callable[[dict[str, Any]], None] | None = None,
) -> SearchResult:
    """Do the whole job, phase by phase: what ``search`` and the program both do. ``judged`` is called with the summary
    as soon as it has its verdict, before diagnosis, last fit and page."""
    check_row_weights(dataset, options.engine)
    options = options if has_test_rows(dataset) else replace(options, refit_all=True)
    started, whole = clock.now() if started is None else started, dataset
    dataset, split = with_test_rows(dataset, options.seed)
    dataset = with_encoded_example(dataset, split.train)
    options = replace(options, folds=fold_limit(dataset, options.folds, split.train))
    options = replace(options, measure=measured_by(options, dataset, split.train))
    work = stored_work(Path(folder), options) if resume and folder is not None else None
    sizes = component_range(options.n_components, dataset)
    plan = make_plan(options, dataset, split, sizes, started, work, outer_counts(whole, options))
    if plan.cuts.outer > 1:
        dataset, plan.split = with_every_row(replace(whole, X=dataset.X), plan.cuts.outer)
    if plan.bounded:
        progress(0, 0, f"forecast: {plan.forecast_line}{unit_note(plan)}")
    split = plan.taking_part()
    make_splits(dataset, comparison_folds(options), rows=split.train)  # raises what the comparison would
    with nullcontext() if folder is None else run_folder(Path(folder), (*SAVED, *EVIDENCE, STUDY)) as place:
        if place is not None:
            check_model_path(place.folder / MODEL, getattr(dataset.X, "encoder", None))
        with stored_study(place, options, dataset, plan.work, resume, progress) as storage:
            found = run_engine(options, dataset, split, progress, plan, storage)
        plan.settle(found.leaders, found.work, [trial["method"] for trial in found.trials if trial["complete"]])
        if options.goal == "map" and not found.laid_out:
            plan.too_dear.append(
                f"no layouts: their forecast is above {plan.dearest:.3g} units of work, or they do not fit"
            )
        if found.by_clock:
            plan.by_clock.append(f"the search ended after {counted(len(found.trials), 'trial')}")
        study = storage if storage is not None and storage.begun else None
        with stored_comparison(study) as comparison:
            job = Job(options, dataset, split, plan, found, head, place, progress, comparison, study, large, judged)
            if place is not None:
                place.write(unfinished(head, search=search_section(job)))
            job, results = compared(job)
            done = fit_best_so_far(job) if results is None else finish_search(job, results)
        if comparison is not None and not done.interrupted:
            comparison.path.unlink(missing_ok=True)
            remove_studies(comparison.path.parent)
        return done


@dataclass(frozen=True)
class Job:
    """What the phases after the search share."""

    options: SearchOptions
    dataset: Any
    split: Split
    plan: Plan
    found: SearchFindings
    head: dict[str, Any]
    place: RunFolder | None
    progress: Progress
    comparison: Ledger | None = None
    study: Ledger | None = None
    large: LargeFit | None = None
    judged: Callable[[dict[str, Any]], None] | None = None
    nested: Nested | None = None
    shared: Shared = field(default_factory=Shared)  # by the fits on the training rows beside the test rows


def rivals_of(job: Job) -> tuple[Arm, ...]:
    """The rivals that the plan leaves in the comparison."""
    options, plan = job.options, job.plan
    arms = rival_arms(job.dataset.X, job.dataset.targets, options.seed, plan.cuts.forest, **plan.rival_limits)
    leading = {name for name, _ in job.found.leaders}
    return tuple(arm for arm in without_duplicates(arms, leading) if arm.name not in plan.cuts.left_out)


def decided_arms(plan: Plan, leaders: Sequence[Arm]) -> tuple[str, ...] | None:
    """The arms whose F1, Hamming loss and probabilities are scored; None: all."""
    if not plan.cuts.decisions:
        return ()
    return (ALL_FEATURES, *(arm.name for arm in leaders[:1])) if plan.cuts.leading else None


def comparison_folds(options: SearchOptions, n_folds: int | None = None) -> Splitting:
    """The folds of the comparison, which are others than those of the search."""
    return Splitting(n_folds=n_folds or options.folds, seed=options.seed + 1)


def compared(job: Job) -> tuple[Job, Results | None]:
    """The comparison on the rows that are held out: of nested folds, or of one split; None where it was not made."""
    if job.found.interrupted:
        return job, None
    if job.plan.cuts.outer == 1:
        return job, compare_leaders(job)
    dataset, options, plan = job.dataset, job.options, job.plan
    folds = min(plan.cuts.outer, OUTER_FOLDS)
    rule = Splitting(n_folds=folds, n_repeats=plan.cuts.outer // folds, seed=options.seed)
    protocol = replace(comparison_protocol(job, (), plan.cuts.sizes), splitting=rule)
    stored = job.study, job.comparison
    nested = nested_comparison(dataset, options, plan, protocol, job.progress, *stored, job.shared)
    return replace(job, nested=nested), None if nested is None else nested.results


def comparison_protocol(job: Job, leaders: Sequence[Arm], sizes: tuple[int, ...]) -> Protocol:
    """The protocol of a comparison of leaders with the rivals."""
    options, found, plan, rivals = job.options, job.found, job.plan, rivals_of(job)
    deadline = plan.leave_for("diagnosis", "last fit and page")
    return Protocol(
        (*leaders, *rivals),
        sizes,
        splitting=comparison_folds(options, plan.cuts.folds),
        standard=bool(len(job.split.held_out)),
        n_neighbors=neighbors_of(job.dataset, job.split.train),
        seed=options.seed,
        n_jobs=options.n_jobs,
        measure=options.measure,
        numbers=job.dataset.outputs is not None,
        notes=(*weight_notes(job.dataset, rivals), *found.unweighted),
        train_rows=None if plan.cuts.rows is None else job.split.train,
        test_rows=None if plan.cuts.test_rows is None else job.split.held_out,
        decided=decided_arms(plan, leaders),
        deadline=None if deadline == inf else clock.now() + deadline,
    )


def compare_leaders(job: Job) -> Results | None:
    """The best few that were found beside the rivals: folds inside the training rows, the test rows once."""
    found, plan = job.found, job.plan
    taken = {arm.name for arm in rivals_of(job)}
    leaders = [embedding_arm(name, method) for name, method in found.leaders if name not in taken]
    leaders = compared_of(leaders, plan.cuts)
    sizes = plan.cuts.sizes if job.options.n_components else tuple(sorted({*plan.cuts.sizes, *found.sizes}))
    protocol = comparison_protocol(job, leaders, sizes)
    protocol = replace(protocol, counted=counted_arms(plan, leaders, len(job.split.train)))
    try:
        results = run(protocol, job.dataset, job.progress, job.comparison, shared=job.shared)
    except KeyboardInterrupt:
        return None
    scored = len([name for name in results.folds if name != TEST])
    if not results.interrupted and scored < plan.cuts.folds:
        plan.by_clock.append(f"{scored} of {plan.cuts.folds} folds were compared")
    return results if results.rows else None


def search_section(job: Job, choice: dict[str, Any] | None = None) -> dict[str, Any]:
    """The search as the record holds it: its trials and budget, and its leaders or what was chosen of them."""
    found, plan = job.found, job.plan
    section = {"engine": job.options.engine, "trials": found.trials, "seconds": found.seconds}
    cuts = {"cuts": [cut.text for cut in cuts_of(plan)]}
    section["budget"] = plan.describe() | cuts | {"repeat": repeat_command(job.head["command"], plan)}
    if choice is not None:
        return section | {"chosen": choice}
    return section | {"leaders": [choice_facts(name, method) for name, method in found.leaders]}


def choice_facts(name: str, method: Any) -> dict[str, Any]:
    """A choice as plain data: the method, and its parameters that are not at their defaults."""
    return {"method": name, **settings(method)}


def repeat_command(command: str, plan: Plan) -> str:
    """The command that repeats a run whatever the machine does: its work in place of its seconds."""
    whole = not plan.bounded or plan.options.engine == "defc"
    return command if whole else with_budget(command, "--max-work", f"{plan.work:g}")


def choose_saved(job: Job, results: Results, summary: dict[str, Any]) -> tuple[tuple[str, Any, int | None], Any]:
    """Name, method and size of the choice, or of a rival that is ahead of it; and the predictor that is saved in its
    place (None: the choice is saved)."""
    options = job.options
    choose = best_choice if job.nested is None else nested_choice
    name, method, k = choose(summary, job.found, options.goal)
    own = (name, k) if job.nested is None else (CHOICE, None)
    rival = rival_ahead(summary, own, rivals_of(job), options.goal, job.dataset.sample_weight is not None)
    if rival is not None:
        (name, method, k), own = rival, (rival[0], rival[2])
    may = options.goal == "predict" and not options.embedding and job.large is None
    predictor = predictor_ahead(summary, results, own, run_of(job)) if may else None
    if rival is not None and predictor is None:
        summary["saved"] = {"arm": name, "k": k, "rival": True}
        summary.update(worded(summary, run=run_of(job)))
    elif rival is None and predictor is None:
        job.plan.settle_choice([method] if job.nested is None else [method, job.nested.shown.method])
    return (name, method, k), predictor


def finish_search(job: Job, results: Results) -> SearchResult:
    """Choose by the folds, look at the test rows, diagnose, fit, make the page."""
    options, dataset, found, place, head = job.options, job.dataset, job.found, job.place, job.head
    record = RunRecord(place, results, head, lambda: judged_summary(job, results), search=search_section(job))
    job.plan.answered = bool(answers_words(record.summary))
    (name, method, k), predictor = choose_saved(job, results, record.summary)
    fitted_on = rows_of_model(options, dataset)
    rows = {"rows": fitted_on.X.shape[0], "all": fitted_on is dataset}

    def section() -> dict[str, Any]:
        facts = choice_facts(name, method) if predictor is None else predictor.facts
        return search_section(job, facts) | {"fitted_on": rows}

    record.add(search=section(), adaptive=found.adaptive)
    diagnosis = model = sampled = None
    try:
        if job.judged is not None:
            job.judged(record.summary)
        if not results.interrupted:
            shown = (name, method, k) if job.nested is None else job.nested.shown
            with job.shared.active():
                diagnosis = look_at_test_rows(job, *shown, record)
            record.add(search=section())
        job.progress(2, 3, f"the last fit, on {'all' if fitted_on is dataset else 'the training'} rows")
        with job.shared.active():
            saved = method if predictor is None else predictor.method
            fitted, rows = last_fit(job, saved, fitted_on, results.preprocessing)
        sampled = None if job.large is None or not rows["all"] else job.large.table.n
        if place is not None:
            told = (place.folder, record.summary, head["command"], sampled)
            place.write(saved_model(fitted, dataset, fitted_on, *told))
        model = fitted
        stable = None if diagnosis is None or job.nested else diagnosis.stability or None  # of the model of these rows
        record.add(search=section(), **model_section(model, stable))
    except KeyboardInterrupt:
        results.interrupted = True
    if results.interrupted:
        job.plan.unfinished.extend(unfinished_steps(job, results, record.parts, model))
    tell_cuts(job, record.summary)
    name = name if predictor is None else predictor.name
    more = {"dataset": dataset, "fitted_on": fitted_on, "name": name, "model": model, "diagnosis": diagnosis}
    return SearchResult(record.finish(), results, place, **more, sampled=sampled)


def unfinished_steps(job: Job, results: Results, parts: dict[str, Any], model: Any) -> list[str]:
    """The steps that an interruption has left out, in words; ``parts``: the sections of the record that there are."""
    cuts, numbers = job.plan.cuts, job.dataset.outputs is not None
    folds = [name for name in results.folds if name != TEST]
    planned, what = (cuts.folds, "folds of the comparison") if job.nested is None else (cuts.outer, "nested folds")
    steps = {
        f"{planned - len(folds)} of {planned} {what}": len(folds) < planned,
        "the scores of the test rows": job.nested is None and len(job.split.held_out) > 0 and TEST not in results.folds,
        "the pictures of held-out rows": parts.get("measured" if numbers else "map") is None,
        f"the comparison on shuffled {'outputs' if numbers else 'labels'}": cuts.shuffles > 0
        and parts.get("diagnosis") is None,
        "the last fit, so that no model is saved": model is None,
        "the table of components": model is not None and "components" not in parts,
    }
    return [step for step, left in steps.items() if left]


def judged_summary(job: Job, results: Results) -> dict[str, Any]:
    """The summary of a comparison with its verdict in words."""
    options = job.options
    chooser = job.found.choose if job.nested is None else chosen_anew
    by_size = options.goal == "compress"  # which takes the smallest size that keeps enough
    summary = summarise(results, job.dataset, options.tolerance, None if by_size else chooser, options.goal)
    nested = {} if job.nested is None else {"nested": job.nested.describe()}
    missing = missing_of(job.plan)
    return worded(summary | nested, refitted=options.refit_all, run=run_of(job), missing=missing)


def run_of(job: Job) -> Run:
    """The command of a search and its folder."""
    return Run(job.head["command"], None if job.place is None else str(job.place.folder))


def tell_cuts(job: Job, summary: dict[str, Any]) -> None:
    """Add to the verdict what was cut, as ``cut`` and as the last lines of its text."""
    verdict = summary["verdict"]
    verdict["cut"] = told_cuts(job.plan, run_of(job))
    verdict["unused"] = "; ".join(note for note in summary["dataset"].get("notes", ()) if isinstance(note, LeftOut))
    # No cut weakens a verdict that is not there.
    lacking = {"Map": one_axis(summary), "Compress": no_small_size(summary)}
    verdict["cut"]["lines"] = [line for line in verdict["cut"]["lines"] if not lacking.get(line[0])]
    if verdict.get("laid_out"):
        verdict["cut"]["lines"].append(["Map", laid_out_words(verdict["goals"]["map"], run_of(job).in_python)])
    unused = [f"{UNUSED}: {verdict['unused']}."] * bool(verdict["unused"])
    verdict["text"] = "\n".join([verdict["text"], *unused, *cut_lines(verdict["cut"])])


def last_fit(job: Job, method: Any, fitted_on: Any, scaling: str | None) -> tuple[Any, dict[str, Any]]:
    """The model of the choice, and on how many rows it is fitted, whether on all."""
    rows = {"rows": fitted_on.X.shape[0], "all": fitted_on is job.dataset}
    if job.large is None:
        return fit_on(method, fitted_on, scaling=scaling), rows
    try:
        return job.large.fit(method, scaling, job.progress), {"rows": job.large.table.n, "all": True}
    except ValueError as error:
        job.plan.sampled_fit.append(
            f"the last fit on all {job.large.table.n:,} rows; it is on the sample instead: {error}"
        )
        return fit_on(method, fitted_on, scaling=scaling), rows | {"all": False}


def look_at_test_rows(job: Job, name: str, method: Any, k: int | None, record: RunRecord) -> Any:
    """Add what the test rows show of the choice, and its diagnosis, which is returned; None where it was not made."""
    dataset, diagnosis = job.dataset, None
    try:
        job.progress(0, 3, "the test rows")
        if dataset.outputs is None:
            look_at_labels(job, name, method, k, record)
        diagnosis = None if record.results.interrupted else run_diagnosis(job, method, record.results.preprocessing)
        record.add(diagnosis=None if diagnosis is None else named_labels(diagnosis.describe(), dataset))
        if dataset.outputs is not None:
            look_at_outputs(job, name, method, record, () if diagnosis is None else diagnosis.permuted)
    except KeyboardInterrupt:
        record.results.interrupted = True
    return diagnosis


def look_at_outputs(job: Job, name: str, method: Any, record: RunRecord, permuted: Sequence[Sequence[float]]) -> None:
    """Add what the test rows show of the choice where y holds numbers."""
    options, dataset, split = job.options, job.dataset, shown_rows(job)
    folds = make_splits(dataset, comparison_folds(options, job.plan.cuts.folds), rows=split.train)
    shown: dict[str, Any] = {
        "scaling": record.results.preprocessing,
        "seed": options.seed,
        "lay_out": job.plan.cuts.layouts,
    }
    record.add(**output_sections(method, dataset, split, folds, record.summary, name, permuted=permuted, **shown))


def look_at_labels(job: Job, name: str, method: Any, k: int | None, record: RunRecord) -> None:
    """Add the maps of the test rows, and what their labels show of the choice."""
    options, dataset, split, cuts = job.options, job.dataset, shown_rows(job), job.plan.cuts
    more: dict[str, Any] = {**map_options(record.results.rows, cuts.layouts), "decided": cuts.decisions}
    if (stored := job.comparison) is not None:
        key = [name, digest(sorted(method.get_params().items()), split, options.seed)]
        more["keep"] = lambda fit, make: stored.remember(["test rows", *key, fit], make)
    judged = judged_map(job, record.summary, name, k)
    evidence = held_out_evidence(method, dataset, split, seed=options.seed, name=name, judged=judged, **more)
    if evidence.laid_out and not isinstance(method, Layout) and is_map_of(record.summary, name, k):
        evidence = replace(evidence, judged=1)  # the panel of the choice
    known = {(entry["arm"], entry["k"]) for entry in record.summary["leaderboard"]}
    own = (name, k) if job.nested is None else (CHOICE, None)
    if own in known and (job.nested is not None or TEST in record.results.folds):
        raw, embedded = (held_out_precisions(record.results, dataset, *arm) for arm in ((ALL_FEATURES, None), own))
        evidence = replace(evidence, ap_raw=raw, ap_embedded=embedded)
    near, decisions = "cosine" if job.found.adaptive is None else "gaussian", label_decisions(record.results, own)
    record.add(**evidence_sections(evidence, dataset, near, decisions=decisions))
    if job.nested is None:
        found = best_laid_out(record.summary, record.parts["map"])
        record.summary["verdict"] |= {"laid_out": found} if found else {}
        record.summary.update(worded(record.summary, run=run_of(job)))


def is_map_of(summary: dict[str, Any], name: str, k: int | None) -> bool:
    """Whether the map that the verdict speaks of is that of a choice."""
    goal = summary["verdict"]["goals"].get("map")
    return goal is not None and (goal["arm"], goal["k"]) == (name, k)


def judged_map(job: Job, summary: dict[str, Any], name: str, k: int | None) -> tuple[Arm, tuple[int, ...]] | None:
    """The arm of the map that the verdict speaks of, and the sizes of the comparison, where it is another than that of
    a choice; None too of nested folds, whose maps are those of several models."""
    goal = summary["verdict"]["goals"].get("map")
    method = None if goal is None or job.nested is not None else dict(job.found.leaders).get(goal["arm"])
    if goal is None or method is None or is_map_of(summary, name, k):
        return None
    sizes = {entry["k"] for entry in summary["leaderboard"] if entry["arm"] == goal["arm"] and entry["k"]}
    return embedding_arm(goal["arm"], clone(method)), tuple(sorted(sizes))


def shown_rows(job: Job) -> Split:
    """The rows on which the choice is shown: the split of the test rows, or the first fold where there are none; of
    nested folds the first one."""
    if job.nested is not None:
        return job.nested.split
    if len(job.split.held_out):
        return job.split
    return make_splits(job.dataset, comparison_folds(job.options), rows=job.split.train)[0]


def rows_of_model(options: SearchOptions, dataset: Any) -> Any:
    """The data set of the last fit: all rows, or the training rows alone."""
    return dataset if options.refit_all else dataset.take(dataset.train_idx)


def best_choice(summary: dict[str, Any], found: SearchFindings, goal: str | None = None) -> tuple[str, Any, int | None]:
    """The name, the method and its k in the comparison: what was chosen, for a goal if one is named."""
    leaders, chosen = dict(found.leaders), summary["choice"] or {"method": None}
    ranked = sorted(summary["best"], key=lambda entry: entry["arm"] != chosen["method"])
    if goal == "compress" and goal in summary["verdict"]["goals"]:
        chosen = summary["verdict"]["goals"][goal]
        ranked = [
            entry for entry in summary["leaderboard"] if (entry["arm"], entry["k"]) == (chosen["arm"], chosen["k"])
        ]
    for entry in ranked:
        if entry["arm"] in leaders and entry["components"] and not entry["failures"]:
            return entry["arm"], clone(leaders[entry["arm"]]).set_params(n_components=entry["components"]), entry["k"]
    return *found.leaders[0], None


def nested_choice(summary: dict[str, Any], found: SearchFindings, goal: str | None = None) -> tuple[str, Any, int]:
    """The name, the method and the size that the search on all rows has chosen; to compress, the best method at the
    size that nested folds found to be enough."""
    goals, k = summary["verdict"]["goals"], None
    if goal == "compress" and goal in goals:
        found, k = numbers_alone(found) or found, goals[goal]["k"]
    choice = choice_at(found, k)
    return choice.name, choice.method, choice.k


def rival_ahead(
    summary: dict[str, Any],
    own: tuple[str, int | None],
    rivals: Sequence[Arm],
    goal: str | None,
    weighed: bool = False,
) -> tuple[str, Any, int | None] | None:
    """The rival embedding that is best on the folds of the comparison, with its estimator and k, if it is ahead of our
    choice by more than one paired standard error; None if no rival is, or if no goal asks for it. ``weighed``: the rows
    have weights, which it has to take."""
    if goal not in RIVAL_GOALS:
        return None
    able = [arm for arm in rivals if hasattr(arm.estimator, "transform") and not arm.each_size]
    known = {arm.name: arm.estimator for arm in able if not (goal == "predict" and arm.predicts)}  # ``predictor_ahead``
    name = summary["measures"][0]
    ours = [entry for entry in summary["leaderboard"] if (entry["arm"], entry["k"]) == own]
    others = [e for e in summary["leaderboard"] if e["arm"] in known and e["components"] and not e["failures"]]
    others = [e for e in others if goal != "map" or e["k"] == MAP_SIZE]
    others = [e for e in others if not weighed or takes_weights(known[e["arm"]])]
    if not ours or not others:
        return None
    entries = [*ours, *others]
    values = sign_of(name) * np.array([entry["scores"][name]["by_fold"] for entry in entries])
    best = entries[choose(values, [entry is ours[0] for entry in entries])]
    if best is ours[0]:
        return None
    return best["arm"], with_size(known[best["arm"]], best["components"]), best["k"]


def run_diagnosis(job: Job, method: Any, scaling: str | None) -> Any:
    """The diagnosis on the test rows, of fits on at most 5,000 training rows (1,000 where all pairs are compared)."""
    options, dataset, split, plan = job.options, job.dataset, shown_rows(job), job.plan
    what = "labels" if dataset.outputs is None else "outputs"
    if plan.cuts.shuffles == 0:
        return None
    if plan.leave_for("last fit and page") < 0.5 * plan.seconds("diagnosis"):
        plan.by_clock.append(f"no diagnosis on shuffled {what}")
        return None
    job.progress(1, 3, f"diagnosis: {options.shuffles} shuffles of the {what}")
    all_pairs = any(name.split("__")[-1] in ("n_prototypes", "relation") for name in method.get_params())
    limit = min(KERNEL_DIAGNOSIS if all_pairs else DIAGNOSIS, plan.cuts.diagnosis)
    draw, known = np.random.default_rng(options.seed), rows_scored(dataset)
    train = draw.permutation(split.train)[:limit]
    test = draw.permutation(split.held_out[known[split.held_out]])[:limit]
    part = dataset.take(np.concatenate([train, test]))
    parted = Split("test", np.arange(len(train)), np.arange(len(train), len(train) + len(test)))
    measure = measure_for(options.measure, dataset.outputs is not None)
    more: dict[str, Any] = {"cv": [parted], "seed": options.seed, "n_jobs": options.n_jobs}
    more |= {"groups": part.groups, "times": part.times, "sample_weight": part.sample_weight}
    more |= {"measure": measure} if diagnosed_by(measure) else {}
    natural = with_size(method, None)
    for each in (method, natural):  # rare labels may be missing in the part, and with them components
        model = embedding_pipeline(each, part.X, readout=False, scaling=scaling)
        try:
            found = diagnose(model, part.X, training_labels(part), options.shuffles, store=job.study, **more)
        except ValueError:
            if each is natural:
                raise
            continue
        if found.killed and len(found.null) + found.failed_shuffles < LEAST_SHUFFLES:
            plan.killed.append(f"not compared with itself on shuffled {what}: a worker process was killed twice")
            return None
        plan.killed += killed_fits(found, what)
        return found
    return None


def fit_best_so_far(job: Job) -> SearchResult:
    """After an interruption before the comparison had an arm: the best so far, fitted."""
    dataset, head, place = job.dataset, job.head, job.place
    name, method = job.found.leaders[0]
    fitted_on = rows_of_model(job.options, dataset)
    model = fit_on(method, fitted_on, scaling=job.found.scaling)
    if place is not None:
        place.write(saved_model(model, dataset, fitted_on, place.folder, None, head["command"]))
    record = make_unfinished(**head, search=search_section(job))
    return SearchResult(record, None, place, dataset=dataset, fitted_on=fitted_on, name=name, model=model)
