"""The DEFC experiment as a whole on generated rows, what it concludes, and its page."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from papers import experiment
from papers.defc import experiment as defc
from papers.defc.criteria import FISHER, LOCAL, PAIRS
from papers.defc.findings import above_chance, claims, conclusions, difference, mean_of, paired
from papers.defc.rivals import GA, ORIGINAL, REDUCED, RIVALS, rivals_on
from papers.defc.trials import PERMUTED
from papers.experiment import Request, plain
from papers.markdown import failures
from papers.rule import over_rows
from proxembed.study.defc.model_strategies import POPULATION, NestedGA, random_genome
from proxembed.study.defc.model_strategies import REDUCED as MODELS_OF_REDUCED
from slow.unit.papers.made import counted_set
from slow.unit.papers.made_classes import class_sets

FACTS = {"validation": 0.9, "evaluations": 3, "models": 1, "failed": 0, "seconds": 1.0, "failure": None, "k": 2}
RATIO, DIFFERENCE = [3, 5, 0, 5, 1, 2, 2, 0], [3, 0, 0, 5, 1, 2, 1, 0]


def entries(method, tests, chosen=None, **facts):
    return [
        {**FACTS, "entrant": f"{method}, draw {draw + 1}", "method": method, "draw": draw, "test": test,
         "chosen": chosen or {}, **facts}
        for draw, test in enumerate(tests)
    ]  # fmt: skip


def made(ga=(0.9, 0.91, 0.92), reduced=(0.899, 0.911, 0.919), best=(0.8, 0.83, 0.81), switches=RATIO, permuted=0.5):
    """Scores of six draws: of three, twice."""
    ga, reduced, best = (2 * each for each in (ga, reduced, best))
    searched = [
        *entries(GA, ga, {"switches": switches}),
        *entries(REDUCED, reduced, {"switches": switches}),
        *entries(ORIGINAL, 2 * (0.91, 0.93, 0.92)),
        *entries("PCA", best),
        *entries("FDA", 2 * (0.7, 0.71, 0.72)),
        *entries(PERMUTED, 2 * (permuted, permuted + 0.01, permuted - 0.01), {"switches": switches}, chance=0.5),
    ]
    criteria = [*entries(FISHER, 3 * (0.6, 0.62)), *entries(PAIRS, 3 * (0.7, 0.71)), *entries(LOCAL, 3 * (0.64, 0.60))]
    return {"dna, 1-NN": searched, "dna, criteria": criteria}


def test_a_method_wins_or_loses_where_the_paired_difference_is_decided():
    five = {str(i): 0.8 + 0.01 * i for i in range(5)}
    tables = {
        "a": {"draws": five},
        "b": {"draws": {draw: value - 0.09 - 0.01 * (draw == "2") for draw, value in five.items()}},
        "c": {"draws": {"0": 0.1}},
        "d": {"draws": dict(list(five.items())[:4])},
    }
    found = paired(tables, "a", "b")  # differences 0.09, 0.09, 0.10, 0.09, 0.09: half width 2.776 x 0.002
    assert found["mean"] == pytest.approx(0.092) and found["verdict"] == "wins"
    assert found["interval"] == pytest.approx((0.092 - 2.77645 * 0.002, 0.092 + 2.77645 * 0.002), rel=1e-4)
    assert paired(tables, "b", "a")["verdict"] == "loses" and paired(tables, "a", "a")["verdict"] == "ties"
    assert paired(tables, "a", "c") == {"mean": pytest.approx(0.7), "interval": None, "verdict": None}
    assert paired(tables, "b", "d")["verdict"] is None and paired(tables, "a", "e")["mean"] is None


def test_a_difference_is_told_by_test_rows_where_both_have_groups():
    rng = np.random.default_rng(0)
    tests, cells = ({name: rng.random((6, n)) for name in "ab"} for n in (1, 20))
    parts = {name: entries(name, tests[name][:, 0]) for name in "ab"}
    for name, held in parts.items():
        for entry, without in zip(held, cells[name], strict=True):
            entry["without"] = without.tolist()
    tables = {name: mean_of(held) for name, held in parts.items()}
    expected = over_rows(np.hstack([tests["a"] - tests["b"], cells["a"] - cells["b"]]))
    assert difference(tables, "a", "b").mean == pytest.approx(expected.mean)
    assert difference(tables, "a", "b").error == pytest.approx(expected.error)


def test_conclusions_pair_the_searches_with_all_others_but_permuted_labels():
    found = conclusions(made())
    against = found["against"]["dna, 1-NN"]
    assert list(against[GA]) == [ORIGINAL, "PCA", "FDA", REDUCED] and list(against[REDUCED]) == [ORIGINAL, "PCA", "FDA"]
    assert against[GA]["PCA"]["verdict"] == "wins" and against[GA][ORIGINAL]["verdict"] != "wins"
    assert list(found["criteria"]) == ["dna"] and found["criteria"]["dna"][PAIRS]["mean"] == pytest.approx(0.095)
    assert found["tables"]["dna, 1-NN"]["PCA"]["optimism"] == pytest.approx(0.9 - 0.8133333)
    assert found["chosen"]["dna, 1-NN"] == [{"draw": draw, "switches": RATIO, "k": 2} for draw in range(6)]


def came_out(parts):
    return {(each["published"], each["labels"]): each["came_out"] for each in claims(conclusions(parts))}


def test_claims_follow_the_scores():
    forms = "both forms of friends and enemies are better than Fisher's criterion, at equal settings"
    best, own = ("DEFC outperforms all the existing methods", "dna, 1-NN"), (forms, "dna")
    narrow = ("a search of the eight models alone is almost as good as the full one", "Reuters")
    time = ("it takes more than 75 % less time", "Reuters")
    related, ratio, chance, usual, related_by, paired_by = (
        (words, "all sets")
        for words in (
            "relation features are chosen for all data sets",
            "the ratio (18) is chosen in the vast majority of cases",
            "with permuted labels the test score is at chance",
            "features are most often standardised or whitened",
            "relations are most often polynomial or Euclidean",
            "pairs are by polynomial similarity more often than by any other",
        )
    )
    first = came_out(made(switches=RATIO))
    assert first == {best: True, narrow: None, time: None, (forms, "Reuters"): None, own: None, related: True,
                     usual: True, related_by: True, ratio: True, paired_by: False, chance: True}  # fmt: skip
    second = came_out(made(ga=(0.81, 0.82, 0.81), best=(0.9, 0.93, 0.93), switches=DIFFERENCE, permuted=0.8))
    assert second == {**first, best: None, related: False, ratio: False, related_by: False, chance: False}
    tied = came_out(made(ga=(0.81, 0.82, 0.81), best=(0.8, 0.83, 0.83)))
    assert tied[best] is None
    parts = made()
    parts["dna, criteria"] = [*entries(FISHER, 3 * (0.75, 0.76)), *entries(PAIRS, 3 * (0.7, 0.711)),
                              *entries(LOCAL, 3 * (0.64, 0.6501))]  # fmt: skip
    assert came_out(parts)[own] is False
    parts["Reuters, criteria"] = [*entries(FISHER, 3 * (0.65, 0.66)), *entries(PAIRS, 3 * (0.7, 0.711)),
                                  *entries(LOCAL, 3 * (0.69, 0.701))]  # fmt: skip
    found = {each["labels"]: each for each in claims(conclusions(parts)) if each["published"] == forms}
    assert found["Reuters"]["came_out"] is True and not found["Reuters"]["own"] and found["dna"]["own"]


def test_further_draws_of_one_part_alone_judge_it():
    """The first six draws have DEFC far below; the five further ones, above."""
    parts = made()
    part = "dna, 1-NN"
    first = [entry for entry in parts[part] if entry["method"] in (GA, "PCA", "FDA")]
    parts["dna, FLDA"] = parts[part]
    low, high = {GA: 0.5, "PCA": 0.8, "FDA": 0.81}, {GA: 0.9, "PCA": 0.8, "FDA": 0.81}
    parts[part] = [
        {**entry, "draw": entry["draw"] + 6 * later, "test": values[entry["method"]] + 0.001 * entry["draw"] % 0.003}
        for later, values in enumerate((low, high))
        for entry in first
    ]
    told = next(each for each in claims(conclusions(parts)) if each["labels"] == part)
    assert told["came_out"] is True and "draws 7 to 12 alone" in told["ours"]


def test_three_draws_give_no_verdict():
    parts = {part: [entry for entry in held if entry["draw"] < 3] for part, held in made().items()}
    assert set(came_out(parts).values()) == {None}
    assert all(each["decided_by"] for each in claims(conclusions(parts)))


def test_a_search_of_eight_models_is_judged_on_reuters():
    parts = {"Reuters, FLDA": made()["dna, 1-NN"], "dna, 1-NN": made(reduced=(0.1, 0.1, 0.1))["dna, 1-NN"]}
    for entry in parts["Reuters, FLDA"]:
        seconds = {GA: (10.0, 20.0, 40.0), REDUCED: (1.0, 2.0, 4.4)}.get(entry["method"])
        entry["seconds"] = seconds[entry["draw"] % 3] if seconds else 1.0
    found = conclusions(parts)["narrow"]["Reuters, FLDA"]
    assert found["saved"] == pytest.approx(2 * [0.9, 0.9, 0.89])
    assert found["gain"] == pytest.approx(2 * [0.001, -0.001, 0.001])
    assert [each["came_out"] for each in claims(conclusions(parts)) if each["where"] == "section III-C"] == [True, True]
    parts["Reuters, FLDA"][0]["test"] = None
    assert len(conclusions(parts)["narrow"]["Reuters, FLDA"]["gain"]) == 5
    parts = {"Reuters, FLDA": made(reduced=(0.8, 0.81, 0.82))["dna, 1-NN"]}
    assert [e["came_out"] for e in claims(conclusions(parts)) if e["where"] == "section III-C"] == [False, False]


def test_what_has_no_score_is_told():
    parts = made()
    parts["dna, 1-NN"] = [
        {**entry, "test": None, "validation": None, "k": None, "chosen": None, "failure": "ValueError: no"}
        if entry["method"] == GA
        else entry
        for entry in parts["dna, 1-NN"]
    ]
    found = conclusions(parts)
    assert found["tables"]["dna, 1-NN"][GA]["test"] is None
    assert failures(parts)[-1].splitlines()[2:] == [
        f"| dna, 1-NN | {GA}, draw {i} | ValueError: no |" for i in range(1, 7)
    ]
    by_name = {each["published"]: each["came_out"] for each in claims(found)}
    assert by_name["DEFC outperforms all the existing methods"] is None


def test_test_scores_of_permuted_labels_are_taken_less_chance():
    found = above_chance(entries(PERMUTED, (0.6, 0.61, 0.62), chance=0.5))
    assert found["draws"] == pytest.approx([0.1, 0.11, 0.12]) and found["mean"] == pytest.approx(0.11)
    assert above_chance([])["mean"] is None


def test_shares_of_searches_are_those_of_the_draws_that_every_set_has():
    polynomial, other = ([*RATIO[:3], s, *RATIO[4:]] for s in (2, 1))
    five = [{"draw": draw, "switches": polynomial} for draw in range(5)]
    more = [*five, *({"draw": draw, "switches": other} for draw in range(5, 15))]
    found = {**conclusions({}), "chosen": {"dna": five, "banana": more}}
    told = next(each for each in claims(found) if each["published"].startswith("pairs are by polynomial"))
    assert told["ours"].startswith("by 10 of 10 searches") and told["came_out"] is True


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    data, folder = tmp_path_factory.mktemp("classes"), tmp_path_factory.mktemp("defc")
    class_sets(data)
    counted_set(data / "reuters.npz", n=4000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            defc,
            "QUICK",
            replace(defc.QUICK, draws=2, further={"dna, FLDA": 3}, ga=10, reduced=8, criterion=2, permuted=8),
        )
        patch.setattr(defc, "SOURCES", [each for each in defc.SOURCES if each.name in ("dna", "Swiss roll", "Reuters")])
        patch.setattr(defc, "rivals_on", lambda name: ("KFDA",) if name == "Reuters" else ("PCA", "KFDA"))
        request = Request(data, folder, quick=True, command="python -m papers defc --quick")
        record = experiment("defc").run(request)
        said: list[tuple] = []
        again = experiment("defc").run(replace(request, progress=lambda *facts: said.append(facts)))
    return record, again, said, folder


def test_a_run_holds_every_entrant_of_every_draw_and_a_second_one_has_nothing_to_do(finished):
    record, again, said, _ = finished
    assert list(record["parts"]) == ["dna, 1-NN", "dna, FLDA", "dna, criteria", "Swiss roll, 1-NN", "Swiss roll, FLDA",
                                     "Swiss roll, criteria", "Reuters, 1-NN", "Reuters, FLDA",
                                     "Reuters, criteria"]  # fmt: skip
    assert [len(each) for each in record["parts"].values()] == [12, 18, 6, 12, 12, 6, 10, 10, 6]
    assert all(entry["failure"] is None for each in record["parts"].values() for entry in each)
    assert again["parts"] == record["parts"] and [facts[0] for facts in said] == [12, 30, 36, 48, 60, 66, 76, 86, 92]
    assert record["parts"]["dna, 1-NN"][0]["entrant"] == f"{GA}, draw 1"
    assert record["draws"]["dna, FLDA"] == 3 and set(record["draws"].values()) == {2, 3}


def test_searches_keep_to_their_budgets_and_the_largest_k(finished):
    for part, held in finished[0]["parts"].items():
        for entry in held:
            assert entry["evaluations"] <= {GA: 10, REDUCED: 8, PERMUTED: 8, "KFDA": 10}.get(entry["method"], 2)
            if part.startswith("Swiss roll") and entry["method"] != ORIGINAL:
                assert entry["k"] <= 2


def test_the_page_shows_what_was_found_beside_the_paper(finished):
    record, _, _, folder = finished
    page = (folder / "README.md").read_text(encoding="utf-8")
    table = record["conclusions"]["tables"]["dna, 1-NN"]
    assert f"{table[GA]['test']:.4f} ± {table[GA]['spread']:.4f} | 0.9157" in page
    assert f"{table['KFDA']['test']:.4f} ± {table['KFDA']['spread']:.4f} | 0.8630" in page
    assert "`python -m papers defc --quick`" in page and "A quick run" in page
    assert page.count("DEFC outperforms all the existing methods") == 6
    assert "## Failures" not in page and page.count("\n## ") == 2 + 6 + 4
    assert record == plain(record)
    said, first = page.index("| the paper says | where | set | ours | interval |"), page.index("\n## ")
    assert first < said < page.index("![") < page.index("## Where DEFC wins")
    assert "| dna, FLDA, Table VI of the paper | 3 | 6 | 3 | 7 | 1 | 2 | 2 | 1 | 8 |" in page
    held = [entry for entries in record["parts"].values() for entry in entries if entry["method"] == GA]
    a_model = sum(entry["evaluations"] for entry in held) / sum(entry["models"] for entry in held)
    assert f"genetic search tried {a_model:.1f} settings per model" in page


def test_the_whole_plan_is_that_of_the_paper():
    plan = defc.Plan()
    assert plan.draws == 5 and plan.rows is None
    assert [plan.draws_of(part) for part in ("banana, 1-NN", "dna, 1-NN")] == [10, 5]
    assert [rivals_on(each.name) == tuple(RIVALS) for each in defc.SOURCES] == [True] * 4 + [False]
    assert rivals_on("Reuters") == ("KFDA", "KMFA")
    assert {plan.evaluations(name) for name in (FISHER, PAIRS, LOCAL)} == {plan.criterion}


def test_rivals_may_try_what_defc_tries_and_the_eight_models_breed_their_parameters():
    plan = defc.Plan()
    for name in ("OLPP", "MFA", "KFDA", "KMFA", "FDA"):
        assert plan.evaluations(name) == plan.evaluations(GA) >= 200
    new = [random_genome(np.random.default_rng(seed)).canonical() for seed in range(POPULATION)]
    study = SimpleNamespace(evaluations_left=plan.ga, trials={}, outcomes=[])
    assert min(NestedGA().caps(study, new, {}).values()) >= POPULATION
    assert min(plan.reduced, plan.permuted) / len(MODELS_OF_REDUCED) >= 2 * POPULATION
