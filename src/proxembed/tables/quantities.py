"""Numbers in text cells: sign, currency, thousands, decimal mark, exponent, unit and factor; the style of a table.

A style is the decimal mark and the marks between groups of three digits, such as ".,", ",." or ", "; "" is ".". In
"? " no decimal mark is known: 1.234 may be 1234.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?", re.ASCII)
LEADING_ZERO = re.compile(r"0\d")
SIMPLE = {".": NUMBER, ",": re.compile(NUMBER.pattern.replace(r"\.", ","), re.ASCII)}
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+|[+-]?[1-9]\d{0,2}(?:,\d{3})+", re.ASCII)  # 1234, or 1.234
MINUS = "-\u2212\u2010\u2011\u2012\u2013\ufe63\uff0d"
PLUS = "+\uff0b\ufe62"
BLANK, APOSTROPHE = " \u00a0\u2009\u202f", "'\u2019"  # each between digits is one mark
MARKS = {",": ",", ".": ".", "'": APOSTROPHE, " ": BLANK}
OTHER = {",": ".", ".": ","}
STYLE_WORDS = {
    "decimal,": "decimal comma",
    ",": "comma between thousands",
    ".": "point between thousands",
    "'": "apostrophe between thousands",
    " ": "blank between thousands",
}
ANY_GROUPS = {decimal: decimal + other + "' " for decimal, other in OTHER.items()}
MONEY = (
    r"(?:[A-Za-z]{0,3}[$\u20ac\u00a3\u00a5\u20b9\u20bd\u20a9\u20ba\u20b4\u20a6\u20ab\u20aa\u0e3f]|(?:AED|AUD|BRL|CAD|CHF|"
    r"CLP|CNY|COP|CZK|DKK|EUR|GBP|HKD|HUF|IDR|ILS|INR|JPY|KRW|MXN|MYR|NOK|NZD|PHP|PLN|RON|RUB|SAR|SEK|SGD|THB|TRY|TWD|"
    r"UAH|USD|VND|ZAR|Fr|kr|Kr|Rs|RM)\b\.?)"
)
CURRENCY = re.compile(MONEY)
SPACE = rf"[\s{BLANK}]*"
QUANTITY = re.compile(
    rf"([{MINUS}{PLUS}]?){SPACE}({MONEY}?){SPACE}([{MINUS}{PLUS}]?){SPACE}"
    rf"((?>\d(?:[\d.,{APOSTROPHE}{BLANK}]*\d)?[.,]?|[.,]\d+))([eE][{MINUS}+]?\d++)?([{MINUS}]?){SPACE}"
    rf"((?!\W*\d)(?!.*[\s(]\d)(?![A-Za-z](?:\d\d|[014-9]))[^\d\s.,{BLANK}].{{0,11}})?",
    re.ASCII,
)
SIGNS_ONLY = re.compile(rf"[{MINUS}{PLUS}]+")
FACTORS = {"k": 1e3, "K": 1e3, "M": 1e6, "B": 1e9, "bn": 1e9}  # after a number: 1.2M
SCALED = " (k, M)"  # ends the unit of a column that has several of them
LIMITS = "<"  # ends the style of a column with cells such as <0.6 or > 90, which are read as that limit
LIMIT = re.compile(rf"[<>\u2264\u2265]=?{SPACE}(?=(?:[{MINUS}{PLUS}]{SPACE})?(?:{MONEY}{SPACE})?[\d.,])")
FEWEST_PLAIN = 8  # different numbers beside limits: fewer may be steps, the last of which is >5
MOSTLY = 0.5  # a column with more numbers than this tells the style, even if some of its cells are none


@dataclass(frozen=True)
class Quantity:
    """The parts of a text that may be a number: its sign, its digits with their marks, its exponent and its unit."""

    negative: bool
    digits: str
    exponent: str
    unit: str

    def value(self, style: str) -> float | None:
        """The number in a style; None if the digits do not fit it."""
        if style[:1] == "?":
            either = {self.value(mark + style[1:]) for mark in ".,"} - {None}
            return either.pop() if len(either) == 1 and not GROUPED.fullmatch(self.digits) else None
        plain, grouped = _forms(style)
        if not plain(self.digits) and (self.exponent or not grouped(self.digits)):
            return None
        decimal = style[:1] or "."
        digits = "".join(mark for mark in self.digits if mark.isdigit() or mark == decimal).replace(",", ".")
        found = float(digits + self.exponent)
        return -found if self.negative else found

    def marks(self, decimal: str) -> set[str]:
        """The marks between groups of thousands, if ``decimal`` is the decimal mark."""
        return {mark for mark, forms in MARKS.items() if mark != decimal and any(form in self.digits for form in forms)}


@lru_cache
def _forms(style: str) -> tuple[Callable[[str], object], Callable[[str], object]]:
    """Whether digits are plain, and whether they are grouped, in a style."""
    decimal, groups = style[:1] or ".", style[1:]
    end, first = rf"(?:{re.escape(decimal)}\d+)", r"[1-9]\d{0,2}"
    steps = {mark: rf"(?:[{MARKS[mark]}]\d{{3}})" for mark in groups or OTHER[decimal] + "' "}
    forms = [rf"{first}{step}+{end}?" for mark, step in steps.items() if groups or mark in "' "]
    if not groups:
        step = steps[OTHER[decimal]]
        forms += [rf"{first}{step}+{end}", rf"{first}{step}{{2,}}"]
    plain = re.compile(rf"\d+(?:{re.escape(decimal)}\d*)?|{end}", re.ASCII)
    return plain.fullmatch, re.compile("|".join(forms), re.ASCII).fullmatch


def quantity(word: str) -> Quantity | None:
    """The parts of a number with or without a unit; None for other text."""
    bracketed = word.startswith("(") and word.endswith(")")
    part = QUANTITY.fullmatch(word[1:-1].strip() if bracketed else word)
    if part is None:
        return None
    before, money, inner, digits, exponent, after, unit = (each or "" for each in part.groups())
    if (
        len([sign for sign in (bracketed, before, inner, after) if sign]) > 1
        or SIGNS_ONLY.fullmatch(unit)
        and unit != "+"
    ):
        return None
    if after and not any(mark in digits for mark in ",."):  # 3- is a grade, or begins a range
        return None
    minus = bracketed or after or (before + inner) in MINUS and bool(before + inner)
    exponent = "".join("-" if mark in MINUS else mark for mark in exponent)
    return Quantity(bool(minus), digits, exponent, (money + unit).strip())


def number(word: str, style: str, unit: str) -> float | None:
    """A cell as a number, in a style and a unit; None for anything else."""
    if style.endswith(LIMITS):
        word, style = LIMIT.sub("", word, count=1) if LIMIT.match(word) else word, style.removesuffix(LIMITS)
    if style[:1] != "?" and SIMPLE[style[:1] or "."].fullmatch(word):
        return float(word.replace(",", "."))
    part = quantity(word)
    return None if part is None else _value(part, style, unit)


def _value(part: Quantity, style: str, unit: str) -> float | None:
    """A quantity as a number, in a style and a unit; None for one in another unit."""
    own, factor = _scale(part.unit) if unit.endswith(SCALED) else (part.unit, None)
    found = part.value(style) if own in ("", unit.removesuffix(SCALED)) else None
    return found if found is None or factor is None else found * FACTORS.get(factor, 1.0)


def _scale(unit: str) -> tuple[str, str]:
    """A unit without the factor that ends it, and the factor, "" for none: of 1.2M, M."""
    factor = next((each for each in FACTORS if unit.endswith(each)), "")
    own = unit.removesuffix(factor).strip()
    return (own, factor) if factor and not own.isalpha() else (unit, "")


class NumberWords:
    """The distinct words of a column as quantities; each is parsed once, and only if it has to be."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    @cached_property
    def simple(self) -> str:
        """The decimal mark with which all words are bare digits, "." or ","; "" for other words."""
        return next((mark for mark, form in SIMPLE.items() if self.words and all(map(form.fullmatch, self.words))), "")

    @cached_property
    def limits(self) -> list[int]:
        """The places of limits, such as <0.6, among other numbers."""
        places = [j for j, word in enumerate(self.words) if LIMIT.match(word)]
        others = (word for word in self.words if not LIMIT.match(word)) if places else ()
        return places if sum(quantity(word) is not None for word in others) >= FEWEST_PLAIN else []

    @cached_property
    def parts(self) -> list[Quantity | None]:
        """One quantity per word; None for other text."""
        return [quantity(word) for word in self._plain]

    @cached_property
    def _plain(self) -> Sequence[str]:
        """The words, limits as their numbers."""
        bare = {j: LIMIT.sub("", self.words[j], count=1) for j in self.limits}
        return [bare.get(j, word) for j, word in enumerate(self.words)] if bare else self.words

    @cached_property
    def unit(self) -> str:
        """The unit of most words."""
        if self.simple:
            return ""
        units = Counter(part.unit for part in self.parts if part is not None)
        scales = set(map(_scale, units))
        own, factors = {unit for unit, _ in scales - {("", "")}}, {factor for _, factor in scales} - {""}
        money = factors and all(map(CURRENCY.fullmatch, own))  # whose new cells may have another factor
        if len(own) == 1 and (money or own == {""} and self._has_factors(factors)):
            return own.pop() + SCALED
        return max(units, key=units.__getitem__, default="")

    def _has_factors(self, factors: set[str]) -> bool:
        """Whether k, M and bn after numbers without a unit are factors, and not carats, sizes or kelvins: k stands
        beside M or beside numbers below 1000, and some have decimals."""
        parts = [part for part in self.parts if part is not None]
        decimals = any(part.unit and not part.digits.isdigit() for part in parts)
        small = all(len(re.split("[.,]", part.digits)[0]) < 4 for part in parts)
        several = factors & {"M", "bn"} or any(not part.unit for part in parts)
        return bool(factors & {"k", "K"} and several) and decimals and small and "B" not in factors

    def misfits(self, style: str) -> list[int]:
        """The places of the words that are not numbers of the style in the unit of most; zero needs no unit."""
        if self.simple and self.simple == (style[:1] or "."):
            return []
        return [j for j, part in enumerate(self.parts) if not self._fits(part, style)]

    def _fits(self, part: Quantity | None, style: str) -> bool:
        found = None if part is None else _value(part, style, self.unit)
        if part is None or found is None:
            return False
        return part.unit == self.unit or found == 0 or self.unit.endswith(SCALED)

    def marks(self, style: str) -> list[str]:
        """The decimal comma, and the marks between thousands, that words have."""
        decimal = style[:1] or "."
        comma = ["decimal,"] if decimal == "," and self.has_commas else []
        if self.simple == decimal:
            return comma
        groups: set[str] = set().union(*(part.marks(decimal) for part in self.parts if part is not None))
        return comma + sorted(groups)

    @cached_property
    def coded(self) -> bool:
        """Whether a word of digits alone starts with a zero, as codes do: 007."""
        return any(word.isdigit() and LEADING_ZERO.match(word) for word in self.words)

    @property
    def has_commas(self) -> bool:
        """Whether a number has a comma."""
        if self.simple:
            return self.simple == "," and any("," in word for word in self.words)
        return any(part is not None and "," in part.digits for part in self.parts)

    @cached_property
    def marked(self) -> str | None:
        """The first number with a comma or a point."""
        if self.simple:
            return next((word for word in self.words if self.simple in word), None)
        marks = ((word, part) for word, part in zip(self._plain, self.parts, strict=True) if part is not None)
        return next((word for word, part in marks if "," in part.digits or "." in part.digits), None)


