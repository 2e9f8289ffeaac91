"""The job of `compare` and `demo`: read the options, run the protocol, write the folder, show the verdict."""

import json
import shlex
import sys
import tempfile
from pathlib import Path

import typer

from proxembed.evaluate.arms import Arm, default_methods, method_arms, method_names, rival_arms
from proxembed.evaluate.protocol import Protocol, Results, run
from proxembed.report import leaderboard_csv, page_html, summarise, write_atomic

from .terminal import print_summary, progress_bar

RIVAL_WORDS = {"raw", "lsi", "pca", "randomprojection", "labelscores"}
SIZES = (2, 5, 10, 20, 50, 100)


def parse_sizes(text: str | None, n_labels: int) -> tuple[int, ...]:
    """Read -k; without it, up to the number of labels, and that number itself.

    Examples
    --------
    >>> from proxembed.cli.job import parse_sizes
    >>> parse_sizes("10,2", 6), parse_sizes(None, 6)
    ((2, 10), (2, 5, 6, 10))
    """
    if text is None:
        chosen = {k for k in SIZES if k <= max(10, n_labels)} | ({n_labels} if 2 <= n_labels <= SIZES[-1] else set())
        return tuple(sorted(chosen))
    try:
        sizes = sorted({int(part) for part in text.split(",")})
    except ValueError:
        raise ValueError(f"-k {text!r} is not a list of whole numbers; write it like 2,5,10.") from None
    if sizes[0] < 1:
        raise ValueError(f"-k {text!r} holds {sizes[0]}; each number of components must be at least 1.")
    return tuple(sizes)


def parse_arms(text: str | None, dataset, seed: int) -> tuple[Arm, ...]:
    """Read --methods; the rivals are always there, so that naming them changes nothing."""
    known = method_names()
    names = default_methods(dataset.X.shape[0]) if text is None else [word.strip() for word in text.split(",")]
    rivals = rival_arms(dataset.X, seed=seed)
    standing = RIVAL_WORDS - set(known) | {arm.name.lower() for arm in rivals}
    arms = method_arms([n for n in names if n.lower() not in standing], several_labels=not dataset.single_label)
    rival_names = {arm.name for arm in rivals}
    return tuple(arm for arm in arms if arm.name not in rival_names) + rivals


def writable_folder(folder: Path) -> Path:
    """Make the folder and prove that it can be written before the long part starts."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        return folder


def write_outputs(summary: dict, results: Results, folder: Path, command: str) -> list[Path]:
    """Write leaderboard.csv, results.json and index.html, each whole or not at all."""
    plain = {"command": command, "summary": summary, "rows": results.rows}
    return [
        write_atomic(folder / "leaderboard.csv", leaderboard_csv(summary)),
        write_atomic(folder / "results.json", json.dumps(plain, indent=1)),
        write_atomic(folder / "index.html", page_html(summary, command)),
    ]


def run_job(dataset, methods, sizes, folds: int, standard: bool, seed: int, folder: Path, json_output: bool) -> None:
    """Do the whole job; after Ctrl-C, write what is finished and leave with exit code 130."""
    arms = parse_arms(methods, dataset, seed)
    ks = parse_sizes(sizes, dataset.Y.shape[1])
    protocol = Protocol(arms, ks, n_folds=folds, standard=standard, seed=seed)
    writable_folder(folder)
    with progress_bar(quiet=json_output) as progress:
        results = run(protocol, dataset, progress)
    if not results.rows:
        typer.echo("proxembed: interrupted before the first arm was finished; nothing was written.", err=True)
        raise typer.Exit(130)
    summary = summarise(results)
    command = shlex.join(["proxembed", *sys.argv[1:]])
    written = write_outputs(summary, results, folder, command)
    if json_output:
        typer.echo(json.dumps(summary, indent=2))
    else:
        print_summary(summary, written)
    if results.interrupted:
        done = len([fold for fold in summary["folds"] if fold in results.folds])
        line = f"proxembed: interrupted; kept {done} complete folds of {folds} (partial leaderboard in {folder})."
        typer.echo(line, err=True)
        raise typer.Exit(130)
