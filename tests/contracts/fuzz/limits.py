"""One call of an estimator within limits of time and memory, and what is wrong with the way it ended."""

from __future__ import annotations

import dis
import re
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

import sklearn
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import proxembed

SECONDS = 5.0  # of processor time, for one call on at most 40 rows
MEMORY = 3 << 30  # bytes beyond those of the process at rest; the package refuses single arrays above 2 GiB
FUZZ = str(Path(__file__).parent)
OURS = (str(Path(proxembed.__file__).parent), f"{FUZZ}/planted.py")
THEIRS = str(Path(sklearn.__file__).parent)
# scikit-learn's input checks raise through NumPy or pandas where a cell is no number; these sentences say which.
CONVERSIONS = r"could not convert string to float: |must be a string or a real number, not "
# Words of what is wrong: an argument ("n_features=..."), or something that X or y has.
SUBJECTS = r"\b(\w+=|(X|y|k|rows?|samples?|features?|columns?|labels?|class(es)?|array|matrix|data|DataFrame|seed)\b)"


class Hang(BaseException):
    """A call that took more than SECONDS of processor time."""


class Fault(Exception):
    """An error or a warning that no user should see; ``cause`` names it without the values of the case."""

    def __init__(self, cause: str, message: str):
        super().__init__(f"{cause}: {message}")
        self.cause, self.message = cause, " ".join(message.split())


class Refusal:
    """A call refused with a sentence."""

    def __init__(self, error: Exception):
        self.error = error

    def __str__(self) -> str:
        return f"{type(self.error).__name__}: {str(self.error)[:300]}"


def attempt(call: Callable[[], Any], names: tuple[str, ...] = ()) -> Any:
    """What a call returns, or its ``Refusal``; raises ``Fault`` where it ends in any other way.

    ``names`` are words, such as those of parameters, one of which a sentence of refusal may name.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        heard: list[tuple[Warning, str, bool]] = []
        warnings.showwarning = lambda message, *_, **__: heard.append((message, *_speaker()))  # type: ignore[assignment]
        try:
            with _time_limit():
                value = call()
        except Hang as hang:
            raise Fault(f"Hang {_place(_codes(hang.__traceback__))}", f"more than {SECONDS:g} s") from None
        except Exception as error:
            wrong = _fault_of(error, names)
            if wrong is not None:
                raise wrong from error
            value = Refusal(error)
    for warning, place, spoken in heard:
        if not spoken or not _is_sentence(warning):
            raise Fault(f"{type(warning).__name__} {place}", str(warning)[:200])
    return value


@contextmanager
def _time_limit() -> Iterator[None]:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _speaker() -> tuple[str, bool]:
    """Where a warning was given, and whether the package or scikit-learn gave it."""
    frame: FrameType | None = sys._getframe(2)
    codes = []
    while frame is not None:
        if frame.f_code.co_filename != warnings.__file__:
            codes.append(frame.f_code)
        frame = frame.f_back
    return _place(codes[::-1]), codes[0].co_filename.startswith((*OURS, THEIRS))


def _is_sentence(warning: Warning) -> bool:
    own = isinstance(warning, UserWarning) and type(warning).__module__.startswith(("sklearn", "proxembed"))
    return own or type(warning) in (UserWarning, ConvergenceWarning)


def _fault_of(error: Exception, names: tuple[str, ...]) -> Fault | None:
    """What is wrong with an error; None for a sentence by the package or by scikit-learn's checks."""
    codes, text = _codes(error.__traceback__), str(error)
    place = _place(codes)
    missing = type(error) is ImportError and "install it" in text
    own = isinstance(error, ValueError) and type(error).__module__.startswith("proxembed")
    if type(error) not in (ValueError, TypeError, NotFittedError) and not missing and not own:
        return Fault(f"{type(error).__name__} {place}", text[:200])
    beyond = codes[1 + max((i for i, code in enumerate(codes) if code.co_filename.startswith(OURS)), default=-1) :]
    checked = any(code.co_filename.startswith((f"{THEIRS}/utils", f"{THEIRS}/base.py")) for code in beyond[:2])
    if not checked and (beyond or not _raised(error.__traceback__)):
        return Fault(f"{type(error).__name__} {place}", text[:200])
    words = "|".join(map(re.escape, names))
    if own:  # it names the file
        return None
    if not re.search(rf"{SUBJECTS}|\b({words})\b|{CONVERSIONS}", text):
        return Fault(f"{type(error).__name__} that names nothing {place}", text[:200])
    return None


def _codes(trace: TracebackType | None) -> list[CodeType]:
    """The functions on the way to an error, the one that raised last; those of the fuzzer left out."""
    found = []
    while trace is not None:
        found.append(trace.tb_frame.f_code)
        trace = trace.tb_next
    return [code for code in found if code.co_filename.startswith(OURS) or not code.co_filename.startswith(FUZZ)]


def _raised(trace: TracebackType) -> bool:
    """Whether an error comes from a raise statement, not from an operation that failed."""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


def _place(codes: list[CodeType]) -> str:
    """The last function of the package on the way, and the one beyond it that raised or warned."""
    own = [code for code in codes if code.co_filename.startswith(OURS)]
    if not codes:
        return "in the fuzzer"
    last = own[-1] if own else codes[-1]
    return f"in {_where(last)}" + ("" if last is codes[-1] else f" ({_where(codes[-1])})")


def _where(code: CodeType) -> str:
    path = Path(code.co_filename)
    return f"{path.parent.name}/{path.name}:{code.co_name}"
