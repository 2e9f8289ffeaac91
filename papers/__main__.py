"""`python -m papers NAME`: an experiment of a paper, run again."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import typer

from proxembed.cli.refusal import refusals
from proxembed.cli.terminal import leave_interrupted
from proxembed.workflow.options import RunOptions, check_option

VARIABLE = "PROXEMBED_DATA"


def reproduce(
    name: str = typer.Argument(None, metavar="[NAME]", help="The experiment; without it, their list."),
    data: Path = typer.Option(None, "--data", help=f"Folder of the data files; without it ${VARIABLE}."),
    out: Path = typer.Option(None, "--out", "-o", help="Folder of the results; without it NAME."),
    seed: int = typer.Option(0, "--seed", help="Seed of parts, draws and rivals.", min=0),
    quick: bool = typer.Option(False, "--quick", help="A small part of the rows and settings: does everything run?"),
    sets: str = typer.Option(None, "--sets", help="Data sets of an experiment on several, separated by commas."),
    draws: int = typer.Option(
        None, "--draws", min=1, help="Random draws of the parts; without it those of the plan. More go on from fewer."
    ),
    jobs: int = typer.Option(-1, "--jobs", "-j", help="Processes; -1 is one per core."),
    force: bool = typer.Option(False, "--force", help="Do again what the folder holds already."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Run an experiment of a paper again, its published figures beside ours; a finished part is not done twice."""
    with refusals():
        check_option(RunOptions, "n_jobs", jobs)
        if name is None:
            list_experiments(json_output)
            return
        from papers import Request, experiment
        from proxembed.cli.terminal import progress_bar
        from proxembed.workflow.record import file_hash, run_folder

        chosen = experiment(name)
        names = chosen_sets(sets, chosen)
        check_draws(draws, chosen)
        place = data_folder(data)
        files = data_files(place, names or chosen.files)
        with run_folder(out or Path(name)) as run, progress_bar(quiet=json_output) as progress:
            hashes = {path.name: file_hash(path) or "" for path in files}
            command = shlex.join(["python", "-m", "papers", *sys.argv[1:]])
            request = Request(place, run.folder, seed, quick, jobs, force, names, command, hashes, progress, draws)
            record = finished(chosen, request)
        shown(record, run.folder, json_output)


def list_experiments(json_output: bool) -> None:
    """Print the experiments."""
    from papers import EXPERIMENTS

    if json_output:
        import json

        facts = [{"name": each.name, "title": each.title, "minutes": each.minutes} for each in EXPERIMENTS.values()]
        typer.echo(json.dumps(facts, indent=2))
        return
    for each in EXPERIMENTS.values():
        typer.echo(f"{each.name} (up to {each.minutes} minutes on 2 cores)\n    {each.title}")


def chosen_sets(text: str | None, experiment) -> tuple[str, ...]:
    """Read --sets.

    Examples
    --------
    >>> from papers.__main__ import chosen_sets
    >>> from papers import experiment
    >>> chosen_sets("yeast, scene", experiment("mvmd"))
    ('yeast', 'scene')
    """
    if text is None:
        return ()
    if not experiment.has_sets:
        raise ValueError(
            f"--sets is for an experiment on several sets; {experiment.name} has its own data. Leave it out."
        )
    wanted = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    unknown = [part for part in wanted if part not in experiment.files]
    if unknown:
        raise ValueError(f"--sets {text!r} names {unknown[0]!r}; the sets are {', '.join(experiment.files)}.")
    return wanted


def check_draws(draws: int | None, experiment) -> None:
    """Refuse --draws for an experiment whose draws are part of its plan."""
    if draws is not None and not experiment.has_draws:
        raise ValueError(f"the draws of {experiment.name} are part of its plan; leave out --draws.")


def data_folder(given: Path | None) -> Path:
    """The folder of the data files, from --data or the environment."""
    named = given if given is not None else os.environ.get(VARIABLE)
    if not named:
        raise ValueError(f"no folder of data files is named; give --data DIR, or set {VARIABLE}.")
    folder = Path(named)
    if not folder.is_dir():
        told = "--data" if given is not None else f"${VARIABLE}"
        raise ValueError(f"{told} names {folder}, which is no folder; name the folder that holds the data files.")
    return folder


def data_files(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """The files that an experiment reads; all must be there before it starts."""
    files = [folder / f"{name}.npz" for name in names]
    missing = [path.name for path in files if not path.is_file()]
    if missing:
        raise ValueError(f"{folder} lacks {', '.join(missing)}; name the folder that holds them (--data).")
    return files


def finished(experiment, request) -> dict:
    """The record of the whole run; after an interruption what is finished stays in the folder."""
    try:
        return experiment.run(request)
    except KeyboardInterrupt:
        leave_interrupted(f"what is finished is in {request.folder}, and the same command goes on from there.")


def shown(record: dict, folder: Path, json_output: bool) -> None:
    """The record as JSON, or the claims and where the page is."""
    if json_output:
        import json

        typer.echo(json.dumps(record, indent=2))
        return
    words = {True: "came out", False: "came out otherwise", None: "cannot be told"}
    for claim in record.get("claims", ()):
        typer.echo(f"{words[claim['came_out']]} ({claim['labels']}): {claim['published']}: {claim['ours']}")
    typer.echo(f"written: {folder / 'README.md'}, {folder / 'results.json'}")


app = typer.Typer(add_completion=False)
app.command()(reproduce)

if __name__ == "__main__":
    app(prog_name="python -m papers")
