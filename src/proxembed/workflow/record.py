"""What a run leaves, phase by phase: the evidence as a record, files and one page, the model, the embedded rows."""

import hashlib
import io
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from proxembed.data.readers.parquet_parts import parquet_files
from proxembed.evaluate.evidence import Evidence, OutputPlane, output_evidence
from proxembed.evaluate.measured import measured_section
from proxembed.evaluate.results import RIDGE, Results, measure_name, predictions_npz
from proxembed.evaluate.scoring import distances_predict
from proxembed.execute.atomic_files import alone_in, check_place, write_whole, written_place
from proxembed.execute.executor import own_configuration
from proxembed.measures.measures import Q2
from proxembed.measures.neighbors import cosine_frame
from proxembed.methods.pipeline import embedding_part, fit_on, source_of
from proxembed.persist import model_card, model_files
from proxembed.proximity.reordering import even_sample
from proxembed.report import (
    component_section,
    label_section,
    leaderboard_csv,
    make_record,
    make_unfinished,
    map_section,
    page_html,
    proximity_section,
    reliability_section,
)
from proxembed.report.record import LEADERBOARD, PAGE, RECORD
from proxembed.splits.splits import Split
from proxembed.targets.known import known_cells

PREDICTIONS = "predictions.npz"
UNFINISHED = "unfinished.json"  # of a run that has no summary yet
KEPT = ("rival.skops", "rival.md")  # a second model that was asked for
EVIDENCE = (LEADERBOARD, PREDICTIONS, RECORD, PAGE, UNFINISHED, *KEPT)
MODEL, CARD, EMBEDDING = "model.skops", "model.md", "embedding.npz"
FRAME = "cosine"  # of the source of a saved model: what ``transform --cosine`` takes
SAVED = (MODEL, CARD, EMBEDDING)
MOST_SCORES = 5000  # of training and of held-out rows whose scores a record holds
BLOCK = 1 << 20  # bytes that are hashed at a time


class RunFolder:
    """A folder that holds, of the names that are a run's own, what this run has written."""

    def __init__(self, folder: Path, names: Sequence[str] = ()):
        self.folder, self.names = folder, tuple(names)
        self.written: list[str] = []

    def write(self, files: Mapping[str, bytes], without: Sequence[str] = ()) -> None:
        """Write what a phase has finished, all of it or nothing; what it supersedes (``without``) leaves the folder."""
        written = [name for name in self.names if (name in files or name in self.written) and name not in without]
        older = [self.folder / name for name in self.names if name not in written]
        write_whole({self.folder / name: content for name, content in files.items()}, remove=older)
        self.written = written

    def note(self, name: str) -> None:
        """Count a file that was written elsewhere among those of this run."""
        self.written = [each for each in self.names if each == name or each in self.written]

    @property
    def paths(self) -> list[Path]:
        """What the run has written."""
        return [self.folder / name for name in self.written]

    @property
    def listing(self) -> str:
        """The folder and what the run has written there, in words."""
        return f"{self.folder}: {', '.join(self.written)}"


@contextmanager
def note_written(run: RunFolder) -> Iterator[None]:
    """Add to an error or an interruption a note of what the run has written."""
    try:
        yield
    except BaseException as error:
        note = f"kept in {run.listing}"
        if run.written and note not in getattr(error, "__notes__", ()):
            error.add_note(note)
        raise


@contextmanager
def run_folder(folder: Path, names: Sequence[str] = ()) -> Iterator[RunFolder]:
    """The folder of a run, made and proven writable before the long part starts, and this run's alone until its end."""
    made = written_place(folder)
    new = [path for path in (made, *made.parents) if not path.exists()]
    try:
        made.mkdir(parents=True, exist_ok=True)
        for name in names:
            check_place(folder / name)
        with alone_in(folder):
            run = RunFolder(folder, names)
            with note_written(run):
                yield run
    finally:
        for path in new:
            with suppress(OSError):  # it holds results, or was never made
                path.rmdir()


def npz_bytes(arrays: Mapping[str, Any]) -> bytes:
    """Arrays as a compressed .npz file; text is stored as fixed-width text, never as objects."""
    buffer = io.BytesIO()
    stored: Any = {name: np.asarray(values) for name, values in arrays.items()}
    np.savez_compressed(buffer, **stored)
    return buffer.getvalue()


