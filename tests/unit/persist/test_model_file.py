"""Saved models: the same transform bit for bit after loading; foreign classes, other versions and damage refused."""

import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from skops import io as skops_io

import proxembed
import strategies
from contracts.estimators import EVERY, build, output, y_for
from designs import each_value
from proxembed import (
    BSML,
    CCA,
    FDA,
    MESD,
    MMC,
    MVMD,
    OPLS,
    PCA,
    Kernelized,
    MultiOutputRidge,
    RelationFeatures,
    Scaling,
)
from proxembed.classify import MLKNN, FLDAClassifier, LabelKNN, Thresholded
from proxembed.estimator.base import Estimator, registry
from proxembed.methods.pipeline import embedding_part, embedding_pipeline
from proxembed.persist import load, load_source, model_card, model_file, save, trusted_names
from proxembed.persist.model_file import FACTS, FORMAT, FORMER_FORMATS, SCHEMA

N, D = 40, 9
Y = strategies.labels_multi(N, 4, 3).astype(int)
X = strategies.told_by_labels(strategies.features_dense(N, D, 3), Y, 3)
NEW = X[:7] + 0.1
SPARSE = sp.csr_array(np.abs(X) * (np.abs(X) > 0.5))
NAMES = ["sea", "<b>", "Zoë", "d"]
KINDS = {
    "dense": (X, NEW),
    "float32": (X.astype(np.float32), NEW.astype(np.float32)),
    "sparse": (SPARSE, sp.csr_array(SPARSE[:7] * 1.5)),
    "sparse matrix": (sp.csr_matrix(SPARSE), sp.csr_matrix(SPARSE[:7])),
}
WRAPPED = [
    MESD(MMC()),
    MESD(FDA(ridge=0.1), weighting="mimj"),
    Kernelized(OPLS()),
    Kernelized(MESD(MMC()), tau=20.0),
    Kernelized(CCA(), kernel="linear", constraint="coef"),
    Kernelized(PCA(), n_prototypes=12, prototypes="farthest", random_state=0),
    RelationFeatures("gaussian", prototypes="stratified", n_prototypes=11, random_state=0),
    RelationFeatures("polynomial", prototypes="kmeans", n_prototypes=5, random_state=np.int64(0)),
    OPLS(n_components=np.int64(2), ridge=np.float64(0.1)),
]
CLASSIFIERS = [Thresholded(), FLDAClassifier(), LabelKNN(), MLKNN(n_neighbors=3), MultiOutputRidge()]


def bits(Z):
    return Z.toarray().tobytes() if sp.issparse(Z) else np.asarray(Z).tobytes()


def assert_same(model, other, *rows):
    assert type(model) is type(other) and repr(model) == repr(other)
    for part in rows:
        Z, other_Z = output(model, part), output(other, part)
        assert type(Z) is type(other_Z) and Z.dtype == other_Z.dtype and Z.shape == other_Z.shape
        assert bits(Z) == bits(other_Z)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


def test_an_encoder_of_scikit_learn_needs_no_trust(path):
    rows = [f"word{i % 5} other{i % 3}" for i in range(N)]
    model = make_pipeline(TfidfVectorizer(), OPLS(n_components=2)).fit(rows, Y)
    save(model, path)
    np.testing.assert_array_equal(load(path).transform(rows), model.transform(rows))


