"""Parse option texts into values of the workflow, and name options as on the command line."""

import ast
import re
import shlex
from collections.abc import Sequence
from typing import Any

import typer


def complete_methods(incomplete: str) -> list[str]:
    """The texts that complete the last of the method names typed so far, which commas separate.

    Examples
    --------
    >>> from proxembed.cli.options import complete_methods
    >>> complete_methods("opls,mdd")
    ['opls,mddm']
    """
    from proxembed.evaluate.arms import method_names

    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in sorted(method_names()) if name.startswith(begun)]


MEASURE = typer.Option(
    "macro average precision",
    "--measure",
    help="Measure that decides: macro average precision, Jaccard@10, macro F1, micro F1, subset accuracy, Hamming "
    "loss, log-loss, macro AUC, ...",
)

METHOD = typer.Option(
    "opls",
    "--method",
    "-m",
    help="A method or model; `proxembed methods` lists them.",
    autocompletion=complete_methods,
)

METHODS = typer.Option(
    None,
    "--methods",
    "-m",
    help='Names separated by commas, or "all"; see `methods`.',
    autocompletion=complete_methods,
)

STRATEGY = typer.Option(
    None,
    "--strategy",
    help="Search strategy: auto (the default), halving, random or tpe; with --engine defc: reduced8 (eight models; the "
    "default), random, or ga (4,000 trials unless --max-trials is given; allow minutes with --max-seconds).",
)

ENGINE = typer.Option(
    "methods", "--engine", help="Search among methods, or with defc among the switches of the adaptive model."
)

GOAL = typer.Option(
    None,
    "--goal",
    help="Goal of the embedding: predict, neighbours, map or compress; without it the search is for predictions, and "
    "the report covers all four.",
)

TOLERANCE = typer.Option(
    0.03, "--tolerance", help="Loss that does not matter, as a share of the value of all features (0 or more, below 1)."
)

MEMORY = typer.Option(
    None,
    "--memory",
    metavar="BYTES",
    help="Memory for the rows, such as 2GB; a table or .npy file that needs more is read part by part. Default: half "
    "of the free memory.",
)
SAMPLE = typer.Option(
    None,
    "--sample",
    help="For a table that needs more than --memory: number of sampled rows on which scaling and read-out are fitted. "
    "Default: as many as fit, at most 50,000.",
    min=2,
)
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "KI": 2**10, "MI": 2**20, "GI": 2**30}

DASK = typer.Option(
    None,
    "--dask",
    metavar="local|ADDRESS",
    help="Run the fits on a dask cluster: local workers (--jobs if above 1, else one per core), or the workers of the "
    "scheduler at ADDRESS.",
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
    (r"\((labels|drop|keep)\)", r"(--\1)"),
    (r"\bname them with keep\b", "name them with --keep"),
    (r"\bn_components=(\d+) is more than", r"-k \1 is more than"),
    (r"Use n_components <= (\d+), or None for the natural number", r"Use -k \1 or less, or leave -k out"),
    (r"\bn_folds=(\S+) must be", r"--folds \1 must be"),
    ("Fit it on a sample, such as RowBlocks.sample gives", "Give more --memory"),
)


ARGUMENT = re.compile(
    r"\b(labels|text|id|groups|time|drop|keep|missing|empty|separator|decimal|category|target_type)="
    r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[['"][^\]]*['"]\]|False)"""
)
LISTS = (
    "labels",
    "text",
    "drop",
    "keep",
    "missing",
    "category",
)  # options that hold several values, separated by commas


def option_words(name: str, value: str) -> str:
    """An argument of the library as an option of the program, as a shell takes it.

    Examples
    --------
    >>> from proxembed.cli.options import option_words
    >>> print(option_words("drop", "sea, blue"), option_words("missing", "-999"), option_words("separator", ";"))
    --drop '"sea, blue"' --missing=-999 --separator ';'
    """
    from proxembed.tables.reading import quoted

    written = "$'\\t'" if value == "\t" else quoted(value) if name in LISTS else shlex.quote(value)
    return f"--{name.replace('_', '-')}{'=' if name == 'missing' else ' '}{written}"


def _program_option(found: re.Match[str]) -> str:
    value = ast.literal_eval(found[2])
    values = ["none"] if value is False else [value] if isinstance(value, str) else value
    return " ".join(option_words(found[1], each) for each in values)


def in_program_words(text: str) -> str:
    """Replace arguments and parameter names of the library with options of the program in a message.

    Examples
    --------
    >>> from proxembed.cli.options import in_program_words
    >>> in_program_words("'pay' looks like groups (groups='pay' keeps their rows together)")
    "'pay' looks like groups (--groups pay keeps their rows together)"
    >>> in_program_words("n_components=9 is more than 2. Use n_components <= 2, or None for the natural number.")
    '-k 9 is more than 2. Use -k 2 or less, or leave -k out.'
    """
    for written, said in IN_THE_PROGRAM:
        text = re.sub(written, said, text)
    return ARGUMENT.sub(_program_option, text)


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
    """The message of an OptionError, with the option name of the program.

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
