"""The section on the adaptive model: models of a leaderboard, convergence without loss, its page, damaged records."""

import copy
import json
import re
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pytest

from proxembed import EmbeddingModel, Scaling
from proxembed.methods.adaptive import Limits, Switches, sample
from proxembed.report import adaptive_section, make_record, page_html, proximity_section, read_record
from proxembed.report.adaptive import MODELS, adaptive_view, convergence, parameter_words
from proxembed.targets.labels import LabelMatrix
from strategies import every_switches
from unit.report.synthetic import made_labels, made_record

SVG = "{http://www.w3.org/2000/svg}"


@cache
def made_search(n_models=14, settings=6, seed=0):
    """A leaderboard and its history: models drawn at random, scores that rise, a failure in every tenth evaluation."""
    rng = np.random.default_rng(seed)
    limits, every = Limits.of(LabelMatrix.of([0, 1, 2] * 20)), every_switches()
    models = sorted({every[i].canonical() for i in rng.integers(0, len(every), n_models)})
    board, history, best = [], [], -np.inf
    for i in range(settings * len(models)):
        switches, failed = models[i % len(models)], "no enemies <b>" if i % 10 == 0 else None
        score = -np.inf if failed else float(np.clip(0.6 + 0.2 * (1 - np.exp(-i / 20)) + rng.normal(0, 0.05), 0, 1))
        best = max(best, score)
        entry = {"params": sample(switches, limits, rng), "k": None if failed else int(rng.integers(1, 9))}
        board.append(
            {"switches": switches.as_tuple(), **entry, "score": score, "by_fold": () if failed else (score, score),
             "seconds": 0.25, "repairs": ("n_enemies <doubled>",) * (i % 3 == 1), "failed": failed}
        )  # fmt: skip
        history.append({"evaluations": i + 1, "seconds": 0.3 * (i + 1), "best": best})
        if (i + 1) % len(models) == 0:
            history[-1] |= {
                "generation": (i + 1) // len(models),
                "generation_best": best,
                "generation_mean": best - 0.1,
            }
    return sorted(board, key=lambda entry: -entry["score"]), history


def made_section(scaling="standard", fitted=None, **options):
    facts = {"search": "ga", "classifier": "1nn", "measure": "subset accuracy", "rows": 391, "folds": 3}
    facts |= {"scaling": scaling, "fitted": fitted}
    return adaptive_section(*made_search(**options), **facts)