def repack(path, change):
    """The saved file again, each member's bytes through ``change(name, content)``; None drops it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if (changed := change(name, content)) is not None:
                archive.writestr(name, changed)


def with_facts(path, **facts):
    repack(path, lambda name, content: json.dumps({**json.loads(content), **facts}) if name == FACTS else content)


@each_value
@pytest.mark.parametrize("cls", EVERY, ids=lambda c: c.__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_every_estimator_comes_back_with_the_same_output(cls, kind, path):
    rows, new = KINDS[kind]
    model = build(cls).fit(rows, y_for(cls))
    assert_same(model, load(save(model, path)), rows, new)


@each_value
@pytest.mark.parametrize("model", WRAPPED, ids=repr)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_wrappers_and_their_settings_come_back(model, kind, path):
    rows, new = KINDS[kind]
    model.fit(rows, Y)
    assert_same(model, load(save(model, path)), rows, new)


@pytest.mark.parametrize("cls", [c for c in EVERY if hasattr(c(), "truncate")], ids=lambda c: c.__name__)
def test_a_truncated_solution_comes_back(cls, path):
    model = build(cls).fit(X, y_for(cls)).truncate(1)
    assert_same(model, load(save(model, path)), X, NEW)


@each_value
@pytest.mark.parametrize("model", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize(
    "y",
    [
        Y,
        2 * Y - 1,
        sp.csc_array(Y),
        [{NAMES[j] for j in np.flatnonzero(row)} for row in Y],
        np.array(NAMES)[Y.argmax(1)],
    ],
    ids=["indicator", "signs", "sparse", "sets", "strings"],
)
def test_predictions_come_back_in_the_form_of_y(model, y, path):
    model.fit(X, y)
    other = load(save(model, path))
    found, again = model.predict(NEW), other.predict(NEW)
    assert type(found) is type(again)
    assert list(map(str, found)) == list(map(str, again))
    assert bits(model.decision_function(NEW)) == bits(other.decision_function(NEW))


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("method", [OPLS(), Kernelized(), MESD(FDA())], ids=repr)
def test_the_whole_pipeline_comes_back(method, kind, path):
    rows, new = KINDS[kind]
    model = embedding_pipeline(method, rows).fit(rows, Y)
    other = load(save(model, path))
    assert_same(embedding_part(model), embedding_part(other), rows, new)
    np.testing.assert_array_equal(model.predict(new), other.predict(new))


def test_the_trials_of_a_search_come_back(path, monkeypatch):
    from proxembed import EmbeddingSearch

    name = f"{EmbeddingSearch.__module__}.EmbeddingSearch"
    monkeypatch.setattr(model_file, "STATE", (*model_file.STATE, name))
    model = build(EmbeddingSearch).fit(X, Y)
    other = load(save(model, path))
    assert_same(model, other, X, NEW)
    assert other.trials_ == model.trials_ and other.best_params_ == model.best_params_


def test_explain_and_feature_names_come_back(path):
    import pandas

    model = OPLS(n_components=2).fit(pandas.DataFrame(X, columns=[f"höhe {j}" for j in range(D)]), Y)
    other = load(save(model, path))
    assert other.explain(0) == model.explain(0)
    assert other.feature_names_in_.tolist() == model.feature_names_in_.tolist()


def test_the_file_keeps_source_versions_and_card(path):
    source = {"labels": ["topic_*"], "text": None, "vocabulary": ["ä", "b"], "time": 1.5}
    save(PCA().fit(X), path, source=source, card=model_card(PCA().fit(X)))
    assert load_source(path) == source
    assert "# PCA: 9 features to 2 components" in path.with_suffix(".md").read_text(encoding="utf-8")
    with zipfile.ZipFile(path) as archive:
        facts = json.loads(archive.read(FACTS))
    assert facts["format"] == FORMAT
    assert {"proxembed", "numpy", "scipy", "scikit-learn", "skops", "python"} <= set(facts)


def test_without_a_source_there_is_none(path):
    assert load_source(save(PCA().fit(X), path)) is None
    assert os.listdir(path.parent) == [path.name]


def test_trusted_names_are_few_and_ours():
    names = trusted_names()
    ours = [name for name in names if not name.startswith("scipy.sparse.")]
    classes = [cls for cls in registry().values() if not cls.__module__.startswith("proxembed.")]
    foreign = {f"{cls.__module__}.{cls.__qualname__}" for cls in classes}
    foreign |= {"sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"}  # of a rival that is kept
    foreign |= {"numpy.dtype"}  # of encoders
    assert all(name.startswith("proxembed.") or name in foreign for name in ours)
    assert not any(".cli." in name or ".data." in name or ".report." in name for name in ours)


PROCESS = """
import sys
import proxembed
assert not [name for name in sys.modules if name.startswith("proxembed.")]
from proxembed.persist import load, save, trusted_names
load(sys.argv[1]).predict([[0.0] * int(sys.argv[2])])
later = ("proxembed.evaluate.rivals.forests", "proxembed.study.embedding_search")
assert not any(name in sys.modules for name in later)
assert "dask" not in sys.modules and None not in sys.modules.values()
held = {"proxembed.evaluate.rivals.forests.ForestScores", "proxembed.methods.os.system", "os.system"}
assert held & trusted_names(held) == {"proxembed.evaluate.rivals.forests.ForestScores"}
assert not any(name in sys.modules for name in later[1:])
few = trusted_names(held)
from proxembed.estimator.base import registry
print(*registry())
assert trusted_names() > few
import numpy as np
from proxembed.algebra.operators.structured import Centering
from proxembed.algebra.template import Template
from proxembed.estimator.base import SpectralEmbedder
class Homemade(SpectralEmbedder):
    def template(self, rows):
        return Template(Centering(), offset=rows.ones)
