"""proxembed: supervised, semi-supervised and multi-label dimensionality reduction.

Public names load on first use, so that ``import proxembed`` is cheap. `__init__.pyi` lists them.
"""

import ast
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

_modules: dict[str, str] = {}  # public name -> module that defines it
_aliases: dict[str, str] = {}  # another name -> public name
for _line in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body:
    if isinstance(_line, ast.ImportFrom):
        _modules |= {_name.name: f".{_line.module}" for _name in _line.names}
    elif isinstance(_line, ast.Assign):
        _aliases |= {ast.unparse(_line.targets[0]): ast.unparse(_line.value)}

__all__ = sorted([*_modules, *_aliases])


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("proxembed")
    target = _aliases.get(name, name)
    if target not in _modules:
        raise AttributeError(f"module 'proxembed' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return getattr(import_module(_modules[target], __name__), target)


def __dir__() -> list[str]:
    return sorted([*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"])
