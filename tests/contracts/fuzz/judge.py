"""The verdict on a case: passed, refused with a sentence, raw, or silent."""

from __future__ import annotations

import copy
import re
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from .case import Case
from .laws import broken
from .limits import Fault, Refusal
from .trial import Trial

TABLE_READERS = ("TableEncoder",)  # empty cells and words are features to them
RUINED = r"(explain|truncate)\((True|False|-1|0, -1|0, True|nan|None|'0'|0\.5|\[0\]|10\*\*400|0, 3, -1|0, 3, True)\)"


@dataclass(frozen=True)
class Verdict:
    """``outcome`` is passed, refused, raw or silent; ``cause`` names what is wrong without the values of the case."""

    outcome: str
    cause: str = ""
    message: str = ""

    @property
    def failed(self) -> bool:
        return self.outcome in ("raw", "silent")

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def judge(case: Case, laws: int = 3) -> Verdict:
    """Run a case."""
    try:
        return _judged(Trial(case), laws)
    except Fault as fault:
        return Verdict("raw", fault.cause, fault.message)


def _judged(trial: Trial, laws: int) -> Verdict:
    case = trial.case
    single_use = "generator" in f"{case.storage} {case.form}"
    before = None if single_use else tuple(map(_copied, (trial.X, trial.new, trial.y)))
    fitted = trial.fitted
    if isinstance(fitted, Refusal):
        return Verdict("refused", "", str(fitted))
    unknown = case.storage in ("NaN", "None")  # in an array, a number that is not known
    takes_cells = case.estimator in TABLE_READERS and (unknown or case.storage.startswith("table"))
    must_refuse = trial.y_refused or (trial.matrix is None and not takes_cells)
    if must_refuse:
        what = f"X {case.storage}" if trial.matrix is None else f"y {case.form}"
        return Verdict("silent", f"accepted: {what}", f"fit on X {case.storage} and y {case.form} was not refused")
    if trial.matrix is None:
        return Verdict("passed")
    if "(" in case.at:
        return _called(trial, fitted)
    found = trial.outputs(fitted, trial.X, trial.new)
    if isinstance(found, Refusal):
        return _refused_rows(trial, found)
    if not found:
        return Verdict("passed")
    if trial.new_matrix is None or trial.new_matrix.shape[1] != trial.matrix.shape[1]:
        if found.keys() == {"embedding_"}:  # there is no rule for new rows, so that nothing took these
            return Verdict("passed")
        return Verdict("silent", f"accepted: new rows {case.storage}", "new rows were not refused")
    if before is not None and not _same((trial.X, trial.new, trial.y), before):
        return Verdict("silent", "unchanged", "fit or transform changed its input")
    wrong = broken(trial, fitted, found, laws)
    return Verdict("passed") if wrong is None else Verdict("silent", _cause(wrong[0], case), wrong[1])


def _copied(value: Any) -> Any:
    """A deep copy; NumPy 2.0.0 crashes in that of an array of NumPy's strings."""
    return value.copy() if isinstance(value, np.ndarray) and value.dtype.kind == "T" else copy.deepcopy(value)


def _called(trial: Trial, fitted: Any) -> Verdict:
    """The verdict on a call such as explain(-1) of the fitted estimator."""
    name, _, given = trial.case.at.partition("(")
    if not hasattr(fitted, name):
        return Verdict("refused", "", f"there is no {name}")
    from .settings import NAMES

    answer = trial.attempt(lambda: eval(f"found.{trial.case.at}", {"found": fitted, **NAMES}))
    if isinstance(answer, Refusal):
        return Verdict("refused", "", str(answer))
    if re.fullmatch(RUINED, trial.case.at):
        return Verdict("silent", f"accepted: {trial.case.at}", "it was not refused")
    return Verdict("passed")


def _refused_rows(trial: Trial, refusal: Refusal) -> Verdict:
    """A refusal of rows after a fit: right for rows that are none, wrong for those of fit."""
    if isinstance(refusal.error, NotFittedError):
        return Verdict("silent", "half fitted", f"fit returned, but {refusal}")
    return Verdict("refused", "", str(refusal))


def _cause(law: str, case: Case) -> str:
    """A law, with the forms of X and y where it is broken by one of them."""
    return f"{law} [X {case.storage}, y {case.form}]" if law in ("classes", "form_is_free", "predictions") else law


def _same(found: Any, before: Any) -> bool:
    """Whether two inputs are equal, bit by bit."""
    if isinstance(found, tuple | list):
        return len(found) == len(before) and all(_same(a, b) for a, b in zip(found, before, strict=True))
    if sp.issparse(found):
        parts = [name for name in ("data", "indices", "indptr", "row", "col", "rows") if hasattr(found, name)]
        return all(_equal_arrays(np.asarray(getattr(found, p)), np.asarray(getattr(before, p))) for p in parts)
    if isinstance(found, pd.DataFrame | pd.Series):
        return found.equals(before) and found.index.equals(before.index)
    if isinstance(found, np.ndarray):
        return _equal_arrays(found, before)
    if isinstance(found, set | frozenset | dict):
        return found == before
    return repr(found) == repr(before)


def _equal_arrays(found: np.ndarray, before: np.ndarray) -> bool:
    if found.dtype.kind in "OVT":
        return _same(found.tolist(), before.tolist())
    return found.shape == before.shape and found.tobytes() == before.tobytes()