@dataclass(frozen=True)
class TableStyle:
    """How the numbers of a table are written, and which columns leave it open."""

    style: str
    questions: Mapping[str, str] = field(default_factory=dict)


def table_style(columns: Mapping[str, NumberWords], decimal: str | None = None, points: bool = True) -> TableStyle:
    """The one style in which all columns of numbers are written."""
    if decimal is not None:
        return TableStyle(_with_groups(columns, decimal))
    whole: dict[str, str] = {}
    most: dict[str, str] = {}
    undecided = []
    for name, words in columns.items():
        vote, all_fit = _vote(words)
        if vote is not None:
            (whole if all_fit else most).setdefault(vote, name)
        elif all_fit is not None and words.marked is not None:
            undecided.append(name)
    votes = whole or most
    pointed = [name for name in undecided if points and not columns[name].has_commas]
    if not votes and pointed:
        votes = {".": pointed[0]}
    if len(votes) > 1:
        comma, point = votes[","], votes["."]
        text = (
            f"holds {columns[comma].marked!r}, with a decimal comma, but column {point!r} holds "
            f"{columns[point].marked!r}, with a decimal point"
        )
        return TableStyle(_with_groups(columns, "."), {comma: text})
    if not votes and undecided:
        return TableStyle(_with_groups(columns, "."), {name: _two_values(columns[name]) for name in undecided})
    style = _with_groups(columns, next(iter(votes), "."))
    return TableStyle(style if votes or not style else "?" + style[1:])