@pytest.fixture(scope="module")
def record():
    record = made_record(60, 4)
    Z, Y = made_labels(60, 4)
    panels = [("DEFC [1]", Z), ("DEFC [1] on shuffled labels", Z[::-1])]
    matrices = proximity_section(Z, panels, Y, list("abcd"), measure="gaussian")
    summary = copy.deepcopy(record["summary"])
    summary["dataset"]["single_label"] = True
    return make_record(
        "search", summary, record["rows"], "proxembed search", seed=0, map=record["map"], proximity=matrices,
        label_table=record["label_table"], adaptive=made_section(), diagnosis=record["diagnosis"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(record):
    return page_html(record)


def test_the_best_setting_of_each_model_best_first():
    board, _ = made_search()
    found = made_section()
    kept = found["models"]
    assert len(kept) == MODELS and found["n_models"] == len({entry["switches"] for entry in board}) > MODELS
    assert found["n_evaluations"] == len(board) and found["n_failed"] == sum(
        entry["failed"] is not None for entry in board
    )
    scores = [model["score"] for model in kept]
    assert scores == sorted(scores, reverse=True) and scores[0] == board[0]["score"]
    assert len({tuple(model["switches"]) for model in kept}) == MODELS
    for model in kept:
        own = [entry for entry in board if list(entry["switches"]) == model["switches"]]
        assert model["score"] == max(entry["score"] for entry in own) and model["settings"] == len(own)
        assert model["seconds"] == pytest.approx(0.25 * len(own))
        switches = Switches.of(model["switches"])
        assert model["words"] == switches.describe() and tuple(model["params"]) == switches.numeric()


def test_the_curve_loses_nothing():
    _, history = made_search()
    curve = made_section()["history"]
    assert len(curve["best"]) < len(history)
    at = np.searchsorted(curve["evaluations"], [p["evaluations"] for p in history if np.isfinite(p["best"])], "right")
    again = [curve["best"][i - 1] for i in at]
    assert again == [p["best"] for p in history if np.isfinite(p["best"])]
    assert curve["evaluations"][-1] == len(history) and curve["seconds"][-1] == history[-1]["seconds"]
    assert made_section()["generations"]["evaluations"] == [p["evaluations"] for p in history if "generation" in p]


def test_the_line_of_python_makes_the_best_model():
    best = made_section()["models"][0]
    for scaling, fitted in (("none", None), ("tfidf", {**best["params"], "lam": 0.25, "n_friends": None})):
        names = {}
        exec(adaptive_view(made_section(scaling=scaling, fitted=fitted))["call"], names)
        first, model = names["model"].named_steps.values()
        assert isinstance(first, Scaling) and first.kind == scaling and isinstance(model, EmbeddingModel)
        assert list(model.switches().as_tuple()) == best["switches"] and model.n_components == best["k"]
        shown = {name: value for name, value in (fitted or best["params"]).items() if name in best["params"]}
        assert model._values(model.switches()) == shown


def test_all_is_written_as_a_word_and_no_model_is_no_section(record, without_figures):
    assert parameter_words({"n_neighbors": None, "lam": 1e-5, "p": 3}) == ["n_neighbors = all", "lam = 1e-05", "p = 3"]
    failed = [{**entry, "score": -np.inf, "failed": "no"} for entry in made_search()[0]]
    found = adaptive_section(failed, [], search="ga", classifier="1nn", measure="subset accuracy", rows=9, folds=2)
    assert found["models"] == [] and found["n_failed"] == len(failed) and adaptive_view(found) is None
    assert 'id="models"' not in page_html({**record, "adaptive": found})


@pytest.mark.parametrize("narrow", [False, True])
def test_the_figure_has_both_axes_with_units_and_n(narrow):
    section = made_section()
    drawn = convergence(section, narrow=narrow)
    root = ElementTree.fromstring(drawn)
    words = " ".join("".join(node.itertext()) for node in root.iter(f"{SVG}text"))
    for word in (
        "evaluations (settings",
        "seconds of the search",
        "best subset accuracy so far (0 to 1)",
        "n = 391 training rows",
    ):
        assert word in words
    assert convergence(section, narrow=narrow) == drawn


def test_the_page_shows_models_convergence_and_matrices_before_and_after(record, page):
    order = ["Held-out rows on the map", "The models that the search found", "Convergence",
             "Proximity before and after", "Label by label", "Leaderboard: each arm"]  # fmt: skip
    places = [page.index(part) for part in order]
    assert places == sorted(places) and page.count("<img ") == 6 and page.count('id="proximity"') == 1
    part = page[page.index('id="models"') : page.index('id="proximity"')]
    for model in record["adaptive"]["models"]:
        vector = f"<code>[{','.join(map(str, model['switches']))}]</code>"
        assert vector in part and f"{model['score']:.3f}" in part and model["words"] in part
    assert "<doubled>" not in part and "The nested genetic algorithm tried 84 settings of 14 models" in part
    shown = re.findall(r"<figcaption><span><b>(\w+)</b>", page)
    assert shown == ["W", "Z", "Z", "G", "Y", "Psi"]
    assert "Gaussian kernel of the features" in page and "cosine of the features" not in page


def test_a_page_of_other_engines_has_no_such_part(without_figures):
    record = made_record(60, 4)
    assert record["adaptive"] is None
    page = page_html(record)
    assert 'id="models"' not in page and '<details id="proximity">' in page
    del record["adaptive"]  # as earlier versions wrote it
    assert page_html(record) == page


def written(tmp_path, record):
    (tmp_path / "results.json").write_text(json.dumps(record, allow_nan=False), encoding="utf-8")
    return tmp_path


def test_the_page_is_the_same_after_the_file(tmp_path, record, without_figures):
    again = read_record(written(tmp_path, record))
    assert again == record and page_html(again) == page_html(record)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("history", "best"), [0.5], "the lists of adaptive.history differ in length"),
        (("generations", "mean"), [], "the lists of adaptive.generations differ in length"),
        (("models", 0, "switches"), [1.5], r"adaptive.models\[0\].switches\[0\] must be a whole number"),
        (("models", 1, "score"), None, r"adaptive.models\[1\].score must be"),
        (("measure",), 3, "adaptive.measure must be text"),
        (("fitted",), 3, "adaptive.fitted must be an object or null"),
    ],
)
def test_a_damaged_section_is_refused_with_its_place(tmp_path, record, path, value, message):
    record = copy.deepcopy(record)
    place = record["adaptive"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ValueError, match=message):
        read_record(written(tmp_path, record))
