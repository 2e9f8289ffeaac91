"""The page and the files: hostile names stay text, nothing is fetched, figures parse, files are whole or absent."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from proxembed.evaluate.arms import ALL_FEATURES
from proxembed.report import page_html
from proxembed.report.figures import LINES, k_curve, line_looks, matrix_png
from proxembed.report.matrices import unpacked
from proxembed.report.next_steps import Run
from proxembed.report.page import feature_words, templates
from proxembed.report.record import SECTIONS
from proxembed.report.sections import leak_warnings, verdict_warnings
from proxembed.report.views import shuffles_text
from proxembed.tables.notes import visible
from unit.report.synthetic import HOSTILE, made_record

SHOWN = tuple(map(visible, HOSTILE))


@pytest.fixture(scope="module")
def record():
    return made_record()


@pytest.fixture(scope="module")
def page(record):
    return page_html(record)


@pytest.fixture(scope="module")
def summary(record):
    return record["summary"]


class Tags(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.scripts, self.placed = [], [], [], []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input", "wbr", "br", "img"):
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        self.text.append(data)
        self.placed.append((self.open[-1] if self.open else "", data))


def test_hostile_names_stay_text(page):
    parsed = Tags(page)
    tags = [tag for tag, _ in parsed.tags]
    assert tags.count("script") == 2 and tags.count("img") == 6 and not {"rows", "labels"} & {*tags}
    assert not [key for _, attrs in parsed.tags for key in attrs if key.startswith("on")]
    text = "".join(parsed.text)
    assert all(name in text for name in SHOWN) and "made <rows>" in text and "a warning with <b>markup</b>" in text
    data = next(script for script in parsed.scripts if script.startswith("{"))
    assert set(SHOWN) <= set(json.loads(data)["labels"]) and "<" not in data


def test_names_cannot_turn_the_text_around_them(page):
    """Right-to-left marks stay inside an isolated element, wherever a name stands in running text."""
    name = SHOWN[3][:7]  # its middle may be cut
    assert name.startswith("right\\")
    inside = [tag for tag, text in Tags(page).placed if name in text and tag not in ("script", "style")]
    assert len(inside) > 5 and set(inside) <= {"bdi", "text"}
    assert re.search(r"\.arrow text \{[^}]*unicode-bidi: isolate", page)


def test_only_the_script_of_the_page_may_run(page):
    ours = Tags(page).scripts[-1]
    digest = base64.b64encode(hashlib.sha256(ours.encode()).digest()).decode()
    policy = next(attrs["content"] for tag, attrs in Tags(page).tags if attrs.get("http-equiv"))
    assert policy == f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert "innerHTML" not in ours and "eval" not in ours and "fetch" not in ours


def test_a_name_that_no_file_can_hold_does_not_stop_the_page(without_figures):
    record = made_record(60, 3, hostile=False)
    record["label_table"][0]["label"] = "half \ud800 a pair"
    assert "half \\ud800 a pair" in page_html(record).encode().decode()


def test_nothing_is_fetched_and_the_page_is_small(page):
    assert len(page.encode()) < 400_000
    links = [
        value for _, attrs in Tags(page).tags for key, value in attrs.items() if key in ("src", "href", "xlink:href")
    ]
    pictures = [link for link in links if link.startswith("data:image/png;base64,")]
    assert len(pictures) == 6 and all(link.startswith("#") for link in links if link not in pictures)
    assert "@import" not in page and not re.search(r"url\((?!['\"]?#)", page)


def test_50_000_rows_are_shown_as_density_in_less_than_2_MB():
    page = page_html(made_record(50_000, 20, hostile=False))
    assert len(page.encode()) < 2_000_000
    data = json.loads(next(script for script in Tags(page).scripts if script.startswith("{")))
    assert len(base64.b64decode(data["cells"][0])) == len(base64.b64decode(data["set"])) == 2 * 50_000
    assert len(data["members"]) == 5000 and 'value="density"' in page


def test_the_parts_stand_in_order(page, summary):
    parts = [
        "Predict", "Measures against size", "Held-out rows on the map", "Beside chance",
        "Label by label", "Features and labels of the components", "Leaderboard: each arm", "Contrasts declared",
        "Data card", "How to repeat it", "How it was measured", "<h2>Details", "Proximity matrices (180 held-out rows)",
        "Trials of the search",
    ]  # fmt: skip
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert "7 rows have the features of an earlier row" in page and "numpy 2" in page and "sha256:aaa" in page


def test_parts_that_a_record_lacks_are_left_out(without_figures):
    record = made_record(sections=False)
    assert [record[key] for key in SECTIONS] == [None] * len(SECTIONS)
    page = page_html(record)
    for part in ("map", "chance", "labels", "components", "proximity"):
        assert f'id="{part}"' not in page and f'href="#{part}"' not in page
    assert "<details><summary>Labels (8)</summary>" in page and page.count("<svg") == 4


def test_laid_out_maps_stand_before_the_first_two_components(record, page, without_figures):
    assert 'name="places"' not in page and "data-places" not in page
    panels = record["map"]["panels"]
    both = record | {"map": record["map"] | {"panels": [*panels, *({**panel, "laid_out": True} for panel in panels)]}}
    found = page_html(both)
    assert re.findall('data-places="(0|plane)"', found) == ["plane"] * 3 + ["0"] * 3
    assert "laid out: a map of at most 1,000" in found.lower() and "The first two components of" not in found
    assert found.count("</figure>") == page.count("</figure>") + 3
    forms = [["own", "honest"], ["own"], ["honest"]]
    laid_out = [{**each, "laid_out": True, "forms": own, "kept": 0.25} for each, own in zip(panels, forms, strict=True)]
    found = page_html(record | {"map": record["map"] | {"panels": [*panels, *laid_out]}})
    assert re.findall('data-places="([^"]*)"', found) == ["plane"] * 3 + ["0 1", "0", "1"]
    switch = re.findall('name="places" value="([^"]*)"( checked)?>([^<]*)<', found)
    assert switch == [("0", " checked", "own"), ("1", "", "honest"), ("plane", "", "the first two components")]
    assert found.count("· kept 25 %") == 3 and "· kept" not in page


def test_without_its_script_the_page_shows_the_map_and_hides_the_switches(page, record):
    drawn = re.findall(r'<g class="dots">(.*?)</g>', page)
    assert [len(re.findall(r"M\d+ \d+h0", paths)) for paths in drawn] == [400] * 3
    assert ".scripted { display: none; }" in page
    assert page.count('class="arrow"') == 3 and page.count('class="arrow off"') == 5


def test_the_pictures_of_the_matrices_are_those_of_the_record(page, record):
    tags = [attrs for tag, attrs in Tags(page).tags if tag == "img"]
    for attrs, panel in zip(tags, record["proximity"]["panels"], strict=True):
        picture = base64.b64decode(attrs["src"].removeprefix("data:image/png;base64,"))
        assert picture == matrix_png(unpacked(panel))
        assert (attrs["width"], attrs["height"]) == (str(panel["columns"]), str(panel["rows"]))
        assert attrs["alt"].startswith(f"{panel['kind']}, {panel['title']}: 180 held-out rows by")
    assert "an even sample of 180 of the 400 held-out rows" in page
    assert all(f"r {panel['agreement']:.2f}" in page for panel in record["proximity"]["panels"][2:])


def test_labels_that_lose_more_than_the_tolerance_are_told_in_words_too(record, without_figures):
    """A loss that the verdict counts as level is no loss of a label either."""
    losses = [0.001, 0.002, 0.0119, 0.0121, 0.3]
    own = {**record["label_table"][0], "ap_raw": 0.5, "chance": 0.1}
    table = [{**own, "ap_embedded": 0.5 - loss} for loss in losses]
    page = page_html({**record, "label_table": table})
    assert "3 of 5 labels gain average precision (AP) or lose no more than counts as level: 3 % of what" in page
    assert "▼ 2 are lower by more" in page and re.findall(r"▼ (-0\.\d{3})", page) == ["-0.012", "-0.300"]
    wide = {**record["summary"], "verdict": {**record["summary"]["verdict"], "tolerance": 0.05}}
    assert "▼ 1 is lower by more" in page_html({**record, "label_table": table, "summary": wide})


def test_a_null_that_is_not_beaten_is_said_beside_the_verdict(record, without_figures):
    failed = {**record, "diagnosis": {**record["diagnosis"], "passed": False, "p": 0.4}}
    page = page_html(failed)
    assert "Not better than on shuffled labels" in page[: page.index("Measures against size")]


def test_few_possible_shuffles_and_what_a_shuffle_moves_are_said(record, without_figures):
    few = record["diagnosis"] | {"passed": False, "unit": "groups", "distinct": 6, "n_shuffles": 20}
    page = page_html({**record, "diagnosis": few})
    start = page[: page.index("Measures against size")]
    assert "<strong>Cannot tell</strong>" in start and "only 6 different shuffles of groups are possible" in start
    assert "shuffles of the labels, which exchange the labels of whole groups (6 are possible)." in page
    enough = page_html({**record, "diagnosis": few | {"passed": True, "distinct": 20, "unit": "shifts in time"}})
    assert "better than the same method on shuffled labels" in enough and "on along time (20 are possible)." in enough


def test_beside_chance_tells_its_rows_and_optimism_only_where_there_is_some(record, page, without_figures):
    some = page.partition('<section id="chance">')[2]
    assert "It rests on 1,000 of" in some and "an optimism of +0.067, which is why only held-out rows" in some
    assert "On the training rows it scores" in some or "by models that have not seen them, it scores" in some
    none = page_html({**record, "diagnosis": record["diagnosis"] | {"optimism": -0.01}})
    assert "so nothing follows about overfitting.</p>" in none and "an optimism of" not in none


def test_options_do_not_break_at_their_hyphens():
    text = str(templates().from_string("{{ text|unbroken }}").render(text="(a <search> with --goal map) a--b"))
    assert text == '(a &lt;search&gt; with <span style="white-space: nowrap">--goal</span> map) a--b'


def test_a_quoted_command_is_code():
    text = str(templates().from_string("{{ text|unbroken }}").render(text="`proxembed map a.csv` draws <one>"))
    assert text == "<code>proxembed map a.csv</code> draws &lt;one&gt;"


def test_only_seconds_are_converted_into_work(record, without_figures):
    budget = {"budget": {"work": 60.0, "repeat": "proxembed search a.csv --max-work 60", "cuts": []}}
    for given, said in (
        ("--max-work 60", ". Budget: 60 units of work; with"),
        ("--max-seconds 60", ". Its seconds were"),
    ):
        command = f"proxembed search a.csv {given} -o a"
        text = page_html({**record, "command": command, "search": {**(record.get("search") or {}), **budget}})
        shown = f'<span style="white-space: nowrap">{given}</span> -o a</code>{said}'
        assert shown in text


def test_leak_warnings_name_their_cause(summary):
    facts = {**summary["dataset"], "duplicate_rows": 1, "groups": 9, "time_order": True, "zero_rows": 2}
    words = " ".join(leak_warnings(facts, {}))
    for part in ("1 row has the features", "Rows have groups", "Rows have a time", "2 rows have no feature"):
        assert part in words
    told = verdict_warnings(facts, {})
    tested = verdict_warnings({**facts, "copied_test_rows": 62, "test": 579}, {})[0]
    assert "earlier row; 62 of 579 test rows have a copy in training: a copy" in tested
    without = verdict_warnings({**facts, "copied_test_rows": 62, "test": 579}, {}, "Without these: the same.")[0]
    assert "flatters every score. Without these: the same. To remove the cause, drop the copies, or keep" in without
    assert "--groups copies" in without
    whole = {**facts, "copied_test_rows": 0, "test": 579}
    assert verdict_warnings(whole, {"splitting": {"kind": "groups"}})[0].endswith(". Groups keep them together.")
    assert "(groups='copies')" in leak_warnings(facts, {}, Run("proxembed.search(X, y)"))[0]
    assert len(told) == 3 and all(each in words for each in told) and "zeros" not in " ".join(told)
    clean = {**facts, "duplicate_rows": 0, "zero_rows": 0}
    untimely, inner = leak_warnings(clean, {"splitting": {"kind": "groups"}})
    assert untimely.startswith("Rows have a time, but the folds did not follow it")
    assert "keep groups together; a ridge" in inner and "time" not in inner and "leave out single rows" in inner
    (both,) = leak_warnings(clean, {"splitting": {"kind": "time"}})
    assert "keep groups together, and folds and test rows follow time; a ridge" in both
    (timely,) = leak_warnings({**clean, "groups": None}, {"splitting": {"kind": "time"}})
    assert timely.startswith("Folds and test rows follow time; a ridge")
    assert leak_warnings({**clean, "groups": None, "time_order": False}, {}) == []


def test_the_page_tells_the_folds_that_ran_and_what_the_sizes_are(record, without_figures):
    summary = record["summary"]
    protocol = {**summary["protocol"], "splitting": {"kind": "groups", "n_repeats": 2}}
    facts = {**summary["dataset"], "train": 300, "test": 83}
    page = page_html({**record, "summary": {**summary, "protocol": protocol, "dataset": facts}})
    assert "<li>5 folds with the rows of a group kept together (10 were planned), seed 0" in page
    assert "standard split" not in page and "training rows / test rows" in page and "300 / 83" in page
    assert "<li>5 multi-label stratified folds, seed 0" in page_html(record)
    page = page_html({**record, "summary": {**summary, "protocol": protocol, "interrupted": True}})
    assert re.search(r"the numbers below rest on\s+5 of 10 folds", page)


@pytest.mark.parametrize("narrow", [False, True])
def test_figures_parse_and_keep_their_text(summary, narrow):
    root = ElementTree.fromstring(k_curve(summary, summary["measures"][0], narrow=narrow))
    words = " ".join("".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text"))
    for word in ("number of components k", "n = 400 rows", "all features (no k)", "label scores", "PCA", "(0 to 1)"):
        assert word in words
    assert len(set(LINES)) == len(LINES)


def test_no_two_lines_look_alike_and_few_share_a_colour():
    methods, rivals = [f"method {i}" for i in range(10)], [f"rival {i}" for i in range(20)]
    arms = [*((arm, False) for arm in methods), *((arm, True) for arm in rivals)]
    flat = ["all features", *(f"flat {i}" for i in range(8))]
    looks = line_looks([*arms, *((arm, True) for arm in flat)], flat)
    drawn = [(look["color"], str(look["linestyle"]), look.get("marker")) for look in looks.values()]
    assert len(looks) == len(arms) + len(flat) and len(set(drawn)) == len(drawn)
    assert len({looks[arm]["color"] for arm in methods[: len(LINES)]}) == len(LINES)


def test_every_count_of_labels_says_what_is_counted():
    record = made_record(60, 3, hostile=False)
    rows = [{"label": name, "n": 9, "ap_raw": value, "ap_embedded": value} for name, value in (("a", 0.5), ("b", None))]
    page = page_html({**record, "label_table": rows})
    assert "The data have 2 labels. 1 of them can be compared here, as some of the rows that are scored have " in page
    assert "the other one has no figures. 1 of 1 label gains average precision" in page
    whole = page_html({**record, "label_table": rows[:1]})
    assert "can be compared here" not in whole


def test_the_table_of_labels_has_how_many_rows_are_found_and_false_alarms():
    record = made_record(60, 3, hostile=False)
    row = {"label": "a", "n": 9, "ap_raw": 0.5, "ap_embedded": 0.6}
    page = page_html({**record, "label_table": [row | {"decisions": [[40, 2], [3, 15]]}, row | {"decisions": None}]})
    assert '<th scope="col">found</th><th scope="col">false alarms</th>' in page
    assert ">15 of 18</td>" in page and ">2 of 42</td>" in page and page.count("<td>–</td><td>–</td>") == 1
    assert '<th scope="col">found</th>' not in page_html({**record, "label_table": [row]})


def test_the_first_tile_adds_to_the_headline_and_commands_and_cuts_are_shown(record):
    summary = record["summary"]
    goals = {name: dict(goal) for name, goal in summary["verdict"]["goals"].items()}
    first = next(iter(goals.values()))
    first |= {"plain": "Five numbers are enough.", "command": "proxembed predict a/model.skops b.csv"}
    first |= {"lead": "If you do only one thing: use it.", "command_note": "b.csv is yours."}
    cut = {
        "what": "Left out:",
        "lines": [["Map", "not compared with <PCA>"]],
        "why": "Why: it needs 9.",
        "undo": "To cut nothing: --max-work 9.",
        "command": "go 9",
    }
    verdict = {**summary["verdict"], "goals": goals, "headline": "Five numbers are enough.", "cut": cut}
    page = page_html({**record, "summary": {**summary, "verdict": verdict | {"warnings": ["9 copies."]}}})
    assert page.count("Five numbers are enough.") == 1 and page.count("use it.") == 1
    assert "<code>proxembed predict a/model.skops b.csv</code>" in page and "<code>go 9</code>" in page
    assert page.index("use it.") < page.index("b.csv is yours.") < page.index('class="goal"') < page.index("9 copies.")
    shown = page[page.index("<b>What was cut</b>") :]
    assert "<b>Map:</b> <bdi>not compared with &lt;PCA&gt;.</bdi>" in shown
    assert 'Why: it needs 9. To cut nothing: <span style="white-space: nowrap">--max-work 9</span>.</p>' in shown
    assert "label lookup" in page and '<a href="#words">label lookup</a>' not in page
    goals["map"]["plain"] = "The rival label lookup is ahead."
    page = page_html({**record, "summary": {**summary, "verdict": verdict}})
    assert 'rival <a href="#words">label lookup</a> is' in page


@pytest.mark.parametrize(
    ("p", "told"),
    [
        (1 / 21, "none of 20 shuffles reached it (p = 0.048, the smallest p that 20 shuffles can give)"),
        (3 / 21, "2 of 20 shuffles reached it (p = 0.143)"),
    ],
)
def test_shuffles_are_counted_beside_their_p(p, told):
    assert shuffles_text({"p": p, "null": [0.1] * 20}) == told


def test_rivals_share_no_colour_with_methods():
    """They are grey, dashed or dotted; each grey has the contrast of 3 to 1 to the page that graphics need."""
    arms = [*((f"method {i}", False) for i in range(9)), *((f"rival {i}", True) for i in range(9))]
    looks = line_looks([*arms, ("forest", True), ("all features", True)], ["forest", "all features"])
    for arm, rival in [*arms, ("forest", True)]:
        red, green, blue = (int(looks[arm]["color"][i : i + 2], 16) for i in (1, 3, 5))
        assert (red == green == blue) == rival and (looks[arm]["linestyle"] == "-") == (not rival)
        linear = ((red / 255 + 0.055) / 1.055) ** 2.4
        assert not rival or 1.05 / (linear + 0.05) >= 3
    assert looks["all features"]["linewidth"] > looks["forest"]["linewidth"]


def test_wide_tables_and_links_fit_the_screen(page, without_figures):
    """Links wrap, headings of the leaderboard too, and names of labels break after an underscore."""
    style = page[page.index("<style>") : page.index("</style>")]
    rules = dict(re.findall(r"^([^{}@]+?) \{ (.*?) \}$", style, flags=re.MULTILINE))
    assert "flex-wrap: wrap" in rules["nav"] and "overflow-x" not in rules["nav"]
    assert "nowrap" not in rules["th.lines"] and "10.5rem" in rules[".labels td:first-child"]
    row = {"label": "topic_of_a_<name>", "n": 9, "ap_raw": 0.5, "ap_embedded": 0.6}
    record = made_record(60, 3, hostile=False)
    assert "<bdi>topic_<wbr>of_<wbr>a_<wbr>&lt;name&gt;</bdi>" in page_html({**record, "label_table": [row]})


@pytest.mark.parametrize("long", ["", " on views of all"])
def test_the_names_of_a_narrow_figure_are_not_cut_off(summary, long):
    """Two columns where they fit into its width, else one."""
    name = summary["measures"][0]
    longer = {
        **summary,
        "best": [{**entry, "arm": entry["arm"] + long} for entry in summary["best"]],
        "curves": {name: {arm + long: points for arm, points in summary["curves"][name].items()}},
    }
    svg = k_curve(longer, name, narrow=True)
    legend = svg[svg.index('id="legend_1"') :]
    columns = {float(x) for x in re.findall(r'<text [^>]* x="(-?[\d.]+)"', legend)}
    assert min(columns) > 30  # room for the line before the name
    assert len(columns) == (1 if long else 2)


def test_figures_are_the_same_every_time(summary):
    name = summary["measures"][0]
    assert k_curve(summary, name) == k_curve(summary, name)


def test_an_unknown_measure_is_refused(summary):
    with pytest.raises(ValueError, match="name='recall' is not a measure"):
        k_curve(summary, "recall")


def test_the_time_of_neighbour_queries_stands_beside_the_compress_goal(record, without_figures):
    summary = record["summary"]
    goal = summary["verdict"]["goals"]["compress"]
    times = {(goal["arm"], goal["k"]): 0.0123, ("all features", None): 1.26}
    board = [{**e, "query_seconds": times.get((e["arm"], e["k"]))} for e in summary["leaderboard"]]
    timed = page_html({**record, "summary": {**summary, "leaderboard": board}})
    once = "(measured once, on this machine under its load then; no verdict rests on it)."
    assert timed.count(f"1,000 neighbour queries took 12 ms instead of 1.3 s {once}") == 1
    assert "neighbour queries took" not in page_html(record)


def test_the_leaderboard_of_a_search_for_a_map_tells_what_each_map_keeps(record, without_figures):
    summary = record["summary"]
    kept = {"mean": 0.4, "by_fold": [0.4], "test": 0.338, "rows": 1202}
    best = [{**e, "kept": kept if number == 0 else None} for number, e in enumerate(summary["best"])]
    of_map = {**summary, "best": best, "verdict": {**summary["verdict"], "asked": "map"}}
    page = page_html({**record, "summary": of_map})
    assert page.count(">34 % (1,202)</td>") == 1 and page.count('<th scope="col">kept</th>') == 1
    assert "ten nearest on the map; in brackets the number of held-out rows" in page
    assert '<th scope="col">kept</th>' not in page_html({**record, "summary": {**summary, "best": best}})


def test_what_predicts_by_itself_is_marked_and_cuts_are_explained(record, without_figures):
    summary, note = record["summary"], "† predicts by itself, not by a ridge on its numbers."
    own = [{**e, "reads_features": e["arm"] == "OPLS"} for e in summary["leaderboard"]]
    best = [{**e, "reads_features": e["arm"] == "OPLS"} for e in summary["best"]]
    page = page_html({**record, "kind": "search", "summary": {**summary, "leaderboard": own, "best": best}})
    assert page.count("<bdi>OPLS</bdi> †") >= 2 and page.count(note) == 1 and "OPLS: the columns of the ridge" in page
    assert "its cut: that of largest F1" in page and "proxembed predict --cut 0.5" in page
    assert "†" not in page_html(record)


def test_columns_that_become_more_features_are_counted_as_both():
    facts = {"dataset": {"d": 8}, "best": [{"arm": ALL_FEATURES, "components": 19}]}
    assert feature_words(facts) == "8 columns as 19 features" and feature_words({"dataset": {"d": 1}}) == "1 feature"
