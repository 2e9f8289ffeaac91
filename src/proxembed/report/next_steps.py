"""What to do next about each goal of a search: a sentence and a command that can be pasted as it is."""

import re
import shlex
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proxembed.data.readers import READERS
from proxembed.data.readers.columns import COPIES, Columns
from proxembed.data.unpacking import plain_name
from proxembed.evaluate.arms import ALL_FEATURES
from proxembed.evaluate.gains import TEST_ROWS
from proxembed.evaluate.results import TEST, sign_of
from proxembed.evaluate.rivals.rival import rivals
from proxembed.evaluate.verdict import BETTER, CANNOT_TELL, LEVEL, feature_count
from proxembed.params import declared

from .advice import DO, FIRST, OURS, RIVAL, SAVED_RIVAL, advice, asks_for_maps, best_outside, not_saved, who
from .plain_words import (
    LOOKUP,
    acted_on,
    and_words,
    counted,
    entry_of,
    measured,
    option_words,
    size_words,
)

FLAGS = (
    "--header",
    "--no-header",
    "--resume",
    "--json",
    "--refit-all",
    "--embedding",
)  # options of a search without a value
PLACED = ("--out", "-o", "--resume")
REPLACED = (*PLACED, "--goal", "--keep-rival", "--embedding", "--json")  # by those of another run
# Options of a search that say how the data are read.
OF_TABLE = {f"--{name.replace('_', '-')}" for name in declared(Columns)}
OF_TABLE |= {"--no-header", "--test", "--encoder", "--seed"}
GROUPS_GIVEN = r", groups=('[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)|[^,)]*)"  # of a call
MODEL = "model.skops"
COSINE = "--cosine"  # of ``transform``
UNFRAMED = (
    "The saved model is of an earlier version and does not hold the mean of its rows: search again for numbers whose "
    f"plain cosines are those judged here (transform {COSINE})."
)
PREDICTS = "It writes what is predicted for each row to NEW-predictions.csv"
INSTEAD = "; with --scores or --probabilities, these instead"  # of labels
BY_CUTS = (
    "A label is predicted above the cut of largest F1, which finds more rows of rare labels; --cut 0.5 predicts what "
    "is more probable instead."
)
MOST_PROBABLE = "The most probable class is predicted; for another cut, use the columns of --probabilities."
CHOSEN_ANEW = "what the search chooses"
BY_COPIES = ", by the verdict without copies"  # of what to do


