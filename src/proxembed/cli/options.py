"""Options as text: read into the values that the workflow takes, and named as the program names them."""

import re
from collections.abc import Sequence
from typing import Any

import typer

MEASURE = typer.Option(
    "macro average precision",
    "--measure",
    help="What is searched for and decides: macro average precision, Jaccard@10, macro F1, micro F1, subset accuracy, "
    "Hamming loss, log-loss, macro AUC, ...",
)

STRATEGY = typer.Option(
    None,
    "--strategy",
    help="auto (the default), halving, random or tpe; of --engine defc: reduced8 (eight models; the default), random, "
    "or ga, which takes 4,000 trials where --max-trials gives no number; give it minutes by --max-seconds.",
)

ENGINE = typer.Option(
    "methods", "--engine", help="What is searched: methods, or defc (the switches of the adaptive model)."
)

GOAL = typer.Option(
    None,
    "--goal",
    help="What the embedding is for: predict, neighbours, map or compress; without it a profile of all four, searched "
    "for predictions.",
)

TOLERANCE = typer.Option(
    0.03, "--tolerance", help="Share of the value of all features whose loss does not matter, from 0 to below 1."
)

MEMORY = typer.Option(
    None,
    "--memory",
    metavar="BYTES",
    help="Memory for the rows, such as 2GB: a table or .npy file that needs more is read part by part; without it half "
    "of what is free.",
)
SAMPLE = typer.Option(
    None,
    "--sample",
    help="Of a table that needs more than --memory: rows, drawn by labels, on which scaling and read-out are fitted; "
    "without it what fits, at most 50,000.",
    min=2,
)
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "KI": 2**10, "MI": 2**20, "GI": 2**30}

DASK = typer.Option(
    None,
    "--dask",
    metavar="local|ADDRESS",
    help="Run the fits on a dask cluster: on workers of this machine (--jobs of them if above 1, else one per "
    "core), or on those of the scheduler at an address.",
)

FLAGS = {
    "dask": "--dask",
    "n_jobs": "--jobs",
    "max_seconds": "--max-seconds",
    "max_work": "--max-work",
    "max_trials": "--max-trials",
    "shuffles": "--shuffles",
    "folds": "--folds",
    "measure": "--measure",
    "goal": "--goal",
    "tolerance": "--tolerance",
    "refit_all": "--refit-all",
    "n_components": "-k",
    "methods": "--methods",
    "method": "--method",
    "layout": "--layout",
    "engine": "--engine",
    "strategy": "--strategy",
    "classifier": "--classifier",
    "contrasts": "--contrast",
}


IN_THE_PROGRAM = (
    (r"\bn_components=(\d+) is more than", r"-k \1 is more than"),
    (r"Use n_components <= (\d+), or None for the natural number", r"Use -k \1 or less, or leave -k out"),
    (r"\bn_folds=(\S+) must be", r"--folds \1 must be"),
    ("Fit it on a sample, such as RowBlocks.sample gives", "Give more --memory"),
)


def in_program_words(text: str) -> str:
    """A message of the library about a parameter that the program has an option for, in words of the program.

    Examples
    --------
    >>> from proxembed.cli.options import in_program_words
    >>> in_program_words("n_components=9 is more than 2. Use n_components <= 2, or None for the natural number.")
    '-k 9 is more than 2. Use -k 2 or less, or leave -k out.'
    """
    for written, said in IN_THE_PROGRAM:
        text = re.sub(written, said, text)
    return text


def memory_bytes(text: str | None) -> int | None:
    """Read --memory.

    Examples
    --------
    >>> from proxembed.cli.options import memory_bytes
    >>> memory_bytes("2GB"), memory_bytes("1.5 MiB"), memory_bytes("4096")
    (2000000000, 1572864, 4096)
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*([\d.]+)\s*([KMG]I?)?B?\s*", text.upper())
    try:
        size = int(float(found[1]) * UNITS[found[2] or ""]) if found else 0
    except ValueError:
        size = 0
    if size < 1:
        raise ValueError(f"--memory {text!r} must be a number of bytes, such as 500MB or 2GB.")
    return size


def parse_sizes(text: str | None) -> tuple[int, ...] | None:
    """Read -k.

    Examples
    --------
    >>> from proxembed.cli.options import parse_sizes
    >>> parse_sizes("10,2"), parse_sizes(None)
    ((10, 2), None)
    """
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"-k {text!r} is not a list of whole numbers; write it like 2,5,10.") from None


def parse_contrasts(texts: Sequence[str]) -> Any:
    """Read each --contrast A:B.

    Examples
    --------
    >>> from proxembed.cli.options import parse_contrasts
    >>> parse_contrasts(["opls:raw"])
    (('opls', 'raw'),)
    """
    return tuple(tuple(text.split(":")) for text in texts)


def option_text(error: Any) -> str:
    """The message of an OptionError, by the name that the option has in the program.

    Examples
    --------
    >>> from proxembed.cli.options import option_text
    >>> from proxembed.workflow.options import OptionError
    >>> option_text(OptionError("n_components", (2, 90), "holds 90, but the data have 5 features."))
    '-k 2,90 holds 90, but the data have 5 features.'
    """
    if error.name not in FLAGS:
        return str(error)
    value = error.value
    if isinstance(value, tuple):
        value = (":" if error.name == "contrasts" else ",").join(map(str, value))
    return f"{FLAGS[error.name]} {value} {error.reason}"
