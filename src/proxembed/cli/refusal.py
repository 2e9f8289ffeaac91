"""Bad input ends with one line on standard error and exit code 2, an interruption with one line and its own code."""

import errno
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager

import typer

from .options import in_program_words, option_text, option_words
from .terminal import command, interruptible, leave_interrupted, say

PERMISSION = "change its permissions, or name another place"
REMEDIES = {
    errno.EACCES: PERMISSION,
    errno.EPERM: PERMISSION,
    errno.EROFS: "name a place that can be written",
    errno.ENOSPC: "free some space, or name a place on another disk",
    errno.EDQUOT: "free some space, or name a place on another disk",
    errno.EFBIG: "name a place where larger files are allowed",
    errno.ENOENT: "check the path",
    errno.EISDIR: "name a file in it",
    errno.ENOTDIR: "a part of this path is a file; name another place",
    errno.EEXIST: "name another place",
}
FEWER = "give fewer rows or features, or fewer processes (--jobs 1) where there are several"


@contextmanager
def refusals() -> Iterator[None]:
    """Turn errors about input, output and memory into one line and exit code 2, an interruption into a line
    and a code."""
    with interruptible():
        try:
            yield
        except BrokenPipeError:  # nobody reads on: `Program` ends the program without a word
            raise
        except OSError as error:
            refuse(system_error_text(error), error)
        except MemoryError as error:
            reason = " ".join(str(error).split()).removesuffix(".")
            refuse(f"not enough memory{f' ({reason})' if reason else ''}; {FEWER}.", error)
        except BrokenExecutor as error:
            refuse(f"a worker process was killed, perhaps for lack of memory; {FEWER}.", error)
        except ImportError as error:
            if error.name is not None:  # a module that this program should have, not one that an extra brings
                raise
            refuse(str(error), error)
        except ValueError as error:
            from proxembed.workflow.options import OptionError

            text = option_text(error) if isinstance(error, OptionError) else in_program_words(str(error))
            lines = faults_text(error)
            refuse(lines[0] if lines else " ".join(text.split()), error, lines[1:])
        except KeyboardInterrupt as error:
            leave_interrupted(f"{notes_of(error) or 'nothing was written'}.")


def notes_of(error: BaseException) -> str:
    """The notes on an error, as one line."""
    return "; ".join(getattr(error, "__notes__", ()))


def system_error_text(error: OSError) -> str:
    """Format an OSError with file, reason and remedy."""
    reason = error.strerror or " ".join(str(error).split()).removesuffix(".")
    if error.errno in REMEDIES and error.strerror == os.strerror(error.errno):
        reason += f"; {REMEDIES[error.errno]}"
    return f"{error.filename}: {reason}." if error.filename else f"{reason}."


def faults_text(error: ValueError) -> list[str]:
    """The problems of a table, one per line, and the command that solves them; else no line."""
    from proxembed.data.errors import Fault, TableFaults

    if isinstance(error, TableFaults):
        problems, answers = error.problems, error.answers
        lines = [f"{error.path}: settle these problems first:", *(f"- {text}" for text in error.texts)]
    else:
        problems, lines = [Fault(str(error), getattr(error, "options", ()))], [str(error)]
        answers = [each for each in (*(each.options for each in problems), *getattr(error, "instead", ())) if each]
    if not answers:
        return []
    some = "" if all(each.options for each in problems) else ", for those that have an option"
    commands = [f"{command()} {' '.join(option_words(*option) for option in answer)}" for answer in answers]
    return [*map(in_program_words, lines), f"try{some}: {commands[0]}", *(f"or: {each}" for each in commands[1:])]


def refuse(line: str, cause: Exception, more: Sequence[str] = ()) -> None:
    """Print one line on standard error, or one per problem, and exit with code 2."""
    kept = notes_of(cause)
    say(f"{line}{f' Before that: {kept}.' if kept else ''}")
    for each in more:
        say(each)
    raise typer.Exit(2) from cause
