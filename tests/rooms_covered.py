"""The share of lines that the tests run, a room of the package a line, from coverage's JSON (``make coverage``).

python tests/rooms_covered.py coverage.json
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
        room = found[parts[parts.index("proxembed") + 1].removesuffix(".py")]
        room[0] += file["summary"]["covered_lines"]
        room[1] += file["summary"]["num_statements"]
    return {name: (run, of) for name, (run, of) in sorted(found.items())}


def main() -> None:
    report = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    totals = report["totals"]
    lines = {**rooms(report), "all": (totals["covered_lines"], totals["num_statements"])}
    for name, (run, of) in lines.items():
        print(f"{name:<20}{run:>7,} of {of:>6,}  {100 * run / max(of, 1):5.1f} %")


if __name__ == "__main__":
    main()