@dataclass(frozen=True)
class Run:
    """The command of a search or comparison, of the program or of Python, and the folder that it writes to;
    ``framed``: the model there holds what ``transform --cosine`` needs, which earlier versions did not save."""

    command: str
    folder: str | None = None
    framed: bool = True

    @property
    def in_python(self) -> bool:
        """Whether the run was called from Python."""
        return self.command.startswith("proxembed.")

    @property
    def is_search(self) -> bool:
        """Whether it is a search, whose model further commands use; a comparison has none."""
        return not self.command.startswith(("proxembed compare", "proxembed.compare("))

    @property
    def has_data(self) -> bool:
        """Whether the command names data; that of the demo does not."""
        return not self.command.startswith("proxembed demo")

    @property
    def words(self) -> list[list[str]]:
        """The words of the command after ``proxembed search``, an option beside its value."""
        found: list[list[str]] = []
        waits = False
        for word in shlex.split(self.command)[2:]:
            if waits:
                found[-1].append(word)
                waits = False
            else:
                found.append([word])
                waits = word.startswith("-") and "=" not in word and word not in FLAGS and not word.startswith("--no-")
        return found

    @property
    def file(self) -> str:
        """The data that the command names."""
        return next((words[0] for words in self.words if not words[0].startswith("-")), "DATA")

    @property
    def data(self) -> str:
        """The data as the command names them."""
        return shlex.quote(self.file)

    @property
    def new_rows(self) -> str:
        """What stands for the user's own new rows: a name, or a file of the format of the data."""
        if self.in_python:
            return "new_rows"
        file = Path(self.file)
        plain = plain_name(file)
        suffix = Path(plain).suffix
        return f"NEW{suffix}{file.name[len(plain) :]}" if suffix.lower() in READERS else "NEW.csv"

    def placeholder(self, targets: str) -> str:
        """What the name of the new rows stands for, in words; ``targets`` are labels or outputs."""
        like = "found.dataset" if self.in_python else self.data.rpartition("/")[2].strip("'")
        like = like if self.has_data else "the digits of scikit-learn"
        what = "your own new rows" if self.in_python else "a file of your own new rows"
        return f"{self.new_rows} stands for {what}, with the columns of {like}; the {targets} may be missing."

    def kept_at(self, rival: str, verb: str = "", flag: str = "", n_fitted: int | None = None) -> str:
        """Where a search that keeps a rival writes its model, in words, and the command that uses it (``verb``);
        ``n_fitted``: how many training rows it is fitted on, if not on all rows."""
        file = f"{self.folder}-{rival.replace(' ', '-')}/rival.skops"
        use = f" To use it: proxembed {verb} {shlex.quote(file)} {self.new_rows}{flag}." if verb else ""
        use += f" {self.searched}" * bool(use and flag)
        rows = "rows of its fit" if n_fitted is None else f"{n_fitted:,} training rows that it is fitted on"
        use += f" It places the {rows} by their labels, and all others by their forest scores." * bool(
            use and flag and rival == LOOKUP
        )
        return f"This search writes its model to {file}.{use}"

    def compared(self, numbers: int) -> str:
        """How the numbers of new rows find neighbours, in words."""
        written = f"It writes {counted(numbers + 1)} per row to NEW-embedding.npz: {counted(numbers).split()[0]} of the"
        return f"{written} embedding and, last, a constant that completes them for cosines. {self.searched}"

    @property
    def searched(self) -> str:
        """Among which rows neighbours are found, and by what."""
        return (
            f"Run it on the rows to search among, too{f', such as {self.data}' * self.has_data}: the neighbours of a "
            "new row are those of largest cosine, as they are judged here."
        )

    def use(self, verb: str) -> str:
        """The command that uses the saved model on new rows."""
        if self.in_python:
            return f"found.model.{verb}({self.new_rows})"
        return f"proxembed {verb} {shlex.quote(f'{self.folder}/{MODEL}')} {self.new_rows}"

    def draws(self, method: str) -> str:
        """The command that draws the first two components of a method, and what it does; empty in Python."""
        if self.in_python or not self.has_data:
            return ""
        kept = self._given(lambda option: option in OF_TABLE or option[0] != "-")
        drawn = ["proxembed map", *kept, "--method", shlex.quote(method), "--layout components -o map.html"]
        return f"`{' '.join(drawn)}` draws one of this method"

    def in_folder(self, suffix: str) -> str:
        """The same command with a folder of its own."""
        return self.command if self.in_python else self._without(PLACED, suffix)

    def again(self, suffix: str, *more: str) -> str:
        """The command of the same search with other options, into a folder of its own."""
        return self._without({*REPLACED, *(option.partition(" ")[0] for option in more)}, suffix, *more)

    def _given(self, takes: Callable[[str], bool]) -> list[str]:
        """The words of the command, an option with its value, of which ``takes`` says yes to the first."""
        return [shlex.join(words) for words in self.words if takes(words[0].partition("=")[0])]

    def _without(self, replaced: Collection[str], suffix: str, *more: str) -> str:
        """The command without some options, with others, into a folder of its own."""
        start, kept = shlex.join(shlex.split(self.command)[:2]), self._given(lambda option: option not in replaced)
        return " ".join([start, *kept, *more, "-o", shlex.quote(f"{self.folder}-{suffix}")])

    def for_goal(self, name: str) -> str:
        """The search that saves the embedding of a goal."""
        if not self.in_python:
            return self.again(name, "--goal", name)
        call = re.sub(r", (goal='[a-z]*'|embedding=True)", "", self.command).removesuffix(")")
        return f"{call}, goal={name!r})"

    def then(self, name: str, goal: Mapping[str, Any]) -> str:
        """How the model is used that the search for a goal saves; empty for maps, which its page has, and in Python."""
        if self.in_python or name == "map" or goal["command"] != self.for_goal(name):
            return ""
        file = shlex.quote(f"{self.folder}-{name}/{MODEL}")
        flag = flag_of(name, goal)
        return f"Then: proxembed {verb_of(name)} {file} {self.new_rows}{flag}{f'. {self.searched}' * bool(flag)}"

    def for_embedding(self) -> str:
        """The search that saves its best embedding."""
        if not self.in_python:
            return self.again("embedding", *self._given(lambda option: option == "--goal"), "--embedding")
        return f"{self.command.removesuffix(')')}, embedding=True)"

    def resumed(self) -> str:
        """The same search, which goes on from what an interrupted one has finished; empty without a folder, and of the
        demo, which begins anew."""
        if self.folder is None or not self.has_data:
            return ""
        if self.in_python:
            return f"{re.sub(r', folder=[^,)]*', '', self.command)[:-1]}, resume={self.folder!r})"
        return f"{self.command} --resume"

    def for_copies(self) -> str:
        """The search in which no split divides the copies of a row; empty for the demo."""
        if self.in_python:
            return f"{re.sub(GROUPS_GIVEN, '', self.command).removesuffix(')')}, groups={COPIES!r})"
        if not self.has_data:
            return ""
        goal = self._given(lambda option: option in ("--goal", "--embedding"))
        return self.again("grouped", *goal, f"--groups {COPIES}")

    def for_rival(self, name: str) -> str:
        """What gives the model of a rival; empty where it cannot be saved."""
        if name not in kept_rivals():
            return ""
        if self.in_python:
            return f"found.compare_model({name!r}).predict({self.new_rows})"
        goal = self._given(lambda option: option == "--goal")
        return self.again(name.replace(" ", "-"), *goal, f"--keep-rival {shlex.quote(name)}")


