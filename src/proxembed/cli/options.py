"""Options of the program: texts into values of the workflow, names as on the command line, columns of a table."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from typer.models import ArgumentInfo

from .terminal import say

if TYPE_CHECKING:
    from proxembed.data import Dataset
    from proxembed.workflow.options import RunOptions

Verb = TypeVar("Verb", bound=Callable[..., None])
Options = TypeVar("Options", bound="RunOptions")

# kind -> name -> type, names and help: written by `make options` from the declarations
DECLARED: dict[str, dict[str, dict[str, Any]]] = json.loads(Path(__file__).with_name("options.json").read_text("utf-8"))
TRIED, TIME, JUDGED = (DECLARED["search"][name]["panel"] for name in ("methods", "n_jobs", "folds"))  # in the help


def complete_methods(incomplete: str) -> list[str]:
    """The texts that complete the last of the method names typed so far, which commas separate."""
    from proxembed.estimator.catalogue import method_names

    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in sorted(method_names()) if name.startswith(begun)]


DATA = typer.Argument(metavar="DATA", help="A labelled file, a folder of Parquet files, or openml:NAME.")
MODEL = typer.Argument(metavar="MODEL", help="A .skops file written by `fit` or `search`.")
NEW = typer.Argument(
    metavar="NEW", help="New rows with the features of the training file: a file or a folder of Parquet files."
)
METHOD = typer.Option(
    "opls",
    "--method",
    "-m",
    help="A method or model; `proxembed methods` lists them.",
    autocompletion=complete_methods,
    rich_help_panel=TRIED,
)
SIZE = typer.Option(
    None, "-k", help="Number of components; by default that of the method.", min=1, rich_help_panel=TRIED
)
SETTINGS = typer.Option(
    None, "--set", metavar="NAME=VALUE", help="A parameter of the method; may be repeated.", rich_help_panel=TRIED
)
TEST = typer.Option(
    None, "--test", help="Test file with the same columns; its rows are held out.", rich_help_panel=JUDGED
)
MEMORY = typer.Option(
    None,
    "--memory",
    metavar="BYTES",
    help="Memory for the rows, such as 2GB; a table or .npy file that needs more is read part by part. Default: half "
    "of the free memory.",
    rich_help_panel=TIME,
)
SAMPLE = typer.Option(
    None,
    "--sample",
    help="For a table that is read part by part: number of sampled rows on which the read-out is fitted, and a scaling "
    "that needs them. Default: as many as fit, at most 50,000.",
    min=2,
    rich_help_panel=TIME,
)
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "KI": 2**10, "MI": 2**20, "GI": 2**30}


def search_working_folder() -> None:
    """Let modules of the working folder be imported, behind the installed packages; workers take this over."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def _trusted(names: list[str] | None) -> list[str] | None:
    """The names, whose modules may lie in the working folder."""
    if names:
        search_working_folder()
    return names


TRUST = typer.Option(
    None,
    "--trust",
    callback=_trusted,
    metavar="NAME",
    help="Dotted name of a class or function of the model's encoder whose code may run, such as "
    "chemotools.derivative.SavitzkyGolay; once for each.",
)
ENCODER = typer.Option(
    None,
    "--encoder",
    metavar="MODULE:NAME",
    help="A transformer of scikit-learn in place of the encoding of columns, fitted inside the folds, such as "
    "skrub:TableVectorizer: an instance, or a class or function that gives one without arguments. The module may also "
    "lie in the working folder. A table with other columns than numbers reaches it as a DataFrame.",
    rich_help_panel=TRIED,
)
JSON = typer.Option(False, "--json", help="Print JSON.")
KEEP_RIVAL = typer.Option(
    None,
    "--keep-rival",
    metavar="NAME",
    help='Also save the model of this row of the leaderboard, such as "logistic regression", as rival.skops.',
    rich_help_panel=TRIED,
)


def check_kept_rival(name: str | None, dataset: Dataset, methods: Sequence[str] | None) -> None:
    """A ValueError where --keep-rival names what will be no row of the leaderboard."""
    if name is None:
        return
    from proxembed.estimator.catalogue import method_names
    from proxembed.workflow.arm_models import check_kept

    known = method_names()
    try:
        check_kept(name, dataset, [*known, *known.values(), *(methods or ())])
    except ValueError as error:
        raise ValueError(f"--keep-rival: {error}") from error


def save_rival(found: Any, name: str | None, progress: Callable[..., None]) -> None:
    """Fit and save the model that --keep-rival names, unless the run was interrupted."""
    if name is not None and not found.interrupted:
        progress(0, 0, f"the fit of {name}")
        found.keep(name)


