"""Runs tests under the kernels of OpenBLAS that this processor does not pick by itself.

OpenBLAS has routines for several generations of processors; OPENBLAS_CORETYPE chooses them when it is loaded. Results
then differ in their last bits, as they do between machines.

    python tests/kernels.py part     one in three of the tests that depend on rounding most, under one other kernel
    python tests/kernels.py whole    the whole suite, under every other kernel
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

KERNELS = ("Nehalem", "Haswell", "SkylakeX", "ARMV8", "NeoverseN1")
PART = (
    "tests/identities",
    "tests/invariants/test_routes.py",
    "tests/invariants/test_ridge_unit.py",
    "tests/unit/algebra",
    "tests/unit/methods/adaptive",
    "tests/unit/methods/test_semisupervised.py",
)
ONE_IN = 3
ROOT = Path(__file__).resolve().parents[1]
PROBE = """
import numpy, scipy.linalg, threadpoolctl
M = numpy.cos(numpy.arange(4096.0)).reshape(64, 64)
scipy.linalg.cholesky(M @ M.T + 64 * numpy.eye(64)), scipy.linalg.eigh(M + M.T), M.astype("f") @ M.astype("f")
print(*{pool["architecture"] for pool in threadpoolctl.threadpool_info() if pool["internal_api"] == "openblas"})
"""


def kernels_in_use(choice: str | None = None) -> set[str]:
    """The kernels that NumPy and SciPy run by, where ``choice`` is asked for; none where the processor cannot."""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    if choice is not None:
        environment["OPENBLAS_CORETYPE"] = choice
    done = subprocess.run([sys.executable, "-c", PROBE], env=environment, capture_output=True, text=True)
    return set(done.stdout.split()) if done.returncode == 0 else set()


def other_kernels() -> list[str]:
    """The kernels that run here and are not the processor's own choice."""
    own = kernels_in_use()
    return [kernel for kernel in KERNELS if kernel not in own and kernels_in_use(kernel) == {kernel}]


def run(kernel: str, tests: tuple[str, ...], share: int = 1) -> int:
    """The exit status of the tests, or one in so many of them, under a kernel."""
    print(f"tests under OPENBLAS_CORETYPE={kernel}: {' '.join(tests) or 'all'}", flush=True)
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "TEST_SHARE": str(share)}
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", *tests]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


def main(argument: str) -> int:
    """0 where all tests pass, or where there is no other kernel."""
    found = other_kernels()
    if not found:
        print(f"no other kernel of OpenBLAS runs here (its own: {', '.join(sorted(kernels_in_use())) or 'none'})")
        return 0
    if argument == "part":
        return run(found[0], PART, ONE_IN)
    failed = [kernel for kernel in found if run(kernel, ())]
    print(f"whole suite under {', '.join(found)}: {'failed under ' + ', '.join(failed) if failed else 'passed'}")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] not in (["part"], ["whole"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
