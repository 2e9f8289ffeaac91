"""`proxembed report`: write the page of a finished run again, without fitting anything."""

from pathlib import Path

import typer

from .refusal import refusals


def report(
    folder: Path = typer.Argument(metavar="FOLDER", help="Folder that `compare`, `search` or `demo` has written."),
    json_output: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Rebuild index.html and leaderboard.csv of a folder from its results.json, without refitting."""
    with refusals():
        from proxembed.persist import write_whole
        from proxembed.report import leaderboard_csv, page_html, read_record

        record = read_record(folder)
        made = {"leaderboard.csv": leaderboard_csv(record["summary"]), "index.html": page_html(record)}
        written = [folder / name for name in made]
        write_whole(dict(zip(written, (text.encode("utf-8") for text in made.values()), strict=True)))
        verdict = record["summary"]["verdict"]
        if json_output:
            import json

            typer.echo(json.dumps({"written": [str(path) for path in written], "verdict": verdict}, indent=2))
            return
        typer.echo(f"written: {', '.join(str(path) for path in written)}")
        typer.echo(f"{verdict['headline']}: {verdict['text']}")