def named_encoder(text: str | None, **by_parts: Any) -> Any:
    """The transformer that --encoder MODULE:NAME means; None without one. A ValueError beside an option for rows that
    are read by parts."""
    if text is None:
        return None
    if given := next((name for name, value in by_parts.items() if value is not None), None):
        both = f"--encoder {text} needs all rows at once, and --{given} is for rows read by parts"
        raise ValueError(f"{both}; leave one out.")
    from proxembed.features.encoded import check_encoder

    module, colon, name = text.partition(":")
    if not (module and colon and name):
        raise ValueError(f"--encoder {text!r} must be MODULE:NAME, such as skrub:TableVectorizer.")
    search_working_folder()
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return check_encoder(found if hasattr(found, "fit") and not isinstance(found, type) else found())
    except (ImportError, AttributeError, TypeError) as error:
        raise ValueError(f"--encoder {text!r} gives no transformer: {' '.join(str(error).split())}") from error


TYPES: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "list": list[str]}
FLAGS = {name: option["flags"][0] for kind in DECLARED.values() for name, option in kind.items()}
FLAGS |= {"method": "--method", "layout": "--layout"}
LISTS = [  # of several names
    name for kind in ("columns", "diagnose") for name, option in DECLARED[kind].items() if option["type"] == "list"
]


def takes(*kinds: str, **defaults: Any) -> Callable[[Verb], Verb]:
    """A decorator: a verb's ``**given`` are the declared options of a kind, or a single one such as ``search.seed``."""

    def complete(verb: Verb) -> Verb:
        own = [each for each in signature(verb).parameters.values() if each.kind is not each.VAR_KEYWORD]
        first = sum(isinstance(each.default, ArgumentInfo) for each in own)
        named = [(kind, name) for kind, _, name in (each.partition(".") for each in kinds)]
        chosen = {each: DECLARED[kind][each] for kind, name in named for each in ([name] if name else DECLARED[kind])}
        options = [_parameter(name, each, defaults.get(name, each.get("default"))) for name, each in chosen.items()]
        verb.__signature__ = Signature([*own[:first], *options, *own[first:]])  # type: ignore[attr-defined]
        verb.__annotations__ |= {each.name: each.annotation for each in options}
        return verb

    return complete


def _parameter(name: str, option: dict[str, Any], default: Any) -> Parameter:
    """A declared option as a parameter of a function, for typer."""
    info = typer.Option(
        default,
        *option["flags"],
        help=option["help"],
        metavar=option.get("metavar"),
        min=option.get("min"),
        rich_help_panel=option.get("panel"),
        autocompletion=complete_methods if name == "methods" else None,
    )
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=info, annotation=TYPES[option["type"]])


def program_options(kind: type[Options], given: Mapping[str, Any]) -> Options:
    """The options of a run among the arguments of a verb."""
    sizes, pairs = given.get("n_components"), given.get("contrasts") or ()
    contrasts = tuple(tuple(text.split(":")) for text in pairs)
    return kind.of({**given, "n_components": parse_sizes(sizes), "contrasts": contrasts})


IN_THE_PROGRAM = (
    (r"\blabels=PATH\.xml or labels=\[attribute names\]", "--labels PATH.xml or --labels NAME,..."),
    (r"\bheader=False\b", "--no-header"),
    (r"\bheader=True\b", "--header"),
    (r"\((labels|drop|keep)\)", r"(--\1)"),
    (r"\bmust be None(?:, | or )", "must be "),
    (r"\bname them with keep\b", "name them with --keep"),
    (r"\bname it with labels= instead of targets=", "name it with --labels instead of --targets"),
    (r"\bn_components=(\d+) is more than", r"-k \1 is more than"),
    (r"Use n_components <= (\d+), or None for the natural number", r"Use -k \1 or less, or leave -k out"),
    (r"\bn_folds=(\S+) must be", r"--folds \1 must be"),
    ("Fit it on a sample, such as RowBlocks.sample gives", "Give more --memory"),
)


