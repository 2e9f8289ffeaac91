"""Models of the former format load through one table of names and give the rows that they gave when they were saved."""

import io
import zipfile
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from contracts.estimators import output
from proxembed.persist import load
from proxembed.persist.former_names import PRESENT_NAMES
from unit.persist.test_model_file import NEW, N, X

FILES = zipfile.ZipFile(Path(__file__).parent / "format_7.zip")
MODELS = sorted(name.removesuffix(".skops") for name in FILES.namelist() if name.endswith(".skops"))
OUTPUTS = np.load(io.BytesIO(FILES.read("outputs.npz")))


def words(*choices):
    return np.array(choices)[np.arange(N) % len(choices)]


def table():
    walls, stones, mills = words("wall", "door", "roof", "gate"), words("stone", "wood"), words("mill", "inn", "farm")
    text = [f"the {a} of {b} stands by the old {c} house" for a, b, c in zip(walls, stones, mills, strict=True)]
    return pd.DataFrame({"number": X[:, 0], "word": words("red", "green", "blue"), "text": text})


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_the_former_format_gives_the_same_rows(name, tmp_path):
    path = tmp_path / "model.skops"
    path.write_bytes(FILES.read(f"{name}.skops"))
    Z = output(load(path), table() if name == "TableEncoder" else NEW)
    np.testing.assert_allclose(Z.toarray() if hasattr(Z, "toarray") else Z, OUTPUTS[name], rtol=1e-6, atol=1e-8)


def test_the_present_names_exist_and_the_former_ones_do_not():
    for former, present in PRESENT_NAMES.items():
        module, _, name = present.rpartition(".")
        assert getattr(import_module(module), name).__module__ == module
        assert former != present
