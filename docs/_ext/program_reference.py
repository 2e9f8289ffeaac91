"""The reference of the program: every command with its arguments, options and defaults, read from typer."""

from __future__ import annotations

from typing import Any

import typer.main

from proxembed.cli import app

PAGE = """# Commands and options

Generated from version {version} of the program: the output of `proxembed COMMAND --help`.
[Run it](../run_it.md) explains the commands, and [How it judges](../how_it_judges.md) how a search reaches its verdict.

| command | purpose |
|---|---|
{verbs}

Scripts can read the [exit code](../run_it.md#exit-codes) of every command.
`proxembed --version` prints the version.
{sections}
"""
SECTION = """
({target})=
## proxembed {name}

```
{usage}
```

{help}

| option | default | meaning |
|---|---|---|
{rows}
"""


def reference(version: str) -> dict[str, str]:
    """The page, by its name."""
    commands = typer.main.get_command(app).commands
    verbs = "\n".join(
        f"| [`{name}`](#command-{name}) | {first_sentence(each.help)} |" for name, each in commands.items()
    )
    sections = "".join(section(name, each) for name, each in commands.items())
    return {"commands.md": PAGE.format(version=version, verbs=verbs, sections=sections)}


def first_sentence(text: str) -> str:
    return " ".join((text or "").partition("\n\n")[0].split())


def section(name: str, command: Any) -> str:
    """The section of one command."""
    arguments = [each for each in command.params if not each.opts[0].startswith("-")]
    options = [each for each in command.params if each.opts[0].startswith("-")]
    words = " ".join(f"{placed(each)}" for each in arguments)
    rows = "\n".join(map(line, [*arguments, *options]))
    usage = f"proxembed {name} {words} [OPTIONS]"
    return SECTION.format(
        target=f"command-{name}", name=name, usage=usage, help=first_sentence(command.help), rows=rows
    )


def placed(argument: Any) -> str:
    """An argument as it stands in a command line."""
    word = argument.metavar or argument.name.upper()
    return word if argument.required else f"[{word}]"


def line(parameter: Any) -> str:
    """The line of one argument or option."""
    if parameter.opts[0].startswith("-"):
        names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
        value = "" if getattr(parameter, "is_flag", False) else f" *{parameter.metavar or kind(parameter)}*"
    else:
        names, value = f"`{placed(parameter)}`", ""
    cells = [names + value, default(parameter), " ".join((parameter.help or "").split())]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def kind(parameter: Any) -> str:
    """What an option takes: a number, a path, a text."""
    annotation = parameter.type_descriptor.annotation
    names = {int: "NUMBER", float: "NUMBER", str: "TEXT"}
    return names.get(annotation, "PATH" if "Path" in str(annotation) else "TEXT")


def default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    if getattr(parameter, "is_flag", False):
        return "off" if not parameter.default else "on"
    return "" if parameter.default is None else f"`{parameter.default}`"
