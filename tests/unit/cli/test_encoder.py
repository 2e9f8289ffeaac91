"""--encoder MODULE:NAME: which transformer it names, and what is refused."""

import pytest
from sklearn.preprocessing import StandardScaler

from proxembed import load
from proxembed.cli.options import named_encoder
from runs import program, succeeded
from unit.cli.model_files import FIT, refused, several_labels_csv

MODULE = """from sklearn.preprocessing import StandardScaler
ready = StandardScaler(with_mean=False)
def make():
    return StandardScaler(with_std=False)
class Outer:
    inner = ready
number = 7
"""


def test_instances_classes_and_functions(tmp_path, monkeypatch):
    (tmp_path / "my_encoders.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    assert named_encoder(None) is None
    assert isinstance(named_encoder("sklearn.preprocessing:StandardScaler"), StandardScaler)
    for name, given in (("ready", (False, True)), ("make", (True, False)), ("Outer.inner", (False, True))):
        found = named_encoder(f"my_encoders:{name}")
        assert (found.with_mean, found.with_std) == given


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("StandardScaler", "must be MODULE:NAME, such as skrub:TableVectorizer"),
        ("no_such_module:make", "gives no transformer: No module named 'no_such_module'"),
        ("sklearn.preprocessing:Standard", "gives no transformer: .* has no attribute 'Standard'"),
        ("math:pi", "gives no transformer: 'float' object is not callable"),
        ("builtins:dict", "gives no transformer: encoder={} is not a transformer of scikit-learn"),
    ],
)
def test_what_names_no_transformer_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        named_encoder(text)


def test_fit_diagnose_and_map_take_one(tmp_path):
    given = "--encoder sklearn.preprocessing:StandardScaler"
    table = (several_labels_csv(tmp_path / "tags.csv"), *FIT, "-m", "opls", *given.split())
    for option, value in (("--memory", "1GB"), ("--sample", 50), ("--dask", "local")):
        message = f"{given} needs all rows at once, and {option} is for rows read by parts; leave one out."
        refused(program("fit", *table, option, value, "-o", tmp_path / "no.skops"), message)
    succeeded(program("fit", *table, "-o", tmp_path / "m.skops"))
    assert [type(step).__name__ for _, step in load(tmp_path / "m.skops").steps][:2] == ["RowEncoder", "Scaling"]
    done = succeeded(program("diagnose", *table, "--shuffles", 1, "--halves", 1, "--folds", 2, "-j", 1))
    assert "held-out rows" in done.stdout
    succeeded(program("map", *table, "--layout", "components", "-o", tmp_path / "m.html"))
    assert (tmp_path / "m.html").stat().st_size > 1000
