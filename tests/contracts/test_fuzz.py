"""The fuzzer runs, tells right from wrong, and reads its cases back; `tests/slow` has its own tests in full."""

from __future__ import annotations

from itertools import islice

import pytest

from contracts.fuzz import schedule, table_laws, tables
from contracts.fuzz.case import Case
from contracts.fuzz.judge import judge
from contracts.fuzz.tables import TableCase
from proxembed import FDA, MLKNN, OPLS


@pytest.mark.parametrize("cls", [FDA, MLKNN, OPLS], ids=lambda cls: cls.__name__)
def test_some_cases_of_the_sweep_are_right(cls):
    cases = list(islice(schedule.sweep(cls), 0, None, 40))
    verdicts = [judge(case, laws) for case, laws in cases]
    assert [verdict for verdict in verdicts if verdict.failed] == []
    assert {verdict.outcome for verdict in verdicts} == {"passed", "refused"}
    assert all(Case.read(str(case)) == case for case, _ in cases)


@pytest.mark.parametrize(
    ("name", "found"), [("Honest", "passed "), ("ChangesX", "silent unchanged"), ("RawIndexError", "raw IndexError")]
)
def test_what_is_planted_is_reported(name, found):
    verdict = judge(Case(name, n=20, d=5), laws=100)
    assert f"{verdict.outcome} {verdict.cause}".startswith(found)


def test_a_table_that_changes_on_the_way_is_reported(monkeypatch):
    case = TableCase("cells are read", ("two decimals", "category"), seed=1)
    assert tables.judge(case).outcome == "passed" and TableCase.read(str(case)) == case
    monkeypatch.setattr(table_laws, "read", lambda *args, **options: {}["c0"])
    assert tables.judge(case).outcome == "raw"
