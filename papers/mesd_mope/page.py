"""The Markdown page of the experiments of the MESD and MOPE paper: published words beside what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from papers.entrants import OLPP_WORDS
from papers.markdown import DASH, QUICK_WARNING, claims_table, failures, made_lines, rule_words, table
from papers.mesd_mope.draws import DRAW, PAPERS_K, Scores, by_share
from papers.mesd_mope.entrants import LABELS_ONLY, PSI
from papers.mesd_mope.figure import score_figure

NO_EMBEDDING = "no embedding"
DIFFERENCES = """## How it was done, and what differs from the paper

- The paper has one split and one number a method. Here the three parts are drawn anew {times}, each draw with its
  own labelled rows, settings and discriminants.{further}
{rule}
- In each draw an entrant tries at most {limit} settings: its own and, where its grid is larger, others drawn from it at
  random. {draws} and {limit} settings are what the time of a page allows; the grid of MOPE with features has
  {grid:,} settings, so that most of it is not tried.
- MOPE with features is that of section 3.3.2: the Gaussian weights W of all pairs of documents are combined with G, and
  of each row the K largest psi are kept (either row's choice links a pair), with psi as the weight; a, b, beta, gamma
  and K are tuned, gamma of the extended (43). The paper may take constant weights instead; the width of the Gaussian is
  the median squared distance, and the constraint is P'P = I. Neither is tuned.
- MOPE on labels alone keeps all of G: with K neighbours a row would keep arbitrary ones of the many of equal psi.
- ML-LGC minimises (25) as printed, -l2 tr(Z Sigma Z') with the norm of the unlabelled rows; l1, l2, the number of
  neighbours and Sigma (cosine or Gaussian) are tuned. It predicts new rows by one propagation step over the training
  graph; the paper does not say how it was applied.
- MESD(MFA) tunes the nearest pairs of a class; the paper does not run MFA and DNE.
- A document with several categories is one row with several labels. The paper's 9,980 articles equal the number of
  pairs of a document and one of its ten categories, so that it probably counts such a document once a category.
- The tokens are those of the data file (every stem, no stop list); the paper's 24,012 terms cannot be rebuilt exactly.
- The random parts are stratified by all ten categories together, near equal in every category.
- Methods built on labels alone have only as many components as their proximity matrix has rank; the paper's k adds
  vectors of its null space. At the paper's k they are completed so (`fill="null"`), with the setting that was chosen
  together with the tuned k; where k is tuned such methods take part with all that they have. With all of them every G
  of one range spans the same space, as Dice and scaled Dice do, so that discriminants under Z'Z = I score them alike.
- What the paper says is asked at its own k; the same at the tuned k is a check of ours.
- W and the graphs are made from the relation features, from which every method starts. One cut and one ridge of the
  discriminants serve all entrants of a draw, chosen on the validation part with no embedding.
- The numbers of Figures 2 and 4 and of Tables 3 and 4 stand in pictures, which the text at hand lacks; its words are
  checked. Figure 4 compares the scores of all methods, as the figure of scores above does. The matrices of Figure 2,
  relation features beside the tf-idf rows, and seconds are the experiment `mesd-mope-features`.
- {olpp}
"""


def page(record: Mapping[str, Any]) -> str:
    """The page of one experiment, from its record."""
    plan, drawn = record["plan"], figures(record)
    lines = [f"# {record['title']}", "", *([QUICK_WARNING, ""] if record["quick"] else []), *made_lines(record)]
    lines += ["## What the paper says, and what came out", ""]
    lines += [claims_table(record["claims"], "labels"), _sizes(record)]
    for share, draws in by_share(record["parts"]).items():
        words = _heading(share)
        lines += [f"## {words}", "", *([f"![{words}]({_file(share)})", ""] if _file(share) in drawn else [])]
        lines += [_readouts(record, share), "", _entries(record, draws)]
    grid = int(np.prod([len(values) for values in PSI.values()]))
    words = {"olpp": OLPP_WORDS, "further": _further(record), "draws": draws_in_words(record), "times": _times(record)}
    told = DIFFERENCES.format(limit=plan["limit"], grid=grid, rule=rule_words(has_groups(record)), **words)
    return "\n".join([*lines, *failures(record["parts"]), told])


def figures(record: Mapping[str, Any]) -> dict[str, str]:
    """File name -> SVG: the scores of all entrants, a figure a share of labels; none where all failed."""
    held = {share: Scores.of(draws, _tested(record)) for share, draws in by_share(record["parts"]).items()}
    return {_file(share): score_figure(scores, _heading(share)) for share, scores in held.items() if scores.values}


def _draws(record: Mapping[str, Any]) -> int:
    """How many draws the record holds."""
    return max(len(draws) for draws in by_share(record["parts"]).values())


def draws_in_words(record: Mapping[str, Any]) -> str:
    """How many draws the record holds, such as "1 draw".

    Examples
    --------
    >>> from papers.mesd_mope.page import draws_in_words
    >>> draws_in_words({"parts": {"40 %, draw 1": [], "80 %, draw 1": []}})
    '1 draw'
    """
    return "1 draw" if _draws(record) == 1 else f"{_draws(record)} draws"


def _further(record: Mapping[str, Any]) -> str:
    """Which entrants have draws that others lack."""
    number = max(len(draws) for draws in by_share(record["parts"], (LABELS_ONLY,)).values())
    if number <= _draws(record):
        return ""
    return (
        f" MOPE on labels alone has {number}, on\n  which the sentence about its three schemes rests: the first ones "
        "leave it open; how many follow was fixed\n  before they ran. Tables and figures show draws of all entrants."
    )


def _times(record: Mapping[str, Any]) -> str:
    return "once" if _draws(record) == 1 else f"{_draws(record)} times"


def _file(share: str) -> str:
    share, _, k = share.partition(f" %{PAPERS_K}")
    return f"macro_f1_{share.removesuffix(' %')}{f'_k{k}' if k else ''}.svg"


def _heading(share: str) -> str:
    share, _, k = share.partition(PAPERS_K)
    return f"Macro F1, {share} of the training rows labelled, k {f'= {int(k):,} as in the paper' if k else 'tuned'}"


def _tested(record: Mapping[str, Any]) -> float:
    """The mean size of the test part."""
    return float(np.mean([stage["test"] for stage in record["stages"].values()]))


def has_groups(record: Mapping[str, Any]) -> bool:
    """Whether every scored entry of a record has its score without each group of documents.

    Examples
    --------
    >>> from papers.mesd_mope.page import has_groups
    >>> has_groups({"parts": {"40 %, draw 1": [{"test": 0.5}]}})
    False
    """
    scored = [e for entries in record["parts"].values() for e in entries if e.get("test") is not None]
    return all(each.get("without") for each in scored)


def _sizes(record: Mapping[str, Any]) -> str:
    stages, plan = list(record["stages"].values()), record["plan"]
    first = stages[0]
    terms = sorted({stage["terms"] for stage in stages})
    told = f"{terms[0]:,} to {terms[-1]:,}" if len(terms) > 1 else f"{terms[0]:,}"
    return (
        f"{draws_in_words(record)} of {first['training']:,} training, {first['validation']:,} validation and "
        f"{first['test']:,} test documents of {len(first['categories'])} categories "
        f"({', '.join(first['categories'])}), {told} terms, relation features. k is one of "
        f"{', '.join(map(str, plan['sizes']))} (the paper's: {record['published_k']:,}) or all that a method has, "
        "chosen on the validation part with the parameters; the test part is scored once a draw, and once more at the "
        "paper's k.\n"
    )


def _readouts(record: Mapping[str, Any], share: str) -> str:
    found = [readout for part, readout in record["readouts"].items() if part.startswith(share + DRAW)]
    cuts, ridges = ([each[name] for each in found] for name in ("threshold", "ridge"))
    return (
        f"Discriminants of the draws cut at {_each(cuts)}, ridge {_each(ridges)}. Values of several draws are in order."
    )


def _each(values: Sequence[object]) -> str:
    """The value of each draw, once where all are equal."""
    told = [f"{value:g}" if isinstance(value, float) else str(value) for value in values]
    return " / ".join(told if len(set(told)) > 1 else told[:1])


def _entries(record: Mapping[str, Any], draws: Sequence[Sequence[Mapping[str, Any]]]) -> str:
    """A line an entrant: means over the draws, the difference to no embedding, and what each draw chose."""
    scores, rows = Scores.of(draws, _tested(record)), []
    for stated in record["plan"]["entrants"]:
        name = stated["name"]
        held = [entry for entries in draws for entry in entries if entry["entrant"] == name]
        kept = [entry for entry in held if entry["test"] is not None]
        value = scores.values.get(name)
        mean = -1.0 if value is None else float(value.mean())
        test = DASH if value is None else f"{mean:.4f}"
        spread = DASH if value is None or len(value) < 2 else f"{value.std(ddof=1):.4f}"
        validation = f"{np.mean([entry['validation'] for entry in kept]):.4f}" if kept else DASH
        against = DASH if name == NO_EMBEDDING else scores.less(name, NO_EMBEDDING).words
        chosen = _each([entry["k"] or DASH for entry in kept]), _chosen(stated, kept)
        rows.append((mean, (name, held[0]["group"], test, spread, validation, against, *chosen, *_trials(held))))
    head = ("entrant", "kind", "test", "standard deviation", "validation", f"less {NO_EMBEDDING} (95 % interval)", "k",
            "chosen", "settings tried, failed", "seconds a setting")  # fmt: skip
    return table(head, [cells for _, cells in sorted(rows, key=lambda row: -row[0])])


def _chosen(stated: Mapping[str, Any], kept: Sequence[Mapping[str, Any]]) -> str:
    """The tuned parameters of an entrant as each draw chose them."""
    found = {
        name: _each([entry["chosen"].get(name, usual) for entry in kept]) for name, usual in stated["usual"].items()
    }
    return ", ".join(f"{name} = {value}" for name, value in found.items() if kept) or DASH


def _trials(held: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """How many settings were tried and failed, and their mean seconds, over the draws."""
    tried = [each for entry in held for each in entry["tried"]]
    failed = sum(bool(each["failure"]) for each in tried)
    return f"{len(tried)}, {failed}", f"{sum(each['seconds'] for each in tried) / max(len(tried), 1):.1f}"
