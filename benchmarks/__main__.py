"""`python -m benchmarks run|splits|page|madjarov`: the living benchmark."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from benchmarks import HOME, LAST_SECONDS, N_FOLDS, PAGE, PROTOCOLS, RESULTS, TRACKS
from proxembed.cli.refusal import refusals
from proxembed.cli.terminal import leave_interrupted
from proxembed.workflow.options import RunOptions, check_option

VARIABLE = "PROXEMBED_DATA"
ASKED = ("set", "protocol", "track")
app = typer.Typer(add_completion=False, no_args_is_help=True)
DATA = typer.Option(None, "--data", help=f"Folder of the data files; without it ${VARIABLE}.")
PLACE = typer.Option(HOME, "--home", help="Folder that holds splits/ and results/.", show_default="the benchmark's own")


@app.command()
def run(
    methods: list[str] = typer.Argument(None, metavar="[METHOD]...", help="Names; without one, those of the page."),
    data: Path = DATA,
    home: Path = PLACE,
    sets: str = typer.Option(None, "--sets", help="Data sets, separated by commas; without it all with stored folds."),
    protocols: str = typer.Option(",".join(PROTOCOLS), "--protocols", help="How folds are made."),
    tracks: str = typer.Option(",".join(TRACKS), "--tracks", help="All labels, or a fifth of the training rows."),
    folds: int = typer.Option(N_FOLDS, "--folds", min=1, max=N_FOLDS, help="The first folds only."),
    jobs: int = typer.Option(1, "--jobs", "-j", help="Processes, each with one BLAS thread; -1 is one per core."),
    force: bool = typer.Option(False, "--force", help="Run again what is stored."),
    lines: Path = typer.Option(
        None,
        "--lines",
        help="File for the lines of one METHOD; of MODULE:NAME without it a file in this folder.",
    ),
    max_seconds: float = typer.Option(
        LAST_SECONDS, "--max-seconds", min=0.001, help="CPU seconds of the last fit on a fold, of MODULE:NAME alone."
    ),
) -> None:
    """Run methods on every stored fold, at equal budgets; a stored fold is not run again.

    METHOD is a name that `proxembed search -m` takes, or MODULE:NAME of any transformer with fit and transform, such as
    sklearn.decomposition:PCA or my_module:make(depth=3). The ranks of such a transformer among the stored methods are
    shown, and its lines stay out of the stored ones.
    """
    with refusals():
        check_option(RunOptions, "n_jobs", jobs)
        from benchmarks.entrants import entrant
        from benchmarks.folds import check_tracks
        from benchmarks.runs import Plan, execute
        from benchmarks.standing import standing
        from benchmarks.store import read_file

        lines = lines_of(methods or (), lines, max_seconds, home)
        asked = (_sets(sets, home), _names(protocols, PROTOCOLS, "--protocols"), _names(tracks, TRACKS, "--tracks"))
        if sets is not None:
            check_tracks(asked[0], asked[2], home)
        plan = Plan.of(methods or None, *asked, folds, data_folder(data), home, force, lines, max_seconds)
        try:
            execute(plan, jobs, typer.echo)
        except KeyboardInterrupt:
            leave_interrupted("what is finished is stored, and the same command goes on from there.")
        if lines is None:
            return
        rows = read_file(lines, entrant(methods[0]).name, max_seconds)
        if rows := [row for row in rows if all(row[key] in some for key, some in zip(ASKED, asked, strict=True))]:
            typer.echo(f"\n{standing(rows, home)}\n\nlines: {lines}")


@app.command()
def splits(
    sets: list[str] = typer.Argument(None, metavar="[SET]...", help="Data sets; without one, all without folds."),
    data: Path = DATA,
    home: Path = PLACE,
) -> None:
    """Draw and store the folds of data sets that have none; a set that cannot be read is skipped, with the reason."""
    with refusals():
        from benchmarks.folds import make_folds, stored_facts, write_folds
        from benchmarks.sets import SETS, Unavailable, read_set

        held = stored_facts(home)
        if again := [name for name in sets or () if name in held]:
            raise ValueError(f"{again[0]} has stored folds, on which results rest; delete them first to draw others.")
        for name in sets or [name for name in SETS if name not in held]:
            try:
                folds = make_folds(read_set(name, data_folder(data)))
            except Unavailable as error:
                typer.echo(f"skipped: {error}")
                continue
            write_folds(name, folds, home)
            typer.echo(f"{name}: {len(folds.rows):,} of {folds.facts['rows']:,} rows, {folds.facts['hash'][:19]}")


@app.command()
def page(
    home: Path = PLACE,
    out: Path = typer.Option(PAGE, "--out", "-o", help="Folder of the page.", show_default="docs/results/benchmark"),
) -> None:
    """Make the page and its figures from the stored results."""
    with refusals():
        from benchmarks.page import write_page

        write_page(home, out)
        typer.echo(f"written: {out / 'README.md'}")


@app.command()
def madjarov(
    data: Path = DATA,
    sets: str = typer.Option(None, "--sets", help="Data sets, separated by commas; without it all six."),
) -> None:
    """Run what is missing beside Madjarov et al. (2012), on the train and test files of Mulan, and make its page."""
    with refusals():
        from benchmarks.madjarov import LINES, ON, PAGE, execute, write

        chosen = ON if sets is None else _names(sets, ON, "--sets")
        try:
            execute(chosen, data_folder(data), LINES, typer.echo)
        except KeyboardInterrupt:
            leave_interrupted("what is finished is stored, and the same command goes on from there.")
        write(LINES, PAGE)
        typer.echo(f"written: {PAGE / 'README.md'}")


def lines_of(methods: Sequence[str], lines: Path | None, max_seconds: float, home: Path) -> Path | None:
    """The file of the lines of one method; None where those of methods go among the stored ones."""
    from benchmarks.entered import is_outside
    from benchmarks.store import file_name

    outside = [name for name in methods if is_outside(name)]
    if (outside or lines is not None) and len(methods) != 1:
        raise ValueError(
            f"{outside[0] if outside else '--lines'} needs a run of its own, with one METHOD; {len(methods)} are named."
        )
    among = not outside or (lines is not None and lines.resolve().parent == (home / RESULTS).resolve())
    if among and max_seconds != LAST_SECONDS:
        raise ValueError(
            f"--max-seconds {max_seconds:g} would give other seconds than those of the stored methods; leave it out, "
            "or name a transformer from outside and another file."
        )
    return lines if lines is not None or not outside else Path(file_name(outside[0]))


def data_folder(given: Path | None) -> Path | None:
    """The folder of the data files, from --data or the environment; None where neither names one."""
    named = given if given is not None else os.environ.get(VARIABLE)
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        told = "--data" if given is not None else f"${VARIABLE}"
        raise ValueError(f"{told} names {folder}, which is no folder; name the folder that holds the data files.")
    return folder


def _names(text: str, known: tuple[str, ...], option: str) -> tuple[str, ...]:
    """Names separated by commas, all of them known."""
    wanted = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    unknown = [part for part in wanted if part not in known]
    if unknown:
        raise ValueError(f"{option} {text!r} names {unknown[0]!r}; it takes {', '.join(known)}.")
    return wanted


def _sets(text: str | None, home: Path) -> tuple[str, ...]:
    """The sets that have stored folds, or those that are named."""
    from benchmarks.folds import stored_facts
    from benchmarks.sets import SETS

    held = stored_facts(home)
    known = tuple(sorted(held, key=lambda name: list(SETS).index(name) if name in SETS else len(SETS)))
    if not known:
        raise ValueError(f"{home} has no stored folds; make them by `python -m benchmarks splits`.")
    return known if text is None else _names(text, known, "--sets")


if __name__ == "__main__":
    app(prog_name="python -m benchmarks")
