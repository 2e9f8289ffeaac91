"""OPLS of wide sparse rows: seconds, ridge and macro average precision by how the automatic ridge is chosen.

    python bench/wide_ridge.py [ROWS ...]     # rows of Reuters, by default 3333 5000

"all rows": one decomposition of the rows' side; "sample": 2,000 evenly spaced rows; "1 trace": no choice. Macro average
precision of the ridge read-out on the test rows of Reuters. Data from $PROXEMBED_DATA.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

from proxembed import OPLS
from proxembed.algebra.pencil import linear, problem
from proxembed.classify.ridge import fit_readout
from proxembed.data import read
from proxembed.features.scaling import scaling_apply, scaling_fit
from proxembed.measures.metrics import macro_average_precision

DATA = Path(os.environ.get("PROXEMBED_DATA", Path(__file__).parents[2] / "shared" / "data"))
WAYS = {"all rows": ("auto", 10**6), "sample": ("auto", 2000), "1 trace": (1.0, 2000)}


def main() -> None:
    data = read(DATA / "reuters.npz")
    train, test = data.train_idx, data.test_idx
    print("| rows | ridge chosen on | CPU s | ridge | macro AP |\n|---|---|---|---|---|")
    for n in [int(each) for each in sys.argv[1:]] or [3333, 5000]:
        rows = train[np.linspace(0, len(train) - 1, n).round().astype(int)]
        Y = data.Y[rows]
        kept = np.flatnonzero(np.asarray(Y.sum(axis=0)).ravel() > 0)
        Y, Y_test = Y[:, kept].toarray(), data.Y[test][:, kept].toarray()
        state = scaling_fit("tfidf", data.X[rows])
        X, X_test = (scaling_apply(state, data.X[each]) for each in (rows, test))
        for name, (ridge, sample) in WAYS.items():
            linear.SAMPLE = problem.SAMPLE = sample
            started = time.process_time()
            method = OPLS(ridge=ridge).fit(X, Y)
            spent = time.process_time() - started
            scores = fit_readout(method.transform(X), Y).scores(method.transform(X_test))
            found = macro_average_precision(Y_test, scores).value
            print(f"| {n:,} | {name} | {spent:.1f} | {method.ridge_:.3g} | {found:.4f} |", flush=True)


if __name__ == "__main__":
    main()
