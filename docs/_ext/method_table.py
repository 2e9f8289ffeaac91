"""The table of all methods as pairs (A, B), written from the classes: the formula that each states in its docstring,
and what the pair of a default fit on the built-in digits is in fact."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from api_pages import summary, title_and_formula

from proxembed.algebra.template import Template
from proxembed.data import digits
from proxembed.estimator.base import SpectralEmbedder
from proxembed.estimator.catalogue import SHOWN, estimators, need_of, unknown_rule

N = 200
LABELS = {None: "none", "single": "one class", "multi": "label sets"}
PAGE = """# All methods as pairs (A, B)

Every spectral method maximises $\\operatorname{{tr}}[P^\\top A_P P]$ under $P^\\top B_P P = I$
([the template](../template.md)); the methods differ in the pair (A, B). *As stated* is the formula of the class. The
other columns describe the pair of a default fit on the first {n} built-in digits (64 features; ten classes, or the
label sets of seven attributes): the rank of the {n} x {n} matrix *A* (a rank of {n} - 1 = {rest} leaves out only the
mean), the rank of *B* if there is one (*I*: the columns of P are orthonormal), and the route of the solver.

*Unknown cells* says what fit does with a row of which some cells of y are unknown: an unknown cell is the *mean* of its
label (*fill or mean*: of numbers it is predicted; `unknown="drop"` leaves the row out), the row is *left out* of fit,
it counts as *unlabelled*, or its *known cells* are used ([Labels](../tutorials/labels.md)).

*L(W)* is the Laplacian of the weights *W*, *Y* the n x c matrix of labels, *Yc* the same with centred columns,
*N = diag(Y'1)*, *M* the diagonal matrix of the numbers of labels per row, *m* its diagonal, *nt* its sum.
{tables}

## Other methods

These methods do not solve such an eigenproblem.

| method | unknown cells | description |
|---|---|---|
{others}
"""
HEAD = "| method | as stated | labels | unknown cells | rank of A | B | route |\n|---|---|---|---|---|---|---|\n"


def stated(cls: type[SpectralEmbedder], X: np.ndarray, y: Any) -> tuple[Template, SpectralEmbedder]:
    """The pair that a default fit states, and the fitted method."""
    method, kept = cls(), []
    solve = method.solve
    method.solve = lambda template, rows, k: kept.append(template) or solve(template, rows, k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        method.fit(X, y)
    return kept[0], method


def rank(operator: Any) -> int:
    return int(np.linalg.matrix_rank(operator.todense(N), tol=1e-7 * max(np.abs(operator.diagonal(N)).max(), 1e-300)))


def row(name: str, cls: type[SpectralEmbedder], X: np.ndarray, kinds: dict[str | None, Any]) -> str:
    """The line of one method."""
    template, method = stated(cls, X, kinds[cls.class_traits.labels])
    title, formula = title_and_formula(cls)
    B = "I" if template.B is None else f"rank {rank(template.B)}"
    cells = [
        f"[`{name}`](api/{name}.md) {title}",
        f"`{formula}`" if formula else "",
        LABELS[method.traits.labels],
        unknown_rule(method),
        str(rank(template.A)),
        B if template.B is None or template.b == 0 else f"{B} + {template.b:g} I",
        getattr(method, "solver_", "all pairs"),
    ]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def table() -> dict[str, str]:
    """The page of the table, by its name."""
    data = digits().take(range(N))
    Y = data.Y.toarray().astype(int)
    kinds = {None: None, "single": np.unique(Y, axis=0, return_inverse=True)[1].ravel(), "multi": Y}
    tables, others = [], []
    for need in SHOWN:
        classes = {name: cls for name, cls in estimators("method", "model").items() if need_of(cls) == need}
        spectral = [row(name, cls, data.X, kinds) for name, cls in classes.items() if issubclass(cls, SpectralEmbedder)]
        if spectral:
            tables.append(f"\n## {need[0].upper()}{need[1:]}\n\n{HEAD}" + "\n".join(spectral) + "\n")
        others += [
            f"| [`{name}`](api/{name}.md) | {unknown_rule(cls())} | {summary(cls)} |"
            for name, cls in classes.items()
            if not issubclass(cls, SpectralEmbedder)
        ]
    text = PAGE.format(n=N, rest=N - 1, tables="".join(tables), others="\n".join(others))
    return {"methods.md": re.sub(r"\n{3,}", "\n\n", text)}
