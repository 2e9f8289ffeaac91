"""The figures of the DEFC experiment: test scores, class structure, and test rows as models place them.  [mu2012defc]

They show the first draw. Models are fitted again from the settings of the record, without a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics.pairwise import cosine_similarity

from papers.defc.criteria import CRITERIA, PUBLISHED
from papers.defc.findings import CRITERIA_ENDING, draw_words
from papers.defc.flda_trials import fitted
from papers.defc.parts import Parts
from papers.defc.rivals import GA, ORIGINAL, REDUCED, RIVALS, Scale
from papers.dots import dot_plot
from proxembed import EmbeddingModel
from proxembed.report.figures import COLOURS, MARKERS, shades, svg_text
from proxembed.report.matrices import gaussian_proximity

SCORES = {"1-NN": "scores-1nn.svg", "FLDA": "scores-flda.svg"}
FORMS, STRUCTURE = "criteria.svg", "class-structure.svg"
SHOWN = (ORIGINAL, "PCA", "MFA", "KFDA", "KMFA", GA)
MAPPED = {
    "banana": ("banana.svg", SHOWN),
    "Swiss roll": ("swiss-roll.svg", (ORIGINAL, "PCA", "LSI", "OLPP", "FDA", "MFA", "KFDA", "KMFA", GA)),
}
ROWS = 400  # test rows of a panel at most
SIDE = 3.1  # inches of a panel
PIXELS = 250  # of a matrix, a side, which is a panel at 81 pixels an inch
Found = Mapping[str, Any]


@dataclass(frozen=True)
class View:
    """Rows in a panel: ``Z`` (n, k), their classes ``y``, a title of what placed them, and what its columns are.

    ``cosine``: proximities are cosines, not Gaussian.
    """

    title: str
    Z: np.ndarray
    y: np.ndarray
    axes: tuple[str, ...] = ("component 1", "component 2")
    cosine: bool = False


def figures(record: Found, first: Mapping[str, Parts]) -> dict[str, tuple[str, str]]:
    """File name -> (what it shows in words, SVG); a figure without data is left out.

    Parameters
    ----------
    record : dict
        With its ``conclusions``.
    first : mapping of str to Parts
        Set -> the parts of the first draw.
    """
    made = {**_scores(record["conclusions"], record["draws"])}
    columns = [structures(record["parts"], name, parts) for name, parts in first.items()]
    columns += [_by_cosine(column) for column, parts in zip(columns, first.values(), strict=True) if issparse(parts.X)]
    if columns:
        words = "Class structure of the training rows, whose classes DEFC knows, before and after it (Figures 1 and 5)"
        made[STRUCTURE] = words, _structure(columns)
    for name, (file, methods) in MAPPED.items():
        if name in first and (views := maps(record["parts"], name, first[name], methods)):
            words = f"Test rows of {name} as each method places them (Figures 2 to 4)"
            made[file] = words, _maps(name, views, len(first[name].y_test))
    return made


def _scores(found: Found, draws: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """Test scores of all methods, and those of the three criteria."""
    made = {}
    for classifier, file in SCORES.items():
        ending = f", {classifier}"
        tables = {p.removesuffix(ending): found["tables"][p] for p in found["against"] if p.endswith(ending)}
        if tables:
            words = f"Test scores of all methods by {classifier} (Table V)"
            axis = _axis({name: number for name, number in draws.items() if name.endswith(ending)})
            made[file] = words, dot_plot(words, axis, _tests(tables, (GA, REDUCED, *RIVALS, ORIGINAL)), list(tables))
    tables = {name: found["tables"][name + CRITERIA_ENDING] for name in found["criteria"]}
    if tables:
        words, paper = "Fisher's criterion beside friends and enemies", "Reuters, the paper"
        axis = _axis({name: number for name, number in draws.items() if name.endswith(CRITERIA_ENDING)})
        rows = {form: {**values, paper: PUBLISHED[form] / 100} for form, values in _tests(tables, CRITERIA).items()}
        made[FORMS] = words, dot_plot(words, axis, rows, [*tables, paper])
    return made


def _axis(draws: Mapping[str, int]) -> str:
    """What is drawn, with the number of draws."""
    return f"share of right predictions on the test part, mean of n = {draw_words(draws)} draws"


def _tests(tables: Mapping[str, Found], names: Iterable[str]) -> dict[str, dict[str, float]]:
    """Method -> set -> mean test score, where it has one."""
    scores = {name: {one: table.get(name, {}).get("test") for one, table in tables.items()} for name in names}
    return {name: {one: value for one, value in each.items() if value is not None} for name, each in scores.items()}


def placed(entry: Found, parts: Parts) -> tuple[np.ndarray, np.ndarray]:
    """The training and the test rows as the chosen setting of an entry places them: (n, k) and (m, k)."""
    values, method, k = dict(entry["chosen"]), entry["method"], entry["k"]
    if method == ORIGINAL:
        return parts.X, parts.X_test
    if method in (GA, REDUCED):
        model: Any = EmbeddingModel.from_switches(values.pop("switches"), values)
    else:
        model = RIVALS[method].model(values, Scale.of(parts.X, parts.y))
    if isinstance(model, EmbeddingModel):
        model.set_params(n_components=k).fit(parts.X, parts.y)
    else:
        model, _ = fitted(model, k, parts.X, parts.y)
    both = [np.asarray(model.transform(X), dtype=np.float64)[:, :k] for X in (parts.X, parts.X_test)]
    return both[0], both[1]


def _entry(parts: Mapping[str, Sequence[Found]], part: str, method: str) -> Found | None:
    """The entry of a method on the first draw; None without a score."""
    held = (e for e in parts.get(part, []) if e["method"] == method and e["draw"] == 0 and e["test"] is not None)
    return next(held, None)


def structures(entries: Mapping[str, Sequence[Found]], name: str, parts: Parts) -> list[View]:
    """The training rows of a set in the order of their classes, as they are and, where it was run, as DEFC (FLDA)
    places them."""
    entry, order = _entry(entries, f"{name}, FLDA", GA), np.argsort(parts.y, kind="stable")
    X = parts.X.toarray() if issparse(parts.X) else parts.X
    views = [View(f"{name}, features", X[order], parts.y[order])]
    return views if entry is None else [*views, View(f"{name}, DEFC", placed(entry, parts)[0][order], parts.y[order])]


def _by_cosine(views: Sequence[View]) -> list[View]:
    """The same rows with proximities by the cosine."""
    return [replace(view, title=f"{view.title}, cosine", cosine=True) for view in views]


def maps(entries: Mapping[str, Sequence[Found]], name: str, parts: Parts, methods: Iterable[str] = SHOWN) -> list[View]:
    """Test rows as each method places them (chosen by FLDA), and as DEFC's best by 1-NN does; the title has the score.

    Of features in space the first and the last are shown.
    """
    asked = [(f"{name}, FLDA", method) for method in methods]
    asked += [(f"{name}, FLDA", REDUCED), (f"{name}, 1-NN", GA), (f"{name}, 1-NN", REDUCED)]
    made = []
    for part, method in asked:
        entry = _entry(entries, part, method)
        if entry is None:
            continue
        title, Z = f"{method}, {part.rpartition(', ')[2]}: {entry['test']:.4f}", placed(entry, parts)[1][:ROWS]
        if method == ORIGINAL:
            ends = "feature 1", f"feature {Z.shape[1]}"
            made.append(View(title, Z[:, [0, -1]], parts.y_test[:ROWS], ends))
        else:
            made.append(View(title, Z[:, :2], parts.y_test[:ROWS]))
    return made


def _structure(columns: Sequence[Sequence[View]]) -> str:
    """Proximities, one column per set; below the features the embedding, where there is one."""

    def draw(figure: Any) -> None:
        from matplotlib.colors import ListedColormap

        grid = figure.subplots(2, len(columns), squeeze=False)
        for views, column in zip(columns, grid.T, strict=True):
            for axes in column[len(views) :]:
                axes.set_visible(False)
            for view, axes in zip(views, column, strict=False):
                W = cosine_similarity(view.Z) if view.cosine else gaussian_proximity(view.Z)
                ends = np.cumsum(np.unique(view.y, return_counts=True)[1])
                look = {"cmap": ListedColormap(shades() / 255.0), "vmin": 0.0, "vmax": 1.0, "interpolation": "none"}
                image = axes.imshow(in_pixels(W), extent=(-0.5, len(W) - 0.5, len(W) - 0.5, -0.5), **look)
                axes.set_title(view.title, fontsize=10)
                axes.set_xlabel(f"n = {len(W)} training rows by class")
                axes.set_xticks(ends, spaced(ends), fontsize=7)
                axes.set_yticks(ends, [])
        figure.colorbar(
            image, ax=grid, label="exp(-squared distance / its median); the cosine, 0 where negative", shrink=0.7
        )

    return svg_text((SIDE * len(columns) + 1.2, 2 * SIDE + 0.8), draw, "class structure")


def in_pixels(W: np.ndarray) -> np.ndarray:
    """A square matrix by the means of equal squares of it, at most ``PIXELS`` a side; the last ones may be smaller."""
    size = -(-len(W) // PIXELS)
    starts = np.arange(0, len(W), size)
    sums = np.add.reduceat(np.add.reduceat(W, starts, axis=0), starts, axis=1)
    sides = np.diff([*starts, len(W)])
    return sums / np.outer(sides, sides)


def spaced(ends: Sequence[int]) -> list[str]:
    """The ends of the classes as text, those that would overlap left empty; the last one is always there."""
    words: list[str] = []
    for end in reversed(ends):
        shown = [int(word) for word in words if word]
        words.append(str(end) if not shown or shown[-1] - end >= ends[-1] / 12 else "")
    return words[::-1]


def _maps(name: str, views: Sequence[View], tested: int) -> str:
    """Three panels a row; a class has a colour and a mark."""
    down = -(-len(views) // 3)

    def draw(figure: Any) -> None:
        panels = figure.subplots(down, 3, squeeze=False).ravel()
        for number, (view, axes) in enumerate(zip(views, panels, strict=False)):
            flat = view.Z.shape[1] == 1
            for label in np.unique(view.y):
                here = view.y == label
                across = np.full(here.sum(), float(label)) if flat else view.Z[here, 1]
                look = {"color": COLOURS[label % len(COLOURS)], "marker": MARKERS[label % len(MARKERS)]}
                axes.plot(view.Z[here, 0], across, linestyle="", markersize=2.5, alpha=0.7, markeredgewidth=0,
                          gid=f"panel-{number}-class-{label}", label=f"class {label + 1}", **look)  # fmt: skip
            axes.set_title(view.title, fontsize=9.5)
            axes.set(xlabel=view.axes[0], ylabel="class" if flat else view.axes[1], xticks=[], yticks=[])
        for axes in panels[len(views) :]:
            axes.set_visible(False)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=len(labels), frameon=False, markerscale=2.5)
        shown = f"{name}: the first {len(views[0].y)} of n = {tested:,} test rows, draw 1; numbers are shares of right"
        figure.supxlabel(f"{shown} predictions on all of them; coordinates have no unit", fontsize=9)

    return svg_text((3 * SIDE, down * SIDE * 0.85 + 0.8), draw, f"maps of {name}")
