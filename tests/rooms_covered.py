"""The share of lines that the tests run, one row per package, from coverage's JSON (``make coverage``).

python tests/rooms_covered.py coverage.json page.md
"""

import json
import sys
from collections import defaultdict
from pathlib import Path, PurePosixPath


def rooms(report: dict) -> dict[str, tuple[int, int]]:
    """(lines run, lines) of each room; files that are in none count as a room of their name."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, file in report["files"].items():
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if "proxembed" not in parts:  # a module that a test has written
            continue
        room = found[parts[parts.index("proxembed") + 1].removesuffix(".py")]
        room[0] += file["summary"]["covered_lines"]
        room[1] += file["summary"]["num_statements"]
    return {name: (run, of) for name, (run, of) in sorted(found.items())}


PAGE = """---
orphan: true
---

# Test coverage

Lines of `proxembed` that the tests of `make test` run, by `make coverage` on {day}. Lines that run in processes which
the tests start (workers, the program itself) are not counted.

{table}
"""


def page(lines: dict[str, tuple[int, int]], day: str) -> str:
    """The table as a Markdown page."""
    rows = [f"| {name} | {run:,} | {of:,} | {percent(run, of)} |" for name, (run, of) in lines.items()]
    return PAGE.format(day=day, table="\n".join(["| package | lines run | lines | % |", "|---|---|---|---|", *rows]))


def percent(run: int, of: int) -> str:
    return f"{100 * run / max(of, 1):.1f}"


def main() -> None:
    report = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    lines = rooms(report)
    lines["all"] = (sum(run for run, _ in lines.values()), sum(of for _, of in lines.values()))
    for name, (run, of) in lines.items():
        print(f"{name:<20}{run:>7,} of {of:>6,}  {percent(run, of):>5} %")
    Path(sys.argv[2]).write_text(page(lines, report["meta"]["timestamp"][:10]), encoding="utf-8")


if __name__ == "__main__":
    main()
