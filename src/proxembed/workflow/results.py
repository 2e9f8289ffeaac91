"""What a comparison and a search return: the verdict, the leaderboard, the model, and the page."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from proxembed.evaluate.results import Results
from proxembed.params import safe_repr
from proxembed.report import map_axes, measured_axes, page_html, verdict_card
from proxembed.tables import RawRows
from proxembed.tables.frames import frame_of
from proxembed.tables.notes import few_names

from .arm_models import arm_model
from .differing_rows import DifferingRows, differing_rows, selected_rows
from .explained_rows import ExplainedRow, RowExplainer
from .map_table import (
    check_map_table,
    features_in_units,
    first_colour,
    map_columns,
    map_places,
    map_widget,
    row_columns,
    write_map_table,
)
from .record import EVIDENCE, SAVED, RunFolder, evidence_files, kept_model, run_folder, saved_model, unfinished_file
from .tracking import log_search

NO_MODEL = "there is no model: the search was interrupted before its last fit; let it run longer."
NO_VERDICT = {
    "lacks": "comparison",
    "goals": {},
    "text": "No verdict: the search was interrupted before its result was compared with rivals.",
    "note": "",
}


class Comparison:
    """A finished comparison of methods and rivals.

    Attributes
    ----------
    verdict : dict
        ``text`` in words, ``goals`` with the figures of each goal ("neighbours", "predict", "compress", "map"): its
        ``word`` ("better", "level", "worse", "cannot tell"), ``sentence``, ``arm``, ``k``, ``value``, ``base``,
        ``gain``, ``interval``, ``rival``.
    leaderboard : DataFrame, or list of dict where pandas is not installed
        One row per arm at its best size, best first: means over the folds, values on the test rows ("test ..."),
        seconds per fold.
    notes : tuple of str
        Notes about the data: columns left out as ids, proposed groups, how labels were read, columns that alone
        predict a label.
    dataset : Dataset
        All rows.
    record : dict
        Everything as plain data, as in ``results.json``.
    interrupted : bool
        Whether Ctrl-C ended the run early.
    folder : RunFolder or None
        The output folder of the run.

    See Also
    --------
    proxembed.compare : Methods and rivals on the same folds.
    proxembed.SearchResult : What ``search`` returns.

    Examples
    --------
    >>> import proxembed
    >>> from proxembed.data import banana
    >>> found = proxembed.compare(banana().take(range(100)), methods="opls", n_components=1, folds=2)
    >>> found
    Comparison(predict='...', neighbours='...', compress='...', arms=...)
    >>> found.report()[:15]
    '<!doctype html>'
    """

    names: tuple[str, ...] = EVIDENCE

    def __init__(self, record: dict[str, Any], results: Results | None, folder: RunFolder | None, dataset: Any = None):
        self.record, self.results, self.folder, self.dataset = record, results, folder, dataset

    @property
    def _rows_of_models(self) -> Any:
        """The rows on which models are fitted."""
        return self.dataset

    @property
    def compared(self) -> bool:
        """Whether there is a comparison: Ctrl-C may end a search before it."""
        return "summary" in self.record

    @property
    def verdict(self) -> dict[str, Any]:
        return self.record["summary"]["verdict"] if self.compared else NO_VERDICT

    @property
    def interrupted(self) -> bool:
        return not self.compared or self.record["summary"]["interrupted"]

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self.record["summary"]["dataset"].get("notes", ())) if self.compared else ()

    @property
    def leaderboard(self) -> Any:
        rows = leaderboard_rows(self.record["summary"]) if self.compared else []
        try:
            from pandas import DataFrame
        except ModuleNotFoundError:
            return rows
        return DataFrame(rows)

    def report(self) -> str:
        """The page as HTML text: one file without network, see ``save``.

        Raises
        ------
        ValueError
            The run was interrupted before it had a comparison.
        """
        if not self.compared:
            raise ValueError("no page can be made: the search was interrupted before a comparison; let it run longer.")
        return page_html(self.record)

    def plot(self, ax: Any = None, output: str | int | None = None) -> Any:
        """Draw the map of rows that were held out from its fit: two components of the best method, coloured by label,
        or for numbers by viridis of the rank of an output, or its classes (grey where it is unknown).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; None makes a figure.
        output : str or int, optional
            Name or number of the output, of those on the page; None: the first. Labels have none.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ValueError
            There is no such output, or no map: the run was interrupted before it, or no method could be fitted.

        Examples
        --------
        >>> import proxembed
        >>> from matplotlib.figure import Figure
        >>> from proxembed.data import digits
        >>> found = proxembed.compare(digits().take(range(100)), methods="opls", n_components=2, folds=2)
        >>> found.plot(Figure().add_subplot()).get_title(loc="left")
        'OPLS: 49 held-out rows'
        """
        if self.record.get("measured"):
            return measured_axes(self.record["measured"], ax, output)
        if output is not None:
            raise ValueError(f"output={safe_repr(output)} is of numbers; the map of labels shows all of them.")
        if "map" not in self.record:
            raise ValueError("no map can be drawn: the run was interrupted before it, or no method could be fitted.")
        return map_axes(self.record["map"], ax)

    def compare_model(self, name: str) -> Any:
        """The model of a row of the leaderboard, method or rival, at the size of that row: fitted as the saved model of
        a search is, on all rows (on the training rows where a search was told the test rows).

        Parameters
        ----------
        name : str
            As in the column "arm", such as "logistic regression"; upper and lower case do not matter.

        Returns
        -------
        EmbeddingPipeline
            ``predict`` returns labels or numbers, ``transform`` places rows: a rival that predicts places them at its
            scores, and "all features" are the scaled features with a ridge read-out. `proxembed.save` writes it.

        Raises
        ------
        ValueError
            The leaderboard has no such row, the arm failed there, or it cannot be fitted to all rows.

        Examples
        --------
        >>> import proxembed
        >>> from proxembed.data import digits
        >>> data = digits().take(range(100))
        >>> found = proxembed.compare(data, methods="opls", n_components=5, folds=2)
        >>> found.compare_model("label scores").predict(data.X[:2]).shape
        (2, 7)
        """
        if not self.compared or self.results is None:
            raise ValueError("no arm was compared: the search was interrupted before a comparison; let it run longer.")
        return arm_model(name, self.results, self.record["summary"]["best"], self._rows_of_models)

    def keep(self, name: str) -> None:
        """Write the model of ``compare_model`` into the folder of the run, as ``rival.skops`` with its card.

        Raises
        ------
        ValueError
            The run has no folder, or there is no such model, or none that can be saved.
        """
        if self.folder is None:
            raise ValueError("this run has no folder: write the model with proxembed.save(model, path).")
        model, place = self.compare_model(name), self.folder
        given = self._rows_of_models, place.folder, self.record["summary"], self.record["command"]
        place.write({**kept_model(model, name, *given)})

    def save(self, folder: str | Path) -> list[Path]:
        """Write the files that the program leaves into a folder; the paths.

        Raises
        ------
        OSError, ValueError
            The folder cannot be written, or another run writes there.
        """
        with run_folder(Path(folder), self.names) as place:
            place.write(self._files(Path(folder)))
        return place.paths

    def _files(self, folder: Path) -> Mapping[str, bytes]:
        results: Any = self.results
        return evidence_files(self.record, results)

    def _repr_html_(self) -> str:
        return verdict_card(self.verdict)

    def __repr__(self) -> str:
        arms = len(self.record["summary"]["best"]) if self.compared else 0
        words = "".join(f"{name}={goal['word']!r}, " for name, goal in self.verdict["goals"].items())
        return f"{type(self).__name__}({words}arms={arms})"


class SearchResult(Comparison):
    """A finished search: the content of a ``Comparison``, and the chosen model.

    Attributes
    ----------
    model : EmbeddingPipeline
        Scaling, embedding and read-out; None if Ctrl-C came before it. ``transform`` embeds new rows, ``predict``
        returns their labels, ``explain`` lists the features and labels of a component.
    dataset, fitted_on : Dataset
        All rows, and those that the model was fitted on: all rows, or the training rows if test rows were named.
    embedding : array of shape (n, k)
        Embedding of all rows. Rows that the model was fitted on look better than new ones.
    diagnosis : Diagnosis or None
        The comparison with shuffled labels, and the stability of the components.
    name : str
        The chosen method.
    cuts : tuple of str
        What was left out or made smaller for the budget; empty if nothing was.

    See Also
    --------
    proxembed.search : The best embedding of a data set, and its verdict.
    proxembed.Comparison : What ``compare`` returns.

    Examples
    --------
    >>> import proxembed
    >>> from proxembed.data import digits
    >>> data = digits().take(range(300))
    >>> found = proxembed.search(data, methods="opls", n_components=5, max_trials=1, folds=2, shuffles=0,
    ...                          max_work=5)
    >>> found.name, found.embedding.shape, found.model.predict(data.X[:2]).shape
    ('OPLS', (300, 5), (2, 7))
    >>> "maps laid out from all components" in found.cuts
    True
    """

    names = (*SAVED, *EVIDENCE)

    def __init__(
        self,
        record: dict[str, Any],
        results: Results | None,
        folder: RunFolder | None,
        *,
        dataset: Any,
        fitted_on: Any,
        name: str,
        model: Any = None,
        diagnosis: Any = None,
        sampled: int | None = None,
    ):
        super().__init__(record, results, folder, dataset)
        self.sampled = sampled
        self.fitted_on, self.name, self.model, self.diagnosis = fitted_on, name, model, diagnosis

    @property
    def _rows_of_models(self) -> Any:
        return self.fitted_on

    def explain_row(self, x: Any) -> ExplainedRow:
        """Why the model predicts what it predicts for a row: its ten nearest training rows, the features that moved its
        score most, and whether it is far from all training rows.

        Parameters
        ----------
        x : array of shape (d,) or (1, d), Series or dict with the names of the columns, or DataFrame of one row
            Otherwise as ``model.predict`` takes rows.

        Returns
        -------
        ExplainedRow
            ``print`` shows it; ``nearest``, ``moved``, ``far`` and ``describe()`` hold it. Rows without ids are named
            by their number in ``dataset``, from 0.

        Raises
        ------
        ValueError
            There is no model, or x is not one row.

        Examples
        --------
        >>> import proxembed
        >>> from proxembed.data import digits
        >>> data = digits().take(range(300))
        >>> found = proxembed.search(data, methods="opls", n_components=5, max_trials=1, folds=2, shuffles=0,
        ...                          max_work=5)
        >>> why = found.explain_row(data.X[0])
        >>> len(why.nearest), why.far
        (10, False)
        """
        if self.model is None:
            raise ValueError(NO_MODEL)
        rows = _rows_of_one(x)
        if getattr(rows, "shape", (1,))[0] != 1:
            raise ValueError(f"x must be one row; got {rows.shape[0]}.")
        return self._explainer.explain(rows)[0]

    @cached_property
    def _explainer(self) -> RowExplainer:
        rows = None if self.fitted_on is self.dataset else self.dataset.train_idx
        return RowExplainer(self.model, self.fitted_on, rows=rows)

    @cached_property
    def _places(self) -> Any:
        """The places of all rows on a map, and whether the model has not seen them."""
        if self.model is None:
            raise ValueError(NO_MODEL)
        return map_places(self.embedding), self._held_out

    @property
    def _held_out(self) -> Any:
        """Which rows of the data set the model has not seen (mask)."""
        held_out = np.zeros(self.dataset.X.shape[0], dtype=bool)
        if self.fitted_on is not self.dataset:
            held_out[:] = True
            held_out[self.dataset.train_idx] = False
        return held_out

    def map(self, color: str | None = None, **settings: Any) -> Any:
        """An interactive map of all rows for notebooks: zoom, tooltips, and a lasso (hold Shift, or long press).

        Places are the embedding where it has two components, else its layout by t-SNE or UMAP, as ``Layout`` draws it.
        Rows that the model was fitted on look better on it than new rows do.

        Parameters
        ----------
        color : str, optional
            The column that colours the rows: "labels", "held_out", a label or an output; None: the class, of several
            labels per row the most frequent one, or the first output.
        **settings : of jscatter.Scatter
            Such as ``height=600`` (pixels; 480 unless given), ``width`` or ``opacity``.

        Returns
        -------
        jscatter.Scatter
            ``selection()`` returns the numbers of the rows in the lasso, which `explain_rows` takes.

        Raises
        ------
        ValueError
            There is no model, or no such column.
        ImportError
            jupyter-scatter is not installed.
        """
        places, held_out = self._places
        columns = row_columns(self.dataset, held_out)
        known = [name for name in columns if name != "id"]
        if color is not None and color not in known:
            raise ValueError(f"color={safe_repr(color)} is not a column of the map, which has {few_names(known)}.")
        colour = first_colour(self.dataset, columns) if color is None else color
        return map_widget(places, columns, colour, **settings)

    def write_map(self, path: str | Path) -> Path:
        """Write the map as a Parquet file, which `embedding-atlas` opens: `embedding-atlas map.parquet --x x --y y
        --neighbors neighbors`.

        Parameters
        ----------
        path : str or Path
            A name that ends in .parquet.

        Returns
        -------
        Path
            Of columns id (if rows have ids), x, y, held_out, labels with a column of 0 and 1 per label (at most 50), or
            the outputs, and the ten nearest rows in the embedding.

        Raises
        ------
        ValueError
            There is no model, the name ends otherwise, or pyarrow is not installed.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import proxembed
        >>> from proxembed.data import digits
        >>> data = digits().take(range(100))
        >>> found = proxembed.search(data, methods="opls", n_components=2, max_trials=1, folds=2, shuffles=0,
        ...                          max_work=5)
        >>> found.write_map(pathlib.Path(tempfile.mkdtemp(), "map.parquet")).name
        'map.parquet'
        """
        place = check_map_table(Path(path))
        places, held_out = self._places
        return write_map_table(place, map_columns(self.dataset, places, held_out, self.embedding))

    def log(self, to: Any, name: str | None = None, arms: int = 3) -> Any:
        """Log the search to MLflow or skore.

        MLflow is given the parameters and values of the chosen method, the leaderboard as a table, the files that
        `save` writes, and the model, which `mlflow.sklearn.load_model` loads. A project of skore is given a report
        (`skore.EstimatorReport`) of the model and of those of the first rows of the leaderboard, on rows that the model
        has not seen; `project.summarize()` compares them. (skore 0.28 cannot `get` a report of a fitted estimator from
        a local project, whoever made it.)

        Parameters
        ----------
        to : "mlflow" or skore.Project
            MLflow: the active run, else a new one of the active experiment.
        name : str, optional
            Of the new run, or the key of the report of the model; None: the name of the method.
        arms : int, default=3
            Rows of the leaderboard whose models are fitted and put beside it in a project of skore.

        Returns
        -------
        str or list of str
            The id of the run, or the keys of the reports.

        Raises
        ------
        ValueError
            There is no model; for skore also where the model has seen all rows.
        ImportError
            The package is not installed.
        """
        if self.model is None or not self.compared:
            raise ValueError(NO_MODEL)
        rows = leaderboard_rows(self.record["summary"])
        return log_search(self, to, self.name if name is None else name, rows, arms)

    def explain_rows(self, selection: Any) -> DifferingRows:
        """What the rows of a selection have in common: the labels, or outputs, and features that differ between them
        and the other rows.

        Each has an effect, Cliff's delta (of two values the difference of their shares), and a p of Fisher's exact test
        for two values, else of the rank sum test, corrected by Holm's rule for all of them [cliff1993dominance]. Where
        the model has not seen at least 5 of the rows inside and 5 outside (`held_out`), these alone are compared, since
        labels help to place the rows of a fit. Features place all rows, so that some differ wherever a selection is
        drawn on a map: their p tells less than their effect.

        Means are in the units of the features: of a value of a category, and of a word, they are the share of the rows
        that hold it. An empty number counts as the median.

        Parameters
        ----------
        selection : array or set of int or of ids, or array of bool of shape (n,)
            Rows of ``dataset`` from 0, such as ``widget.selection()`` of a map; or their ids: the index of a DataFrame
            that has a different text for each row, or the column that holds some.

        Returns
        -------
        DifferingRows
            A table that prints; ``to_frame()`` gives all of it, ``entries`` its lines.

        Raises
        ------
        ValueError
            For numbers or ids of no rows, a selection of none or all rows, or rows before an encoder without a model.

        Examples
        --------
        >>> import proxembed
        >>> from proxembed.data import digits
        >>> data = digits().take(range(200))
        >>> found = proxembed.search(data, methods="opls", n_components=2, max_trials=1, folds=2, shuffles=0,
        ...                          max_work=5)
        >>> odd = found.explain_rows(data.Y[:, [0]].toarray()[:, 0] > 0)
        >>> odd.inside, odd.outside, odd[0].name, odd[0].effect
        (100, 100, 'even', 1.0)
        """
        selected = selected_rows(selection, self.dataset.X.shape[0], self.dataset.row_names)
        return differing_rows(self.dataset, *self._features_in_units, selected, self._held_out)

    @cached_property
    def _features_in_units(self) -> tuple[Any, list[str]]:
        """The features of all rows, those of an encoder as it gives them, and their names."""
        if not isinstance(self.dataset.X, RawRows):
            return features_in_units(self.dataset)
        if self.model is None:
            raise ValueError(NO_MODEL)
        encoder = self.model.steps[0][1]
        return encoder.transform(self.dataset.X), list(encoder.get_feature_names_out())

    @property
    def cuts(self) -> tuple[str, ...]:
        return tuple(self.record["search"]["budget"]["cuts"]) if self.compared else ()

    @property
    def embedding(self) -> Any:
        return None if self.model is None else self.model.transform(self.dataset.X)

    def _files(self, folder: Path) -> Mapping[str, bytes]:
        summary = self.record["summary"] if self.compared else None
        files = super()._files(folder) if self.compared else unfinished_file(self.record)
        if self.model is None:
            return files
        command = self.record["command"]
        saved = saved_model(self.model, self.dataset, self.fitted_on, folder, summary, command, self.sampled)
        return {**saved, **files}


def _rows_of_one(x: Any) -> Any:
    """A row as rows of a model: by the names of a Series or dict, else by position."""
    x = frame_of(x)
    if hasattr(x, "columns"):
        return x
    if isinstance(x, Mapping) and not issparse(x):
        from pandas import DataFrame

        return DataFrame([x])
    if np.ndim(x) == 0:
        raise ValueError(
            f"x must be one row: an array, a Series, a dict or a DataFrame; got {safe_repr(x)}; for row 20 of a "
            "DataFrame X pass X.iloc[[20]]."
        )
    if hasattr(x, "iloc") and type(x.index).__name__ != "RangeIndex":
        return x.to_frame().T
    return np.reshape(x, (1, -1)) if np.ndim(x) == 1 else x


def leaderboard_rows(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """One record per arm at its best size: means over the folds, test values where there are some, seconds."""
    tested = any(score["test"] is not None for entry in summary["best"] for score in entry["scores"].values())
    rows = []
    for entry in summary["best"]:
        row = {key: entry[key] for key in ("arm", "rival", "k")}
        row |= {name: score["mean"] for name, score in entry["scores"].items()}
        if tested:
            row |= {f"test {name}": score["test"] for name, score in entry["scores"].items()}
        rows.append(row | {"seconds": entry["seconds"]})
    return rows