X = np.diag(np.arange(5.0))
model = Homemade().fit(X)
other = load(save(model, sys.argv[3]))
assert type(other) is Homemade and np.array_equal(model.transform(X), other.transform(X))
"""


def test_loading_imports_the_modules_of_the_model_alone_and_trusts_a_method_of_the_user_where_it_is_known(path):
    """In one new process, where the package alone loads no method and the first call for the registry has them all;
    this one, which does not know the method of the user, refuses its file."""
    save(make_pipeline(Scaling(), OPLS(n_components=2), Thresholded(MultiOutputRidge())).fit(X, Y), path)
    homemade = path.with_name("homemade.skops")
    command = [sys.executable, "-c", PROCESS, str(path), str(X.shape[1]), str(homemade)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
    classes = [value for name in proxembed.__all__ if isinstance(value := getattr(proxembed, name), type)]
    public = {cls.__name__ for cls in classes if issubclass(cls, Estimator)}
    own = {name for name, cls in registry().items() if cls.__module__.startswith("proxembed.")}
    assert told == sorted(public | {name for name in own if registry()[name].role == "rival"})
    with pytest.raises(ValueError, match="holds '__main__.Homemade', which is not proxembed's") as caught:
        load(homemade)
    assert "import the module that registers the method first" in str(caught.value)


def kernel_of_mine(A, B):
    return A @ B.T


FOREIGN = {
    "function": (lambda: Kernelized(kernel=kernel_of_mine).fit(X, Y), "kernel_of_mine"),
    "tree": (lambda: RandomForestClassifier(2, random_state=0).fit(X, Y[:, 0]), "sklearn.tree._tree.Tree"),
    "os": (lambda: FunctionTransformer(os.system).fit(X), "posix.system"),
    "nested": (lambda: RelationFeatures(os.getenv).set_params(kind=kernel_of_mine).fit(X), "kernel_of_mine"),
}


def dump_foreign(model, path):
    """A file such as another program could make: any model, with the facts of a real one."""
    save(PCA().fit(X), path)
    with zipfile.ZipFile(path) as archive:
        facts = archive.read(FACTS)
    buffer = io.BytesIO()
    skops_io.dump(model, buffer)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(FACTS, facts)
    path.write_bytes(buffer.getvalue())


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_classes_are_refused_by_name_on_both_sides(kind, path):
    make, name = FOREIGN[kind]
    model = make()
    with pytest.raises(ValueError, match=name):
        save(model, path)
    assert os.listdir(path.parent) == []
    dump_foreign(model, path)
    with pytest.raises(ValueError, match=name) as caught:
        load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_foreign_class_is_not_even_imported(path, tmp_path, monkeypatch):
    save(PCA().fit(X), path)
    (tmp_path / "boobytrap.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    repack(path, lambda name, content: content.replace(b"proxembed.methods.variance", b"boobytrap"))
    with pytest.raises(ValueError, match=r"holds 'boobytrap\.PCA'"):
        load(path)
    assert "boobytrap" not in sys.modules


def test_scikit_learn_models_are_trusted(path):
    model = LogisticRegression().fit(X, Y[:, 0])
    other = load(save(model, path))
    assert bits(model.decision_function(NEW)) == bits(other.decision_function(NEW))


class Refuses:
    """A setting that cannot be pickled, and says so as it likes."""

    def __init__(self, error):
        self.error = error

    def __call__(self, X):
        return X

    def __getstate__(self):
        raise self.error("no state")


@pytest.mark.parametrize("error", [TypeError, AttributeError, NotImplementedError])
def test_what_cannot_be_saved_is_refused_in_one_line_and_leaves_no_file(error, path):
    model = FunctionTransformer(Refuses(error)).fit(np.eye(3))
    with pytest.raises(ValueError, match="FunctionTransformer holds what a .skops file cannot: no state"):
        save(model, path)
    assert not list(path.parent.iterdir())


def test_another_version_warns_and_another_format_is_refused(path):
    model = PCA().fit(X)
    save(model, path)
    with_facts(path, proxembed="0.0.1")
    with pytest.warns(UserWarning, match=r"was saved by proxembed 0\.0\.1, and this is .*; results may differ"):
        other = load(path)
    assert_same(model, other, X)
    for number in (FORMER_FORMATS[0] - 1, FORMAT + 1):
        with_facts(path, format=number, proxembed="9.0")
        for read in (load, load_source):
            with pytest.raises(ValueError, match=rf"has format {number} \(proxembed 9\.0\).*install proxembed 9\.0"):
                read(path)


def test_values_of_parameters_of_a_former_format_get_their_present_names(path):
    old = {"balance": ("NoneType", "null"), "coding": ("str", '"pm1"')}

    def former(node):
        for name in old.keys() & node.keys():
            node[name].update({"__class__": old[name][0], "content": old[name][1]})
        return node

    model = MVMD(n_components=2).fit(X, Y)
    save(model, path)
    repack(path, lambda name, part: json.dumps(json.loads(part, object_hook=former)) if name == SCHEMA else part)
    with_facts(path, format=9)
    again = load(path)
    assert (again.balance, again.coding) == ("none", "pm1")
    np.testing.assert_array_equal(clone(again).fit(X, Y).transform(X), model.transform(X))
    old.update(predictive=("str", '"paper"'))
    model = BSML(n_components=2, max_iter=5, tol=0).fit(X, Y)
    save(model, path)
    repack(path, lambda name, part: json.dumps(json.loads(part, object_hook=former)) if name == SCHEMA else part)
    with_facts(path, format=9)
    np.testing.assert_array_equal(load(path).predict_proba(X), model.predict_proba(X))


def test_parts_that_have_changed_since_a_former_format_are_refused(path):
    save(PCA().partial_fit(X), path)
    with_facts(path, format=8, proxembed="0.1")
    with pytest.raises(
        ValueError, match=r"has format 8 and holds the sums of a partly fitted .* install proxembed 0\.1"
    ):
        load(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not a saved model"),
        (b"PK\x03\x04 and no more", "is not a saved model"),
        (b"a,b\n1,2\n", "is not a saved model"),
        (np.savez, r"is not a model that proxembed saved.* Data sets are read by proxembed\.data\.read"),
        (np.savez_compressed, r"is not a model that proxembed saved.* Data sets are read by proxembed\.data\.read"),
        ("skops", "is not a model that proxembed saved"),
    ],
    ids=["empty", "cut", "text", "data set", "packed data set", "plain skops"],
)
def test_a_file_that_is_no_model_is_refused(content, reason, path):
    if callable(content):
        content(path.with_suffix(".npz"), X=X)
        path.with_suffix(".npz").rename(path)
    elif content == "skops":
        skops_io.dump(PCA().fit(X), path)
    else:
        path.write_bytes(content)
    for read in (load, load_source):
        with pytest.raises(ValueError, match=reason) as caught:
            read(path)
        assert str(path) in str(caught.value)


def test_a_file_cut_anywhere_or_with_a_flipped_byte_is_refused_or_whole(path):
    model = PCA().fit(X)
    content = save(model, path).read_bytes()
    for cut in range(0, len(content), 211):
        path.write_bytes(content[:cut])
        with pytest.raises(ValueError, match="not a saved model"):
            load(path)
    refused = 0
    for place in range(0, len(content), 97):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x40]) + content[place + 1 :])
        try:
            assert_same(model, load(path), X)
        except ValueError as error:
            assert str(path) in str(error)
            refused += 1
    assert refused > 10


@pytest.mark.parametrize(
    "change",
    [
        lambda name, content: b"{}" if name == FACTS else content,
        lambda name, content: b"[1]" if name == FACTS else content,
        lambda name, content: b"not json" if name == FACTS else content,
        lambda name, content: None if name.endswith(".npy") else content,
        lambda name, content: b"[" * 100_000 if name == "schema.json" else content,
        lambda name, content: b"{}" if name == "schema.json" else content,
        lambda name, content: content.replace(b"PCA", b"PCB") if name == "schema.json" else content,
    ],
    ids=["no facts", "list", "words", "no arrays", "deep", "no tree", "unknown class"],
)
def test_damage_inside_is_refused_in_one_line(change, path):
    save(PCA().fit(X), path)
    repack(path, change)
    with pytest.raises(ValueError, match="damaged|not a model|holds") as caught:
        load(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_an_unfitted_model_in_a_file_is_refused(path):
    dump_foreign(PCA(), path)
    with pytest.raises(ValueError, match="is damaged and cannot be loaded .NotFittedError"):
        load(path)


def test_a_missing_file_is_an_os_error(path):
    for read in (load, load_source):
        with pytest.raises(FileNotFoundError, match="model.skops"):
            read(path)


@pytest.mark.parametrize(
    ("model", "name", "kind", "message"),
    [
        (PCA(), "m.skops", ValueError, r"model=PCA\(\) is not fitted; call fit first"),
        (PCA, "m.skops", TypeError, "is not an estimator"),
        ({"a": 1}, "m.skops", TypeError, "is not an estimator"),
        (PCA().fit(X), "m.pkl", ValueError, "must end in .skops"),
    ],
)
def test_what_cannot_be_saved_is_refused(model, name, kind, message, tmp_path):
    with pytest.raises(kind, match=message):
        save(model, tmp_path / name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("source", [{"a": np.eye(2)}, {"a": float("nan")}, {"a": {1, 2}}])
def test_a_source_that_is_not_plain_data_is_refused(source, path):
    with pytest.raises(ValueError, match="source must be plain data"):
        save(PCA().fit(X), path, source=source)