def copies_remedy(run: Run | None) -> str:
    """How to keep a copy of a test row out of training, in the program or in Python."""
    how = option_words("groups", COPIES, run is not None and run.in_python)
    return f"To remove the cause, drop the copies, or keep them together ({how})."


def kept_rivals() -> set[str]:
    """All features, and the rivals whose models can be saved."""
    able = [rival for rival in rivals() if rival.library is None]
    return {ALL_FEATURES, *(rival.title for rival in able), *(rival.lookup for rival in able if rival.lookup)}


def with_next_steps(goals: Mapping[str, dict[str, Any]], summary: Mapping[str, Any], run: Run | None) -> None:
    """Give each goal of a summary its ``advice``, and its ``command`` where the ``run`` is a known search; one of them
    is the ``lead``. What is saved is the choice, unless the summary names another arm under ``saved``, which may hide
    an ``embedding``; of nested folds it is chosen anew on all rows."""
    in_python = run is not None and run.in_python
    run = run if run is not None and run.is_search else None
    features = feature_count(summary.get("best", []), summary["dataset"]["d"])
    asked, saved = summary["verdict"].get("asked") or "predict", summary.get("saved") or {}
    chosen = None if summary.get("nested") else summary.get("choice") or _smallest(goals, asked)
    of = saved or (chosen and {"arm": chosen["method"], "k": chosen["k"]}) or {"arm": CHOSEN_ANEW, "k": None}
    saved_name = f"{of['arm']}{size_words({'k': of.get('k')})}"
    fitted = summary["dataset"].get("train") if any(goal.get("test_rows_named") for goal in goals.values()) else None
    says_use = False  # how the model of a rival is used, which is said once
    for name, goal in goals.items():
        ours = goal["arm"], goal["k"]
        own = ours == (chosen["method"], chosen["k"]) if chosen else None
        others = [each["arm"] for each in (goal.get("rival"), goal.get("base")) if each]
        best = saved.get("arm") if name == asked and saved.get("arm") in others else None
        facts = {**goal, **figures_without_copies(summary, name, goal), "features": features}
        facts["hidden"] = ours == tuple(saved.get("embedding", ()))
        facts["in_python"] = in_python
        facts |= {"saved": own and not saved if chosen else None, "saved_rival": best, "asked": asked}
        if summary.get("nested") and not saved:
            facts |= {"arm": CHOSEN_ANEW, "saved": True} if goal["k"] is None else {"saved": False}
        facts["saved_figures"] = "" if saved or name == "map" else saved_figures(summary, chosen, goal)
        goal["not_saved"] = not_saved(name, facts, saved_name)
        if name in ("predict", "neighbours") and not saved:
            facts |= _saved_serves(summary, chosen, facts)
        which = BY_COPIES * bool(goal.get("without_copies"))
        goal["stored"] = facts["components"]  # numbers per row that the command writes
        goal["advice"], goal["taken"] = f"{DO}{which}: {advice(name, facts)}", who(name, facts)
        goal["command"] = "" if run is None else command_of(name, facts, run)
        goal["lead"] = ""
        kept = run is not None and " --keep-rival " in goal["command"]
        verb = "" if says_use else verb_of(name)
        goal["command_note"] = (
            run.kept_at(goal["rival"]["arm"], verb, flag_of(name, goal), fitted) if run is not None and kept else ""
        )
        says_use = says_use or bool(goal["command_note"])
        if run is not None and goal["command"]:
            outside = command_outside(facts, run) if name == "neighbours" else ""
            also = run.then(name, goal), outside, _linear_model(name, facts, run)
            goal["command_note"] = " ".join(filter(None, (goal["command_note"], *also)))
    set_lead(goals, summary["verdict"].get("asked"))
    if run is not None:
        _note_new_rows(goals, summary, run)


