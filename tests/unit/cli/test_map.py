"""`proxembed map`: a page and pictures from a labelled file; bad input is one line, code 2, and writes nothing."""

import json

import pytest

from runs import program
from unit.cli.model_files import refused

FAST = ("-m", "opls", "--layout", "sklearn")


def test_a_page_and_pictures_are_written_and_told(file, tmp_path):
    out = [tmp_path / name for name in ("map.html", "map.png", "map.svg")]
    done = program("map", file, *FAST, *(part for path in out for part in ("-o", path)))
    assert "OPLS, laid out by t-SNE of scikit-learn: 60 training rows, 20 held out" in done.stdout
    assert "forecast: 2 maps of " in done.stderr
    assert "on shuffled labels" in done.stdout and "by chance" in done.stdout
    assert all(path.stat().st_size > 5000 for path in out)
    assert "<bdi>&lt;b&gt;</bdi>" in out[0].read_text(encoding="utf-8")


def test_json_is_for_machines(file, tmp_path):
    done = program("map", file, "-m", "opls", "--layout", "components", "--json", "-o", tmp_path / "map.html")
    facts = json.loads(done.stdout)
    assert facts["train"] == 60 and facts["written"] == [str(tmp_path / "map.html")]
    assert set(facts["maps"][0]) == {"map", "inside", "outside", "among", "kept", "null"}


def test_without_features_the_page_holds_none_of_their_values(file, tmp_path):
    fast = ("map", file, "-m", "opls", "--layout", "components", "-o", tmp_path / "map.html")
    for options, none in (((), False), (("--no-features",), True)):
        assert program(*fast, *options).exit_code == 0
        assert ('"features": []' in (tmp_path / "map.html").read_text(encoding="utf-8")) == none


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["-o", "map.pdf"], "-o 'map.pdf' must end in .html, .png, .svg or .parquet."),
        (["-m", "nothing"], "unknown method 'nothing'"),
        (["--max-work", "-1"], "--max-work -1 is not above 0."),
        (
            ["--layout", "mds"],
            "layout='mds' is not allowed; layout must be 'auto', 'opentsne', 'umap', 'sklearn' or 'components'.",
        ),
        (["-m", "layout"], "--method layout must name one method whose components are laid out, such as opls."),
    ],
)
def test_bad_options_are_one_line_and_write_nothing(file, tmp_path, monkeypatch, options, line):
    monkeypatch.chdir(tmp_path)
    refused(program("map", file, *options), line)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
