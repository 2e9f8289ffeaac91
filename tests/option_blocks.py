"""What ``make options`` writes from the declarations of options: the signatures and Parameters of ``search`` and
``compare``, and the options of the program. A test compares it with the declarations."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path
from typing import Any

from proxembed.data import Columns
from proxembed.measures.measures import MEASURES
from proxembed.params import Param, declared, parameter_entries
from proxembed.study.defc.model_strategies import ModelStrategy
from proxembed.study.method_strategies import MethodStrategy
from proxembed.study.trials import list_strategies
from proxembed.workflow.options import BudgetOptions, CompareOptions, DiagnoseOptions, SearchOptions

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "proxembed"
JOBS = {"workflow/main_job.py": SearchOptions, "workflow/comparison.py": CompareOptions}
KINDS = {
    "columns": Columns,
    "search": SearchOptions,
    "compare": CompareOptions,
    "budget": BudgetOptions,
    "diagnose": DiagnoseOptions,
}
BEGIN, END = "    # the options, written by `make options` from their declarations\n", "    # end of the options\n"
DOCUMENTED = re.compile(r"(?<=\n    y : labels in any form, if X is a matrix\n).*?(?=    groups : array)", re.DOTALL)


def with_registries(doc: str) -> str:
    """A description with what is registered in the place of {measures}, and of {methods} and {models}: strategies."""
    doc = doc.replace("{measures}", ", ".join(MEASURES))
    for strategy in (MethodStrategy, ModelStrategy):
        doc = doc.replace(f"{{{strategy.space}}}", list_strategies(strategy.space))
    return doc


def signature_lines(options: type) -> str:
    """The options as arguments of a function."""
    lines = []
    for name, (field, spec) in declared(options).items():
        default = json.dumps(field.default) if isinstance(field.default, str) else repr(field.default)
        lines.append(f"    {name}: {spec.takes or field.type} = {default},\n")
    return "".join(lines)


def parameter_lines(options: type) -> str:
    """The options in the Parameters section of a function."""
    indent = {"initial_indent": " " * 8, "subsequent_indent": " " * 8}
    entries = ((head, textwrap.fill(with_registries(doc), 120, **indent)) for head, doc in parameter_entries(options))
    return "".join(f"    {head}\n{doc}\n" for head, doc in entries)


def with_options(source: str, options: type) -> str:
    """The source of a module whose function takes the options."""
    before, rest = source.split(BEGIN)
    after = rest.split(END)[1]
    documented = DOCUMENTED.sub(lambda _: parameter_lines(options), after, count=1)
    return f"{before}{BEGIN}{signature_lines(options)}{END}{documented}"


def flags_of(name: str, spec: Param) -> tuple[str, ...]:
    return spec.flags or (f"--{name.replace('_', '-')}",)


def help_text(doc: str, default: Any, flags: dict[str, str]) -> str:
    """The description of an option in words of the program."""
    named = flags | {"False": "'none'", "()": "'none'"}
    text = re.sub(r"``(.*?)``", lambda found: named.get(found[1], f"`{found[1]}`"), doc)
    return text.replace(" None: ", " Default: ") if default in (None, ()) else text.partition(" None: ")[0]


def program_option(name: str, default: Any, annotation: str, spec: Param, flags: dict[str, str]) -> dict[str, Any]:
    """Type, default, names and help of an option in the program."""
    texts = [f"'{each}'" if " " in each else each for each in spec.choices if isinstance(each, str)]
    number = "int" if spec.integer else "float" if spec.numeric else "str"
    facts = {
        "type": "bool" if spec.kind is bool else "list" if annotation.startswith("Sequence") else number,
        "default": None if default == () else default,
        "flags": flags_of(name, spec),
        "metavar": spec.metavar or "|".join(texts),
        "panel": spec.panel,
        "min": None if not spec.integer or any(isinstance(each, int) for each in spec.choices) else spec.low,
        "help": help_text(with_registries(spec.doc), default, flags),
    }
    return {key: value for key, value in facts.items() if value not in (None, "")}


def program_text(kinds: dict[str, type]) -> str:
    """The options of the program as JSON, one per line."""
    flags = {"test": "--test"}
    flags |= {name: flags_of(name, spec)[0] for kind in kinds.values() for name, (_, spec) in declared(kind).items()}
    objects = []
    for kind, options in kinds.items():
        lines = (
            f" {json.dumps(name)}: {json.dumps(program_option(name, field.default, field.type, spec, flags))}"
            for name, (field, spec) in declared(options).items()
        )
        objects.append(f'"{kind}": {{\n' + ",\n".join(lines) + "\n}")
    return "{\n" + ",\n".join(objects) + "\n}\n"


def written() -> dict[Path, str]:
    """Every file with what is to be written in it."""
    jobs = {PACKAGE / name: with_options((PACKAGE / name).read_text("utf-8"), kind) for name, kind in JOBS.items()}
    return jobs | {PACKAGE / "cli" / "options.json": program_text(KINDS)}


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
