"""
My file is larger than my memory: can I still fit?
==================================================

Yes, with every method that needs only sums over the rows. :class:`~proxembed.RowBlocks` reads blocks one after
another, and the memory of a fit does not grow with the number of rows.
"""

# %%
# NumPy files with 30 features and three labels stand for the large file. The same model is fitted on blocks and on
# one array, and Python reports the peak of allocated bytes.

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from proxembed import OPLS, RowBlocks

random = np.random.default_rng(0)
true = random.standard_normal((30, 3))
folder = tempfile.TemporaryDirectory()
parts = []
for number in range(8):
    X = random.standard_normal((50_000, 30)).astype(np.float32)
    y = (X @ true + 4 * random.standard_normal((len(X), 3)) > 2).astype(np.int8)
    parts.append((Path(folder.name, f"X{number}.npy"), Path(folder.name, f"y{number}.npy")))
    np.save(parts[-1][0], X)
    np.save(parts[-1][1], y)


def from_blocks(chosen):
    """A fit that reads 5,000 rows at a time."""
    files, labels = zip(*chosen, strict=True)
    return OPLS(ridge=0.1).fit(RowBlocks.from_npy(list(files), list(labels), block_rows=5000))


def in_memory(chosen):
    """A fit of one array."""
    X, y = (np.concatenate([np.load(each[part]) for each in chosen]) for part in (0, 1))
    return OPLS(ridge=0.1).fit(X, y)


def peak(fit, chosen):
    """The fitted method, and the most bytes that were allocated at a time."""
    tracemalloc.start()
    method = fit(chosen)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return method, most


peak(from_blocks, parts[:1])  # what is imported on first use is not counted below
counts = (1, 2, 4, 8)
found = {"from blocks": [], "one array": []}
for count in counts:
    streamed, most = peak(from_blocks, parts[:count])
    found["from blocks"].append(most / 2**20)
    whole, most = peak(in_memory, parts[:count])
    found["one array"].append(most / 2**20)
rows = [count * 50_000 for count in counts]
for name, values in found.items():
    print(f"{name:12s}", "  ".join(f"{n:,} rows: {value:.0f} MiB" for n, value in zip(rows, values, strict=True)))
print("largest difference of eigenvalues:", f"{np.abs(streamed.eigenvalues_ - whole.eigenvalues_).max():.1e}")

# %%
# The two fits agree to rounding. ``transform`` returns the embedding in blocks, too:

for Z, labels in streamed.transform(RowBlocks.from_npy([parts[0][0]], [parts[0][1]], block_rows=25_000)):
    print(Z.shape, labels.shape)
folder.cleanup()

# %%
# Methods that link pairs of rows, or place the rows themselves, cannot be fitted on blocks. Their error names the
# methods that can.

figure, axes = plt.subplots(figsize=(6.6, 4), layout="constrained")
for (name, values), color, marker in zip(found.items(), ("#d55e00", "#0072b2"), "os", strict=True):
    axes.plot(rows, values, color=color, marker=marker, label=name)
axes.set(xlabel="rows n (30 features, float32)", ylabel="peak of allocated memory (MiB)", ylim=(0, None))
axes.set_xticks(rows, [f"{n:,}" for n in rows])
axes.set_title("One fit of OPLS")
axes.legend(frameon=False)
plt.show()
