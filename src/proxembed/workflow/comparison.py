"""The comparison: methods and rivals on the same folds, then a look at held-out rows with the best method."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from proxembed.algebra.shared import Shared
from proxembed.data import Dataset
from proxembed.estimator.weights import check_takes_weights, takes_weights
from proxembed.evaluate.arms import (
    ALL_FEATURES,
    Arm,
    default_methods,
    entrants,
    left_out_rivals,
    method_arms,
    rival_arms,
    without_duplicates,
)
from proxembed.evaluate.compare import BEST_METHOD, BEST_RIVAL, SIDES, contrasts
from proxembed.evaluate.costs import machine_speed
from proxembed.evaluate.evidence import held_out_evidence
from proxembed.evaluate.part import rows_scored
from proxembed.evaluate.results import TEST, label_precisions
from proxembed.evaluate.rivals.maps import SupervisedUMAP
from proxembed.evaluate.run import Protocol, run
from proxembed.evaluate.verdict import summarise
from proxembed.execute import clock
from proxembed.execute.executor import Progress, silent
from proxembed.features.encoded import check_encoder, with_encoder
from proxembed.measures.measures import neighbors_of
from proxembed.methods.pipeline import fit_on
from proxembed.report import worded
from proxembed.report.next_steps import Run
from proxembed.splits.splits import Split, Splitting, fold_limit, make_splits, standard_split
from proxembed.tables.frames import frame_of
from proxembed.tables.raw_rows import encoder_text
from proxembed.targets.labels import MANY_LABELS

from .labelled_data import (
    check_labels,
    check_row_weights,
    component_range,
    has_whole_rows,
    labelled_data,
    weight_notes,
    with_encoded_example,
    with_warnings,
)
from .options import CompareOptions, OptionError, argument_texts, call_text, measured_by, on_requested_cluster
from .record import (
    EVIDENCE,
    RunRecord,
    evidence_sections,
    model_section,
    output_sections,
    retry_once,
    run_folder,
    run_head,
)
from .results import Comparison

RIVAL_WORDS = {"raw", "forest"}  # further words for rivals that always take part
PAIRS = ((BEST_METHOD, ALL_FEATURES), (BEST_METHOD, BEST_RIVAL))
UNDECIDED = (
    f"With more than {MANY_LABELS:,} labels a comparison leaves out F1, Hamming loss and probabilities, except as the "
    "measure that decides, and thresholds and calibration errors of single labels."
)


def data_and_head(
    kind: str, X: Any, y: Any, options: Any, encoder: Any = None, **given: Any
) -> tuple[Any, dict[str, Any]]:
    """The data set of a call from Python, checked, and the head of its record with the call that repeats it."""
    if encoder is not None:
        check_encoder(encoder)
    dataset = labelled_data(X, y, caller=kind, **given)
    file = X if isinstance(X, str | Path) else None
    check_labels(dataset, "y" if file is None else file)
    noted = with_encoder(with_warnings(dataset), encoder, frame_of(X))
    data = (
        repr(str(file)) if file is not None else "dataset" if isinstance(X, Dataset) else "X" if y is None else "X, y"
    )
    texts = argument_texts({name: value for name, value in given.items() if value is not None})
    encoders = () if encoder is None else (f"encoder={encoder_text(encoder)}",)
    command = call_text(kind, ", ".join([data, *texts, *encoders]), options)
    return noted, run_head(kind, command, options.seed, file)


def compare(
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
    repeats: int = 1,
    standard_split: bool = False,
    min_positives: int = 1,
    max_seconds: float | None = None,
    max_work: float | None = None,
    contrasts: Sequence[tuple[str, str]] = (),
    # end of the options
    groups: Any = None,
    test: Any = None,
    sample_weight: Any = None,
    encoder: Any = None,
    folder: str | Path | None = None,
    progress: Progress | None = None,
    **columns: Any,
) -> Comparison:
    """Compare embeddings with simple rivals by cross-validation.

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
    repeats : an integer >= 1, default=1
        Number of repetitions, each with other folds.
    standard_split : True or False, default=False
        Also score the test rows that the data name, once.
    min_positives : an integer >= 1, default=1
        Positive held-out rows that a label needs to be scored.
    max_seconds : None, inf or a number > 0 and <= 1e+100, default=None
        Time limit of the comparison: rivals whose forecasts do not fit in are left out, and so are folds after the
        third that would begin later; a method that exceeds it on one fold has lost there. None: no limit.
    max_work : None or a number > 0 and <= 1e+12, default=None
        Budget in units of work instead of seconds: rivals whose forecasts do not fit in are left out, the least
        important first.
    contrasts : pairs of names, default=()
        Methods or rivals to test against each other in pairs, such as OPLS and PCA; "best method", "best rival" and
        "raw" (all features) are allowed, too.
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
        all numbers. Its sizes, by which forecasts go, are known from one more fit on all rows.
    folder : str or Path, optional
        Folder to which results are written as they are finished; ``Comparison.save`` writes them later.
    progress : callable, optional
        Called as ``progress(done, total, text)``.
    **columns : of a file or a DataFrame
        ``labels``, ``text``, ``id``, ``time``, ``drop`` and all other columns that `proxembed.data.Columns` describes.

    Returns
    -------
    Comparison
        After Ctrl-C it holds the complete folds, and ``interrupted`` is True.

    Raises
    ------
    ValueError
        If an option or the data do not fit, or the encoder fails, changes the number of rows, or gives NaN.
    KeyboardInterrupt
        If Ctrl-C came before any fit was finished.

    Examples
    --------
    >>> import proxembed
    >>> from proxembed.data import digits
    >>> data = digits().take(range(100))
    >>> proxembed.compare(data, methods="opls", n_components=5, folds=2).verdict["goals"]["predict"]["arm"]
    'OPLS'
    """
    options = CompareOptions.of(locals() | {"standard_split": standard_split or test is not None})
    given = {"groups": groups, "test": test, "sample_weight": sample_weight}
    dataset, head = data_and_head("compare", X, y, options, encoder, **given, **columns)
    return run_comparison(dataset, options, head, folder, progress or silent)


@on_requested_cluster
def run_comparison(
    dataset: Any, options: CompareOptions, head: dict[str, Any], folder: str | Path | None, progress: Progress = silent
) -> Comparison:
    """Run the protocol, look at held-out rows, make the record: what ``compare`` and the program both do."""
    check_row_weights(dataset)
    limited = options.max_seconds is not None and options.max_work is None
    deadline = clock.now() + (options.max_seconds or 0.0) if limited else None
    dataset = with_encoded_example(dataset, standard_split(dataset).train if options.standard_split else None)
    protocol = replace(protocol_of(options, dataset), deadline=deadline)
    with nullcontext() if folder is None else run_folder(Path(folder), EVIDENCE) as place:
        shared = Shared()
        results = run(protocol, dataset, progress, shared=shared)
        if not results.rows:
            stop = KeyboardInterrupt()
            stop.add_note("no arm was finished by then; nothing was written")
            raise stop
        told = Run(head["command"])
        record = RunRecord(
            place, results, head, lambda: worded(summarise(results, tolerance=options.tolerance), run=told)
        )
        pairs = finished(protocol.contrasts, record.summary)
        record.add(contrasts=retry_once(results, lambda: contrasts(record.summary, pairs)))
        if not results.interrupted:
            with shared.active():
                look_at_held_out_rows(protocol, dataset, record, progress)
        return Comparison(record.finish(), results, place, dataset)


def protocol_of(options: CompareOptions, dataset: Any) -> Protocol:
    """The protocol that the options ask for."""
    split = standard_split(dataset).train if options.standard_split else None
    folds = fold_limit(dataset, options.folds, split)
    splits = folds * options.repeats + options.standard_split
    cut = cut_rivals(options, dataset, splits)
    cuts = (f"rivals left out: {', '.join(cut)}",) if cut else ()
    arms, unweighted = weighing_arms(arms_of(options.methods, dataset, options.seed, splits, cut), dataset)
    train = np.flatnonzero(rows_scored(dataset)) if split is None else split
    known: dict[str, Any] = {"splits": splits, "whole_rows": has_whole_rows(dataset), **limit_of(cut)}
    notes = left_out_rivals(dataset.X, dataset.targets, **known)
    notes = (*notes, *weight_notes(dataset, arms), *unweighted)
    numbers = dataset.outputs is not None
    undecided = not numbers and dataset.Y.shape[1] > MANY_LABELS
    return Protocol(
        arms,
        component_range(options.n_components, dataset),
        splitting=Splitting(n_folds=folds, n_repeats=options.repeats, seed=options.seed),
        standard=options.standard_split,
        n_neighbors=neighbors_of(dataset, train),
        min_positives=options.min_positives,
        seed=options.seed,
        n_jobs=options.n_jobs,
        max_seconds=options.max_seconds,
        contrasts=pairs_of(options.contrasts, arms),
        measure=measured_by(options, dataset, train),
        numbers=numbers,
        notes=(*notes, *(f"Cut for the budget: {each}." for each in cuts), *((UNDECIDED,) if undecided else ())),
        cuts=cuts,
        decided=() if undecided else None,
    )


def cut_rivals(options: CompareOptions, dataset: Any, splits: int) -> tuple[str, ...] | None:
    """The names of the rivals that the budget leaves out: their forecasts exceed the share that each may take, or what
    more important ones leave of it. None without a budget."""
    left = budget = budget_of(options)
    if budget == inf:
        return None
    found = []
    known: dict[str, Any] = {"splits": splits, "whole_rows": has_whole_rows(dataset)}
    for entrant in entrants(dataset.X, dataset.targets, options.seed, **known):
        if not entrant.lacks and (entrant.reason(budget) or entrant.work > left):
            found.append(entrant.arm.name)
        elif not entrant.lacks:
            left -= entrant.work
    return tuple(found)


def budget_of(options: CompareOptions) -> float:
    """The units of work that rivals may take together; infinite without a limit."""
    if options.max_work is not None:
        return float(options.max_work)
    return inf if options.max_seconds is None else options.max_seconds * machine_speed()


def limit_of(cut: Sequence[str] | None) -> dict[str, Any]:
    """What one rival may take: where a budget has settled it, there is no other limit."""
    return {} if cut is None else {"work": inf}


def arms_of(
    names: tuple[str, ...] | None, dataset: Any, seed: int, splits: int = 1, cut: Sequence[str] | None = None
) -> tuple[Arm, ...]:
    """The arms of the methods named; the rivals are always there, so that naming them changes nothing, but for those
    that a budget has ``cut``."""
    names = default_methods(dataset.X.shape[0]) if names is None else names
    known: dict[str, Any] = {"splits": splits, "whole_rows": has_whole_rows(dataset), **limit_of(cut)}
    rivals = rival_arms(dataset.X, dataset.targets, seed, **known)
    titles = [arm.name.lower() for arm in rivals if arm.largest is None]
    standing = {*RIVAL_WORDS, *titles, *(title.replace(" ", "") for title in titles)}
    rivals = tuple(arm for arm in rivals if arm.name not in (cut or ()))
    arms = method_arms([n for n in names if n.lower() not in standing], several_labels=dataset.several_labels)
    rivals = without_duplicates(rivals, {arm.name for arm in arms})
    rival_names = {arm.name for arm in rivals}
    return tuple(arm for arm in arms if arm.name not in rival_names) + rivals


def weighing_arms(arms: tuple[Arm, ...], dataset: Any) -> tuple[tuple[Arm, ...], tuple[str, ...]]:
    """The arms without methods that take no weights of rows, if rows have some, and a sentence on each of these; the
    ValueError of the first one if no method is left."""
    refused = [arm for arm in arms if not arm.rival and not takes_weights(arm.estimator)]
    if dataset.sample_weight is None or not refused:
        return arms, ()
    found = tuple(arm for arm in arms if arm not in refused)
    if all(arm.rival for arm in found):
        check_takes_weights(refused[0].estimator)
    return found, tuple(f"{arm.name} takes no weights of rows: {arm.estimator.why_unweighted}." for arm in refused)


def pairs_of(wanted: Sequence[tuple[str, str]], arms: tuple[Arm, ...]) -> tuple[tuple[str, str], ...]:
    """The pairs to test; each side is an arm, "raw", "best method" or "best rival", in any case."""
    known = {name.lower(): name for name in (*(arm.name for arm in arms), *SIDES)} | {"raw": ALL_FEATURES}
    pairs = []
    for pair in wanted:
        sides = [str(side).strip().lower() for side in pair]
        if len(sides) != 2 or not set(sides) <= set(known) or sides[0] == sides[1]:
            names = ", ".join(dict.fromkeys(known.values()))
            raise OptionError("contrasts", pair, f"must be two of the arms; the sides are {names}.")
        pairs.append((known[sides[0]], known[sides[1]]))
    return tuple(pairs) or PAIRS


def finished(pairs: Sequence[tuple[str, str]], summary: dict[str, Any]) -> list[tuple[str, str]]:
    """The contrasts whose arms have results: after Ctrl-C some may have none."""
    known = {*SIDES, *(entry["arm"] for entry in summary["leaderboard"])}
    return [pair for pair in pairs if set(pair) <= known]


def look_at_held_out_rows(protocol: Protocol, dataset: Any, record: RunRecord, progress: Progress) -> None:
    """Map, labels and components of the best method, on rows that it has not seen; nothing where there is none."""
    best = next((entry for entry in record.summary["best"] if not entry["rival"] and not entry["failures"]), None)
    if best is None:
        return
    arm, results = next(arm for arm in protocol.arms if arm.name == best["arm"]), record.results
    method = clone(arm.estimator).set_params(n_components=best["components"])
    split = shown_split(protocol, dataset)
    try:
        progress(0, 2, f"held-out map of {arm.name}")
        if dataset.outputs is not None:
            folds = make_splits(dataset, protocol.splitting, rows=split.train)
            shown: dict[str, Any] = {"scaling": results.preprocessing, "seed": protocol.seed, "lay_out": True}
            record.add(**output_sections(method, dataset, split, folds, record.summary, arm.name, **shown))
            return
        seen: dict[str, Any] = {"seed": protocol.seed, "name": arm.name, **map_options(results.rows)}
        evidence = held_out_evidence(method, dataset, split, decided=protocol.decided is None, **seen)
        cells: dict[str, Any] = {"unknown": dataset.unknown, "weights": dataset.sample_weight}
        raw, _ = label_precisions(results, dataset.Y, ALL_FEATURES, None, **cells)
        embedded, _ = label_precisions(results, dataset.Y, arm.name, best["k"], **cells)
        scored = np.concatenate([rows for fold, rows in results.held_out.items() if fold != TEST])
        evidence = replace(evidence, ap_raw=raw, ap_embedded=embedded)
        record.add(**evidence_sections(evidence, dataset, scored=scored))
        progress(1, 2, f"components of {arm.name}")
        part = dataset.take(split.train)
        record.add(**model_section(fit_on(method, part, readout=False, scaling=results.preprocessing)))
    except KeyboardInterrupt:
        results.interrupted = True


def map_options(rows: list[dict[str, Any]], lay_out: bool = True) -> dict[str, Any]:
    """What ``held_out_evidence`` shows beside planes: layouts, and supervised UMAP where it took part."""
    return {"lay_out": lay_out, "supervised_umap": any(row["arm"] == SupervisedUMAP.title for row in rows)}


def shown_split(protocol: Protocol, dataset: Any) -> Split:
    """The split whose held-out rows the map shows: the test rows where they are scored, else the first fold."""
    return standard_split(dataset) if protocol.standard else make_splits(dataset, protocol.splitting)[0]
