"""Sizes of saved models: what a file claims and would unpack to is checked before it is unpacked."""

import io
import os
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import strategies
from memory import traced_memory
from proxembed import PCA, RelationFeatures
from proxembed.persist import load, load_source, model_file, save

X = strategies.features_dense(40, 9, 3)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


def stored(path, members, packing=zipfile.ZIP_STORED):
    """A saved model with further or other members."""
    save(PCA().fit(X), path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()} | members
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def first_array(path):
    save(PCA().fit(X), path)
    with zipfile.ZipFile(path) as archive:
        return next((name, archive.read(name)) for name in archive.namelist() if name.endswith(".npy"))


def refused_within_little_memory(path, message):
    for read in (load, load_source):
        with traced_memory() as memory:
            with pytest.raises(ValueError, match=message) as caught:
                read(path)
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)
        assert memory.peak < 4 * path.stat().st_size + (1 << 24)


@pytest.mark.parametrize("rows", [10**12, 10**6, 3])
def test_an_array_that_claims_other_rows_than_it_has_is_refused(path, rows):
    name, content = first_array(path)
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (rows, 9)})
    stored(path, {name: file.getvalue() + content[-64:]})
    refused_within_little_memory(path, rf"an array of it claims {rows} x 9 values of float64 .* but holds 64 bytes")


def test_a_packed_model_is_refused_whatever_it_would_unpack_to(path):
    name, _ = first_array(path)
    file = io.BytesIO()
    np.save(file, np.zeros(1 << 21))
    stored(path, {name: file.getvalue()}, zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 1 << 17
    refused_within_little_memory(path, r"its part '\w+\.\w+' is packed, and a model is saved unpacked")


def test_a_sparse_matrix_that_unpacks_to_many_times_its_size_is_refused(path, monkeypatch):
    file, zeros = io.BytesIO(), np.zeros(1 << 21)
    sp.save_npz(file, sp.csr_array((zeros, np.zeros(1 << 21, np.int32), [0, 1 << 21]), shape=(1, 1)))
    stored(path, {"matrix.npz": file.getvalue()})
    assert load(path).n_components_
    monkeypatch.setattr(model_file, "ALWAYS", 1 << 23)
    refused_within_little_memory(
        path, r"indices would take 16\.0 MiB, above 8\.0 MiB, the most that may be unpacked here"
    )


def test_what_load_would_refuse_is_not_saved(path, monkeypatch):
    model = RelationFeatures("cosine").fit(sp.csr_array(np.tril(np.ones((60, 50)))))
    monkeypatch.setattr(model_file, "ALWAYS", 0)
    monkeypatch.setattr(model_file, "MOST_TIMES", 1)
    with pytest.raises(ValueError, match="the most that may be unpacked here"):
        save(model, path)
    assert os.listdir(path.parent) == []


def test_parts_that_share_their_bytes_are_refused(path):
    save(PCA().fit(X), path)
    content = bytearray(path.read_bytes())
    place = content.rindex(b"PK\x01\x02")
    size = content[place + 24 : place + 28]
    content[place + 20 : place + 28] = 2 * (int.from_bytes(size, "little") + len(content)).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"is not a saved model|is damaged"):
        load(path)
