"""What a run leaves, by file name: the saved model, the embedded rows, and the evidence as files and one page."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from proxembed.evaluate.predictions import predictions_npz
from proxembed.evaluate.results import Results
from proxembed.model import embedding_part, source_of
from proxembed.persist import model_card, model_files
from proxembed.report import (
    component_section,
    label_section,
    leaderboard_csv,
    make_record,
    make_unfinished,
    map_section,
    page_html,
    proximity_section,
)
from proxembed.study.evidence import Evidence

from .interruption import written_up
from .run_folder import EMBEDDING, LEADERBOARD, MODEL, PAGE, PREDICTIONS, RECORD, UNFINISHED, RunFolder
from .transform import npz_bytes

BLOCK = 1 << 20


def file_hash(path: Path) -> str | None:
    """The SHA-256 of a data file, read in blocks; None where there is no such file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from proxembed.cli.outputs import file_hash
    >>> file_hash(Path("no such file")) is None
    True
    """
    if not path.is_file():
        return None
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return f"sha256:{found.hexdigest()}"


def unfinished(head: dict, **found) -> dict[str, bytes]:
    """The file of a run that has no summary yet: its command, and what it has found.

    Examples
    --------
    >>> from proxembed.cli.outputs import unfinished
    >>> list(unfinished({"kind": "search", "command": "proxembed search a.csv", "seed": 0}, search={"trials": []}))
    ['unfinished.json']
    """
    return {UNFINISHED: _json(make_unfinished(**head, **found))}


class RunRecord:
    """The evidence of a comparison in the folder of its run, written anew as each part is finished; the page last.

    Parameters
    ----------
    folder : RunFolder
    results : Results
        Marked as interrupted where an interruption comes into the writing, which is then begun again.
    head : dict
        ``kind``, ``command``, ``seed`` and ``data_hash`` of the record.
    summary : callable
        Returns the summary of the results. Predictions and single values are in the folder before it is called.
    **parts : sections of the record that are there already

    Attributes
    ----------
    record : dict
        What is in results.json.
    """

    def __init__(self, folder: RunFolder, results: Results, head: dict, summary: Callable[[], dict], **parts):
        self.folder, self.results, self.head, self.parts = folder, results, head, parts
        written_up(results, self._write_values)
        self.summary = written_up(results, summary)
        self.add()

    def add(self, **parts) -> None:
        """Write the record with further sections."""
        self.parts |= parts
        written_up(self.results, self._write)

    def finish(self) -> dict:
        """Write the page; the record, which tells of every interruption until then."""
        written_up(self.results, self._write_page)
        return self.record

    def _write_values(self) -> None:
        values = unfinished(self.head, rows=self.results.rows, **self.parts)
        self.folder.write(values | {PREDICTIONS: predictions_npz(self.results)})

    def _write(self) -> None:
        summary = self.summary | {"interrupted": self.results.interrupted}
        head = {key: value for key, value in self.head.items() if key not in ("kind", "command")}
        self.record = make_record(
            self.head["kind"], summary, self.results.rows, self.head["command"], **head, **self.parts
        )
        leaderboard = leaderboard_csv(summary).encode("utf-8")
        self.folder.write({LEADERBOARD: leaderboard, RECORD: _json(self.record)}, without=(UNFINISHED, PAGE))

    def _write_page(self) -> None:
        self._write()
        self.folder.write({PAGE: page_html(self.record).encode("utf-8")})


def _json(record: dict) -> bytes:
    return json.dumps(record, indent=1).encode("utf-8")


def saved_model(model, dataset, folder: Path, summary: dict | None, command: str) -> dict[str, bytes]:
    """The model with its card, and embedding.npz: Z and ids of all rows, as the saved model puts them.

    Rows that the model was fitted on look better than new ones; the map of the page shows test rows instead.
    """
    card = model_card(model, dataset, summary, command)
    files = model_files(model, folder / MODEL, source=source_of(dataset), card=card)
    arrays = {"Z": embedding_part(model).transform(dataset.X)}
    if dataset.ids is not None:
        arrays["ids"] = dataset.ids
    return {path.name: content for path, content in files.items()} | {EMBEDDING: npz_bytes(arrays)}


def named_labels(diagnosis: dict, dataset) -> dict:
    """A diagnosis with the names of labels where it has the numbers of their columns.

    Examples
    --------
    >>> from proxembed.cli.outputs import named_labels
    >>> from proxembed.data import digits
    >>> named_labels({"worse_labels": [{"label": "1", "n": 3}]}, digits())
    {'worse_labels': [{'label': 'prime', 'n': 3}]}
    """
    if dataset.single_label:
        return diagnosis
    worse = [{**row, "label": dataset.label_names[int(row["label"])]} for row in diagnosis["worse_labels"]]
    return {**diagnosis, "worse_labels": worse}


def evidence_sections(evidence: Evidence, dataset, measure: str = "cosine") -> dict:
    """The map, the table of labels and the proximity matrices of held-out rows, as the record holds them."""
    names, ids = dataset.label_names, None if dataset.ids is None else [dataset.ids[row] for row in evidence.rows]
    counts = dataset.Y.sum(axis=0).tolist()
    Y = dataset.Y.tocsr()[evidence.rows]
    return {
        "map": map_section(evidence.panels, Y, names, ids),
        "proximity": proximity_section(evidence.features, evidence.embeddings, Y, names, measure=measure),
        "label_table": label_section(
            names, counts, evidence.ap_raw, evidence.ap_embedded, evidence.thresholds, evidence.calibration
        ),
    }


def model_section(model, dataset, stability=None) -> dict:
    """The components of a fitted model, as the record holds them."""
    names = {"feature_names": dataset.feature_names, "label_names": dataset.label_names}
    return {"components": component_section(model, stability, **names)}


def told_trials(trials: list[dict]) -> list[dict]:
    """The trials for the record; scores of those that were sorted out early are on fewer rows and are left out.

    Examples
    --------
    >>> from proxembed.cli.outputs import told_trials
    >>> told_trials([{"method": "OPLS", "complete": False, "scores": {2: 0.9}}])
    [{'method': 'OPLS', 'complete': False, 'scores': None}]
    """
    return [trial if trial["complete"] else {**trial, "scores": None} for trial in trials]
