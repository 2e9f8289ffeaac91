"""OpenML data sets from stubbed answers: labels, features, licence, the cache, and what cannot be had."""

import email.message
import gzip
import hashlib
import io
import json
import time
import urllib.error
import urllib.request
import warnings

import numpy as np
import pytest
from scipy import sparse

from proxembed.data import DataError, fetch_openml_dataset

DENSE = """@relation toy
@attribute hue real
@attribute size {1,2,5}
@attribute shape {round,'long thin'}
@attribute beach {FALSE,TRUE}
@attribute sunset {FALSE,TRUE}
@attribute species {setosa,virginica}
@data
0.5,2,round,TRUE,FALSE,setosa
-1,5,'long thin',FALSE,TRUE,virginica
3e2,1,round,?,TRUE,?
7,1,round,TRUE,TRUE,setosa
"""
KINDS = ["numeric", "nominal", "nominal", "nominal", "nominal", "nominal"]
SPARSE = """@relation toy
@attribute w0 numeric
@attribute w1 {0,1}
@attribute c {no,yes}
@attribute w2 numeric
@attribute a {0,1}
@attribute b {0,1}
@data
{0 2,1 1,4 1}
{3 1.5,5 1}
{2 yes,4 1,5 1}
"""


def answers(arff, targets, kinds=None, form="ARFF", **details):
    """What OpenML says of one data set: path -> bytes, as scikit-learn's releases differ in the host."""
    names = [line.split()[1] for line in arff.splitlines() if line.startswith("@attribute")]
    kinds = kinds or ["numeric"] * len(names)
    features = [
        {"index": str(j), "name": name, "data_type": kind, "is_target": str(name in targets).lower()}
        | {"is_ignore": "false", "is_row_identifier": "false", "number_of_missing_values": "0"}
        for j, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    told = {"id": "7", "name": "Toy", "version": "2", "description": "", "format": form, "status": "active"}
    told |= {
        "licence": "CC BY 4.0",
        "citation": "A. Author,\n  Journal 1",
        "md5_checksum": hashlib.md5(arff.encode()).hexdigest(),
    }
    download = "/data/v1/download/9"  # releases ask for "url" or for "file_id"
    told |= {"file_id": "9", "url": f"https://www.openml.org{download}", "default_target_attribute": ",".join(targets)}
    rows = len([line for line in arff.partition("@data\n")[2].splitlines() if line])
    api, listed = "/api/v1/json/data/", {"did": 7, "version": 2, "status": "active"}
    documents = {
        api + "list/data_name/toy/limit/2/status/active/": {"data": {"dataset": [listed]}},
        api + "list/data_name/toy/limit/2/data_version/2": {"data": {"dataset": [listed]}},
        api + "7": {"data_set_description": told | details},
        api + "features/7": {"data_features": {"feature": features}},
        api + "qualities/7": {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": str(rows)}]}},
    }
    return {path: json.dumps(value).encode() for path, value in documents.items()} | {download: arff.encode()}


class Stub(urllib.request.HTTPSHandler):
    """Answers in place of the network; an address without one gives OpenML's own error, status 412."""

    def __init__(self, known, failure=None):
        super().__init__()
        self.known, self.failure, self.asked = known, failure, []

    def https_open(self, request):
        self.asked.append(request.full_url)
        if self.failure is not None:
            raise self.failure
        path = request.selector
        if path not in self.known:
            raise urllib.error.HTTPError(request.full_url, 412, "Precondition Failed", email.message.Message(), None)
        header = email.message.Message()
        header["Content-Encoding"] = "gzip"
        content = io.BytesIO(gzip.compress(self.known[path]))
        answer = urllib.request.addinfourl(content, header, request.full_url, 200)
        answer.msg = "OK"
        return answer


@pytest.fixture
def stub(monkeypatch):
    """A function that puts a stub in place of the network."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # between the tries of a download

    def installed(known, failure=None):
        handler = Stub(known, failure)
        urllib.request.install_opener(urllib.request.build_opener(handler))
        return handler

    yield installed
    urllib.request.install_opener(None)


def test_default_targets_of_several_columns_are_labels(stub, tmp_path):
    stub(answers(DENSE, ["beach", "sunset"], KINDS))
    data = fetch_openml_dataset("toy", drop="spec*", data_home=tmp_path)
    assert data.name == "Toy" and data.label_names == ("beach", "sunset")
    assert data.Y.toarray().tolist() == [[1, 0], [0, 1], [0, 1], [1, 1]]
    assert data.unknown.toarray().tolist() == [[False, False], [False, False], [True, False], [False, False]]
    assert data.feature_names == ("hue", "size", "shape=round", "shape=long thin")
    assert data.X.tolist() == [[0.5, 2, 1, 0], [-1, 5, 0, 1], [300, 1, 1, 0], [7, 1, 1, 0]]
    assert data.licence == "OpenML Toy, version 2; licence: CC BY 4.0; cite: A. Author, Journal 1"


def test_labels_by_name_pattern_and_class(stub, tmp_path):
    stub(answers(DENSE, ["species"], KINDS))
    data = fetch_openml_dataset("TOY", version=2, drop="beach", data_home=tmp_path)
    assert data.label_names == ("setosa", "virginica")
    assert data.feature_names[-2:] == ("sunset=FALSE", "sunset=TRUE") and data.X[:, -1].tolist() == [0, 1, 1, 1]
    assert data.Y.toarray().tolist() == [[1, 0], [0, 1], [0, 0], [1, 0]]
    assert data.unknown.toarray().tolist() == [[False, False], [False, False], [True, True], [False, False]]
    data = fetch_openml_dataset("toy", labels="sun*", drop=["species", "beach"], data_home=tmp_path)
    assert data.label_names == ("sunset",) and data.Y.toarray().ravel().tolist() == [0, 1, 1, 1]


def test_sparse_sets_stay_sparse(stub, tmp_path):
    kinds = ["numeric", "nominal", "nominal", "numeric", "nominal", "nominal"]
    stub(answers(SPARSE, ["a", "b"], kinds, form="Sparse_ARFF"))
    data = fetch_openml_dataset("toy", data_home=tmp_path)
    assert isinstance(data.X, sparse.csr_array) and data.feature_names == ("w0", "w1", "c=no", "c=yes", "w2")
    np.testing.assert_array_equal(data.X.toarray(), [[2, 1, 1, 0, 0], [0, 0, 1, 0, 1.5], [0, 0, 0, 1, 0]])
    assert data.label_names == ("a", "b") and data.Y.toarray().tolist() == [[1, 0], [0, 1], [1, 1]]
    lone = fetch_openml_dataset("toy", labels=["c"], data_home=tmp_path)
    assert lone.label_names == ("c",) and lone.Y.toarray().tolist() == [[0], [0], [1]], "yes and no are one label"
    assert lone.feature_names == ("w0", "w1", "w2", "a", "b")


def test_a_set_fetched_before_needs_no_network(stub, tmp_path):
    first = stub(answers(DENSE, ["beach"], KINDS))
    fetch_openml_dataset("toy", drop="species", data_home=tmp_path)
    assert len(first.asked) == 5
    second = stub({}, failure=urllib.error.URLError("no route to host"))
    data = fetch_openml_dataset("toy", drop="species", data_home=tmp_path)
    assert second.asked == [] and data.X.shape == (4, 6)


def test_columns_of_classes_are_outputs(stub, tmp_path):
    stub(answers(DENSE, ["beach"], KINDS))
    data = fetch_openml_dataset("toy", data_home=tmp_path, labels=["beach", "size"], drop="species")
    columns = {column.name: column for column in data.outputs.layout.columns}
    assert {name: column.kind for name, column in columns.items()} == {"beach": "labels", "size": "classes"}
    assert columns["size"].values.tolist() == ["1", "2", "5"]


@pytest.mark.parametrize(
    ("details", "options", "message"),
    [
        ({}, {"labels": "gone"}, "labels 'gone' names no column of the table; "),
        ({}, {"drop": ["specie"]}, "drop 'specie' names no column of the table; did you mean 'species' or 'size'?"),
        (
            {},
            {"labels": "sunset", "drop": "beach"},
            "feature column 'species' lacks values; leave it out: drop=['species'].",
        ),
        ({}, {"labels": ["hue"]}, "label 'hue' is the fraction '0.5'; numbers are not labels"),
        ({}, {"labels": ["hue", "size", "shape", "beach", "s[up]*"]}, "no feature column is left; name fewer columns"),
        ({"default_target_attribute": None}, {}, "it has no default target; name the label columns with labels=[...]."),
        ({"default_target_attribute": "class"}, {}, "its default target 'class' is not a column; name the label"),
    ],
)
def test_what_does_not_fit_is_told(stub, tmp_path, details, options, message):
    stub(answers(DENSE, ["beach"], KINDS, **details))
    with pytest.raises(DataError) as caught:
        fetch_openml_dataset("toy", data_home=tmp_path, **options)
    text = str(caught.value)
    assert (
        text.startswith("OpenML data set 'toy': ")
        and message in text
        and text.endswith((".", "?"))
        and "\n" not in text
    )


def test_a_download_that_is_not_the_announced_file_is_refused(stub, tmp_path):
    stub(answers(DENSE, ["beach"], KINDS, md5_checksum="0"))
    with pytest.warns(RuntimeWarning, match="Invalid cache"), pytest.raises(DataError, match="md5 checksum of"):
        fetch_openml_dataset("toy", data_home=tmp_path)


def test_free_text_is_told(stub, tmp_path):
    stub(answers(DENSE.replace("hue real", "hue string"), ["beach"], ["string", *KINDS[1:]]))
    with pytest.raises(DataError, match="it holds columns of free text; export it as CSV and read that"):
        fetch_openml_dataset("toy", data_home=tmp_path)


def test_what_stands_in_no_answer_is_told_as_not_stated(stub, tmp_path):
    stub(answers(DENSE, ["beach"], KINDS, licence=None, citation="", creator=["A. One", "B. Two"]))
    data = fetch_openml_dataset("toy", drop="species", data_home=tmp_path)
    assert data.licence == "OpenML Toy, version 2; licence: not stated; cite: A. One, B. Two"


@pytest.mark.parametrize(
    ("name", "version", "message"),
    [
        ("missing", None, "OpenML data set 'missing': it could not be read ('No active dataset missing found'); check"),
        ("toy", 9, "it could not be read ('Dataset toy with version 9 not found'); check the name and the version"),
    ],
)
def test_a_name_that_openml_does_not_know(stub, tmp_path, name, version, message):
    stub(answers(DENSE, ["beach"], KINDS))
    with pytest.raises(DataError) as caught:
        fetch_openml_dataset(name, version, data_home=tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize("failure", [urllib.error.URLError("no route to host"), TimeoutError("no route to host")])
def test_no_network(stub, tmp_path, failure):
    stub({}, failure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A network error occurred|Invalid cache")  # one a try
        with pytest.raises(DataError, match="could not be fetched .*no route to host.*; check the network; a set"):
            fetch_openml_dataset("toy", data_home=tmp_path)


def test_a_set_is_had_by_its_id(stub, tmp_path):
    asked = stub(answers(DENSE, ["beach", "sunset"], KINDS)).asked
    by_id = fetch_openml_dataset(7, drop="species", data_home=tmp_path)
    by_name = fetch_openml_dataset("toy", drop="species", data_home=tmp_path)
    assert by_id.name == "Toy" and by_id.X.tolist() == by_name.X.tolist() and by_id.licence == by_name.licence
    assert not any("data_name" in path for path in asked[:4])
    with pytest.raises(DataError, match="version=2 is not allowed with the id 7 of one version"):
        fetch_openml_dataset(7, 2, data_home=tmp_path)


@pytest.mark.parametrize("name", ["", " ", 0, -7, True, 7.0, None])
def test_a_name_is_text_or_an_id(name):
    with pytest.raises(DataError, match="is not the name or id of an OpenML data set; give for example"):
        fetch_openml_dataset(name)


def test_numbers_are_targets_by_name_or_by_default(stub, tmp_path):
    arff = "@relation fat\n@attribute a real\n@attribute fat real\n@attribute kind {x,y}\n"
    arff += "@data\n1,0.5,x\n2,?,y\n3,2,x\n"
    stub(answers(arff, ["fat"], ["numeric", "numeric", "nominal"]))
    data = fetch_openml_dataset("toy", data_home=tmp_path, drop="kind")
    np.testing.assert_array_equal(np.asarray(data.outputs)[:, 0], [0.5, np.nan, 2.0])
    both = fetch_openml_dataset("toy", data_home=tmp_path, labels="kind", targets="fat").outputs.layout.columns
    assert [(column.name, column.kind) for column in both] == [("fat", "real"), ("kind", "classes")]