def file_hash(path: Path) -> str | None:
    """The SHA-256 of a data file, or of the Parquet files of a folder; None where there is no such file."""
    files = parquet_files(path) if path.is_dir() else [path] * path.is_file()
    if not files:
        return None
    digest = hashlib.sha256()
    for each in files:
        digest.update(b"" if each == path else str(each.relative_to(path)).encode())
        with open(each, "rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    return f"sha256:{digest.hexdigest()}"


def run_head(kind: str, command: str, seed: int, file: str | Path | None = None) -> dict[str, Any]:
    """What the record of a run begins with: kind, command, seed, and the hash of its data file."""
    data_hash = None if file is None else file_hash(Path(file))
    return {"kind": kind, "command": command, "seed": seed, "data_hash": data_hash}


def retry_once(results: Results, step: Callable[[], Any]) -> Any:
    """The result of a short step that writes up finished work: interrupted once, it is begun again."""
    try:
        return step()
    except KeyboardInterrupt:
        results.interrupted = True
        return step()


def unfinished(head: dict[str, Any], **parts: Any) -> dict[str, bytes]:
    """The file of a run that has no summary yet: its command, and the parts of the record that there are."""
    return unfinished_file(make_unfinished(**head, **parts))


def unfinished_file(record: dict[str, Any]) -> dict[str, bytes]:
    """The record of a run without a summary as a file."""
    return {UNFINISHED: _json(record)}


class RunRecord:
    """The evidence of a comparison: a record that grows by parts, each written before the next begins."""

    def __init__(
        self,
        folder: RunFolder | None,
        results: Results,
        head: dict[str, Any],
        summary: Callable[[], dict[str, Any]],
        **parts: Any,
    ):
        self.folder, self.results, self.head, self.parts = folder, results, head, parts
        retry_once(results, self._write_values)
        self.summary = retry_once(results, summary)
        self.add()

    def add(self, **parts: Any) -> None:
        """Further sections: they are written at once if there is a folder."""
        self.parts |= parts
        if self.folder is not None:
            retry_once(self.results, self._write)

    def finish(self) -> dict[str, Any]:
        """Write the page and the record, which states every interruption so far, if there is a folder; returns it."""
        retry_once(self.results, self._write_page)
        return self.record

    def _write_values(self) -> None:
        if self.folder is not None:
            values = unfinished(self.head, rows=self.results.rows, **self.parts)
            self.folder.write(values | {PREDICTIONS: predictions_npz(self.results)})

    def _write(self) -> None:
        summary = self.summary | {"interrupted": self.results.interrupted}
        head = {key: value for key, value in self.head.items() if key not in ("kind", "command")}
        self.record = make_record(
            self.head["kind"], summary, self.results.rows, self.head["command"], **head, **self.parts
        )
        if self.folder is not None:
            self.folder.write(record_files(self.record), without=(UNFINISHED, PAGE))

    def _write_page(self) -> None:
        self._write()
        if self.folder is not None:
            self.folder.write(page_file(self.record))


def record_files(record: dict[str, Any]) -> dict[str, bytes]:
    """The leaderboard and the record as files."""
    return {LEADERBOARD: leaderboard_csv(record["summary"]).encode("utf-8"), RECORD: _json(record)}


def page_file(record: dict[str, Any]) -> dict[str, bytes]:
    """The page as a file."""
    return {PAGE: page_html(record).encode("utf-8")}


def evidence_files(record: dict[str, Any], results: Results) -> dict[str, bytes]:
    """All files of a finished comparison."""
    return record_files(record) | {PREDICTIONS: predictions_npz(results)} | page_file(record)


def _json(record: dict[str, Any]) -> bytes:
    """A record as JSON, each of its parts on a line of its own: indented, thousands of labels would take seconds."""
    parts = (f"{json.dumps(name)}: {json.dumps(part)}" for name, part in record.items())
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode("utf-8")


@own_configuration()
def saved_model(
    model: Any,
    dataset: Any,
    fitted_on: Any,
    folder: Path,
    summary: dict[str, Any] | None,
    command: str,
    sampled: int | None = None,
) -> dict[str, bytes]:
    """The model with its card, and embedding.npz: Z and ids of all rows, as the saved model puts them, and the mean and
    the constant of the fitted rows, with which cosines are those of the leaderboard; no such file of a model of all
    features that are sparse."""
    card = model_card(model, fitted_on, summary, command, sampled)
    embedding = embedding_part(model)
    Z = embedding.transform(dataset.X)
    source = source_of(dataset)
    arrays: dict[str, Any] = {}
    if not sparse.issparse(Z):
        frame = frame_of(embedding, fitted_on, Z if fitted_on is dataset else embedding.transform(fitted_on.X))
        arrays, source = {"Z": Z} | frame, source | ({FRAME: frame} if frame else {})
    files = model_files(model, folder / MODEL, source=source, card=card)
    written = {path.name: content for path, content in files.items()}
    if not arrays:
        return written
    if dataset.ids is not None:
        arrays["ids"] = dataset.ids
    return written | {EMBEDDING: npz_bytes(arrays)}


def frame_of(embedding: Any, dataset: Any, Z: Any) -> dict[str, Any]:
    """What makes plain cosines those of the leaderboard, of the rows of a fit; empty where neighbours are
    judged by distances, or the rows are sparse."""
    by_distance = dataset.outputs is not None and distances_predict(
        getattr(embedding, "steps", [("", embedding)])[-1][1]
    )
    if by_distance or sparse.issparse(Z):
        return {}
    mean, constant = cosine_frame(Z)
    return {"mean": mean.tolist(), "constant": constant}


@own_configuration()
def kept_model(model: Any, name: str, fitted_on: Any, folder: Path, summary: dict[str, Any], command: str) -> Any:
    """A second model of the leaderboard with its card, as files."""
    told = f"This is the row {name} of the leaderboard, which was kept beside the saved model."
    card = model_card(model, fitted_on, {**summary, "verdict": {"goals": {}, "text": told, "note": ""}}, command)
    embedding = embedding_part(model)
    frame = frame_of(embedding, fitted_on, embedding.transform(fitted_on.X))
    source = source_of(fitted_on) | ({FRAME: frame} if frame else {})
    files = model_files(model, folder / KEPT[0], source=source, card=card)
    return {path.name: content for path, content in files.items()}


def named_labels(diagnosis: dict[str, Any], dataset: Any) -> dict[str, Any]:
    """A diagnosis with the names of labels where it has the numbers of their columns."""
    if dataset.of_classes or dataset.outputs is not None:
        return diagnosis
    worse = [{**row, "label": dataset.label_names[int(row["label"])]} for row in diagnosis["worse_labels"]]
    return {**diagnosis, "worse_labels": worse}


def output_sections(
    method: Any,
    dataset: Any,
    split: Split,
    folds: Sequence[Split],
    summary: dict[str, Any],
    name: str,
    *,
    scaling: str | None = None,
    seed: int = 0,
    permuted: Sequence[Sequence[float]] = (),
    **shown: Any,
) -> dict[str, Any]:
    """What the page shows of a method of numbers, fitted on the training rows of a split: ``measured_section``, with
    planes of the held-out rows. ``permuted``: as of ``Diagnosis``."""
    entries = [entry for entry in summary["leaderboard"] if entry["arm"] == name and entry["components"]]
    sizes = {entry["components"]: entry["scores"].get(measure_name(Q2, RIDGE), {}).get("mean") for entry in entries}
    evidence = output_evidence(method, dataset, split, sorted(sizes), seed=seed, name=name, **shown)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same method has told its warnings in the comparison
        model = fit_on(method, dataset.take(split.train), scaling=scaling)
    section = measured_section(
        model,
        dataset,
        split.train,
        evidence.rows,
        splits=[(fold.train, fold.held_out) for fold in folds],
        curve=[(k, sizes[k], evidence.fitted.get(k)) for k in sorted(sizes)],
        permutations=[(likeness, fitted, held_out) for held_out, fitted, likeness in permuted],
        raw=evidence.raw,
    )
    if section is None:
        return {}
    own, held_out = (section["rows"]["train"].count(each) for each in (True, False))  # rows whose values are kept
    known = np.flatnonzero(dataset.targets.rows_any[split.train])
    train = known[even_sample(len(known), own)], len(split.train)
    planes = [plane_section(plane, *train, held_out) for plane in evidence.planes]
    return {"measured": section | {"planes": planes}}


def plane_section(plane: OutputPlane, train: np.ndarray, n: int, held_out: int) -> dict[str, Any]:
    """A map of numbers as the record holds it: per axis the places of some held-out rows, and of an honest map first
    those of the rows ``train`` of its n training rows, NaN where they are not on it."""
    new = plane.new[even_sample(len(plane.new), held_out)]
    if plane.honest:
        whole = np.full((n, plane.train.shape[1]), np.nan)
        whole[plane.rows] = plane.train
        new = np.concatenate([whole[train], new])
    facts = {"title": plane.title, "honest": plane.honest, "laid_out": plane.laid_out, "flatters": plane.flatters}
    return {**facts, **plane.figures, "places": np.round(new.T, 5).tolist()}


def _scores_section(evidence: Evidence, Y: Any, names: Sequence[str]) -> dict[str, Any]:
    """Of one yes/no label the scores of at most 5,000 training and held-out rows each, under "scores"."""
    if evidence.scores is None or evidence.train_has is None:
        return {}
    has, train_has = Y.toarray()[:, -1] > 0, evidence.train_has
    own, new = even_sample(len(train_has), MOST_SCORES), even_sample(len(has), MOST_SCORES)
    sides = {"train_has": train_has[own].tolist(), "new_has": has[new].tolist()}
    scores = [[title, np.round(train[own], 5).tolist(), np.round(held_out[new], 5).tolist()]
              for title, train, held_out in evidence.scores]  # fmt: skip
    return {"scores": {**sides, "labels": [str(name) for name in names], "columns": scores}}


def evidence_sections(
    evidence: Evidence, dataset: Any, measure: str = "cosine", scored: Any = None, decisions: Any = None
) -> dict[str, Any]:
    """The map, the table of labels and the proximity matrices of held-out rows, as the record holds them; ``scored``:
    the rows that the figures of labels are of, where they are others; ``decisions``: as of ``label_decisions``."""
    names, ids = dataset.label_names, None if dataset.ids is None else [dataset.ids[row] for row in evidence.rows]
    counts = dataset.Y.sum(axis=0).tolist()
    Y = dataset.Y.tocsr()[evidence.rows]
    maps = map_section(evidence.panels, Y, names, ids, laid_out=evidence.laid_out)
    if evidence.judged is not None:
        maps["panels"][evidence.judged]["judged"] = True
    return {
        "map": maps | _scores_section(evidence, Y, names),
        "proximity": proximity_section(evidence.features, evidence.embeddings, Y, names, measure=measure),
        "label_table": label_section(
            names,
            counts,
            evidence.ap_raw,
            evidence.ap_embedded,
            None if dataset.of_classes else evidence.thresholds,  # the most probable class is predicted
            evidence.calibration,
            prevalence(dataset, evidence.rows if scored is None else scored),
            None if decisions is None else decisions[0],
        ),
        "reliability": reliability_section(*evidence.reliability),
    }


def prevalence(dataset: Any, rows: np.ndarray) -> np.ndarray:
    """The share of rows, as often as they count, with each label, among those whose cell is known; NaN without one."""
    w = np.ones(len(rows)) if dataset.sample_weight is None else dataset.sample_weight[rows]
    known, positive = known_cells(dataset.unknown, rows), dataset.Y.tocsr()[rows].T @ w
    count = w.sum() if known is None else w @ known
    return np.where(count > 0, positive / np.where(count > 0, count, 1), np.nan)


def model_section(model: Any, stability: Any = None) -> dict[str, Any]:
    """The components of a fitted model, as the record holds them."""
    return {"components": component_section(model, stability)}


def complete_scores(trials: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The trials for the record; scores of those that were sorted out early are on fewer rows and are left out."""
    return [trial if trial["complete"] else {**trial, "scores": None} for trial in trials]
