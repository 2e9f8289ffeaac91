"""Rivals: what an embedding must beat. Every module of this package joins the registry: a rival is one class here."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
