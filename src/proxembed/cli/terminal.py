"""Terminal of a run: progress and notes on standard error, the table, the verdict; and the signals that end it."""

import json
import re
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

import typer

FORECAST = "forecast"
COLOURS_OF_WORDS = {"better": "green", "worse": "red", "cannot tell": "yellow"}
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # not every system has them all
_received: list[int] = []


def command() -> str:
    """The command that repeats the run from its beginning."""
    return shlex.join(["proxembed", *(word for word in sys.argv[1:] if word != "--resume")])


def head(kind: str, seed: int, file: Path | None = None) -> dict[str, Any]:
    """Kind, command, seed and data hash of a run, for its record."""
    from proxembed.workflow.record import run_head

    return run_head(kind, command(), seed, file)


def print_json(facts: object) -> None:
    """Print JSON."""
    typer.echo(json.dumps(facts, indent=2))


@contextmanager
def notes() -> Iterator[None]:
    """Collect warnings and print them at the end: one line per kind on standard error, with its count."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    if not caught:
        return
    from proxembed.evaluate.results import without_numbers

    kinds: dict[str, list[str]] = {}
    for warning in caught:
        line = " ".join(str(warning.message).split())
        kinds.setdefault(without_numbers(line), []).append(line)
    for lines in kinds.values():
        say(f"note: {lines[-1]}" + (f" ({len(lines)} times)" if len(lines) > 1 else ""))


def phase_of(text: str) -> str:
    """The phase of a progress line."""
    return re.split(r"[,:]", text, maxsplit=1)[0]


class ShownProgress:
    """Progress on standard error, as a function to call: a bar, or one line per phase if it is not a terminal."""

    def __init__(self, quiet: bool):
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        console = Console(stderr=True)
        self.quiet, self.piped = quiet, not quiet and not console.is_interactive
        self.bar = Bar(*columns, console=console, transient=True, disable=quiet or self.piped)
        self.task, self.phases = self.bar.add_task("starting", total=None), set[str]()

    def __call__(self, done: int, total: int, text: str) -> None:
        phase = phase_of(text)
        if not self.quiet and phase not in self.phases and (self.piped or phase == FORECAST):
            say(text if phase == FORECAST else phase)
        self.phases.add(phase)
        self.bar.update(self.task, completed=done, total=total, description=text)

    def start(self) -> None:
        """Show the bar."""
        if not self.bar.disable:
            self.bar.start()

    def stop(self) -> None:
        """Take the bar away, so that others may print."""
        with suppress(OSError):  # the terminal may be gone
            if not self.bar.disable:  # rich would leave an empty line in a file
                self.bar.stop()


@contextmanager
def progress_bar(quiet: bool) -> Iterator[ShownProgress]:
    """Progress that is shown while the block lasts."""
    progress = ShownProgress(quiet)
    progress.start()
    try:
        yield progress
    finally:
        progress.stop()


class EarlyVerdict:
    """A function to call with the summary as soon as the test rows are scored: it prints table and verdict. A run whose
    output nobody reads goes on; ``finish`` raises what happened."""

    def __init__(self, progress: ShownProgress):
        self.progress, self.printed = progress, False
        self.error: BaseException | None = None

    def __call__(self, summary: dict[str, Any]) -> None:
        self.progress.stop()
        try:
            print_scores(summary)
            print_verdict(summary["verdict"])
            self.printed = True
        except (OSError, SystemExit) as error:  # rich leaves where nobody reads on
            self.error = error
        self.progress.start()

    def finish(self, summary: dict[str, Any], written: list[Path], cuts: Sequence[str], repeat: str) -> None:
        """Print the rest: cuts and files; all of it where nothing was printed before."""
        if self.error is not None:
            raise self.error
        if not self.printed:
            print_summary(summary, written, cuts=cuts, repeat=repeat)
            return
        print_files(summary, written, cuts, repeat)


def leaderboard_table(summary: dict[str, Any]) -> Any:
    """The table of the terminal: each method or rival at its best k; for a map with what it keeps of the neighbours
    in X."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from proxembed.evaluate.verdict import rows_of_folds
    from proxembed.report import score_text
    from proxembed.report.page import feature_words, target_words
    from proxembed.report.plain_words import BOTH_CLASSES, BY_ITSELF, by_itself, is_yes_no, per_cent
    from proxembed.report.views import shown_measures, with_values
    from proxembed.tables.notes import counted, visible_texts

    summary = visible_texts(summary)
    facts = summary["dataset"]
    names = with_values(shown_measures(summary), summary["best"], ("mean",))
    words = target_words(facts)
    size = f"{facts['n']:,} rows, {feature_words(summary)}, {counted(words['count'], words['what'])}"
    folds = f"{counted(len(summary['folds']), 'fold')} of {rows_of_folds(summary):,} rows together"
    own = by_itself(summary)
    title = f"{facts['name']}: {size}; mean ± s.e. over {folds}"
    table = Table(
        title=Text(title),
        title_justify="left",
        caption=Text(
            f"* rival{f'; {BY_ITSELF}' * any(map(own, summary['best']))}{BOTH_CLASSES * is_yes_no(facts)}; k: the size "
            "of best value in the first column (verdicts use others, too)"
        ),
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    maps = summary["verdict"].get("asked") == "map"
    table.add_column("arm", min_width=13 if maps else 19, overflow="fold")
    table.add_column("k", justify="right", no_wrap=True)
    for name in names:
        short = name.replace("macro average precision", "macro AP").replace("new-new ", "new-new\n")
        table.add_column(short.replace(" (", "\n("), justify="right", no_wrap=True)
    for name in [*["kept"] * maps, "s/fold"]:
        table.add_column(name, justify="right", no_wrap=True)
    for entry in summary["best"]:
        scores = [entry["scores"][name] for name in names]
        mark = "*" * entry["rival"] + "†" * own(entry) + (" (failed)" if entry["failures"] else "")
        kept = entry.get("kept") or {"mean": None}
        shares = ["–" if kept["mean"] is None else per_cent(kept["mean"])] * maps
        cells = [str(entry["k"] or "-"), *map(score_text, scores), *shares, f"{entry['seconds']:.2f}"]
        table.add_row(Text(entry["arm"] + mark), *cells, style="dim" if entry["rival"] else "")
    add_constant(table, summary.get("constant"), names, maps)
    return table


def add_constant(table: Any, constant: dict[str, Any] | None, names: Sequence[str], maps: bool) -> None:
    """Add the row of the baseline that no feature has a part in, if it is known."""
    if constant:
        from proxembed.report.plain_words import CONSTANT

        cells = [f"{constant[name]['mean']:.3f}" if name in constant else "–" for name in names]
        table.add_row(CONSTANT, "-", *cells, *["–"] * (1 + maps), style="dim")


def contrast_text(entry: dict[str, Any]) -> str:
    """A tested contrast as one line."""
    text = f"{entry['a']} - {entry['b']}: {entry['difference']:+.3f}"
    if entry["interval"]:
        low, high = entry["interval"]
        text += f" (95 % interval {low:+.3f} to {high:+.3f})"
    if entry["p_holm"] is not None:
        text += f", p = {entry['p_holm']:.3f} (Holm)" if entry["p_holm"] >= 0.0005 else ", p < 0.001 (Holm)"
    if entry["bayes"]:
        text += f", probability {entry['bayes']['better']:.2f} better, {entry['bayes']['rope']:.2f} level"
    if entry.get("ties"):
        from proxembed.report.verdict import equal_to

        text += f"; {entry['a']} is {equal_to(entry['ties'])}"
    return text


def print_summary(
    summary: dict[str, Any],
    written: list[Path],
    tested: Sequence[dict[str, Any]] = (),
    cuts: Sequence[str] = (),
    repeat: str = "",
) -> None:
    """Print the table, failures, contrasts, cuts, files and, last, the verdict."""
    from rich.console import Console
    from rich.text import Text

    from proxembed.tables.notes import visible_texts

    print_scores(summary)
    for entry in visible_texts(list(tested)):
        Console().print(Text(contrast_text(entry)))
    print_files(summary, written, cuts, repeat)
    print_verdict(summary["verdict"])


def print_scores(summary: dict[str, Any]) -> None:
    """Print the table, how the choice was made, and failures."""
    from rich.console import Console
    from rich.text import Text

    from proxembed.report import choice_text
    from proxembed.tables.notes import visible_texts

    summary, console = visible_texts(summary), Console()
    console.print(leaderboard_table(summary))
    if summary_line := choice_text(summary):
        console.print(Text(summary_line))
    for arm, k, reason in summary["failures"]:
        console.print(Text(f"failed, counted as 0: {arm}{'' if k is None else f' at k = {k}'}: {reason}"))


def print_files(summary: dict[str, Any], written: list[Path], cuts: Sequence[str], repeat: str) -> None:
    """Print the number of notes, the cuts, the command that repeats the run, and the files."""
    from rich.console import Console
    from rich.text import Text

    from proxembed.report.verdict import UNUSED
    from proxembed.tables.notes import visible, visible_texts

    cuts, repeat = visible_texts((list(cuts), repeat))
    console = Console()
    if summary["notes"]:
        count = len(summary["notes"])
        listed = (
            "1 note (a warning, or a rival left out) is"
            if count == 1
            else f"{count} notes (warnings, rivals left out) are"
        )
        console.print(Text(f"{listed} listed on the page."))
    if unused := summary["verdict"].get("unused"):
        console.print(Text.assemble((f"{UNUSED}: ", "bold"), f"{visible_texts(unused)}."))
    if (cut := summary["verdict"].get("cut")) is not None:
        print_cut(console, visible_texts(cut))
        cuts = []
    for line in cuts:
        console.print(Text(f"cut for the budget: {line}"))
    if repeat:
        console.print(Text(f"to repeat this run: {repeat}"))
    folders = {str(path.parent) for path in map(Path, written)}
    shared = f" in {visible(min(folders))}" if len(folders) == 1 and folders != {"."} else ""
    names = ", ".join(visible(Path(path).name if shared else str(path)) for path in written)
    console.print(Text(f"written: {names}{shared}"))


def print_cut(console: Any, cut: Mapping[str, Any]) -> None:
    """Print whether anything was cut, why, and the command that cuts nothing; the page lists the cuts."""
    from rich.text import Text

    told = ["the page lists it, with the verdicts that it weakens." if cut["lines"] else cut["what"]]
    reason = " ".join(filter(None, (*told, cut["why"], cut["undo"])))
    console.print(Text.assemble(("What was cut: ", "bold"), reason))
    if cut["command"]:
        console.print(Text(f"    {cut['command']}"), soft_wrap=True)


def print_verdict(verdict: dict[str, Any]) -> None:
    """Print the answer in one sentence, then per goal one sentence, what to do, and its command; the figures behind
    them are on the page."""
    from rich.console import Console
    from rich.text import Text

    from proxembed.tables.notes import visible_texts

    verdict = visible_texts(verdict)
    console = Console()
    console.print()
    if verdict["headline"]:
        console.print(Text(verdict["headline"], "bold"))
        console.print()
    for goal in verdict["goals"].values():
        if goal.get("lead"):
            print_advice(console, goal["lead"], goal)
            console.print()
    for goal in verdict["goals"].values():
        word = f"bold {COLOURS_OF_WORDS.get(goal['word'], '')}"
        plain = "" if goal["plain"] in verdict["headline"] else goal["plain"]
        title = (f"{goal['title']}: ", "bold"), (f"{goal.get('said', goal['word'])}.", word)
        console.print(Text.assemble(*title, f" {plain}" * bool(plain)))
        for text in filter(None, (goal.get("not_saved"), goal.get("answers"))):
            console.print(Text(text))
        if not goal.get("lead"):
            print_advice(console, goal["advice"], goal)
        console.print()
    for warning in verdict.get("warnings", ()):
        console.print(Text(f"⚠ {warning}"))
    if verdict.get("warning_command"):
        console.print(Text(f"    {verdict['warning_command']}"), soft_wrap=True)
    if not verdict["goals"]:
        console.print(Text(verdict["text"]))


def print_advice(console: Any, advice: str, goal: dict[str, Any]) -> None:
    """Print what to do about a goal, the command, and what stands in it for something else."""
    from rich.text import Text

    console.print(Text(advice, "bold"))
    if goal.get("command"):
        console.print(Text(f"    {goal['command']}"), soft_wrap=True)
    if goal.get("command_note"):
        console.print(Text(goal["command_note"], "dim"))


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
