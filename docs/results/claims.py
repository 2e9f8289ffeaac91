"""The claims of all papers on one page: reads */results.json of `make reproduce`, writes claims.md."""

import json
from pathlib import Path

from papers import EXPERIMENTS
from papers.markdown import CAME, table

HERE = Path(__file__).parent
HEAD = """# The papers' claims, and what came out

From `results.json` of each folder (`make reproduce`). Each page gives the words, our figures, and what differs from the
paper; "cannot be told" where an interval or a missing figure decides nothing.

"""


def records() -> dict[str, dict]:
    """Folder -> record of each experiment that states claims, in the order of the experiments."""
    found = {name: HERE / name / "results.json" for name in EXPERIMENTS}
    known = {name: json.loads(path.read_text()) for name, path in found.items() if path.is_file()}
    return {name: record for name, record in known.items() if record.get("claims")}


def page(known: dict[str, dict]) -> str:
    """The counts of each experiment, then its claims in short."""
    rows = []
    for name, record in known.items():
        came = [claim["came_out"] for claim in record["claims"]]
        counts = [sum(one is each for one in came) for each in CAME]
        paper = EXPERIMENTS[name].title.partition(":")[0]
        rows.append((paper, f"[{name}]({name}/README.md)", len(came), *counts, record["created"][:10]))
    text = HEAD + table(("paper", "page", "claims", *CAME.values(), "made"), rows)
    for name, record in known.items():
        lines = [(c["published"], c["where"], c["labels"], CAME[c["came_out"]]) for c in record["claims"]]
        text += f"\n## {EXPERIMENTS[name].title}\n\n" + table(("the paper says", "where", "of", "came out"), lines)
    return text


if __name__ == "__main__":
    (HERE / "claims.md").write_text(page(records()))
