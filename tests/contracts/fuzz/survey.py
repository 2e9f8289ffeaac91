"""Many cases one after the other: failures by cause, each with the simplest case that shows it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .case import Case
from .judge import Verdict
from .tables import TableCase
from .worker import Worker

STEPS = 40


@dataclass
class Failure:
    """One cause: the first case that showed it, made simpler, and the estimators that show it."""

    verdict: Verdict
    case: Case | TableCase
    estimators: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        names = ", ".join(sorted(self.estimators))
        return (
            f"{self.verdict.outcome}: {self.verdict.cause}\n    {self.verdict.message}\n    estimators: {names}\n"
            f'    make fuzz CASE="{self.case}"'
        )


@dataclass
class Survey:
    """What came of the cases so far."""

    worker: Worker = field(default_factory=Worker)
    outcomes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("passed", "refused", "silent", "raw"), 0))
    failures: dict[tuple[str, str], Failure] = field(default_factory=dict)
    causes: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)  # as first seen -> as made simpler

    def add(self, case: Case | TableCase, laws: int) -> Verdict:
        """Judge one case."""
        verdict = self.worker.judge(case, laws)
        self.outcomes[verdict.outcome] += 1
        if verdict.failed:
            first = verdict.outcome, verdict.cause
            if first not in self.causes:
                simplest, found = self.simplest(case, laws, verdict)
                self.causes[first] = found.outcome, found.cause
                self.failures.setdefault(self.causes[first], Failure(found, simplest))
            seen = self.failures[self.causes[first]].estimators
            seen[case.estimator] = seen.get(case.estimator, 0) + 1
        return verdict

    def simplest(self, case: Case | TableCase, laws: int, verdict: Verdict) -> tuple[Case | TableCase, Verdict]:
        """The plainest case that fails for the same cause, but for the forms that the cause tells."""
        if verdict.cause.startswith(("Hang", "the process died")):
            return case, verdict  # each of the next ones would take as long
        tried, simpler = 0, iter(case.simpler())
        while tried < STEPS and (candidate := next(simpler, None)) is not None:
            tried += 1
            found = self.worker.judge(candidate, laws)
            if found.outcome == verdict.outcome and _law(found) == _law(verdict):
                case, verdict, simpler = candidate, found, iter(candidate.simpler())
        return case, verdict

    def run(self, cases: Iterable[tuple[Case | TableCase, int]]) -> Survey:
        """Judge all of them."""
        for case, laws in cases:
            self.add(case, laws)
        return self

    def summary(self) -> str:
        """One line of numbers."""
        counts = self.outcomes
        return (
            f"{sum(counts.values())} cases, {counts['silent']} silent, {counts['raw']} raw "
            f"({counts['passed']} passed, {counts['refused']} refused with a sentence)"
        )


def _law(verdict: Verdict) -> str:
    return verdict.cause.partition(" [")[0]
