"""The program: one file a verb. Only typer is imported here; each verb imports what it needs when it runs."""

from .app import app, main

__all__ = ["app", "main"]
