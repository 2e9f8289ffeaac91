"""The map of a data set: training and held-out rows laid out beside shuffled labels, as one page or as pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from proxembed.data import Dataset
from proxembed.estimator.catalogue import name_of, title_of
from proxembed.evaluate.arms import method_arms
from proxembed.evaluate.costs import Shape, fit_work, machine_speed, shape_of
from proxembed.evaluate.evidence import drawn_maps
from proxembed.evaluate.part import prepare
from proxembed.execute.atomic_files import write_whole
from proxembed.execute.configuration import own_configuration
from proxembed.execute.executor import Progress, silent
from proxembed.features.layouts import check_installed, layout_named
from proxembed.methods.kernelized import Kernelized
from proxembed.methods.layout import Layout
from proxembed.params import check_params
from proxembed.report.map_page import map_image, map_page_html, map_record
from proxembed.study.candidates import suited

from .labelled_data import check_labels, with_test_rows
from .options import OptionError

MAP_SUFFIXES = (".html", ".png", ".svg")


def map_layout(method: str | None, layout: str, seed: int, n_rows: int, *, several_labels: bool = True) -> Layout:
    """The unfitted layout of a method by name, for a number of training rows."""
    if method is None:
        inner: Any = Kernelized()
    else:
        arms = method_arms([method], several_labels=several_labels)
        inner = arms[0].estimator
        if len(arms) > 1 or isinstance(inner, Layout):
            raise OptionError("method", method, "must name one method whose components are laid out, such as opls.")
    found = Layout(suited(inner, n_rows, seed), layout=layout, random_state=seed)
    check_params(found)
    try:
        check_installed("the map", layout_named(layout))
    except ImportError as error:
        raise OptionError("layout", layout, f"cannot be used: {error}") from error
    return found


@own_configuration()
def draw_map(
    dataset: Dataset,
    method: str | None = None,
    layout: str = "auto",
    *,
    seed: int = 0,
    command: str = "",
    progress: Progress | None = None,
) -> dict[str, Any]:
    """What the page of a map shows: the rows of a data set, a quarter held out where it names no test rows."""
    check_labels(dataset, dataset.name)
    dataset, split = with_test_rows(dataset, seed)
    chosen = map_layout(method, layout, seed, len(split.train), several_labels=not dataset.single_label)
    part, progress = prepare(dataset, split, seed), progress or silent
    progress(0, 0, f"forecast: {forecast_text(chosen, shape_of(dataset.X[split.train], len(dataset.label_names)))}")
    maps = drawn_maps(chosen, part, progress=progress)
    rows = split._replace(held_out=part.rows)
    facts = {
        "method": name_of(chosen.method),
        "title": title_of(chosen.method),
        "layout": layout_named(layout),
        "seed": seed,
        "command": command,
    }
    Y = sp.vstack([sp.csr_array(dataset.Y)[rows.train], sp.csr_array(part.Y_held_out.astype(np.uint8))])
    return map_record(maps, Y, dataset, rows, facts)


def forecast_text(layout: Layout, shape: Shape) -> str:
    """How long the maps of a layout take on this machine, about."""
    one, honest = (fit_work(clone(layout).set_params(honest=each), shape) / machine_speed() for each in (False, True))
    return f"2 maps of about {one:,.0f} s each; where these flatter the training rows, 2 honest ones of {honest:,.0f} s"


def check_map_path(path: Path) -> Path:
    """The path of a map, whose name ends in .html, .png or .svg."""
    if path.suffix not in MAP_SUFFIXES:
        raise ValueError(f"-o {str(path)!r} must end in .html, .png or .svg.")
    return path


def write_map(record: dict[str, Any], path: Path) -> None:
    """Write the page or the picture of a map, by the end of the name."""
    html = path.suffix == ".html"
    write_whole({path: map_page_html(record).encode() if html else map_image(record, path.suffix[1:])})


def map_facts(record: dict[str, Any]) -> dict[str, Any]:
    """The figures of a map as plain data, for programs and the terminal."""
    names = ("inside", "outside", "among")
    maps = []
    for pair in record["pairs"]:
        own, null = ({name: pair[each][name] for name in names} for each in ("map", "null"))
        maps.append({"map": "honest" if pair["honest"] else "plain", **own, "null": null})
    shared = ("name", "method", "layout", "seed", "train", "held_out", "chance")
    return {**{name: record[name] for name in shared}, "maps": maps}
