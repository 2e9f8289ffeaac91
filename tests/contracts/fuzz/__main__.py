"""``python -m contracts.fuzz``: random cases for some seconds, or one case by its text.

python -m contracts.fuzz --seconds 600 --seed 7
python -m contracts.fuzz --only "cells are read"
python -m contracts.fuzz "PCA; at fit; X 1e+15/array; y plain sets/indicator; 20x5; seed 0"
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from itertools import chain
from pathlib import Path

from contracts.estimators import public

from . import tables
from .case import Case
from .schedule import draws, sweep
from .survey import Survey
from .tables import START, TableCase

ALL_LAWS = 100


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m contracts.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("case", nargs="?", help="the text of one case")
    parser.add_argument("--seconds", type=float, default=300.0, help="how long to draw cases (300)")
    parser.add_argument("--seed", type=int, help="seed of the draws; another every time")
    parser.add_argument("--sweep", action="store_true", help="first the cases of the tests")
    parser.add_argument("--only", help="estimators and laws of tables, separated by commas")
    parser.add_argument("--report", type=Path, help="a file for the failures, renewed with every new one")
    options = parser.parse_args()
    survey = Survey()
    try:
        if options.case:
            kind = TableCase if options.case.startswith(START) else Case
            verdict = survey.worker.judge(kind.read(options.case), ALL_LAWS)
            print(f"{verdict.outcome} {verdict.cause} {verdict.message}".strip())
            return int(verdict.failed)
        return carry_out(survey, options)
    finally:
        survey.worker.close()


def carry_out(survey: Survey, options: argparse.Namespace) -> int:
    """Sweep and draw until the time is over; print every new failure and the summary."""
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    only = set(options.only.split(",")) if options.only else None
    swept = chain.from_iterable(sweep(cls) for cls in public()) if options.sweep else ()
    end = time.monotonic() + options.seconds
    both = chain.from_iterable(zip(draws(seed), tables.draws(seed), strict=False))
    for case, laws in chain(swept, both):
        if only and case.estimator not in only:
            continue
        if time.monotonic() > end:
            break
        known = len(survey.failures)
        survey.add(case, laws)
        if len(survey.failures) > known:
            print(list(survey.failures.values())[-1], flush=True)
        if options.report and survey.failures:
            options.report.write_text("\n".join(map(str, survey.failures.values())) + f"\n{survey.summary()}\n")
    print(survey.summary())
    return int(bool(survey.failures))


if __name__ == "__main__":
    sys.exit(main())
