"""Numbers in text cells: signs, marks between thousands, decimal marks, exponents and units, by one grammar."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NUMBER = re.compile(r"[+-]?(?:\d++\.?\d*+|\.\d++)(?:[eE][+-]?\d++)?", re.ASCII)
LEADING_ZERO = re.compile(r"0\d")
MINUS = str.maketrans(dict.fromkeys("\u2212\u2012\u2013\ufe63\uff0d", "-") | {"\uff0b": "+"})
BLANKS = " \u00a0\u2009\u202f"  # blank, no-break space, thin space, narrow no-break space
APOSTROPHES = "'\u2019"
UNIT = r"""['"]|''|[^\W\d_]+[23]|[^\d\s.,:/'"\u2019()+-][^\d'"\u2019()]{0,10}[\u00b2\u00b3]?"""
QUANTITY = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[-+]?)\s*(?P<currency>[$€£¥₹]?)\s*(?P<inner>[-+]?)"
    rf"(?P<digits>(?:\d(?:[\d.,{APOSTROPHES}{BLANKS}]*\d)?\.?|[.,]\d+))(?P<exponent>(?:[eE][+-]?\d+)?)"
    rf"\s*(?P<unit>(?:{UNIT})?)\s*(?P<close>\))?",
    re.ASCII,
)
MARKS = (".", ",")  # that may stand before the decimals


def _form(decimal: str) -> re.Pattern[str]:
    """Digits with this decimal mark; one mark between thousands stands between complete groups of three only."""
    other = "," if decimal == "." else "."
    groups = "|".join(rf"[1-9]\d{{0,2}}(?:[{marks}]\d{{3}})+" for marks in (other, APOSTROPHES, BLANKS))
    fraction = rf"\{decimal}\d*" if decimal == "." else r",\d+"
    return re.compile(rf"(?:(?:{groups}|\d+)(?:{fraction})?|\{decimal}\d+)", re.ASCII)


FORMS = {mark: _form(mark) for mark in MARKS}
BETWEEN = {mark: str.maketrans("", "", ("," if mark == "." else ".") + APOSTROPHES + BLANKS) for mark in MARKS}


@dataclass(frozen=True)
class Quantity:
    """A number in text: whether it is negative, its digits with their marks, its exponent and its unit."""

    negative: bool
    digits: str
    exponent: str
    unit: str
    bracketed: bool = False

    def value(self, decimal: str) -> float | None:
        """The number with this decimal mark; None if the digits do not fit it."""
        if not FORMS[decimal].fullmatch(self.digits):
            return None
        plain = self.digits.translate(BETWEEN[decimal]).replace(",", ".")
        size = float(plain + self.exponent)
        return -size if self.negative else size


def quantity(word: str) -> Quantity | None:
    """The parts of a number with an optional unit or currency; None for other text.

    Examples
    --------
    >>> from proxembed.tables.numerals import quantity
    >>> quantity("1.234,50 EUR").value(","), quantity("(12)").value("."), quantity("5'11\\"")
    (1234.5, -12.0, None)
    """
    part = QUANTITY.fullmatch(word.translate(MINUS) if not word.isascii() else word)
    if part is None or (part["open"] is None) != (part["close"] is None):
        return None
    signs = part["sign"] + part["inner"]
    bracketed = part["open"] is not None
    unit = part["currency"] + part["unit"].strip()
    if len(signs) + bracketed > 1 or (part["currency"] and part["unit"]):
        return None
    if not any(form.fullmatch(part["digits"]) for form in FORMS.values()):
        return None
    return Quantity(bracketed or signs == "-", part["digits"], part["exponent"], unit, bracketed)


def number_misfits(words: Sequence[str], unit: str | None = None, decimal: str | None = None) -> list[int]:
    """The places of the words that are not numbers of the form of most others, in a unit (None: that of most).

    ``decimal`` is the decimal mark; None takes the one that more words fit.

    Examples
    --------
    >>> from proxembed.tables.numerals import number_misfits
    >>> number_misfits(["36,66", "-", "12,5o", "7"]), number_misfits(["3 kg", "4.5 kg", "10 g"])
    ([1, 2], [2])
    """
    found = [quantity(word) for word in words]
    if unit is None:
        unit = _main_unit(found)
    places = [
        [j for j, each in enumerate(found) if each is None or each.unit != unit or each.value(mark) is None]
        for mark in ((decimal,) if decimal else MARKS)
    ]
    return min(places, key=len)


def _main_unit(found: Sequence[Quantity | None]) -> str:
    units = Counter(each.unit for each in found if each is not None)
    return max(units, key=units.__getitem__, default="")


def decimal_marks(words: Sequence[str]) -> tuple[str, ...]:
    """The decimal marks with which all words are numbers of one unit: both, one, or none.

    Examples
    --------
    >>> from proxembed.tables.numerals import decimal_marks
    >>> decimal_marks(["1,234", "12"]), decimal_marks(["0,126"]), decimal_marks(["1,5", "1.5"])
    (('.', ','), (',',), ())
    """
    found = [quantity(word) for word in words]
    if not found or len({None if each is None else each.unit for each in found}) > 1 or None in found:
        return ()
    known = [each for each in found if each is not None]
    if all(each.bracketed for each in known):
        return ()
    return tuple(mark for mark in MARKS if all(FORMS[mark].fullmatch(each.digits) for each in known))


def number_style(words: Sequence[str], decimal: str | None = None) -> tuple[str, str] | None:
    """How all words write a number: what commas mean ("", "thousands" or "decimal"), and the unit they share.

    None for words that are not numbers, or have several units. If both marks fit, ``decimal`` decides (None: ".").

    Examples
    --------
    >>> from proxembed.tables.numerals import number_style
    >>> number_style(["1,299 EUR", "15 EUR"]), number_style(["3.1 l/min"]), number_style(["3,1", "2"])
    (('thousands', 'EUR'), ('', 'l/min'), ('decimal', ''))
    >>> number_style(["3 kg", "10 g"]) is None, number_style(["1,234"], ",")
    (True, ('decimal', ''))
    """
    if words and decimal != "," and all(map(NUMBER.fullmatch, words)):
        return "", ""
    marks = decimal_marks(words)
    if not marks:
        return None
    mark = decimal if decimal in marks else marks[0]
    first = quantity(words[0])
    unit = "" if first is None else first.unit
    return ("decimal" if mark == "," else "thousands" if any("," in word for word in words) else ""), unit


def number(word: str, style: str, unit: str) -> float | None:
    """A cell as a number, in a style and a unit of ``number_style``; None for anything else.

    Examples
    --------
    >>> from proxembed.tables.numerals import number
    >>> number("1,299 EUR", "thousands", "EUR"), number("1e-3", "", ""), number("3 kg", "", "EUR")
    (1299.0, 0.001, None)
    >>> number("1.250,5", "decimal", ""), number("12.50", "decimal", ""), number("0,126", "thousands", "")
    (1250.5, None, None)
    """
    if style != "decimal" and NUMBER.fullmatch(word):
        return float(word)
    found = quantity(word)
    if found is None or found.unit not in ("", unit) or style == "" and "," in found.digits:
        return None
    return found.value("," if style == "decimal" else ".")


def marks_of_table(columns: Iterable[Sequence[str]]) -> set[str]:
    """The decimal marks that columns of text cells show: those of columns whose numbers fit one mark alone.

    Few cells of a column may be other text.

    Examples
    --------
    >>> from proxembed.tables.numerals import marks_of_table
    >>> marks_of_table([["1,234", "2,345"], ["0,5", "1,25"]]), marks_of_table([["1,234"], ["3"]])
    ({','}, set())
    """
    shown = set()
    for words in columns:
        if not any("," in word or "." in word for word in words):
            continue
        found = {mark: len(number_misfits(words, decimal=mark)) for mark in MARKS}
        few, many = sorted(MARKS, key=found.__getitem__)
        if found[few] < found[many] and 4 * found[few] <= len(words):
            shown.add(few)
    return shown
