"""The job of `compare` and `demo`: read the options, run the protocol, write the folder, show the verdict."""

import json
import shlex
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import typer
from sklearn.base import clone

from proxembed.evaluate.arms import ALL_FEATURES, Arm, default_methods, method_arms, method_names, rival_arms
from proxembed.evaluate.compare import BEST_METHOD, BEST_RIVAL, SIDES, contrasts
from proxembed.evaluate.predictions import label_precisions
from proxembed.evaluate.protocol import Protocol, run
from proxembed.model import embedding_pipeline, training_labels
from proxembed.report import summarise
from proxembed.splits.splits import Split, Splitting, make_splits, standard_split
from proxembed.study.candidates import component_sizes
from proxembed.study.evidence import held_out_evidence

from .interruption import leave_interrupted, written_up
from .outputs import RunRecord, evidence_sections, file_hash, model_section
from .run_folder import EVIDENCE, RunFolder, run_folder
from .terminal import print_summary, progress_bar

RIVAL_WORDS = {"raw", "lsi", "pca", "randomprojection", "labelscores", "forestproximity", "forest"}
PAIRS = ((BEST_METHOD, ALL_FEATURES), (BEST_METHOD, BEST_RIVAL))


@dataclass(frozen=True)
class Job:
    """The options of a comparison; ``kind`` is the verb.

    Examples
    --------
    >>> from pathlib import Path
    >>> from proxembed.cli.job import Job
    >>> Job("demo", Path("demo")).folds
    5
    """

    kind: str
    folder: Path
    file: Path | None = None
    methods: str | None = None
    sizes: str | None = None
    folds: int = 5
    repeats: int = 1
    standard: bool = False
    min_positives: int = 1
    max_seconds: float | None = None
    pairs: tuple[str, ...] = ()
    seed: int = 0
    jobs: int = -1
    quiet: bool = False


def parse_sizes(text: str | None, n_labels: int, n_features: int) -> tuple[int, ...]:
    """Read -k; without it, the sizes that the search tries, as far as there are features.

    Examples
    --------
    >>> from proxembed.cli.job import parse_sizes
    >>> parse_sizes("10,2", 6, 72), parse_sizes(None, 6, 72), parse_sizes(None, 6, 4)
    ((2, 10), (2, 5, 6, 10), (2, 4))
    """
    if text is None:
        return tuple(sorted({min(k, n_features) for k in component_sizes(n_labels)}))
    try:
        sizes = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise ValueError(f"-k {text!r} is not a list of whole numbers; write it like 2,5,10.") from None
    if sizes[0] < 1:
        raise ValueError(f"-k {text!r} holds {sizes[0]}; each number of components must be at least 1.")
    if sizes[-1] > n_features:
        raise ValueError(
            f"-k {text!r} holds {sizes[-1]}, but the data have {n_features} features; take fewer components."
        )
    return tuple(sizes)


def parse_arms(text: str | None, dataset, seed: int) -> tuple[Arm, ...]:
    """Read --methods; the rivals are always there, so that naming them changes nothing."""
    known = method_names()
    names = default_methods(dataset.X.shape[0]) if text is None else [word.strip() for word in text.split(",")]
    rivals = rival_arms(dataset.X, seed=seed)
    standing = RIVAL_WORDS - set(known) | {arm.name.lower() for arm in rivals}
    arms = method_arms([n for n in names if n.lower() not in standing], several_labels=not dataset.single_label)
    rival_names = {arm.name for arm in rivals}
    return tuple(arm for arm in arms if arm.name not in rival_names) + rivals


def parse_contrasts(texts: tuple[str, ...], arms: tuple[Arm, ...]) -> tuple[tuple[str, str], ...]:
    """Read --contrast A:B; each side is an arm, "raw", "best method" or "best rival", in any case.

    Examples
    --------
    >>> from proxembed.cli.job import parse_contrasts
    >>> from proxembed.evaluate.arms import method_arms
    >>> parse_contrasts(("opls:raw",), method_arms(["opls"]))
    (('OPLS', 'all features'),)
    """
    known = {name.lower(): name for name in (*(arm.name for arm in arms), *SIDES)} | {"raw": ALL_FEATURES}
    pairs = []
    for text in texts:
        sides = [side.strip().lower() for side in text.split(":")]
        if len(sides) != 2 or not set(sides) <= set(known) or sides[0] == sides[1]:
            names = ", ".join(dict.fromkeys(known.values()))
            raise ValueError(f"--contrast {text!r} must be two of them as A:B; the sides are {names}.")
        pairs.append((known[sides[0]], known[sides[1]]))
    return tuple(pairs) or PAIRS


