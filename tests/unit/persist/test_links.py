"""Names that are links: what a link leads to is written, and the link stays."""

import errno
import os

import numpy as np
import pytest
from typer.testing import CliRunner

from proxembed import PCA, EmbeddingSearch
from proxembed.cli import app
from proxembed.data import read
from proxembed.execute.atomic_files import check_writable, staged, write_whole, written_place
from proxembed.methods.pipeline import source_of
from proxembed.persist import load, model_card, save
from proxembed.workflow.record import run_folder

X = np.random.default_rng(0).normal(size=(40, 4))
Y = (X[:, :2] > 0).astype(int)


def whole(path):
    write_whole({path: b"new"})


def whole_and_remove(path):
    write_whole({path: b"new"}, remove=[path.with_name("older")])


def in_steps(path):
    with staged(path) as place:
        assert place.name == path.name
        place.write_bytes(b"new")


WRITERS = [whole, whole_and_remove, in_steps]


@pytest.fixture
def folders(tmp_path):
    """A folder for links, and another one for what they lead to."""
    for name in ("links", "files"):
        (tmp_path / name).mkdir()
    return tmp_path / "links", tmp_path / "files"


def linked(folders, kind):
    """A link of a kind, and the file that is to be written."""
    links, files = folders
    link, file = links / "model.bin", files / "v3.bin"
    if kind == "beside":
        file = links / "v3.bin"
        link.symlink_to("v3.bin")
    elif kind == "chain":
        (links / "second").symlink_to(file)
        link.symlink_to("second")
    elif kind == "relative":
        link.symlink_to("../files/v3.bin")
    else:
        link.symlink_to(file)
    if kind == "to a file":
        file.write_bytes(b"old")
    return link, file


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("kind", ["dangling", "to a file", "chain", "relative", "beside"])
def test_what_a_link_leads_to_is_written(write, kind, folders):
    link, file = linked(folders, kind)
    led = os.readlink(link)
    (link.parent / "older").write_bytes(b"older")
    assert check_writable(link) == link
    write(link)
    assert link.is_symlink() and os.readlink(link) == led
    assert file.read_bytes() == b"new" == link.read_bytes() and not file.is_symlink()
    assert (link.parent / "older").exists() == (write is not whole_and_remove)
    assert {path.name for path in folders[1].iterdir()} <= {"v3.bin"}


@pytest.mark.parametrize("write", [*WRITERS, check_writable])
def test_a_link_to_a_folder_or_to_itself_or_into_no_folder_is_refused(write, folders):
    links, files = folders
    for name, target in (("folder", files), ("loop", "other"), ("other", "loop"), ("nowhere", "no folder/v3.bin")):
        (links / name).symlink_to(target)
    before = sorted(path.name for path in links.iterdir())
    for name, kind in (("folder", errno.EISDIR), ("loop", errno.ELOOP), ("nowhere", errno.ENOENT)):
        with pytest.raises(OSError) as error:
            write(links / name)
        assert error.value.errno == kind and ";" in error.value.strerror
    assert sorted(path.name for path in links.iterdir()) == before and list(files.iterdir()) == []


def test_a_link_that_cannot_be_written_keeps_both_files(folders, monkeypatch):
    link, file = linked(folders, "to a file")

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for write in WRITERS:
        with pytest.raises(OSError, match="No space left"):
            write(link)
    assert file.read_bytes() == b"old" and link.is_symlink()
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_model_goes_where_the_link_leads_and_its_card_beside_the_link(folders):
    links, files = folders
    model = PCA(n_components=2).fit(X)
    (links / "model.skops").symlink_to(files / "v3.skops")
    save(model, links / "model.skops", card=model_card(model))
    assert (links / "model.skops").is_symlink() and sorted(path.name for path in files.iterdir()) == ["v3.skops"]
    np.testing.assert_array_equal(load(links / "model.skops").transform(X), model.transform(X))
    assert (links / "model.md").read_text().startswith("---\n# proxembed model card")


def test_folders_of_runs_and_studies(folders):
    links, files = folders
    (links / "out").symlink_to(files / "run")
    with run_folder(links / "out", ["a"]) as run:
        run.write({"a": b"new"})
    assert (links / "out").is_symlink() and (files / "run" / "a").read_bytes() == b"new"
    (links / "study").symlink_to(files / "study")
    EmbeddingSearch(["opls"], 2, max_trials=1, storage=links / "study").fit(X, Y)
    assert (links / "study").is_symlink() and (files / "study" / "study.jsonl").is_file()


def test_the_study_file_may_be_a_link(folders):
    links, files = folders
    (links / "study.jsonl").symlink_to(files / "v3.jsonl")
    for _ in range(2):
        EmbeddingSearch(["opls"], 2, max_trials=1, storage=links).fit(X, Y)
        assert (links / "study.jsonl").is_symlink() and (files / "v3.jsonl").is_file()


@pytest.mark.parametrize("verb", ["fit", "map", "transform"])
def test_the_program_writes_what_a_link_leads_to(verb, folders):
    links, files = folders
    data = files / "data.npz"
    np.savez(data, X=X, Y=Y)
    name = {"fit": "model.skops", "map": "map.html", "transform": "z.csv"}[verb]
    (links / name).symlink_to(files / f"v3{name[-5:]}")
    words = [verb, str(data), "-m", "opls", "-o", str(links / name)]
    if verb == "transform":
        save(PCA(n_components=2).fit(X), files / "m.skops", source=source_of(read(data)))
        words = [verb, str(files / "m.skops"), str(data), "-o", str(links / name)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert (links / name).is_symlink() and (files / f"v3{name[-5:]}").stat().st_size > 0


def test_a_name_that_is_no_link_stays_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = check_writable("model.bin")
    assert written_place(path) == path and not path.is_absolute()
