"""`proxembed search`: the main job: a labelled file in, the embedding that serves its labels best out."""

from dataclasses import dataclass, replace
from pathlib import Path

import typer

from .checks import check_labels, check_limits
from .columns import DROP, GROUPS, ID, LABELS, SEPARATOR, TEXT, TIME, dataset_from
from .engines import Found, check_engine, searching
from .refusal import refusals

TEST_SHARE = 0.25
LEAST_SHUFFLES = 19
KERNEL_DIAGNOSIS, DIAGNOSIS = 1000, 5000


def search(
    file: str = typer.Argument(metavar="DATA", help="A labelled file, or openml:NAME."),
    labels: list[str] = LABELS,
    text: str = TEXT,
    id: str = ID,
    groups: str = GROUPS,
    time: str = TIME,
    drop: list[str] = DROP,
    separator: str = SEPARATOR,
    test: Path = typer.Option(None, "--test", help="Test file of the same columns; its rows are scored once."),
    engine: str = typer.Option(
        "methods", "--engine", help="What is searched: methods, or defc (the switches of the adaptive model)."
    ),
    methods: str = typer.Option(None, "--methods", "-m", help="Names separated by commas; without it all."),
    defc_search: str = typer.Option(
        None,
        "--defc-search",
        help="Of --engine defc: reduced8 (eight models; the default), random, or ga, which needs thousands of trials: "
        "it takes 4,000 where --max-trials gives no number; give it minutes by --max-seconds.",
    ),
    classifier: str = typer.Option(None, "--classifier", help="Of --engine defc: 1nn (the default), or flda."),
    sizes: str = typer.Option(None, "-k", help="Numbers of components separated by commas, such as 2,5,10."),
    max_seconds: float = typer.Option(60.0, "--max-seconds", help="Seconds of the search; scoring comes after it."),
    max_trials: int = typer.Option(None, "--max-trials", help="Most configurations; makes the search repeatable."),
    folds: int = typer.Option(5, "--folds", help="Folds of the comparison with the rivals.", min=2),
    shuffles: int = typer.Option(20, "--shuffles", help="Shuffles of the labels in the diagnosis; 0 for none.", min=0),
    seed: int = typer.Option(0, "--seed", help="Seed of folds, search, shuffles and random projection.", min=0),
    jobs: int = typer.Option(1, "--jobs", "-j", help="Processes; -1 is one a core."),
    out: Path = typer.Option(None, "--out", "-o", help="Folder of the results; without it NAME-search."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON for machines, no table."),
) -> None:
    """Find the embedding that serves the labels best, score it against honest rivals, and save it."""
    with refusals():
        check_limits(jobs, max_seconds, max_trials)
        check_engine(engine, defc_search, classifier, methods)
        if 0 < shuffles < LEAST_SHUFFLES:
            raise ValueError(
                f"--shuffles {shuffles} cannot tell a find from chance at the level of 0.05; "
                f"take at least {LEAST_SHUFFLES}, or 0 for no diagnosis."
            )
        dataset = dataset_from(file, labels, text, id, groups, time, drop, separator, test)
        check_labels(dataset, file)
        names = None if methods is None else [name.strip() for name in methods.split(",")]
        folder = out or Path(f"{dataset.name}-search")
        options = names, sizes, max_seconds, max_trials, folds, shuffles, seed, jobs, folder, json_output
        job = Job(Path(file), *options, engine, defc_search or "reduced8", classifier or "1nn")
        run_search(job, dataset)


@dataclass(frozen=True)
class Job:
    """The options of a search."""

    file: Path
    methods: list[str] | None
    sizes: str | None
    max_seconds: float
    max_trials: int | None
    folds: int
    shuffles: int
    seed: int
    jobs: int
    folder: Path
    quiet: bool
    engine: str = "methods"
    strategy: str = "reduced8"
    classifier: str = "1nn"


def run_search(job: Job, dataset) -> None:
    """Do the whole job, phase by phase; an interruption leaves what is finished, and its exit code."""
    from proxembed.persist import check_model_path
    from proxembed.splits.splits import make_splits

    from .fit import notes
    from .interruption import leave_interrupted
    from .outputs import file_hash, unfinished
    from .run_folder import EVIDENCE, MODEL, SAVED, run_folder
    from .terminal import progress_bar

    dataset, split = with_test_rows(dataset, job.seed)
    make_splits(dataset, splitting(job), rows=split.train)  # refuses what the comparison would, before the search
    with run_folder(job.folder, (*SAVED, *EVIDENCE)) as folder:
        check_model_path(job.folder / MODEL)
        with notes(), progress_bar(quiet=job.quiet) as progress:
            head = {"kind": "search", "command": command(), "seed": job.seed, "data_hash": file_hash(job.file)}
            searched = searching(job, dataset, split, progress)
            folder.write(unfinished(head, search=search_section(job, searched)))
            results = scored(job, dataset, searched, progress)
            if results is None:
                best_so_far(dataset, folder, searched)
            record = concluded(job, dataset, split, searched, results, folder, head, progress)
        try:
            shown(job, record["summary"], folder.paths)
        finally:
            if record["summary"]["interrupted"]:
                leave_interrupted(f"what was done by then is in {folder.listing}.")


def with_test_rows(dataset, seed: int):
    """The data set with a split into training and test rows: its own, else a quarter of the rows held out."""
    from proxembed.splits.splits import holdout_split, standard_split

    if dataset.train_idx is None or dataset.test_idx is None:
        split = holdout_split(dataset, TEST_SHARE, seed)
        dataset = replace(dataset, train_idx=split.train, test_idx=split.held_out)
    return dataset, standard_split(dataset)


def splitting(job: Job):
    """The folds of the comparison, which are others than those of the search."""
    from proxembed.splits.splits import Splitting

    return Splitting(n_folds=job.folds, seed=job.seed + 1)


def scored(job: Job, dataset, searched: Found, progress):
    """The best few that were found beside the rivals: folds inside the training rows, the test rows once.

    None where an interruption came before the comparison had an arm.
    """
    from proxembed.evaluate.arms import Arm, rival_arms
    from proxembed.evaluate.protocol import Protocol, run

    from .job import parse_sizes

    if searched.interrupted:
        return None
    arms = [Arm(name, method) for name, method in searched.leaders]
    sizes = parse_sizes(job.sizes, dataset.Y.shape[1], dataset.X.shape[1])
    rivals = rival_arms(dataset.X, seed=job.seed)
    taken = {arm.name for arm in rivals}
    protocol = Protocol(
        (*(arm for arm in arms if arm.name not in taken), *rivals),
        sizes if job.sizes else tuple(sorted({*sizes, *searched.sizes})),
        splitting=splitting(job),
        standard=True,
        seed=job.seed,
        n_jobs=job.jobs,
    )
    try:
        results = run(protocol, dataset, progress)
    except KeyboardInterrupt:
        return None
    return results if results.rows else None


def search_section(job: Job, searched: Found, chosen: dict | None = None) -> dict:
    """The search as the record holds it: its trials, and its leaders or what was chosen of them."""
    leaders = [{"name": name, **chosen_params(name, method)} for name, method in searched.leaders]
    found = {"engine": job.engine, "trials": searched.trials, "seconds": searched.seconds}
    return found | ({"leaders": leaders} if chosen is None else {"chosen": chosen})


def concluded(job: Job, dataset, split, searched: Found, results, folder, head: dict, progress) -> dict:
    """Choose by the folds, look at the test rows, diagnose, fit on all rows, make the page; the record."""
    from proxembed.report import summarise

    from .outputs import RunRecord, model_section, saved_model

    search = search_section(job, searched)
    record = RunRecord(folder, results, head, lambda: summarise(results, searched=dataset), search=search)
    name, method = chosen(record.summary, searched)
    record.add(search=search_section(job, searched, chosen_params(name, method)), adaptive=searched.adaptive)
    diagnosis = None
    try:
        if not results.interrupted:
            diagnosis = look_at_test_rows(job, name, method, dataset, split, searched, record, progress)
        progress(2, 3, "the last fit, on all rows")
        model = refitted(method, dataset)
        folder.write(saved_model(model, dataset, job.folder, record.summary, head["command"]))
        record.add(**model_section(model, dataset, None if diagnosis is None else diagnosis.stability))
    except KeyboardInterrupt:
        results.interrupted = True
    return record.finish()


def look_at_test_rows(job: Job, name: str, method, dataset, split, searched: Found, record, progress):
    """Write what the test rows show of the choice, and its diagnosis, which is returned; None where it was not made."""
    from proxembed.study.evidence import held_out_evidence

    from .outputs import evidence_sections, named_labels

    diagnosis = None
    try:
        progress(0, 3, "the test rows")
        evidence = held_out_evidence(method, dataset, split, seed=job.seed, name=name)
        record.add(**evidence_sections(evidence, dataset, "cosine" if searched.adaptive is None else "gaussian"))
        diagnosis = None if record.results.interrupted else diagnosed(job, method, dataset, split, progress)
        record.add(diagnosis=None if diagnosis is None else named_labels(diagnosis.describe(), dataset))
    except KeyboardInterrupt:
        record.results.interrupted = True
    return diagnosis


def refitted(method, dataset):
    """The pipeline of a method, fitted on all rows."""
    from proxembed.model import embedding_pipeline, fit_model, training_labels

    return fit_model(embedding_pipeline(method, dataset.X), dataset.X, training_labels(dataset), dataset.groups)


def chosen(summary: dict, searched: Found):
    """The name and the method, of the size that did best on the folds of the comparison."""
    from sklearn.base import clone

    leaders = dict(searched.leaders)
    for entry in summary["best"]:
        if entry["arm"] in leaders and entry["components"] and not entry["failures"]:
            return entry["arm"], clone(leaders[entry["arm"]]).set_params(n_components=entry["components"])
    return searched.leaders[0]


def chosen_params(name: str, method) -> dict:
    """What was chosen, as plain data."""
    from proxembed.study.candidates import settings

    return {"method": name, **settings(method)}


def diagnosed(job: Job, method, dataset, split, progress):
    """The diagnosis on the test rows, of fits on at most 5,000 training rows (1,000 where all pairs are compared).

    None without shuffles. The folds of the training rows would not do: the method is the best of many on them, and no
    shuffle was searched.
    """
    import numpy as np
    from sklearn.base import clone

    from proxembed.evaluate.diagnose import diagnose
    from proxembed.evaluate.part import rows_known
    from proxembed.model import embedding_pipeline, training_labels
    from proxembed.splits.splits import Split

    if job.shuffles == 0:
        return None
    progress(1, 3, f"diagnosis: {job.shuffles} shuffles of the labels")
    all_pairs = {"n_prototypes", "relation"} & set(method.get_params(deep=False))
    limit = KERNEL_DIAGNOSIS if all_pairs else DIAGNOSIS
    draw, known = np.random.default_rng(job.seed), rows_known(dataset)
    train = draw.permutation(split.train)[:limit]
    test = draw.permutation(split.held_out[known[split.held_out]])[:limit]
    part = dataset.take(np.concatenate([train, test]))
    parted = Split("test", np.arange(len(train)), np.arange(len(train), len(train) + len(test)))
    options = {"cv": [parted], "seed": job.seed, "n_jobs": job.jobs}
    natural = clone(method).set_params(n_components=None)
    for each in (method, natural):  # rare labels may be missing in the part, and with them components
        model = embedding_pipeline(each, part.X, readout=False)
        try:
            return diagnose(model, part.X, training_labels(part), job.shuffles, **options)
        except ValueError:
            if each is natural:
                raise


def best_so_far(dataset, folder, searched: Found) -> None:
    """After an interruption before the comparison had an arm: the best so far, fitted on all rows; leave."""
    from .interruption import leave_interrupted
    from .outputs import saved_model

    name, method = searched.leaders[0]
    folder.write(saved_model(refitted(method, dataset), dataset, folder.folder, None, command()))
    leave_interrupted(f"the best so far ({name}), not compared with rivals, is in {folder.listing}.")


def command() -> str:
    """The command that repeats the run."""
    import shlex
    import sys

    return shlex.join(["proxembed", *sys.argv[1:]])


def shown(job: Job, summary: dict, written: list[Path]) -> None:
    """The leaderboard with the verdict last, or the summary as JSON."""
    import json

    from .terminal import print_summary

    if job.quiet:
        typer.echo(json.dumps(summary, indent=2))
    else:
        print_summary(summary, written)
