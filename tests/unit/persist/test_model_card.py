"""The model card: data, evidence, command and source; names of data files stay text."""

import re

import numpy as np
import pandas
import pytest

import strategies
from proxembed import OPLS, PCA, Kernelized
from proxembed.data import Dataset
from proxembed.methods.pipeline import embedding_pipeline, fit_on, source_of
from proxembed.persist import model_card, save
from proxembed.workflow.labelled_data import frame_dataset

Y = strategies.labels_multi(40, 4, 3).astype(int)
X = strategies.told_by_labels(strategies.features_dense(40, 9, 3), Y, 3)
NAMES = ["sea", "<b>", "Zoë", "d"]
HOSTILE = ["<script>alert(1)</script>", "a|b", "`x`", "[l](javascript:1)", "x\u202ey", "two\nlines", "# head"]


def test_a_card_tells_data_evidence_command_and_source():
    data = Dataset(X, Y, label_names=NAMES, name="sea & shore", licence="CC0")
    model = embedding_pipeline(Kernelized(OPLS(), n_components=2), X).fit(X, Y)
    best = [{"arm": "OPLS", "k": None, "scores": {"macro AP (ridge)": {"mean": 0.5}}}]
    goal = {"title": "Map", "word": "better", "said": "better than PCA", "sentence": "0.5 instead of 0.4."}
    verdict = {"goals": {"map": goal}, "note": "On 3 test rows.", "text": "", "answers": "1 % are wrong."}
    summary = {"verdict": verdict, "measures": ["macro AP (ridge)"], "best": best}
    card = model_card(model, data, summary, "proxembed fit `a`")
    for part in (
        "# Kernelized(OPLS): 9 features to 2 components",
        "40 rows, 9 features, 4 labels",
        "licence: CC0",
        "**Map: better than PCA.** 0.5 instead of 0.4.",
        "Means over the held-out folds, where a method predicts by a ridge unless it predicts by itself:",
        "--cut 0.5 does; --probabilities writes the probabilities (in Python predict_proba).\n1 % are wrong.",
        "| OPLS | - | 0.500 |",
        "`` proxembed fit `a` ``",
        "@",
        "worsley1997opls",
    ):
        assert part in card
    assert "Not evaluated" in model_card(model) and "Made by" not in model_card(model)
    empty, front, _ = card.split("---\n", 2)
    assert not empty and front.splitlines()[1:] == [
        "library_name: proxembed",
        "tags:",
        *(f'- "{tag}"' for tag in ("proxembed", "dimensionality-reduction", "tabular", "Kernelized(OPLS)")),
        '- "multi-label classification"',
        "metrics:",
        '- "macro AP (ridge)"',
    ]
    assert "metrics" not in model_card(model).split("---\n")[1]


def test_the_card_of_a_table_counts_columns_and_features():
    frame = pandas.DataFrame({"size": X[:, 0], "kind": np.where(Y[:, 0] > 0, "big", "small"), "tag": Y[:, 1] > 0})
    data = frame_dataset(frame, labels="tag")
    card = model_card(fit_on(OPLS(n_components=1), data), data)
    assert "# OPLS: 2 columns as 3 features to 1 component" in card
    assert "- your table: 40 rows, 2 columns as 3 features, " in card


def test_hostile_names_stay_text_in_the_card():
    data = Dataset(X, Y, label_names=HOSTILE[:4], name=HOSTILE[4], licence=HOSTILE[5] + HOSTILE[6])
    section = model_card(PCA().fit(X), data).split("## Data")[1].split("\n\n")[0]
    assert not re.search(r"(?<!\\)[<>`|#*_\[\]]", section) and all(line.isprintable() for line in section.splitlines())
    assert len(section.strip().splitlines()) == 3
    for shown in (r"\<script\>", r"a\|b", r"\`x\`", r"\[l\]", r"x\\u202ey", r"two lines\# head"):
        assert shown in section


@pytest.mark.parametrize("kind", ["array", "table", "bare"])
def test_the_three_lines_of_the_card_run(kind, tmp_path, monkeypatch):
    """As they stand, but for the name of the file and the new rows."""
    monkeypatch.chdir(tmp_path)
    rows, data = X, Dataset(X, Y, label_names=NAMES)
    if kind == "table":
        frame = pandas.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 1] > 0, "a", "b"), "sea": Y[:, 0]})
        rows, data = frame.drop(columns="sea"), frame_dataset(frame, labels="sea")
    model = OPLS(n_components=2).fit(X, Y) if kind == "bare" else fit_on(OPLS(n_components=1), data)
    card = model_card(model, data)
    save(model, tmp_path / "mine.skops", source=source_of(data), card=card)
    lines = card.split("```python\n")[1].split("```")[0].replace("NAME", "mine")
    assert len([line for line in lines.splitlines() if line]) == 3
    names = {"X_new": rows[:3]}
    exec(lines, names)
    assert names["Z"].shape == (3, 2 if kind == "bare" else 1)
    np.testing.assert_allclose(names["Z"], model.transform(rows)[:3], rtol=1e-9, atol=1e-12)
    assert ("labels" in names) == (kind != "bare")
    assert ("a DataFrame with size, kind" if kind == "table" else "an array") in card


def test_a_card_says_whether_test_rows_are_among_those_of_the_fit():
    data = Dataset(X, Y, train_idx=np.arange(30), test_idx=np.arange(30, 40))
    model = fit_on(OPLS(n_components=1), data)
    assert "fitted on these rows; the 10 test rows are among these" in model_card(model, data)
    part = model_card(model, data.take(data.train_idx))
    assert "30 rows" in part and "fitted on these rows; no test row is among these" in part
    assert "test rows" not in model_card(model, Dataset(X, Y)).split("## Data")[1].split("##")[0]
