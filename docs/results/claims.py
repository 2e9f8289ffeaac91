"""The claims of all papers on one page: reads */results.json of `make reproduce`, writes claims.md."""

import json
from pathlib import Path

from papers import EXPERIMENTS
from papers.claim import opposed
from papers.markdown import CAME, DASH, table

HERE = Path(__file__).parent
HEAD = """# The papers' claims, and what came out

From `results.json` of each folder (`make reproduce`). Each page gives the words, our figures, and what differs from the
paper. Every claim is judged by one rule (`papers/rule.py`):

- The unit is the test row. A difference is paired by test row and draw; its variance is that of the delete-a-group
  jackknife over test rows, pooled over the draws, and what the draws vary beyond their rows. Where a record has no
  values without groups of rows, the draws are the blocks (Student's t), which is valid for these rows only, since
  redrawn parts of one data set share rows; the page says so. Claims about many data sets have the sets as blocks.
- A claim about several differences is told in grades: each supports it, contradicts it, or is open, at 5 % after Holm's
  correction within the claim. It came out (yes) where every decided one supports it and three quarters or more are
  decided, did not (no) where more contradict than support it, and else cannot be told. One of overall superiority is
  told by mean ranks, Friedman's test and Wilcoxon's, corrected by Holm's rule. A number that a paper prints is compared
  with ours on the same split, within the tolerance that stands beside it.
- Where a paper used one split, whose test rows leave most of its claims open, random splits in parts of the same sizes
  decide, each as a draw; where the published split says the opposite, that stands beside the verdict.
- Fewer than five draws, sets or timed runs give no verdict. A claim about one data set is judged on that set; what is
  asked of others is a check of our own, and is counted apart.

"""


def records() -> dict[str, dict]:
    """Folder -> record of each experiment that states claims, in the order of the experiments."""
    found = {name: HERE / name / "results.json" for name in EXPERIMENTS}
    known = {name: json.loads(path.read_text()) for name, path in found.items() if path.is_file()}
    return {name: record for name, record in known.items() if record.get("claims")}


def counts(claims: list[dict]) -> list[int]:
    """How many there are, and how many came out, did not, and cannot be told."""
    return [len(claims), *(sum(claim["came_out"] is each for claim in claims) for each in CAME)]


def own_words(claims: list[dict]) -> str:
    """Our own checks in a cell, such as "5: 1 yes, 0 no, 4 cannot be told"."""
    number, *came = counts(claims)
    return (
        f"{number}: " + ", ".join(f"{n} {word}" for n, word in zip(came, CAME.values(), strict=True))
        if number
        else DASH
    )


def came(claim: dict) -> str:
    """The verdict; beside it that on the published split where the two are opposed."""
    beside = f" (published split: {CAME[claim['given']['came_out']]})" if opposed(claim) else ""
    return CAME[claim["came_out"]] + beside


def page(known: dict[str, dict]) -> str:
    """The counts of each experiment, then its claims in short."""
    rows, all_stated, all_own = [], [], []
    for name, record in known.items():
        stated, own = ([each for each in record["claims"] if each["own"] is is_own] for is_own in (False, True))
        paper = EXPERIMENTS[name].title.partition(":")[0]
        rows.append((paper, f"[{name}]({name}/README.md)", *counts(stated), own_words(own), record["created"][:10]))
        all_stated, all_own = all_stated + stated, all_own + own
    rows.append(("all", DASH, *counts(all_stated), own_words(all_own), DASH))
    text = HEAD + table(("paper", "page", "claims", *CAME.values(), "our own checks", "made"), rows)
    total, *_, open_ = counts(all_stated)
    share = 100 * open_ / total if total else 0
    text += f"\nOpen: {open_} of {total} claims, {share:.0f} %; the last column below says what decides each.\n"
    for name, record in known.items():
        lines = [
            (c["published"], c["where"], c["labels"] + (", our own check" if c["own"] else ""), came(c),
             c["decided_by"] or DASH)
            for c in record["claims"]
        ]  # fmt: skip
        head = ("the paper says", "where", "of", "came out", "open until")
        text += f"\n## {EXPERIMENTS[name].title}\n\n" + table(head, lines)
    return text


if __name__ == "__main__":
    (HERE / "claims.md").write_text(page(records()))
