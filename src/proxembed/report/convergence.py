"""The convergence of a search: the best score so far against evaluations and against seconds, as SVG text."""

from typing import Any

from proxembed.evaluate.measures import is_loss, unit_of_measure

from .figures import COLOURS, svg_text

AXES = (("evaluations", "evaluations (settings of a model)"), ("seconds", "seconds of the search"))


def convergence(found: dict[str, Any], *, narrow: bool = False) -> str:
    """Draw the best score so far against evaluations and against seconds, as steps, and the mean of each generation.

    Parameters
    ----------
    found : dict
        From ``adaptive_section``.
    narrow : bool, default=False
        For screens of a phone's width: one panel below the other.

    Returns
    -------
    str
        SVG markup without an XML head, its text kept as text.

    Examples
    --------
    >>> history = {"evaluations": [1, 4], "seconds": [0.1, 0.5], "best": [0.5, 0.6]}
    >>> generations = {"evaluations": [2, 4], "best": [0.5, 0.6], "mean": [0.4, 0.5]}
    >>> facts = {"history": history, "generations": generations, "measure": "subset accuracy", "rows": 60, "folds": 3}
    >>> "best subset accuracy so far (0 to 1)" in convergence(facts)
    True
    """
    history, generations = found["history"], found["generations"]

    def draw(figure: Any) -> None:
        shape = (2, 1) if narrow else (1, 2)
        panels = figure.subplots(*shape, sharey=True).ravel()
        for panel, (name, caption), colour, mark in zip(panels, AXES, COLOURS, "os", strict=False):
            values = history[name]
            panel.step(values, history["best"], where="post", color=colour, linewidth=1.8)
            panel.plot(values, history["best"], linestyle="none", marker=mark, markersize=4.5, color=colour)
            panel.set_xlabel(caption)
            panel.set_xlim(left=0)
            panel.grid(axis="y", color="#dddddd", linewidth=0.7)
            panel.yaxis.set_tick_params(labelleft=True)
            if narrow or panel is panels[0]:
                unit = " (sign changed)" if is_loss(found["measure"]) else unit_of_measure(found["measure"])
                panel.set_ylabel(f"best {found['measure']} so far{unit}")
        if len(generations["mean"]) > 1:
            look: Any = {"color": "#536170", "marker": "^", "markersize": 4.5, "linewidth": 1.0, "linestyle": "--"}
            panels[0].plot(generations["evaluations"], generations["mean"], label="mean of a generation", **look)
            panels[0].legend(frameon=False, loc="lower right", fontsize=9.5)
        n = f"n = {found['rows']:,} training rows, {found['folds']} inner folds"
        panels[0].set_title(n, fontsize=10, loc="left")

    return svg_text((4.0, 5.4) if narrow else (9.2, 3.3), draw, f"convergence-{narrow}")
