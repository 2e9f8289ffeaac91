"""Ctrl-C, SIGTERM and SIGHUP: each interrupts a run in the same way, as KeyboardInterrupt."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

import typer

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # not every system has them all
_received: list[int] = []


@contextmanager
def interruptible() -> Iterator[None]:
    """Let each of the signals raise KeyboardInterrupt, unless it is ignored (as under ``nohup``) or already handled."""

    def interrupt(number: int, frame: object) -> NoReturn:
        _received.append(number)
        raise KeyboardInterrupt

    _received.clear()
    earlier: dict[int, Any] = {}
    try:
        for name in SIGNALS if threading.current_thread() is threading.main_thread() else ():
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                earlier[number] = signal.signal(number, interrupt)
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def exit_code() -> int:
    """128 plus the number of the first signal received, as in shells; 130 for Ctrl-C."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def leave_interrupted(line: str) -> NoReturn:
    """Print what an interruption has left, and exit with its code."""
    say(f"interrupted; {line}")
    raise typer.Exit(exit_code())


def say(line: str) -> None:
    """Print one line on standard error, with control characters shown; do nothing if the terminal is gone."""
    from proxembed.tables.notes import visible

    shown = " ".join(visible(line).split())
    with suppress(OSError):  # the terminal may be gone
        typer.echo(f"proxembed: {shown}", err=True)
