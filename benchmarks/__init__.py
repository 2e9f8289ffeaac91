"""The living benchmark: named data sets, stored folds, one file of results per method, and the page made from them.

``python -m benchmarks run "MESD(LFDA)"`` adds a method, ``python -m benchmarks page`` makes the page anew, and
``benchmarks.load.load()`` returns all results as one table.
"""

from pathlib import Path

HOME = Path(__file__).resolve().parent
PAGE = HOME.parent / "docs" / "results" / "benchmark"
SPLITS, RESULTS = "splits", "results"  # folders of HOME
PROTOCOLS = ("iterative", "random")
TRACKS = ("all", "fifth")
N_FOLDS = 5
