"""The folder that a search leaves: the saved model, the embedded rows, and the evidence as files and one page."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proxembed.engine.evidence import Evidence
from proxembed.evaluate.predictions import save_predictions
from proxembed.evaluate.results import Results
from proxembed.model import embedding_part, source_of
from proxembed.persist import model_card, save, write_whole
from proxembed.report import (
    component_section,
    label_section,
    leaderboard_csv,
    make_record,
    map_section,
    page_html,
    proximity_section,
    write_atomic,
)

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


@contextmanager
def all_or_none(folder: Path) -> Iterator[Path]:
    """A place inside the folder to write to; what lies there at the end takes its place in the folder, together.

    Where writing fails, the folder stays as it was.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from proxembed.cli.outputs import all_or_none
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with all_or_none(Path(folder)) as place:
    ...         _ = (place / "note.txt").write_text("whole")
    ...     [path.name for path in Path(folder).iterdir()]
    ['note.txt']
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix=".writing-") as place:
        try:
            yield Path(place)
            for path in sorted(Path(place).iterdir()):
                os.replace(path, folder / path.name)
        except OSError as error:
            name = Path(error.filename or "").name  # the file that was wanted, not the one in the place
            raise OSError(error.errno, error.strerror, str(folder / name)) from error


def write_model(model, dataset, folder: Path, summary: dict | None, command: str) -> list[Path]:
    """Write model.skops with its card model.md, and embedding.npz: Z and ids of all rows, as the saved model puts them.

    Rows that the model was fitted on look better than new ones; the map of the page shows test rows instead.
    """
    card = model_card(model, dataset, summary, command)
    written = save(model, folder / "model.skops", source=source_of(dataset), card=card)
    arrays = {"Z": embedding_part(model).transform(dataset.X)}
    if dataset.ids is not None:
        arrays["ids"] = dataset.ids
    path = folder / "embedding.npz"
    write_whole({path: npz_bytes(arrays)})
    return [written, written.with_suffix(".md"), path]


def write_evidence(record: dict, results: Results, folder: Path) -> list[Path]:
    """Write leaderboard.csv, predictions.npz, results.json and index.html, each whole or not at all."""
    return [
        write_atomic(folder / "leaderboard.csv", leaderboard_csv(record["summary"])),
        save_predictions(results, folder / "predictions.npz"),
        write_atomic(folder / "results.json", json.dumps(record, indent=1)),
        write_atomic(folder / "index.html", page_html(record)),
    ]


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


def sections(evidence: Evidence | None, dataset, model, diagnosis, measure: str = "cosine") -> dict:
    """The map, the table of labels, the components and the proximity matrices, as the record holds them."""
    names, stability = dataset.label_names, None if diagnosis is None else diagnosis.stability
    found = {
        "map": None,
        "label_table": None,
        "proximity": None,
        "components": component_section(
            model, stability, feature_names=dataset.feature_names, label_names=dataset.label_names
        ),
    }
    if evidence is None:
        return found
    ids = None if dataset.ids is None else [dataset.ids[row] for row in evidence.rows]
    counts = dataset.Y.sum(axis=0).tolist()
    Y = dataset.Y.tocsr()[evidence.rows]
    return found | {
        "map": map_section(evidence.panels, Y, names, ids),
        "proximity": proximity_section(evidence.features, evidence.embeddings, Y, names, measure=measure),
        "label_table": label_section(
            names, counts, evidence.ap_raw, evidence.ap_embedded, evidence.thresholds, evidence.calibration
        ),
    }


def search_record(file: Path, seed: int, command: str, summary: dict, results: Results, found: dict) -> dict:
    """The record of a search; ``found`` holds its sections, the diagnosis as plain data and the search.

    It has no tested contrasts: on the folds they would flatter what was searched on these rows.
    """
    return make_record("search", summary, results.rows, command, seed=seed, data_hash=file_hash(file), **found)


def told_trials(trials: list[dict]) -> list[dict]:
    """The trials for the record; scores of those that were sorted out early are on fewer rows and are left out.

    Examples
    --------
    >>> from proxembed.cli.outputs import told_trials
    >>> told_trials([{"method": "OPLS", "complete": False, "scores": {2: 0.9}}])
    [{'method': 'OPLS', 'complete': False, 'scores': None}]
    """
    return [trial if trial["complete"] else {**trial, "scores": None} for trial in trials]
