"""What R finds for the components of one small data set: vegan, stats and pls, stored for the tests that run without R.

python tests/slow/unit/evaluate/axes_in_r.py    runs R (r-cran-vegan, r-cran-pls) and writes the file
"""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
STORED = HERE.parents[2] / "unit" / "evaluate" / "axes_in_r.json"
N = 29  # a prime


def made():
    """X (29 x 3), Y (29 x 4), z and level: two axes, a covariate that moves X and Y, levels that move Y."""
    random = np.random.default_rng(5)
    z, level = random.normal(size=N), np.arange(N) % 3
    X = random.normal(size=(N, 3)) + z[:, None]
    Y = X[:, :2] @ [[1.0, 0.5, 0.0, -0.5], [0.0, 0.6, -0.6, 0.3]] + z[:, None] + level[:, None]
    Y += 1.2 * random.normal(size=Y.shape)
    return {"X": X.round(2).tolist(), "Y": Y.round(2).tolist(), "z": z.round(2).tolist(), "level": level.tolist()}


def found(data):
    """The results of R by name, each a list of numbers."""
    table = np.column_stack([data["X"], data["Y"], data["z"], data["level"]])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "data.csv")
        np.savetxt(file, table, fmt="%.2f", delimiter=",", header="x1,x2,x3,y1,y2,y3,y4,z,level", comments="")
        done = subprocess.run(["Rscript", HERE / "axes.R", file], capture_output=True, text=True, check=True)
    return {name: [float(value) for value in values] for name, *values in map(str.split, done.stdout.splitlines())}


if __name__ == "__main__":
    data = made()
    lines = [f"{json.dumps(name)}: {json.dumps(values)}" for name, values in {**data, **found(data)}.items()]
    STORED.write_text("{" + ",\n".join(lines) + "}\n")
