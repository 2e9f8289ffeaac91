"""The plan of a search: work alone decides, cuts come in their order, the command fits its budget."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import proxembed
from clocks import set_clock
from proxembed.data import Dataset
from proxembed.evaluate import costs
from proxembed.evaluate.arms import entrants
from proxembed.evaluate.rivals import rival
from proxembed.evaluate.rivals.maps import UMAP, SupervisedUMAP
from proxembed.execute import clock
from proxembed.execute.budget import WorkBudget
from proxembed.methods.layout import Layout
from proxembed.methods.out_of_fold import BASES
from proxembed.report.next_steps import Run
from proxembed.report.plain_words import and_words
from proxembed.study.candidates import DEAR_BASES
from proxembed.targets.labels import LabelMatrix
from proxembed.workflow import main_job, plan
from proxembed.workflow.cut_words import core_time, cuts_of, missing_of, told_cuts, unit_note, untried
from proxembed.workflow.engines import run_engine
from proxembed.workflow.options import OptionError, SearchOptions
from proxembed.workflow.plan import make_plan

# The order of the specification: what comes first is cut first.
ORDER = ("share", "left_out", "shuffles", "layouts", "forest", "folds", "sizes", "anchors", "rows")
VIEWS = "Views(Kernelized(OPLS), views=('features', 'leaves', 'scores'), weights=1.0)"


def drawn(n=400, d=12, c=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X[:, :c] + rng.normal(size=(n, c)) > 0.8).astype(np.uint8)
    train = np.arange(n) < 0.75 * n
    return Dataset(X=X, Y=Y, train_idx=np.flatnonzero(train), test_idx=np.flatnonzero(~train))


def lines_of(found):
    return [cut.text for cut in cuts_of(found)]


def cuts_told(found, command="proxembed search a.csv", folder="f"):
    return told_cuts(found, Run(command, folder))


def planned(work, n=20_000, d=100, c=50, **options):
    data = SimpleNamespace(X=SimpleNamespace(shape=(n, d)), targets=LabelMatrix.of(np.ones((1, c), int)), outputs=None)
    rows = np.arange(n)
    split = plan.Split("test", rows[: 3 * n // 4], rows[3 * n // 4 :])
    return make_plan(SearchOptions(max_work=work, **options), data, split, (2, 5, 10, 20, 50), 0.0)


@pytest.fixture
def every_rival(monkeypatch):
    """The rivals that a search plans, in place of the few of other tests."""
    monkeypatch.setattr(plan, "entrants", entrants)


def test_plenty_of_work_cuts_nothing_and_leaves_the_rest_to_the_search():
    found = planned(1e7)
    assert lines_of(found) == [] and found.cuts.rows is None and found.cuts.folds == 5
    assert sum(found.phases.values()) == pytest.approx((1 - plan.RESERVE) * 1e7)
    assert found.phases["search"] > 0.94 * (1 - plan.RESERVE) * 1e7


def test_a_search_for_a_map_begins_with_the_maps_of_four_anchors_at_every_weight():
    found, other = (planned(1e7, n=3000, c=10, goal=goal) for goal in ("map", "neighbours"))
    n, rows = 2250, 2250 - 450
    anchors, shape = dict(found.anchors), found.shape.rows(rows)
    names = ("TargetSpace", "Kernelized(OPLS)", f"ReadoutAxes({VIEWS})", "ForestLeaves(OPLS)")
    each = [costs.fit_work(Layout(anchors[name]), shape) + 2 * costs.layout_work(rows) for name in names]
    whole = found._whole
    assert found._opening(whole, n) - other._opening(whole, n) == pytest.approx(5 * sum(each))
    without = replace(whole, anchors=tuple(name for name in anchors if name != names[0]))
    assert found._opening(without, n) - other._opening(without, n) == pytest.approx(5 * sum(each[1:]))


def test_a_map_of_little_work_has_two_anchors_beside_opls_before_it_has_all_rows(every_rival):
    """The order is: the anchors that are laid out, rows, rivals and leaders, more anchors, maps in the search."""
    for n, d, c in ((5000, 500, 374), (6435, 36, 6), (2400, 100, 14), (28_000, 500, 22)):
        found = planned(1e7, n=n, d=d, c=c, goal="map")
        chain = found._chain(found._whole)
        two = {"TargetSpace", "Kernelized(OPLS)"}
        assert all(two <= {*(cuts.anchors or two)} for cuts in chain if cuts.rows is None)
        weights = [cuts.weights for cuts in chain]
        assert weights == sorted(weights) and {*weights} == {0, 1, 3}
        assert not found._maps(replace(found.cuts, weights=0), 1000)
        first = found._maps(replace(found.cuts, weights=1), 1000)
        assert found._maps(found.cuts, 1000) - first == pytest.approx(4 * 2 * costs.layout_work(1000))
    little = planned(150.0, n=5000, d=500, c=374, goal="map")
    assert little.cuts.weights == 0 and two <= {*little.kept_anchors}
    assert any("only what is best for neighbours is laid out" in line for line in lines_of(little))
    near = planned(150.0, n=5000, goal="neighbours")
    assert not any("best for neighbours is laid out" in line for line in lines_of(near))
    space = dict(little.anchors)["TargetSpace"]
    assert little.dearest >= little._fit(little._map(space), little.shape.n, little.cuts)


def test_the_cuts_of_the_saved_map_are_tuned_by_small_ones():
    found = planned(1e7, n=5000, d=60, c=6, goal="map", refit_all=True)
    layout = Layout(proxembed.OPLS())
    rest = costs.last_work(found.shape) + plan.OVERHEAD
    opls = costs.fit_work(proxembed.OPLS(), found.shape) * (1 + plan.TUNED)
    own = costs.fit_work(layout, found.shape) + 3 * costs.fit_work(layout, found.shape.rows(1000))
    assert found._forecast(found.cuts, [layout])["last fit and page"] == pytest.approx(own - opls + rest)


def test_supervised_umap_stays_where_a_map_is_asked_for(every_rival):
    for goal, cut in (("map", "last"), ("neighbours", "late")):
        found = planned(100, n=600, c=6, goal=goal)
        assert [found.cut_of(SimpleNamespace(rival=rival)) for rival in (SupervisedUMAP, UMAP)] == [cut, "late"]
        assert "UMAP" in found.cuts.left_out and ("supervised UMAP" in found.cuts.left_out) == (goal != "map")


def test_cuts_come_in_their_order(every_rival):
    found = planned(1e7, n=3000, c=10)
    chain = found._chain(found._whole)[::-1]
    first = [
        next(i for i, cuts in enumerate(chain) if getattr(cuts, name) != getattr(chain[0], name)) for name in ORDER
    ]
    assert first == sorted(first) and len(set(first)) == len(first)


def test_more_work_never_means_less_of_anything(every_rival):
    """Of few and many rows, features and labels; the whole chain, and the plans of a grid of budgets."""
    for n, d, c, options, grid in (
        (28_000, 500, 22, {}, (15, 60, 325, 450, 1000)),
        (2000, 300, 20, {"goal": "neighbours"}, (30, 150, 450)),
        (9000, 20_000, 90, {}, (50, 150, 300, 500, 1000, 2000)),
        (5000, 500, 374, {"goal": "map"}, (20, 50, 150, 300, 450, 1000, 3000)),
    ):
        before = None
        for work in grid:
            found = planned(float(work), n, d, c, **options)
            out, anchors = set(found.cuts.left_out), set(found.kept_anchors)
            bases = len(found.cuts.bases or BASES) * ("TargetSpace" in anchors)
            cuts = found.cuts
            known = (cuts.rows or n, cuts.folds, cuts.shuffles, len(cuts.sizes), bases, cuts.weights)
            if before is not None:
                assert all(now >= then for now, then in zip(known, before[0], strict=True)), (n, work)
                assert out <= before[1] and anchors >= before[2]
            before = known, out, anchors


def test_rows_are_cut_last_and_only_where_opls_on_all_rows_does_not_fit(every_rival):
    found = planned(1e7)
    for cuts in found._chain(found._whole):
        alone = cuts.anchors == ("OPLS",) and not {e.arm.name for e in found.rivals} - {*cuts.left_out, "PCA"}
        assert cuts.rows is None or alone and cuts.folds == 3
    least = next(cuts for cuts in found._chain(found._whole) if cuts.rows is None)
    whole = sum(found._forecast(least).values()) / (1 - plan.RESERVE)
    assert planned(1.01 * whole).cuts.rows is None and planned(0.9 * whole).cuts.rows < 15_000


def test_anchors_go_from_the_end_of_the_list_among_those_that_cost_alike():
    names = ("OPLS", "TargetSpace", "ForestLeaves(OPLS)", "ReadoutAxes(ForestLeaves(OPLS))", "Kernelized(OPLS)", VIEWS)
    assert planned(1e7).kept_anchors == (*names, f"ReadoutAxes({VIEWS})")
    sets = [each["anchors"] for each in plan._anchor_sets(planned(1e7, n=1000))]
    kept = list(dict.fromkeys(each for each in sets if each is not None))
    assert (
        kept[0] == ("OPLS",)
        and kept[-1] == names
        and all(set(a) < set(b) for a, b in zip(kept, kept[1:], strict=False))
    )
    small = planned(25.0, n=593, d=72, c=6)
    assert (
        small.kept_anchors == (*names, f"ReadoutAxes({VIEWS})") and small.cuts.shuffles == 0 and small.cuts.rows is None
    )


def test_target_space_loses_bases_one_by_one_before_it_goes():
    found = planned(1e7, n=9000, d=20_000, c=90)  # of all 9,000 rows a ridge regression is factorised
    sets = [*plan._anchor_sets(found)]
    with_space = [each for each in sets if each["anchors"] is None or "TargetSpace" in each["anchors"]]
    bases = list(dict.fromkeys(each.get("bases") for each in with_space))
    assert bases == [("neighbors",), ("ridge", "neighbors"), ("ridge", "forest", "neighbors"), None]
    assert with_space == sets[-len(with_space) :], "and comes back before those after it"
    cuts = [replace(found.cuts, **each) for each in with_space]
    space = dict(found.anchors)["TargetSpace"]
    fewest = ("OPLS", "TargetSpace")
    assert [each["anchors"] for each in sets[:2]] == [("OPLS",), fewest], "of fewest bases it stays till OPLS is alone"
    assert sets[0]["bases"] == ("ridge", "neighbors"), "a search that adds it later may take more than the fewest"
    tested = planned(1e7, n=12_000, d=20_000, c=90)  # of which 9,000 are fitted
    assert ("ridge", "neighbors") in [each.get("bases") for each in plan._anchor_sets(tested)]
    many = planned(1e7, n=28_000, d=500, c=22)  # beside stack and neighbours ridge takes little
    every = [each.get("bases") for each in plan._anchor_sets(many)]
    assert ("ridge", "neighbors") in every and ("neighbors",) not in every
    works = list(dict.fromkeys(found._fit(space, 9000, each) for each in cuts))
    assert works == sorted(works) and works[-1] == found._fit(space, 9000)
    few = replace(found.cuts, bases=("neighbors",))
    assert found._forecast(few, [proxembed.TargetSpace()]) == found._forecast(found.cuts, [proxembed.TargetSpace()])
    assert found._forecast(few)["search"] < found._forecast(found.cuts)["search"]
    for work in (50.0, 150.0, 500.0, 2000.0, 5000.0):
        some = planned(work, n=9000, d=20_000, c=90)
        told = [line for line in lines_of(some) if line.startswith("TargetSpace without its ")]
        reduced = some.cuts.bases is not None and "TargetSpace" in some.kept_anchors
        missing = [each for each in DEAR_BASES if reduced and each not in some.cuts.bases]
        assert told == ([f"TargetSpace without its {and_words(missing)}"] if reduced else [])


def test_what_every_leaderboard_has_is_missing_only_beside_opls_alone_and_is_named(every_rival):
    found = planned(50.0, n=593, d=72, c=6)
    assert not {"logistic regression", "forest scores", "PCA"} & set(found.cuts.left_out) and found.cuts.left_out
    told = dict(map(tuple, cuts_told(found)["lines"]))
    named = set().union(*untried(found).values())
    assert named == {*found.cuts.left_out} and all(
        name in told["Predict, neighbours"] + told["Map"] for name in found.cuts.left_out
    )
    assert "t-SNE" in told["Map"] and "t-SNE" not in told["Predict, neighbours"], "it stands for maps alone"
    assert "linear SVM" not in told["Map"], "its scores are no map"
    few = planned(15.0)
    rows = f"search and comparison on {few.cuts.rows:,} of 15,000 rows (the saved model has all training rows)"
    assert any(rows in text for _, text in cuts_told(few)["lines"])


def test_every_cut_is_told_with_the_verdicts_that_it_weakens_in_a_line_each(every_rival):
    for work in (15.0, 60.0, 300.0):
        found = planned(work)
        told = cuts_told(found)["lines"]
        text = " ".join(words for _, words in told)
        texts = [cut.text for cut in cuts_of(found) if not cut.text.startswith("rivals left out")]
        assert texts and all(each in text for each in texts) and len(told) <= 9
    goals = {"predict", "neighbours", "map"}
    assert missing_of(found).search and set(missing_of(found).rivals) <= {*goals}


def test_rivals_whose_library_is_missing_are_told_though_nothing_was_cut(every_rival, monkeypatch):
    monkeypatch.setattr(rival, "missing_library", lambda name: name)
    found = planned(1e7, n=593, d=72, c=6)
    told = cuts_told(found)
    lines = dict(told["lines"])
    assert told["what"].startswith("Nothing was cut") and "t-SNE (not installed)" in lines["Map"]
    assert "UMAP (not installed)" in untried(found)["neighbours"]
    assert lines["Under any budget"] == "NCA (rows carry several labels or none) cannot take part"


@pytest.mark.parametrize("size", [{"n": 593, "d": 72, "c": 6}, {"n": 3000, "d": 20, "c": 1}, {}])
def test_the_budget_that_is_told_cuts_nothing_and_a_little_less_cuts(size):
    found = planned(60.0, **size)
    for share, whole in ((1.0001, True), (0.99, False)):
        other = planned(share * found.enough, **size)
        assert (other.cuts == other._whole) == whole == cuts_told(other)["what"].startswith("Nothing was cut")


def test_why_something_was_cut_follows_from_the_figures_beside_the_forecast():
    found = planned(60.0, n=593, d=72, c=6)
    told = cuts_told(found, "proxembed search a.csv --labels y --max-work 60 -o f")
    value = plan.round_up(found.enough)
    assert f"about {sum(found.phases.values()):.0f} of 60 units of work after cuts; without any about " in (
        found.forecast_line
    )
    assert found.forecast_line.endswith(f" {found.enough:.0f}") and float(value) >= found.enough > 60
    assert told["why"] == (
        f"Why: the whole job needs about {float(value):,g} units of work ({core_time(float(value))}), and the budget "
        "was 60 units of work."
    )
    assert told["undo"] == f"To cut nothing: --max-work {value}, into a folder of its own."
    assert told["command"] == f"proxembed search a.csv --labels y -o f-whole --max-work {value}"
    assert (
        cuts_told(found, "proxembed.search(X, y, max_work=60)")["command"]
        == f"proxembed.search(X, y, max_work={value})"
    )
    whole = planned(1e7, n=593, d=72, c=6)
    assert "after cuts" not in whole.forecast_line
    assert cuts_told(whole) == {
        "what": "Nothing was cut: the whole job fits into the budget of 1e+07 units of work.", "lines": [],
        "why": "", "undo": "", "command": "",
    }  # fmt: skip


def test_seconds_that_cut_nothing_are_told_in_seconds_and_a_clock_in_work(monkeypatch):
    set_clock(monkeypatch)
    monkeypatch.setattr(plan, "machine_speed", lambda: 2.0)
    found = planned(None, n=593, d=72, c=6, max_seconds=30.0)
    told = cuts_told(found)
    seconds = float(told["undo"].removeprefix("To cut nothing: --max-seconds ").partition(",")[0])
    assert planned(None, n=593, d=72, c=6, max_seconds=seconds).cuts == found._whole
    assert "and the budget was 30 seconds." in told["why"]
    late = planned(None, n=593, d=72, c=6, max_seconds=1e6)
    late.by_clock.append("no diagnosis on shuffled labels")
    told = cuts_told(late)
    assert told["lines"][0][1].startswith("the clock decided: no diagnosis on") and "slower" in told["why"]
    assert told["undo"].startswith("To cut nothing: --max-work ")


def test_the_steps_that_an_interruption_left_out_are_named_with_the_command_that_finishes_them():
    found = planned(1e7, n=593, d=72, c=6)
    found.unfinished += ["the pictures of held-out rows", "the comparison on shuffled labels"]
    told = cuts_told(found, "proxembed search a.csv -o f")
    assert told["lines"] == [
        [
            "Not finished",
            "the pictures of held-out rows; the comparison on shuffled labels: the run was interrupted before; what is "
            "shown rests on the steps before these",
        ]
    ]
    assert told["why"] == "Why: the run was interrupted." and told["command"] == "proxembed search a.csv -o f --resume"
    assert told["undo"] == "To finish it from there, run it with --resume:"
    call = cuts_told(found, "proxembed.search('a.csv', folder='f', max_work=60.0)")
    assert call["command"] == "proxembed.search('a.csv', max_work=60.0, resume='f')"
    assert cuts_told(found, "proxembed.search('a.csv')", None)["command"] == "", "there is no folder to go on from"


def test_the_rows_of_forests_are_told_where_a_budget_has_cut_them():
    found = planned(1e7, n=2000, d=72, c=6)
    assert not missing_of(found).forests
    found.cuts = replace(found.cuts, forest=1000)
    assert missing_of(found).forests == "1,000 rows"
    assert "forests of rivals grown on 1,000 rows" in lines_of(found)
    few = planned(1e7, n=800, d=72, c=6)
    few.cuts = replace(few.cuts, forest=1000)
    assert not missing_of(few).forests and not any("forests" in line for line in lines_of(few)), "all rows"


def test_a_form_with_weighted_axes_beside_its_method_costs_its_read_out_and_a_forest_is_grown_once():
    one, several = (planned(1e7, n=1000, d=72, c=6, n_jobs=jobs) for jobs in (1, 2))
    anchors = dict(one.anchors)
    shared = sum(
        one._fit(anchors[name], 600) - one._fit(anchors[name[12:-1]], 600) for name in anchors if "Axes" in name
    )
    whole = sum(one._fit(each, 600) for name, each in anchors.items() if "Axes" not in name)
    forest = costs.target_works(anchors["TargetSpace"], one.shape.rows(600))["forest"]  # grown twice by Views alone
    kept = list(anchors.values())
    assert one._fits_together(kept, one.cuts, 600) == pytest.approx(whole + shared - 2 * forest)
    assert several._fits_together(kept, several.cuts, 600) > 1.3 * (whole + shared), "other processes keep other fits"


def test_a_method_and_its_form_with_weighted_axes_share_a_fit_whatever_their_sizes():
    shape, method = costs.Shape(1000, 50, 50.0, 10), proxembed.Kernelized(proxembed.OPLS())
    leaders = [proxembed.Kernelized(proxembed.OPLS(), n_components=10), proxembed.ReadoutAxes(method, n_components=2)]
    assert costs.fits_work(leaders, shape) == costs.fits_work([method, proxembed.ReadoutAxes(method)], shape)
    assert costs.fits_work(leaders, shape) < 1.1 * costs.fit_work(method, shape)


def test_leaders_are_forecast_together_on_a_split_and_so_are_their_fits_for_thresholds():
    found = planned(1e7, n=1000, d=72, c=6)
    anchors, n, m = dict(found.anchors), 600, 200
    leaders = [anchors[name] for name in ("TargetSpace", "ForestLeaves(OPLS)", VIEWS)]
    _, leaves, views = (found._fit(each, n) for each in leaders)
    forest = costs.forest_work(found.shape.rows(n), 300)
    each = [found._part(found.cuts, [leader], n, m) for leader in leaders]
    rest = found._part(found.cuts, [], n, m)
    whole = found._part(found.cuts, leaders, n, m) - rest
    assert sum(each) - 3 * rest - whole == pytest.approx(2 * forest + 2 * forest), "of fits, and of fits on inner folds"
    plain = replace(found.cuts, decisions=False)
    alone, together = found._part(plain, [], n, m), found._part(plain, leaders, n, m)
    read = sum(costs.readout_work(n, m, size, 6) for size in plain.sizes)
    assert together - alone == pytest.approx(sum(found._fit(each, n) for each in leaders) - 2 * forest + 3 * read)
    leading = replace(found.cuts, leading=True)
    assert found._part(leading, leaders[1:], n, m) - found._part(leading, leaders[2:], n, m) < leaves + views


def test_the_first_trees_of_a_leader_are_those_of_a_rival(every_rival):
    found = planned(1e7, n=1000, d=72, c=6)
    space, other = proxembed.TargetSpace(), proxembed.TargetSpace(bases=["ridge"])
    without = replace(found.cuts, left_out=("forest scores",))
    scores = next(each for each in found.rivals if each.arm.name == "forest scores")
    grown = found._rival(scores, found.shape.rows(600), found.cuts)
    more = [
        found._part(found.cuts, [each], 600, 200) - found._part(without, [each], 600, 200) for each in (space, other)
    ]
    assert more[1] - more[0] == pytest.approx(grown) and grown > 0
    few = replace(found.cuts, forest=500)  # rows of the rival's forest alone
    assert not found._grown_by([space], few, 600) and not planned(1e7, n=1000, c=60)._grown_by([space], few, 400)


def test_the_choice_alone_is_compared_where_there_is_no_room_for_other_leaders(monkeypatch):
    settle = plan.Plan.settle

    def with_one(self, *given):
        settle(self, *given)
        self.cuts = replace(self.cuts, leaders=1, layouts=False)  # no room for maps beside a dearer leader

    given = {"methods": ["opls", "cca", "pls"], "folds": 3, "shuffles": 0, "max_seconds": None}
    compared = []
    for rule in (settle, with_one):
        monkeypatch.setattr(plan.Plan, "settle", rule)
        found = proxembed.search(drawn(600, 12, 4), **given, max_work=1e3, max_trials=3)
        entries = found.record["summary"]["leaderboard"]
        compared.append({entry["arm"] for entry in entries if not entry["rival"]})
        chosen = found.record["search"]["chosen"]["method"]
    assert len(compared[0]) > 1 and compared[1] == {chosen}
    cuts = found.record["search"]["budget"]["cuts"]
    assert "of the embeddings, only the chosen one is compared with rivals" in cuts
    assert "maps laid out from all components" not in cuts, "the choice alone has room for them"


def test_drawn_configurations_wait_for_shuffles_maps_folds_and_sizes(every_rival):
    found = planned(1e7, n=3000, c=10)
    for cuts in found._chain(found._whole):
        found.cuts = cuts
        whole = (cuts.shuffles, cuts.layouts, cuts.folds, cuts.sizes) == (20, True, 5, found.sizes)
        assert found.draws == (whole or cuts.share > 0)
    assert found.draws and not planned(25.0, n=593, d=72, c=6).draws


def test_a_method_that_predicts_labels_takes_no_more_fits_for_its_thresholds():
    found = planned(1e7, n=1000)
    space, other = proxembed.TargetSpace(), proxembed.OPLS()
    assert [found.refits(each) for each in (space, other)] == [0, 2] and found.refits(other, found.cuts) == 2
    assert found.refits(other, replace(found.cuts, decisions=False)) == 0
    assert replace(found, grouped=True).refits(space) == 2


def test_the_last_fit_counts_what_it_takes_beyond_that_of_opls_with_which_it_was_measured():
    found = planned(1e7, n=1000, refit_all=True)
    opls, kernel = (
        found._forecast(found.cuts, [each])["last fit and page"] for each in (proxembed.OPLS(), proxembed.Kernelized())
    )
    assert opls == pytest.approx(costs.last_work(found.shape) + plan.OVERHEAD)
    more = found._fit(proxembed.Kernelized(), 1000) - found._fit(proxembed.OPLS(), 1000)
    assert kernel - opls == pytest.approx(3 * more)
    trained = planned(1e7, n=1000)  # on the training rows alone, where test rows are named
    own = trained._forecast(trained.cuts, [proxembed.OPLS()])["last fit and page"]
    assert own == pytest.approx(costs.last_work(found.shape.rows(750)) + plan.OVERHEAD)


def test_a_forecast_above_the_budget_names_one_that_suffices():
    few, enough = planned(1.0), planned(1e4)
    asked = float(few.forecast_line.split("a budget of ")[1].split()[0])
    assert "of 1 units of work; the cheapest whole job" in few.forecast_line and "--" not in few.forecast_line
    assert few.forecast_line.endswith(" units of work has room for it") and sum(few.phases.values()) <= asked < 100
    assert "--max" not in enough.forecast_line


@pytest.mark.parametrize("work", [600.0, 300.0, 100.0])
def test_cuts_stop_where_the_rest_fits(work):
    found, whole = planned(work), planned(1e7).cuts
    assert sum(found.phases.values()) <= (1.001 - plan.RESERVE) * work
    assert found.phases["search"] >= 0.99 * found._opening(found.cuts, 15_000)
    assert found.cuts != whole


def test_some_things_are_never_cut():
    cuts = planned(1.0).cuts
    assert cuts.folds == 3 and cuts.sizes[0] == 2 and cuts.sizes[-1] == 50
    assert cuts.rows >= 1000 and cuts.test_rows >= 1000 and cuts.forest >= 250


def test_what_is_cut_is_told_line_by_line():
    lines = lines_of(planned(8.0))
    for part in (
        "no test on shuffled labels (a map on shuffled labels shows one shuffle",
        "3 folds of the comparison instead of 5",
        "of 15,000 rows",
        "began without",
    ):
        assert any(part in line for line in lines)
    assert any("on shuffled outputs" in line for line in lines_of(replace(planned(8.0), numbers=True)))
    sure = "the choice of method and size is less sure; the scores of test rows are not touched"
    folds = f"3 folds of the comparison instead of 5: {sure}"
    assert ["Every goal", folds] in cuts_told(planned(8.0))["lines"], "fewer folds find no worse embedding"


def test_work_alone_decides_not_the_speed_of_the_machine_nor_the_time(monkeypatch):
    one = planned(300.0)
    monkeypatch.setattr(plan, "machine_speed", lambda: 16.0)
    other = planned(300.0)
    assert one.cuts == other.cuts and one.phases == other.phases


def test_seconds_become_work_once_by_the_speed_of_the_machine(monkeypatch):
    monkeypatch.setattr(plan, "machine_speed", lambda: 4.0)
    data = drawn()
    options = SearchOptions(max_seconds=50.0)
    found = make_plan(options, data, plan.Split("test", data.train_idx, data.test_idx), (2, 5), clock.now())
    assert found.work == pytest.approx(200, rel=0.01)
    again = make_plan(SearchOptions(max_work=found.work), data, found.split, (2, 5), 0.0)
    assert again.cuts == found.cuts and again.phases == found.phases


def test_the_search_and_the_known_leaders_settle_the_rest():
    found = planned(2000.0)
    before = found.cuts
    found.settle([("OPLS", proxembed.OPLS())], found.phases["search"])
    assert found.cuts.rows == before.rows and found.cuts.prototypes == before.prototypes
    assert found.cuts.shuffles == 20 and found.cuts.folds == 5, "room that a cheap choice leaves is used"
    assert sum(found.phases.values()) <= found.planned


def test_the_known_choice_makes_room_for_what_was_cut_for_dearer_leaders():
    found = planned(150, n=1600, d=100, c=14)
    dear, cheap = proxembed.Views(proxembed.Kernelized(proxembed.OPLS())), proxembed.OPLS()
    found.settle([("Views", dear), ("OPLS", cheap)], found.phases["search"])
    before, comparison = found.cuts, found.phases["comparison"]
    assert before.shuffles == 0
    found.settle_choice([cheap])
    assert found.cuts == replace(before, shuffles=20, diagnosis=plan.DIAGNOSIS), "all else was done"
    assert found.phases["comparison"] == comparison and sum(found.phases.values()) <= found.planned
    again = found.cuts
    found.settle_choice([cheap, dear])
    assert found.cuts != again and sum(found.phases.values()) <= found.planned


def test_a_search_that_took_more_than_planned_costs_no_rival_that_stays(every_rival):
    """Unless the plan had no room for them in the first place."""
    stay = {"logistic regression", "forest scores"}
    for work in (20.0, 60.0, 300.0):
        found = planned(work, n=1800, d=64, c=7)
        before = stay & {*found.cuts.left_out}
        found.settle([("TargetSpace", proxembed.TargetSpace())], 2.0 * found.work)
        assert stay & {*found.cuts.left_out} == before


def test_anchors_that_a_search_had_room_for_are_not_told_as_cut():
    told = []
    for tried in ([], ["TargetSpace"]):
        found = planned(8.0)
        found.settle([("OPLS", proxembed.OPLS())], found.phases["search"], tried)
        told.append(next(line for line in lines_of(found) if "began without" in line))
    assert told[0].replace(" TargetSpace,", "") == told[1] != told[0]


def test_a_phase_must_leave_time_for_those_after_it():
    data = drawn()
    split = plan.Split("test", data.train_idx, data.test_idx)
    late = make_plan(SearchOptions(max_seconds=10.0), data, split, (2, 5), clock.now() - 100)
    assert late.leave_for("last fit and page") < -90
    assert make_plan(SearchOptions(max_work=5.0), data, split, (2, 5), 0.0).leave_for("diagnosis") == np.inf


def test_the_rows_that_take_part_are_rows_of_the_split():
    found = planned(15.0)
    part = found.taking_part()
    assert len(part.train) == found.cuts.rows and np.isin(part.train, found.split.train).all()
    assert len(np.unique(part.train)) == len(part.train) and np.isin(part.held_out, found.split.held_out).all()


@pytest.mark.parametrize("wrong", [0, -1.0, True, "much", np.inf])
def test_work_that_is_none_is_refused(wrong):
    with pytest.raises(OptionError, match="max_work"):
        SearchOptions(max_work=wrong)


def test_work_is_no_budget_of_the_adaptive_model():
    with pytest.raises(OptionError, match="max_trials"):
        SearchOptions(engine="defc", max_work=5.0)


def searched_by_work(work):
    """Trials, leaders and the work done of a search that has so much work."""
    data = drawn()
    options = SearchOptions(max_work=work, max_trials=None, methods=("opls", "cca", "mvmd", "mddm", "pls"))
    found = make_plan(options, data, plan.Split("test", data.train_idx, data.test_idx), (2, 5), 0.0)
    engine = run_engine(options, data, found.taking_part(), None, found)
    trials = [(t["method"], str(t["params"]), t["rows"], t["complete"], t["score"]) for t in engine.trials]
    return trials, [str(leader) for leader in engine.leaders], engine.work


def test_two_searches_of_one_work_are_the_same_however_much_time_they_take(monkeypatch):
    quick = searched_by_work(3.0)
    set_clock(monkeypatch, step=3600.0)
    assert len(quick[0]) >= 5 and searched_by_work(3.0) == quick and quick[2] <= 3.0


def test_a_search_ends_within_its_seconds_with_a_whole_page(monkeypatch):
    """The clock stands still: what is cut follows from the work that the seconds stand for."""
    set_clock(monkeypatch)
    monkeypatch.setattr(plan, "machine_speed", lambda: 1.0)
    found = proxembed.search(drawn(1500, 40, 12), max_seconds=3, n_components=(2, 5))
    budget = found.record["search"]["budget"]
    assert found.model is not None and set(found.verdict["goals"]) >= {"predict", "neighbours"}
    assert sum(budget["phases"].values()) <= 2 * budget["work"]
    assert budget["cuts"] and "Left out or made smaller, by the verdict that this weakens" in found.report()


def test_the_clock_is_told_where_it_decided(monkeypatch):
    data = drawn(200)
    monkeypatch.setattr(plan.Plan, "leave_for", lambda self, *phases: -1.0)
    monkeypatch.setattr(plan, "machine_speed", lambda: 1e6)  # nothing is cut beforehand
    found = proxembed.search(data, methods=["opls"], max_seconds=5, n_components=2, folds=4, shuffles=19, max_trials=1)
    told = found.record["search"]["budget"]["by_clock"]
    assert any("folds were compared" in line for line in told) and any("no diagnosis" in line for line in told)
    assert "the clock decided" in found.report()


def test_every_method_and_rival_has_its_cost():
    from proxembed.study.candidates import candidates

    shape = costs.Shape(1000, 50, 50.0, 10)
    for each in candidates(None):
        assert 0 < costs.fit_work(each.default(), shape) < costs.fit_work(each.default(), shape.rows(100_000))
    assert all(each.work > 0 or each.arm.name in costs.table() for each in entrants(np.eye(2))[1:])


def test_spare_rivals_go_first_and_with_thousands_of_labels_those_that_go_by_labels(every_rival):
    found = planned(1e7, n=2000)
    steps = [step["left_out"] for step in (*plan._steps(found), *plan._last_steps(found)) if "left_out" in step]
    assert steps[0][0] == "linear SVM" and all(set(a) < set(b) for a, b in zip(steps, steps[1:], strict=False))
    assert [name for name in steps[-1] if name not in steps[-4]] == [
        "logistic regression",
        "forest scores",
        "MESD(FDA)",
    ]
    many = planned(1e7, n=2000, c=3000)
    assert {"logistic regression", "forest scores", "label scores"} <= set(plan._spare(many))


def test_a_budget_of_work_permits_what_its_last_fit_may_cost():
    assert WorkBudget(5.0).permits(1e9) and not WorkBudget(5.0, last_work=1.0).permits(1.5)
    assert replace(WorkBudget(5.0), prototypes=9).prototypes == 9


def test_the_kinds_of_repeat_commands():
    bounded = SimpleNamespace(bounded=True, work=7.5, options=SimpleNamespace(engine="methods"))
    assert main_job.repeat_command("proxembed search a.csv", bounded) == "proxembed search a.csv --max-work 7.5"
    same = main_job.repeat_command("proxembed search a.csv --max-work=3 -j 2", bounded)
    assert same == "proxembed search a.csv -j 2 --max-work 7.5"
    unbounded = SimpleNamespace(bounded=False, work=np.inf, options=None)
    assert main_job.repeat_command("proxembed search a.csv", unbounded) == "proxembed search a.csv"


def test_units_of_work_are_told_as_time_of_one_core():
    times = {0.5: "0.5 seconds", 1: "1 second", 60: "60 seconds", 130: "2.2 minutes", 1100: "18 minutes"}
    times |= {5400: "1.5 hours", 100_000: "28 hours"}
    for work, words in times.items():
        assert core_time(work) == f"about {words} of one core"
    assert unit_note(planned(60)) == "; a unit of work is about one second of one core"
    timed = SimpleNamespace(options=SearchOptions(max_seconds=60))
    assert unit_note(timed) == ""
