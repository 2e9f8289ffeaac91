"""Plants faults in a copy of the package, one at a time, and fails unless the tests catch every one of them.

python tests/mutants.py            every fault
python tests/mutants.py hypergraph those in files, or of meanings, with this text
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "results", "_build", "generated", "dist")
TESTS = "tests/oracles", "tests/identities", "tests/invariants", "tests/contracts", "tests/unit"
# pytest's exit status: some test failed.
CAUGHT = 1


class Fault(NamedTuple):
    """A text of one file of the package, which occurs once, what replaces it, and a text in the names of the tests
    that should fail: the class, or a part of the name of the test.

    ``named`` is an expression of ``pytest -k``.
    """

    meaning: str
    file: str
    old: str
    new: str
    named: str


FAULTS = (
    Fault(
        "pairs of different classes lose their weights",
        "methods/local.py",
        "A = Laplacian(Sparse(rows.links_counted(rows.weigh(enemies, same_class=False))))",
        "A = Laplacian(Sparse(rows.links_counted(enemies)))",
        "MFA",
    ),
    Fault(
        "local scale from the neighbour before the k-th",
        "methods/local.py",
        "found.distance[:, min(self.n_neighbors, found.K) - 1]",
        "found.distance[:, max(0, min(self.n_neighbors, found.K) - 2)]",
        "LFDA",
    ),
    Fault(
        "between-class scatter centred by ones instead of the mass of the labels",
        "methods/fisher.py",
        "mixed(F, C, reciprocal(q), center=s)\n        return Template(between, Centering(s)",
        "mixed(F, C, reciprocal(q), center=rows.ones)\n        return Template(between, Centering(s)",
        "MLDA",
    ),
    Fault(
        "total of the labels instead of n rows",
        "methods/fisher.py",
        "mixed(F, C, rows.n * reciprocal(q) ** 2, center=rows.ones)",
        "mixed(F, C, rows.labels.nt * reciprocal(q) ** 2, center=rows.ones)",
        "DMLDA",
    ),
    Fault(
        "degree of the star expansion by the square of the edge's size",
        "methods/dependence.py",
        '"star": (w / nk**2, w / nk)}',
        '"star": (w / nk**2, w / nk**2)}',
        "HSL",
    ),
    Fault(
        "unbiased HSIC: wrong denominator of the mean of all entries",
        "methods/dependence.py",
        "/ ((n - 1) * (n - 2))",
        "/ ((n - 1) * (n - 1))",
        "SFEHS",
    ),
    Fault(
        "unit of the ridge of Y by the larger side",
        "methods/dependence.py",
        "min(rows.n, labels.c)",
        "max(rows.n, labels.c)",
        "ridge_on_the_labels",
    ),
    Fault(
        "coding by -1 and 1 doubles the dependence instead of quadrupling it",
        "methods/variance.py",
        "dependence *= 4.0 if rows.codes(self.coding)",
        "dependence *= 2.0 if rows.codes(self.coding)",
        "MVMD",
    ),
    Fault(
        "labels are not divided by their trace",
        "methods/latent.py",
        "return beta / of_targets if beta > 0",
        "return beta if beta > 0",
        "slvm",
    ),
    Fault(
        "components without effect of the labels pass in silence",
        "methods/latent.py",
        "share.min() > 1.0 - NO_EFFECT",
        "share.min() > 1.0 + NO_EFFECT",
        "ignore_the_labels",
    ),
    Fault(
        "a row of all pairs weighs nothing with itself",
        "proximity/weights.py",
        "W[i - part.start, i] = self.loops[part]",
        "W[i - part.start, i] = 0.0",
        "priority_of_all_pairs",
    ),
    Fault(
        "loops are left out",
        "estimator/neighborly.py",
        "if self.self_loops:",
        "if not self.self_loops:",
        "loops_of_named_weights",
    ),
    Fault(
        "friends and enemies no longer weigh alike",
        "methods/local.py",
        "return Template(-Laplacian(Sparse(rows.links_counted(near - apart))), offset=rows.mass, sense=-1)",
        "return Template(-Laplacian(Sparse(rows.links_counted(near - 0.9 * apart))), offset=rows.mass, sense=-1)",
        "DNE",
    ),
    Fault(
        "whitening by n instead of n - 1",
        "methods/variance.py",
        "np.sqrt((R.count - 1) / eigenvalues)",
        "np.sqrt(R.count / eigenvalues)",
        "whitened_scores",
    ),
    Fault(
        "every seen row is given the place of the first training row",
        "estimator/rows.py",
        "np.where(self.prints[place] == prints, self.first[place], -1)",
        "np.where(self.prints[place] == prints, 0 * self.first[place], -1)",
        "Isomap",
    ),
    Fault(
        "masked arrays are accepted",
        "estimator/validation.py",
        '    if masked:\n        raise ValueError(f"{name} has {masked} masked',
        '    if False:\n        raise ValueError(f"{name} has {masked} masked',
        "masked_features",
    ),
)


def planted(source: str, fault: Fault) -> str:
    """The source with the fault; raises ValueError if its text has moved."""
    if source.count(fault.old) != 1:
        raise ValueError(
            f"{fault.file}: the text of the fault {fault.meaning!r} occurs {source.count(fault.old)} times instead of "
            "once; move the fault along with its formula."
        )
    return source.replace(fault.old, fault.new)


def is_caught(fault: Fault, folder: Path) -> bool:
    """Whether a test that the fault names fails on the copy with the fault; the copy is then as before.

    The kinds of tests run in turn: collecting all of them takes far longer than running the named ones.
    """
    file = folder / "src" / "proxembed" / fault.file
    source = file.read_text()
    file.write_text(planted(source, fault))
    try:
        found = any(fails(fault, tests, folder) for tests in TESTS)
    finally:
        file.write_text(source)
    if not found:
        print(f"SURVIVED: {fault.meaning} ({fault.file})", flush=True)
    return found


def fails(fault: Fault, tests: str, folder: Path) -> bool:
    """Whether a test of one kind that the fault names fails."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-k", fault.named, tests]
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    last = (done.stdout.strip().splitlines() or [done.stderr.strip()])[-1]
    found = done.returncode == CAUGHT and " failed" in last
    print(f"{'caught' if found else 'missed'}: {fault.meaning} ({fault.file}) in {tests}: {last}", flush=True)
    return found


def main(text: str = "") -> int:
    """0 if every fault is caught."""
    faults = [fault for fault in FAULTS if text in fault.file or text in fault.meaning]
    with tempfile.TemporaryDirectory() as name:
        copy = Path(shutil.copytree(ROOT, Path(name) / "copy", ignore=LEFT_OUT))
        caught = [is_caught(fault, copy) for fault in faults]
    print(f"{sum(caught)} of {len(faults)} planted faults are caught")
    return 0 if faults and all(caught) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