def protocol_of(job: Job, dataset) -> Protocol:
    """The protocol that the options ask for."""
    arms = parse_arms(job.methods, dataset, job.seed)
    return Protocol(
        arms,
        parse_sizes(job.sizes, dataset.Y.shape[1], dataset.X.shape[1]),
        splitting=Splitting(n_folds=job.folds, n_repeats=job.repeats, seed=job.seed),
        standard=job.standard,
        min_positives=job.min_positives,
        seed=job.seed,
        n_jobs=job.jobs,
        max_seconds=job.max_seconds,
        contrasts=parse_contrasts(job.pairs, arms),
    )


def run_job(job: Job, dataset) -> None:
    """Do the whole job, phase by phase; an interruption leaves what is finished, and its exit code."""
    protocol = protocol_of(job, dataset)
    with run_folder(job.folder, EVIDENCE) as folder:
        with progress_bar(quiet=job.quiet) as progress:
            record = evaluated(job, protocol, dataset, folder, progress)
        summary = record["summary"]
        try:
            if job.quiet:
                typer.echo(json.dumps(summary | {"contrasts": record["contrasts"]}, indent=2))
            else:
                print_summary(summary, folder.paths, record["contrasts"])
        finally:
            if summary["interrupted"]:
                done, of = len(set(summary["folds"]) & set(summary["fold_sizes"])), job.folds * job.repeats
                leave_interrupted(f"kept {done} complete folds of {of} in {folder.listing}.")


def finished(pairs, summary: dict) -> list[tuple[str, str]]:
    """The contrasts whose arms have results: after Ctrl-C some may have none."""
    known = {*SIDES, *(entry["arm"] for entry in summary["leaderboard"])}
    return [pair for pair in pairs if set(pair) <= known]


def evaluated(job: Job, protocol: Protocol, dataset, folder: RunFolder, progress) -> dict:
    """Run the protocol, look at held-out rows, make the page; the record."""
    head = {"kind": job.kind, "command": shlex.join(["proxembed", *sys.argv[1:]]), "seed": job.seed}
    head["data_hash"] = None if job.file is None else file_hash(job.file)
    results = run(protocol, dataset, progress)
    if not results.rows:
        leave_interrupted("no arm was finished by then; nothing was written.")
    record = RunRecord(folder, results, head, lambda: summarise(results))
    pairs = finished(protocol.contrasts, record.summary)
    record.add(contrasts=written_up(results, lambda: contrasts(record.summary, pairs)))
    if not results.interrupted:
        look_at_held_out_rows(protocol, dataset, record, progress)
    return record.finish()


def look_at_held_out_rows(protocol: Protocol, dataset, record: RunRecord, progress) -> None:
    """Map, labels and components of the best method, on rows that it has not seen; nothing where there is none."""
    best = next((entry for entry in record.summary["best"] if not entry["rival"] and not entry["failures"]), None)
    if best is None:
        return
    arm, results = next(arm for arm in protocol.arms if arm.name == best["arm"]), record.results
    method = clone(arm.estimator).set_params(n_components=best["components"])
    split = shown_split(protocol, dataset)
    try:
        progress(0, 2, f"held-out map of {arm.name}")
        evidence = held_out_evidence(method, dataset, split, seed=protocol.seed)
        raw, _ = label_precisions(results, dataset.Y, ALL_FEATURES, None)
        embedded, _ = label_precisions(results, dataset.Y, arm.name, best["k"])
        record.add(**evidence_sections(replace(evidence, ap_raw=raw, ap_embedded=embedded), dataset))
        progress(1, 2, f"components of {arm.name}")
        train = dataset.take(split.train)
        model = embedding_pipeline(method, train.X, readout=False).fit(train.X, training_labels(train))
        record.add(**model_section(model, dataset))
    except KeyboardInterrupt:
        results.interrupted = True


def shown_split(protocol: Protocol, dataset) -> Split:
    """The split whose held-out rows the map shows: the test rows where they are scored, else the first fold."""
    return standard_split(dataset) if protocol.standard else make_splits(dataset, protocol.splitting)[0]