def _note_new_rows(goals: Mapping[str, dict[str, Any]], summary: Mapping[str, Any], run: Run) -> None:
    """Say below the first command with new rows what these are and what is written, and how neighbours are found."""
    named = [goal for goal in goals.values() if run.new_rows in goal["command"]]
    for goal in sorted(named, key=lambda goal: not goal["lead"])[:1]:
        predicts = goal["command"].startswith("proxembed predict")
        numbers, classes = bool(summary["dataset"].get("outputs")), summary["dataset"].get("single_label")
        how = "" if numbers else f" {MOST_PROBABLE if classes else BY_CUTS}"
        writes = f"{PREDICTS}{'' if numbers else INSTEAD}.{how}" if predicts else ""
        parts = writes, run.placeholder("outputs" if numbers else "labels"), goal["command_note"]
        goal["command_note"] = " ".join(filter(None, parts))
    near = goals.get("neighbours", {"command": "", "measure": ""})
    if near["command"].startswith("proxembed transform") and flag_of("neighbours", near):
        text = run.compared(near["stored"]) if run.framed else UNFRAMED
        near["command_note"] = f"{text} {near['command_note']}".strip()


def _linear_model(name: str, goal: Mapping[str, Any], run: Run) -> str:
    """The command that gives the linear model of all features, where it is as good as ours."""
    as_good = name == "predict" and goal["word"] == LEVEL and who(name, goal) == OURS
    return f"The linear model: {run.for_rival(ALL_FEATURES)}" if as_good else ""


def _saved_serves(
    summary: Mapping[str, Any], chosen: Mapping[str, Any] | None, goal: Mapping[str, Any]
) -> dict[str, Any]:
    """What the saved model has of a goal of another arm, where it is as good on the test rows, up to what counts as
    level: then it is what to use. Else empty."""
    able = chosen and goal["saved"] is False and not goal.get("without_copies")  # whose figures are of other rows
    entry = entry_of(summary) if able else None
    value = None if entry is None else entry["scores"].get(goal["measure"], {}).get(TEST)
    if entry is None or value is None or goal["word"] not in (BETTER, LEVEL):
        return {}
    margin = goal.get("margin") or 0.0
    if sign_of(goal["measure"]) * (value - goal["value"]) < -margin:
        return {}
    among = dict(goal.get("new_rows") or {})
    if among:
        among["value"] = entry["scores"].get(among.get("measure", ""), {}).get(TEST)
    if among and (
        among["value"] is None or sign_of(goal["measure"]) * (among["value"] - goal["new_rows"]["value"]) < -margin
    ):
        return {}
    own = {key: entry.get(key) for key in ("arm", "k", "components", "reads_features")}
    return {**own, "value": value, "saved": True} | ({"new_rows": among} if among else {})


