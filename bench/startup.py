"""How long does the program take to answer, and what does the import cost, against a bare interpreter?"""

import os
import subprocess
import sys
from pathlib import Path

from measure import arguments, median_seconds, show, within

SOURCE = Path(__file__).resolve().parents[1] / "src"
BARE = "python -c pass"
QUESTIONS = {
    BARE: "pass",
    "import proxembed": "import proxembed",
    "proxembed --help": "import sys; sys.argv = ['proxembed', '--help']; from proxembed.cli import main; main()",
    "import sklearn (for scale)": "import sklearn",
}
HELP_SECONDS = 0.3
IMPORT_SECONDS = 0.1


def main() -> None:
    options = arguments(__doc__, repeats=9).parse_args()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])}
    seconds = {}
    for name, code in QUESTIONS.items():
        command = [sys.executable, "-c", code]

        def call(command=command):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)

        seconds[name], _ = median_seconds(call, 1 if options.quick else options.repeats)
    bare = seconds[BARE]
    limits = {
        "import proxembed": f"{within(seconds['import proxembed'] - bare, IMPORT_SECONDS)} s above bare",
        "proxembed --help": f"{within(seconds['proxembed --help'], HELP_SECONDS)} s",
    }
    rows = [[name, s, s - bare, s / bare, limits.get(name, "")] for name, s in seconds.items()]
    show(__doc__, ["call", "seconds", "above bare", "ratio to bare", "limit"], rows)


if __name__ == "__main__":
    main()
