"""One self-contained page: verdict, k-curves, leaderboard, data card, how it was measured, how to repeat it."""

import platform
from importlib import metadata

from .figures import k_curve

PACKAGES = ("proxembed", "numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that the numbers rest on.

    Examples
    --------
    >>> from proxembed.report.page import versions
    >>> "numpy" in versions()
    True
    """
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed as a package"
    return found


def data_card(facts: dict) -> list[tuple[str, str]]:
    """Facts of a data set as pairs of words, for the page and the terminal.

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.report.page import data_card
    >>> data_card(digits().describe())[1]
    ('rows x features', '1,797 x 64 (dense)')
    """
    kind = "sparse" if facts["sparse"] else "dense"
    rows = [
        ("name", facts["name"]),
        ("rows x features", f"{facts['n']:,} x {facts['d']:,} ({kind})"),
        ("labels", f"{facts['labels']:,}" + (" classes, one a row" if facts["single_label"] else "")),
        ("labels a row (cardinality)", f"{facts['cardinality']:.3f}"),
        ("label density", f"{facts['density']:.3f}"),
        ("distinct label sets", f"{facts['label_sets']:,}"),
        ("rows without a label", f"{facts['rows_without_label']:,}"),
        ("cells with unknown label", f"{facts['unknown_cells']:,}"),
        ("labels without a row", f"{facts['labels_without_row']:,}"),
        ("all-zero feature rows", f"{facts['zero_rows']:,}"),
        ("duplicate rows (may leak between folds)", f"{facts['duplicate_rows']:,}"),
        ("constant features", f"{facts['constant_features']:,}"),
        ("share of nonzero features", f"{facts['nonzero_share']:.3f}"),
    ]
    if facts["train"] is not None and facts["test"] is not None:
        rows.append(("standard split, train / test", f"{facts['train']:,} / {facts['test']:,}"))
    if facts["licence"]:
        rows.append(("licence", facts["licence"]))
    return rows


def score_text(score: dict) -> str:
    """A mean with its standard error, as in the tables.

    Examples
    --------
    >>> from proxembed.report.page import score_text
    >>> score_text({"mean": 0.5, "standard_error": 0.01})
    '0.500 ± 0.010'
    """
    error = "" if score["standard_error"] is None else f" ± {score['standard_error']:.3f}"
    return f"{score['mean']:.3f}{error}"


def page_html(summary: dict, command: str) -> str:
    """Write the page of a comparison as HTML text, with all names escaped and nothing fetched from elsewhere.

    Parameters
    ----------
    summary : dict
        From ``summarise``.
    command : str
        The command that repeats the run.

    Returns
    -------
    str

    Examples
    --------
    >>> from proxembed.data import digits
    >>> from proxembed.evaluate.arms import Arm
    >>> from proxembed.evaluate.protocol import Protocol, run
    >>> from proxembed.report import page_html, summarise
    >>> protocol = Protocol((Arm("all features", None, rival=True),), sizes=(2,), n_folds=2)
    >>> page_html(summarise(run(protocol, digits())), "proxembed demo")[:15]
    '<!doctype html>'
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("proxembed.report", "html"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    primary, neighbors = summary["measures"][0], summary["measures"][-1]
    curves = [(name, k_curve(summary, name), k_curve(summary, name, narrow=True)) for name in (primary, neighbors)]
    return environment.get_template("page.html").render(
        s=summary,
        curves=[(name, Markup(wide), Markup(narrow)) for name, wide, narrow in curves],
        card=data_card(summary["dataset"]),
        command=command,
        versions=versions(),
        score=score_text,
        short=lambda name: name.replace("average precision", "AP"),
        tested=any(entry["scores"][primary]["test"] is not None for entry in summary["leaderboard"]),
    )