def figures_without_copies(summary: Mapping[str, Any], name: str, goal: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a goal without test rows that have a copy in training, where these change its word: what to do
    follows them."""
    if not goal.get("without_copies"):
        return {}
    alone = summary["verdict"]["without_copies"]["goals"][name]
    facts = {key: value for key, value in alone.items() if key in goal and key not in ("base", "rival")}
    if goal.get("base"):
        facts["base"] = {**goal["base"], "value": alone["base"]}
    if goal.get("rival"):
        ends = {"gain": alone.get("rival_gain"), "interval": alone.get("rival_interval")}  # which older records lack
        facts["rival"] = {**goal["rival"], "value": alone["rival"], **ends}
    return facts


def saved_figures(summary: Mapping[str, Any], chosen: Mapping[str, Any] | None, goal: Mapping[str, Any]) -> str:
    """What the choice has on the test rows by the measures of a goal, behind its name; empty for maps, and where that
    is not known."""
    if chosen is None or summary["verdict"].get("basis") != TEST_ROWS:
        return ""
    entry: Mapping[str, Any] = entry_of(summary, chosen["method"], chosen["k"]) or {"scores": {}}
    tests = {name: entry["scores"].get(name, {}).get(TEST) for name in (goal["measure"], *goal.get("shares", {}))}
    if any(value is None for value in tests.values()) or (goal.get("base") or {}).get("k") is not None:
        return ""
    if not goal.get("shares"):
        return f", which has {tests[goal['measure']]:.3f}"
    if entry.get("reads_features"):
        return ", whose predictions read the features, so that its numbers cannot take their place"
    kept = [
        f"{100 * tests[name] / each['base']:.0f} % of the {measured(name)}"
        for name, each in goal["shares"].items()
        if each.get("base")
    ]
    return f", which keeps {and_words(kept)} of the features" if kept else ""


def _smallest(goals: Mapping[str, dict[str, Any]], asked: str) -> dict[str, Any] | None:
    """The choice of a search for small sizes, which the verdict makes; None of other searches."""
    goal = goals.get("compress") if asked == "compress" else None
    return goal and {"method": goal["arm"], "k": goal["k"]}


def set_lead(goals: Mapping[str, dict[str, Any]], asked: str | None) -> None:
    """Give the goal that comes before all others its ``lead``: that which was asked for, else predictions of one yes/no
    label, else the first of which an embedding or a rival is better than doing nothing."""
    useful = [name for name, goal in goals.items() if acted_on(goal) == BETTER or goal["taken"] in (RIVAL, SAVED_RIVAL)]
    useful = ["predict"] * goals.get("predict", {}).get("yes_no", False) + useful
    name = asked if asked is not None and asked in goals else next(iter([*useful, *goals]))
    beside = beside_predict(goals) if name == "predict" else ""
    goals[name]["lead"] = f"{FIRST}{goals[name]['advice'].removeprefix(DO)}{beside}"


def beside_predict(goals: Mapping[str, dict[str, Any]]) -> str:
    """Where predictions by one embedding cannot be told, that a smaller one keeps what the features have."""
    predict, small = goals["predict"], goals.get("compress")
    if small is None or any(goal.get("without_copies") for goal in (predict, small)):
        return ""
    if predict["word"] != CANNOT_TELL or small["word"] != LEVEL or predict["arm"] == small["arm"]:
        return ""
    share = next((each for key, each in small["shares"].items() if key == predict["measure"]), None)
    if share is None or not share["interval"]:
        return ""
    low, high = (100 * end for end in share["interval"])
    return (
        f" This is of {predict['arm']}; another embedding, {small['arm']}{size_words(small)}, keeps {low:.1f} to "
        f"{high:.1f} % of the {measured(predict['measure'])} of the features with {counted(small['components'])}."
    )


def verb_of(name: str) -> str:
    """What a saved model does for a goal."""
    return "predict" if name == "predict" else "transform"


def flag_of(name: str, goal: Mapping[str, Any]) -> str:
    """What that command takes so that plain cosines are those of the verdict; empty where these are no cosines."""
    return f" {COSINE}" if name == "neighbours" and "cosine" in goal["measure"] else ""


def command_of(name: str, goal: Mapping[str, Any], run: Run) -> str:
    """The command that does what the advice says; empty where there is nothing to run."""
    taken = who(name, goal)
    if asks_for_maps(name, goal):
        return run.for_goal(name)
    if taken == RIVAL:
        return run.for_rival(goal["rival"]["arm"])
    if taken not in (OURS, SAVED_RIVAL):  # to keep the features takes no command, only a rival beside them does
        rival = (goal.get("rival") or {"arm": ""})["arm"]
        return run.for_rival(rival) if f" take {rival}, which" in advice(name, goal) else ""
    return _command_of_ours(name, goal, run)


def _command_of_ours(name: str, goal: Mapping[str, Any], run: Run) -> str:
    """The command that uses the saved model, or finds and saves what a goal is about."""
    if who(name, goal) == SAVED_RIVAL or goal["saved"]:
        return run.use(verb_of(name)) + flag_of(name, goal) * (run.framed and not run.in_python)
    return run.for_embedding() if goal["hidden"] else run.for_goal(name)


def command_outside(goal: Mapping[str, Any], run: Run) -> str:
    """The command for rows that were not in the fit, where the advice is a lookup of the labels of these."""
    taken, best = best_outside(goal)
    if taken not in (OURS, RIVAL) or who("neighbours", goal) != RIVAL:
        return ""
    command = _command_of_ours("neighbours", goal, run) if taken == OURS else run.for_rival(best["arm"])
    return f"Among other rows: {command}" if command else ""
