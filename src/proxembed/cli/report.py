"""`proxembed report`: write the page of a finished run again, without refitting."""

from pathlib import Path
from typing import Any

import typer

from .options import JSON
from .refusal import refusals
from .terminal import print_json, print_verdict


def report(
    folder: Path = typer.Argument(metavar="FOLDER", help="Folder written by `search`, `compare` or `demo`."),
    json_output: bool = JSON,
) -> None:
    """Write the page and the leaderboard of a finished run again, the words made anew from its figures, without
    refitting."""
    with refusals():
        from proxembed.execute.atomic_files import write_whole
        from proxembed.report import read_record, reworded

        record = reworded(read_record(folder), str(folder), takes_cosine(folder))
        files = {folder / name: text.encode("utf-8") for name, text in pages(record, folder).items()}
        write_whole(files)
        written = list(files)
        verdict = record["summary"]["verdict"]
        if json_output:
            print_json({"written": [str(path) for path in written], "verdict": verdict})
            return
        typer.echo(f"written: {', '.join(str(path) for path in written)}")
        print_verdict(verdict)


def takes_cosine(folder: Path) -> bool:
    """Whether `transform --cosine` takes the model of a run; true where there is no model to refuse it."""
    from proxembed.persist import load_source
    from proxembed.workflow.record import FRAME, MODEL

    path = folder / MODEL
    return not path.exists() or FRAME in (load_source(path) or {})


def pages(record: dict[str, Any], folder: Path) -> dict[str, str]:
    """The leaderboard and the page of a record that was read from a folder."""
    from proxembed.report import leaderboard_csv, page_html
    from proxembed.report.record import LEADERBOARD, PAGE, RECORD

    try:
        return {LEADERBOARD: leaderboard_csv(record["summary"]), PAGE: page_html(record)}
    except MemoryError:
        raise
    except Exception as error:  # whatever a damaged record makes the page raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise ValueError(
            f"{folder / RECORD} is damaged and gives no page ({reason}); run `compare` or `search` again."
        ) from error