ARGUMENT = re.compile(
    rf"(?<![-\w])({'|'.join(DECLARED['columns'])})="
    r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[['"][^\]]*['"]\]|False)"""
)


def option_words(name: str, value: str) -> str:
    """An argument of the library as an option of the program, as a shell takes it."""
    from proxembed.tables.reading import quoted

    written = "$'\\t'" if value == "\t" else quoted(value) if name in LISTS else shlex.quote(value)
    return f"--{name.replace('_', '-')}{'=' if name == 'missing' else ' '}{written}"


def _program_option(found: re.Match[str]) -> str:
    try:
        value = ast.literal_eval(found[2])
    except (SyntaxError, ValueError):  # text of a file that looks like an argument
        return found[0]
    values = ["none"] if value is False else [value] if isinstance(value, str) else value
    return " ".join(option_words(found[1], each) for each in values)


def in_program_words(text: str) -> str:
    """Replace arguments and parameter names of the library with options of the program in a message or a note."""
    told = text
    for written, said in IN_THE_PROGRAM:
        told = re.sub(written, said, told)
    return type(text)(ARGUMENT.sub(_program_option, told))


def memory_bytes(text: str | None) -> int | None:
    """Read --memory, such as 2GB, 1.5 MiB or 4096."""
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
    """Read -k, such as 2,5,10."""
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"-k {text!r} is not a list of whole numbers; write it like 2,5,10.") from None


def option_text(error: Any) -> str:
    """The message of an OptionError, with the option name of the program."""
    if error.name not in FLAGS:
        return str(error)
    value = error.value
    if isinstance(value, tuple):
        value = (":" if error.name == "contrasts" else ",").join(map(str, value))
    elif isinstance(value, float):
        value = f"{value:g}"
    return in_program_words(f"{FLAGS[error.name]} {value} {error.reason}")


COMMA = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')  # outside double quotes
QUOTED = re.compile(r'^"(.*)"$', re.DOTALL)


def table_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The table options among the arguments of a verb."""
    return {name: given[name] for name in DECLARED["columns"]}


def dataset_from(
    file: str | Path, labels: list[str] | None = None, test: str | Path | None = None, **columns: Any
) -> Dataset:
    """Read DATA, a file or ``openml:NAME``, with column options of the program; print its notes."""
    from proxembed.workflow.labelled_data import read_labelled

    dataset = in_program(read_labelled(file, test=test, **column_values({"labels": labels, **columns})))
    say_notes(dataset.notes)
    return dataset


def in_program(dataset: Dataset) -> Dataset:
    """The data set with notes that name options of the program."""
    return replace(dataset, notes=tuple(map(in_program_words, dataset.notes)))


def large_table(
    file: str | Path,
    columns: dict[str, Any],
    memory: str | None,
    sample: int | None,
    seed: int,
    spread: bool = False,
    by_sums: Callable[[bool], bool] | None = None,
) -> Any:
    """DATA as a table to read part by part, with notes, if it needs more than --memory, or is large and ``by_sums``
    holds; else None."""
    from proxembed.data import Columns
    from proxembed.data.readers.columns import COPIES
    from proxembed.workflow.large_fit import large_fit

    values = column_values(columns)
    copies = values.get("groups") == COPIES
    purposes = Columns(**{**values, "groups": False} if copies else values)
    found = large_fit(Path(file), purposes, memory_bytes(memory), sample, seed, spread, by_sums)
    if found is not None and copies:
        raise ValueError(
            f"--groups {COPIES} compares all rows, and these are read by parts; drop the copies in the file, or raise "
            "--memory."
        )
    if found is not None:
        drawn, rows = found.sample.X.shape[0], found.table.n
        note = f"{rows:,} rows are read by parts; choices use a sample of {drawn:,}"
        found.sample = in_program(replace(found.sample, notes=(note, *found.sample.notes)))
        say_notes(found.sample.notes)
    return found


def column_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """The values of column options: several names from one text, and "none" for no groups and no missing texts."""
    values = {name: value if name not in LISTS else one_by_one(value) for name, value in options.items()}
    if values.get("groups") == "none":
        values["groups"] = False
    if "missing" in values:
        given = options["missing"] is not None
        values["missing"] = [text for text in values["missing"] if text != "none"] if given else None
    return values


def say_notes(notes: Sequence[str]) -> None:
    """Print each note about the data as one line on standard error."""
    for note in notes:
        say(f"note: {note}")


def training_data(file: str | Path, **columns: Any) -> Dataset:
    """Read DATA and check its labels."""
    return checked_data(dataset_from(file, **columns), file)


def checked_data(dataset: Dataset, file: str | Path) -> Dataset:
    """Check the labels of the data set, and add notes about columns that alone predict a label."""
    from proxembed.workflow.labelled_data import check_labels, with_warnings

    check_labels(dataset, file)
    whole = in_program(with_warnings(dataset))
    say_notes(whole.notes[len(dataset.notes) :])
    return whole


def one_by_one(options: list[str] | None) -> list[str]:
    """The names in an option that may be repeated and may hold several names separated by commas, quoted as in CSV."""
    parts = [part.strip() for option in options or () for part in COMMA.split(option)]
    return [QUOTED.sub(lambda found: found[1].replace('""', '"'), part) for part in parts if part]
