"""Checks of a built wheel and sdist (``make dist``): sizes, the wheel in an empty environment, tests of the sdist.

python tests/built.py dist
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

MOST_BYTES = 6 * 2**18  # of the wheel, which is code alone
TESTS = ("tests/unit/methods", "tests/unit/persist")


def check_wheel(wheel: Path) -> None:
    """The wheel is small, and holds the package alone, with the mark of its types."""
    size = wheel.stat().st_size
    assert size < MOST_BYTES, f"{wheel.name} has {size:,} bytes, and at most {MOST_BYTES:,} are allowed"
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    tops = {name.split("/")[0] for name in names}
    assert len(tops) == 2 and "proxembed" in tops, f"{wheel.name} holds {sorted(tops)}"
    assert "proxembed/py.typed" in names, f"{wheel.name} lacks proxembed/py.typed"
    print(f"{wheel.name}: {size:,} bytes")


def run(*words: object, **options: object) -> None:
    subprocess.run([str(word) for word in words], check=True, **options)


def main() -> None:
    (wheel,), (sdist,) = (list(Path(sys.argv[1]).resolve().glob(f"*.{kind}")) for kind in ("whl", "tar.gz"))
    check_wheel(wheel)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "empty", with_pip=True)
        python = place / "empty" / ("Scripts" if os.name == "nt" else "bin") / "python"
        run(python, "-m", "pip", "install", "--quiet", wheel)
        run(python, "-m", "proxembed", "demo", "-o", place / "demo", "--json", stdout=subprocess.DEVNULL)
        assert (place / "demo" / "index.html").stat().st_size > 10_000
        print("the demo of the wheel: its page is written")
        with tarfile.open(sdist) as file:
            file.extractall(place, filter="data")
        (source,) = place.glob("proxembed-*")
        run(python, "-m", "pip", "install", "--quiet", f"{wheel}[dev]")
        run(python, "-m", "pytest", "-q", "-n", "2", *TESTS, cwd=source)


if __name__ == "__main__":
    main()
