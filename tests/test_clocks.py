"""No test of ``make test`` reads a clock or sleeps: what it asserts would depend on the load of the machine.

``clocks.set_clock`` sets a clock; tests wait for events, pipes and conditions.
"""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
READS = {"time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime"}
READS |= {f"{name}_ns" for name in READS} | {"sleep"}
# Of what is looked for, every module without these words has nothing.
SPOKEN = re.compile(r"\b(time|timeit|datetime)\b")
# A program that is told how many seconds to run, and this file.
MAY_READ = {"contracts/fuzz/__main__.py", "test_clocks.py"}


def readings(source: str) -> list[str]:
    """Names by which a module reads a clock or sleeps, from ``time`` and ``datetime``; also sleeps in its texts."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module in ("time", "timeit"):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name == "timeit"]
        elif isinstance(node, ast.Constant) and "time.sleep(" in str(node.value):
            found.append("time.sleep in a text")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            whole = node.value.id, node.attr
            if (whole[0] == "time" and whole[1] in READS) or whole == ("datetime", "now"):
                found.append(".".join(whole))
    return found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("time.sleep(1)", ["time.sleep"]),
        ("program = 'import time; time.sleep(1)'", ["time.sleep in a text"]),
        ("from time import sleep", ["sleep"]),
        ("event.wait(1)", []),
        ("started = time.monotonic()", ["time.monotonic"]),
        ("from time import perf_counter as now", ["perf_counter"]),
        ("import timeit", ["timeit"]),
        ("datetime.now()", ["datetime.now"]),
    ],
)
def test_the_search_for_clocks_sees(line, found):
    assert readings(line) == found


def test_no_test_reads_a_clock_or_sleeps():
    sources = {
        path.relative_to(TESTS).as_posix(): path.read_text()
        for path in sorted(TESTS.rglob("*.py"))
        if path.relative_to(TESTS).parts[0] != "slow"
    }
    found = {name: readings(source) if SPOKEN.search(source) else [] for name, source in sources.items()}
    assert {name: calls for name, calls in found.items() if calls and name not in MAY_READ} == {}
    assert all(found[name] for name in MAY_READ)
