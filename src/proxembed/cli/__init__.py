"""The program: one file per command. Only typer is imported here; each command imports what it needs when it runs."""

from .app import app, main

__all__ = ["app", "main"]
