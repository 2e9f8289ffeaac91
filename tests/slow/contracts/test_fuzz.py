"""Odd inputs of every kind on every public estimator: a fit gives a right result or a sentence, never a raw error.

The cases of these tests are the same every time. ``make fuzz`` draws others, for as long as it is told.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from contracts.estimators import EVERY, every
from contracts.fuzz import features, limits, planted, schedule, settings, table_laws, tables, targets
from contracts.fuzz.case import Case
from contracts.fuzz.judge import judge
from contracts.fuzz.laws import ALWAYS, SOMETIMES
from contracts.fuzz.survey import Survey
from contracts.fuzz.tables import TableCase
from contracts.fuzz.worker import Worker
from proxembed.data import DataError

PARTS = 14


@pytest.fixture(scope="module")
def worker():
    worker = Worker()
    yield worker
    worker.close()


@every
def test_every_kind_of_x_y_and_parameters(cls, worker):
    """A part of the sweep of ``make fuzz``, another one for the next estimator: every kind meets some of them."""
    place = EVERY.index(cls)
    survey = Survey(worker).run(case for i, case in enumerate(schedule.sweep(cls)) if (i + place) % PARTS == 0)
    assert not survey.failures, "\n".join(map(str, survey.failures.values()))
    assert survey.outcomes["passed"] >= 5 and survey.outcomes["refused"] >= 3, survey.summary()


@pytest.mark.parametrize("number", range(4))
def test_draws_of_the_longer_run(number, worker):
    cases = schedule.draws(number)
    survey = Survey(worker).run(next(cases) for _ in range(40))
    assert not survey.failures, "\n".join(map(str, survey.failures.values()))


# planted estimator -> what the fuzzer must say of it
WRONG = {
    "NotFinite": "silent finite",
    "NoColumns": "silent shapes",
    "ChangesX": "silent unchanged",
    "MergesClasses": "silent classes",
    "RawIndexError": "raw IndexError",
    "RawWarning": "raw RuntimeWarning",
    "ByFirstRow": "silent order_of_rows",
    "ByFirstColumn": "silent order_of_columns",
    "ByFirstLabel": "silent order_of_labels",
    "KeepsOldFit": "silent failed_fit",
    "Remembers": "silent fit_",
    "InventsClasses": "silent predictions",
    "Rounds": "silent single_precision",
    "Hangs": "raw Hang",
    "TakesNaN": "silent accepted: X NaN",
    "ForgetsNames": "silent table_columns",
}

PLAIN = [Case("", seed=seed, n=n, d=d) for seed, n, d in ((0, 20, 5), (1, 12, 3), (2, 40, 9))]
CLASSES = [case.with_(labels="plain classes", form=form) for case in PLAIN for form in ("plain", "huge integers")]
TRIED = [
    *PLAIN,
    *CLASSES,
    *(case.with_(storage=storage) for case in PLAIN for storage in ("float32", "table", "NaN", "csr")),
    *(case.with_(values="a column of zeros") for case in PLAIN),
]


def verdicts(name: str) -> set[str]:
    found = (judge(case.with_(estimator=name), laws=100) for case in TRIED)
    return {f"{verdict.outcome} {verdict.cause}" for verdict in found}


def test_an_honest_estimator_passes():
    assert verdicts("Honest") == {"passed ", "refused "}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_reported(name, monkeypatch):
    monkeypatch.setattr(limits, "SECONDS", 0.3)
    found = verdicts(name)
    assert any(verdict.startswith(WRONG[name]) for verdict in found), found


def test_every_planted_fault_has_its_report():
    assert set(planted.PLANTED) == {"Honest", "Dies", "Devours", *WRONG}


def test_a_process_that_dies_is_a_verdict(worker):
    wide, narrow = Case("Dies", d=9), Case("Dies", d=2)
    assert worker.judge(wide).cause == "the process died with exit status -9"
    assert worker.judge(narrow).outcome == "passed"
    assert worker.judge(Case("Devours", d=9)).cause.startswith("MemoryError")
    assert worker.judge(Case("Devours", d=2)).outcome == "passed"


def test_a_failure_is_reported_once_by_its_simplest_case(worker):
    survey = Survey(worker)
    case = Case("RawIndexError", values="one direction", storage="csr", labels="unknown rows", form="sets", n=30, d=3)
    other = case.with_(values="counts", storage="table", seed=5)
    survey.run([(case, 0), (other, 0), (Case("Honest"), 3)])
    (failure,) = survey.failures.values()
    assert failure.estimators == {"RawIndexError": 2}
    assert failure.case == Case("RawIndexError", n=2, d=1)
    assert 'make fuzz CASE="RawIndexError; at fit; X plain/array; y plain sets/indicator; 2x1; seed 0"' in str(failure)
    assert survey.summary().startswith("3 cases, 0 silent, 2 raw")


def test_a_raised_sentence_is_told_from_an_operation_that_failed():
    def raised(text):
        raise ValueError(text)

    for call in (lambda: np.zeros(2)[5], lambda: [1, 2] @ np.eye(3), lambda: raised("no"), lambda: int("word")):
        with pytest.raises(limits.Fault):
            limits.attempt(call)


RIGHT = {
    "rows of unit length over all columns": "LaplacianEigenmaps; at fit; X plain/array; y plain sets/indicator; 8x1; "
    "seed 1487009687; row_normalize=True",
    "no rule for new rows": "LaplacianEigenmaps; at transform; X plain/one number; y plain sets/indicator; 6x1; "
    "seed 1546799322; normalization='none'",
    "no rule for columns in another order": "LaplacianEigenmaps; at fit; X plain/table of many types; y plain sets/"
    "indicator; 2x1; seed 1430955446; graph='full'; normalization='none'",
    "scores whose squares underflow": "MultiOutputRidge; at fit; X 1e-150/array; y plain classes/plain; 2x1; "
    "seed 1874794649",
    "equal distances": "LPP; at fit; X plain/bool; y plain sets/indicator; 30x5; seed 2012413394; metric='cosine'",
    "equal distances beside a large cell": "LabelKNN; at fit; X one large cell/array; y plain classes/plain; 4x1; "
    "seed 1653062034",
    "equal directions": "LLE; at fit; X 1e+18/int64; y plain sets/indicator; 30x5; seed 1089619093; metric='cosine'",
    "equal distances by the length of sparse rows": "MLKNN; at fit; X one large cell/table of sparse columns; "
    "y plain sets/indicator; 20x1; seed 1593792389",
    "weights next to nothing": "MLGFHF; at fit; X whole numbers/int8; y plain sets/indicator; 20x9; seed 1631780526; "
    "tau=1.0",
    "one column of directions": "SSFDA; at fit; X plain/array; y plain classes/plain; 8x1; seed 1243439551; "
    "metric='cosine'",
    "a single label": "MLLGC; at fit; X plain/array; y rows without labels/tuples of text; 2x1; seed 26458756; "
    "n_neighbors=1",
    "an absolute penalty": "MORP; at fit; X 1e-22/array; y plain sets/indicator; 6x2; seed 2097897296; beta=1.0",
    "a landmark drawn by its number": "Isomap; at fit; X plain/array; y plain sets/indicator; 4x1; seed 1826805603; "
    "n_landmarks=2; eps=3.0",
    "cuts tuned on folds": "MLGFHF; at fit; X plain/array; y plain sets/indicator; 20x1; seed 958396417; "
    "decision='tuned'",
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes(name):
    assert judge(Case.read(RIGHT[name]), laws=100).outcome == "passed"


@every
def test_the_sweep_meets_every_kind(cls):
    cases = [case for case, _ in schedule.sweep(cls)]
    assert all(Case.read(str(case)) == case for case in cases)
    fitted = [case for case in cases if case.at == "fit"]
    assert {case.storage for case in fitted} == set(features.STORAGES)
    assert {case.storage for case in cases if case.at == "transform"} == set(features.STORAGES)
    assert {case.values for case in fitted} == set(features.VALUES)
    for name in schedule.families(cls):
        kinds = getattr(targets, name.upper())
        assert {case.labels for case in fitted if case.labels in kinds} == set(kinds)
        assert {case.form for case in fitted if case.labels in kinds} == set(targets.forms(next(iter(kinds))))
    assert {name for case in fitted for name, _ in case.params} == set(settings.parameters(cls))


def test_the_sweeps_together_meet_every_x_and_every_y_in_most_pairs():
    pairs = {(case.storage, case.form) for cls in EVERY for case, _ in schedule.sweep(cls) if case.at == "fit"}
    for forms in schedule.FORMS.values():
        wanted = {(storage, form) for storage in features.ACCEPTABLE for form in forms}
        met = wanted & pairs
        assert {storage for storage, _ in met} == set(features.ACCEPTABLE) and {form for _, form in met} == set(forms)
        assert len(met) > 0.7 * len(wanted)


def test_every_law_is_drawn():
    drawn = [np.random.default_rng([seed, 3]).choice(list(SOMETIMES), 3, replace=False) for seed in range(40)]
    assert set(np.ravel(drawn)) == set(SOMETIMES) and not set(SOMETIMES) & set(ALWAYS)


@pytest.mark.parametrize("law", table_laws.LAWS)
def test_tables_frames_and_files_keep_the_laws(law):
    cases = [case for case, _ in islice(tables.draws(0), 600) if case.law == law][:25]
    assert all(TableCase.read(str(case)) == case for case in cases)
    wrong = [f'make fuzz CASE="{case}"\n{verdict}' for case in cases if (verdict := tables.judge(case)).failed]
    assert len(cases) == 25 and not wrong, "\n".join(wrong)


def _raised(error):
    def call(*args, **options):
        raise error

    return call


# a fault of a reader -> the law that shows it, and the verdict
TABLE_FAULTS = {
    "a factor of 1000": (lambda data: replace(data, X=1000 * data.X), "formats of matrices", "silent"),
    "labels of other rows": (lambda data: replace(data, Y=data.Y.tocsr()[::-1]), "formats of matrices", "silent"),
    "a raw error": (lambda data: {}["c0"], "cells are read", "raw"),
    "two lines": (lambda data: _raised(DataError("a\nb"))(), "cells are read", "raw"),
    "bytes": (lambda data: b"\xff".decode(), "cells are read", "raw"),
}


@pytest.mark.parametrize("name", TABLE_FAULTS)
def test_what_is_wrong_with_a_table_is_reported(name, monkeypatch):
    how, law, outcome = TABLE_FAULTS[name]
    read = table_laws.read
    monkeypatch.setattr(table_laws, "read", lambda *args, **options: how(read(*args, **options)))
    assert tables.judge(TableCase(law, ("two decimals", "category"), seed=1)).outcome == outcome


def test_a_case_of_a_table_goes_through_the_worker_and_is_made_simpler(worker):
    case = TableCase("columns of files by name", ("whole", "date"), tables.Style(separator="tab", empty="NA"), 12, 1)
    assert worker.judge(case).outcome == "passed"
    assert {str(simpler) for simpler in case.simpler()} == {
        "table; columns of files by name; date; separator=tab; empty=NA; 12 rows; seed 1",
        "table; columns of files by name; whole; separator=tab; empty=NA; 12 rows; seed 1",
        "table; columns of files by name; whole+date; empty=NA; 12 rows; seed 1",
        "table; columns of files by name; whole+date; separator=tab; 12 rows; seed 1",
    }