def _two_values(words: NumberWords) -> str:
    part = quantity(words.marked or "")
    comma, point = (None if part is None else part.value(ANY_GROUPS[mark]) for mark in ",.")
    return f"holds {words.marked!r}, which is {comma:.12g} with a decimal comma and {point:.12g} with a decimal point"


def _vote(words: NumberWords) -> tuple[str | None, bool | None]:
    """The decimal mark that a column shows, and whether all of its cells fit; None, None for no numbers."""
    n = len(words.words)
    if not n or words.coded:
        return None, None
    if words.simple:
        shown = any(words.simple in word and not GROUPED.fullmatch(word) for word in words.words)
        return words.simple if shown else None, True
    fits = {mark: n - len(words.misfits(ANY_GROUPS[mark])) for mark in ",."}
    best = max(fits, key=fits.__getitem__)
    if fits[best] <= MOSTLY * n:
        return None, None
    return None if fits[","] == fits["."] else best, fits[best] == n


def _with_groups(columns: Mapping[str, NumberWords], decimal: str) -> str:
    """A style with the marks between thousands that columns of numbers show."""
    every = ANY_GROUPS[decimal]
    found: set[str] = set()
    for words in columns.values():
        if words.coded or words.simple == decimal or 2 * len(words.misfits(every)) >= len(words.words):
            continue
        for part in words.parts:
            if part is not None and (marks := part.marks(decimal)) and part.value(every) is not None:
                found |= marks
    style = decimal + "".join(sorted(found))
    return "" if style == "." else style
