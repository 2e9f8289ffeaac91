"""Which configurations win on the data sets of ``shared/data``? Writes the portfolio from which "auto" starts.

``make portfolio`` searches at most ROWS training rows of each set by halving, for WORK units of counted work, by the
precision of a read-out and by the labels of neighbours, and keeps the best four families of each. Sets that are given
by name are searched again, the others stay as they are.
"""

import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np

from proxembed import EmbeddingSearch
from proxembed.data import read
from proxembed.evaluate.costs import shape_of
from proxembed.methods.pipeline import training_labels
from proxembed.study.candidates import NEIGHBORS, SCORES, plain_name

TABLE = Path(__file__).parent.parent / "src" / "proxembed" / "study" / "portfolio.json"
SETS = "birds corel5k dna emotions enron reuters satimage scene tmc2007-500 yeast".split()
ROWS, KEPT, WORK = 900, 4, 60.0


def winners(data, measure: str, work: float) -> list[str]:
    """Names of the best configurations, one of each family."""
    search = EmbeddingSearch(measure=measure, max_work=work, max_trials=None, max_seconds=None, refit=False)
    search.fit(data.X, training_labels(data))
    return list(dict.fromkeys(plain_name(leader) for leader in search.leaders_))[:KEPT]


def main() -> None:
    folder, work = Path(os.environ.get("PROXEMBED_DATA", "../shared/data")), float(os.environ.get("WORK", WORK))
    rows = {row["name"]: row for row in json.loads(TABLE.read_text())["sets"]} if TABLE.exists() else {}
    for name in sys.argv[1:] or SETS:
        data = read(folder / f"{name}.npz")
        train = np.arange(data.X.shape[0]) if data.train_idx is None else data.train_idx
        drawn = data.take(np.sort(np.random.default_rng(0).permutation(train)[:ROWS]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = {measure: winners(drawn, measure, work) for measure in (SCORES, NEIGHBORS)}
        n, d, w, c, _ = shape_of(data.X, data.Y.shape[1])._replace(n=len(train))
        rows[name] = {"name": name, "shape": [n, d, round(w, 1), c], "winners": found}
        print(name, *found.values(), sep="\n  ", flush=True)
        text = ",\n".join(json.dumps(rows[each]) for each in sorted(rows))
        TABLE.write_text(f'{{"sets": [\n{text}\n]}}\n')


if __name__ == "__main__":
    main()
