"""The living benchmark: named data sets, stored folds, one file of results per method, and the page made from them.

``python -m benchmarks run "MESD(LFDA)"`` adds a method, ``python -m benchmarks page`` makes the page anew, and
``benchmarks.load.load()`` returns all results as one table.
"""

from pathlib import Path

NAME = "proxembed-bench"
VERSION = "1"  # another one wherever a stored value would differ: rows, folds, labels, budgets, measures
HOME = Path(__file__).resolve().parent
PAGE = HOME.parent / "docs" / "results" / "benchmark"
SPLITS, RESULTS = "splits", "results"  # folders of HOME
PROTOCOLS = ("iterative", "random")
OUTPUTS = "outputs"  # the track of sets whose outputs are numbers; all others are of sets of labels
TRACKS = ("all", "fifth", OUTPUTS)
N_FOLDS = 5
MOST_COMPONENTS = 50
LAST_SECONDS = 12.0  # CPU seconds of the last fit on a fold and of its read-outs
