"""The model card: data, evidence, command and source; names of data files stay text."""

import re

import strategies
from proxembed import OPLS, PCA, Kernelized
from proxembed.data import Dataset
from proxembed.model import embedding_pipeline
from proxembed.persist import model_card

Y = strategies.labels_multi(40, 4, 3).astype(int)
X = strategies.told_by_labels(strategies.features_dense(40, 9, 3), Y, 3)
NAMES = ["sea", "<b>", "Zoë", "d"]
HOSTILE = ["<script>alert(1)</script>", "a|b", "`x`", "[l](javascript:1)", "x\u202ey", "two\nlines", "# head"]


def test_a_card_tells_data_evidence_command_and_source():
    data = Dataset(X, Y, label_names=NAMES, name="sea & shore", licence="CC0")
    model = embedding_pipeline(Kernelized(OPLS(), n_components=2), X).fit(X, Y)
    best = [{"arm": "OPLS", "k": None, "scores": {"macro AP (ridge)": {"mean": 0.5}}}]
    goal = {"title": "Map", "word": "better", "sentence": "0.5 instead of 0.4."}
    verdict = {"goals": {"map": goal}, "note": "On 3 test rows.", "text": ""}
    summary = {"verdict": verdict, "measures": ["macro AP (ridge)"], "best": best}
    card = model_card(model, data, summary, "proxembed fit `a`")
    for part in (
        "# Kernelized: 9 features to 2 components",
        "40 rows, 9 features, 4 labels",
        "licence: CC0",
        "**Map: better.** 0.5 instead of 0.4.",
        "| OPLS | - | 0.500 |",
        "`` proxembed fit `a` ``",
        "@",
        "worsley1997opls",
    ):
        assert part in card
    assert "Not evaluated" in model_card(model) and "Made by" not in model_card(model)


def test_hostile_names_stay_text_in_the_card():
    data = Dataset(X, Y, label_names=HOSTILE[:4], name=HOSTILE[4], licence=HOSTILE[5] + HOSTILE[6])
    section = model_card(PCA().fit(X), data).split("## Data")[1].split("\n\n")[0]
    assert not re.search(r"(?<!\\)[<>`|#*_\[\]]", section) and all(line.isprintable() for line in section.splitlines())
    assert len(section.strip().splitlines()) == 3
    for shown in (r"\<script\>", r"a\|b", r"\`x\`", r"\[l\]", r"x\\u202ey", r"two lines\# head"):
        assert shown in section
