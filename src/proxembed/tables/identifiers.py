"""Columns that say whose row it is: names of identifiers, row numbers, and which of several columns groups the rows."""

import re
from collections.abc import Mapping, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from .cells import truth_words
from .quantities import LEADING_ZERO, NumberWords

FEWEST_OWNERS = 10  # different values of an identifier, and rows of numbered rows
WHOLE = re.compile(r"[+-]?\d+(?:\.0*)?", re.ASCII)
COUNTED = re.compile(  # a number, a range or a bound (10+)
    r"[<>]?\s*[\d.,]+[kKM]?\s*(?:[-\u2013]\s*[\d.,]+[kKM]?|\+)?", re.ASCII
)
NUMBERED_WORD = re.compile(r"[^\W\d]+[ _#-]*\d+")
ID_NAME = re.compile(r"(?i:(?:^|[\W_])(?:id|key|uuid|guid|index|row|nr)$)|[a-z](?:ID|Id)$")
ROW_NAMES = re.compile(r"Unnamed: 0(?:\.\d+)?|row[\W_]?names?", re.IGNORECASE)  # as pandas and R write them
CODES = frozenset(  # of places, industries and other kinds
    "code codes zip zipcode zipcodes postcode plz fips naics nace noga isic sic areacode".split()
)
WORD = re.compile(r"[a-z]{3,}")  # unlike the name of a person
IDS = frozenset({"id", "identifier", "uuid", "guid"})
NUMBERINGS = IDS | {"nr", "no", "num", "number", "nummer", "name", "code", "key", "hash", "index", "ref"}
COUNTS = frozenset({"no", "num", "number"})  # which beside a plural count
MACHINES = frozenset({"host", "machine", "device", "batch"})
OWNERS = MACHINES | frozenset(
    "patient subject user customer client person participant donor student household session visitor account case "
    "respondent member employee individual pupil teacher volunteer worker driver passenger applicant borrower "
    "subscriber speaker writer author player shopper guest owner encounter admission visit".split()
)
SHORT = frozenset({"pid", "ptid", "uid", "mrn", "usubjid", "subjid", "sessid", "custid"})
QUALIFIERS = frozenset(
    "anon anonymous anonymized anonymised pseudo unique study original orig encoded masked hashed deidentified trial "
    "clinical hospital research internal external our the".split()
)
JOINED = re.compile(rf"(?:{'|'.join(sorted(OWNERS))})s?(?:id|nr|no|num|number|key|uuid)")
BY_CHANCE = 1e-5  # that unrelated values carry one label set each
TRIED = 2000  # rows on which most columns are seen not to settle the labels
UNEVEN = 0.15  # by which the share of half the values in the rows differs from that in the values
ORDERLY = 2.0  # standard errors above which neighbouring numbers have one label set more often than others
LARGEST = 0.25  # share of the rows that one entity has at most: a value such as 0 has more
LEAST_VALUES = 3  # that have a label set, for two label sets at least
FEW_OWNERS = 20  # different values; below, words are a category, and numbers of two label sets a measurement


def identifier_name(name: str) -> str:
    """What a column name says: "identifier", "owners" (a plural, which may be a count) or "" for anything else."""
    words = _words(name)
    if not words:
        return ""
    if words[-1] in IDS or words[0] in SHORT or JOINED.fullmatch(words[0]) and len(words) == 1:
        return "identifier"
    if words[0] in IDS:
        words = words[1:]
        return "identifier" if len(words) == 1 and _owner(words[0]) else ""
    if not _owner(words[0]) or len(words) > 2 or not set(words[1:]) <= NUMBERINGS:
        return ""
    plural = words[0] not in OWNERS
    return "owners" if plural and set(words[1:]) <= COUNTS else "identifier"


def _words(name: str) -> list[str]:
    """The words of a name in lower case, without numbers at its end and words such as "anonymous" at its beginning."""
    name = re.sub(r"(?<![A-Z])(?:IDs?|Ids)(?![a-z])", " id ", name)
    name = re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    words = ["id" if word == "ids" else word for word in re.split(r"[\W_]+", name.casefold()) if word]
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    while len(words) > 1 and words[0] in QUALIFIERS:
        words.pop(0)
    return words


def _owner(word: str) -> bool:
    return word in OWNERS or word.removesuffix("s") in OWNERS


def owner_name(name: str) -> bool:
    """Whether a name is that of an identifier, and names its owners: persons, sessions, machines."""
    return bool(identifier_name(name)) and any(map(_owner, _words(name)))


def says_which_row(name: str) -> bool:
    """Whether a column name is that of an id, of an identifier, of row names or of row numbers."""
    return bool(ID_NAME.search(name) or ROW_NAMES.fullmatch(name) or identifier_name(name))


def is_id_name(name: str) -> bool:
    """Whether the last word of a column name is id."""
    return bool(IDS.intersection(_words(name)[-1:]))


def code_name(name: str) -> bool:
    """Whether a column name says that its whole numbers are codes, such as zip codes, and not lines of code."""
    words = _words(name)
    return bool(CODES.intersection(words[-1:])) and "of" not in words


def are_decimals(words: Sequence[str]) -> bool:
    """Whether all cells are numbers, some with decimals, and none with a leading zero as codes have."""
    bare = NumberWords(words).simple and not any(map(LEADING_ZERO.match, words))
    return bool(bare) and not all(map(WHOLE.fullmatch, words))


def names_owners(name: str, words: Sequence[str], counts: NDArray[np.integer]) -> bool:
    """Whether a column of this name, whose cells are whole numbers or tokens, is an identifier. A plural of few whole
    numbers, such as devices of 1 to 6, is a count, and ranges such as 100k-150k that repeat say how much."""
    said = identifier_name(name)
    ranges = all(map(COUNTED.fullmatch, words)) and not all(map(WHOLE.fullmatch, words))
    if ranges and (said == "owners" or counts.max() > 1 and any(word[-1] in "kKM" for word in words)):
        return False
    if said != "owners" or not all(map(WHOLE.fullmatch, words)):
        return bool(said)
    if len(words) < FEWEST_OWNERS:
        return False
    numbers = np.array([float(word) for word in words])
    order = np.argsort(numbers)
    n, quarter, share = len(words), len(words) // 4, counts[order] / counts.sum()
    halves = share[: n // 2].sum() - (n // 2) / n, share[quarter : n - quarter].sum() - (n - 2 * quarter) / n
    evenly = max(map(abs, halves)) < UNEVEN
    return bool(evenly and n > 0.6 * (numbers[order[-1]] - numbers[order[0]] + 1))


def is_answer(words: Sequence[str]) -> bool:
    """Whether the cells of a column are yes and no, 1 and 0, or two words in small letters."""
    if truth_words(words) is not None or len(words) == 2 and all(map(WORD.fullmatch, words)):
        return True
    return all(map(WHOLE.fullmatch, words)) and set(map(float, words)) <= {0.0, 1.0}


def is_single(word: str) -> bool:
    """Whether a cell is one word, or a word and a number such as "Patient 12"."""
    return not re.search(r"\s", word) or NUMBERED_WORD.fullmatch(word) is not None


def first_row_number(words: Sequence[str]) -> int | None:
    """0 or 1 of cells that count the rows from there in their order; None for others."""
    if len(words) < FEWEST_OWNERS or not WHOLE.fullmatch(words[0]) or int(float(words[0])) not in (0, 1):
        return None
    first = int(float(words[0]))
    if any(map(LEADING_ZERO.match, words)):
        return None
    return first if are_numbers(words, range(first, first + len(words))) else None


def are_numbers(words: Sequence[str], numbers: Sequence[int]) -> bool:
    """Whether words write these whole numbers, one by one."""
    pairs = zip(words, numbers, strict=False)
    return len(words) == len(numbers) and all(WHOLE.fullmatch(word) and float(word) == number for word, number in pairs)


def grouping(columns: Mapping[str, NDArray[np.integer]]) -> str:
    """The column of several identifiers that groups the rows: the coarsest that contains the others."""
    values = {name: len(np.unique(codes)) for name, codes in columns.items()}
    chosen = min(columns, key=lambda name: (bool(set(_words(name)) & MACHINES), values[name]))
    for name in sorted(columns, key=values.__getitem__, reverse=True):
        if values[name] < values[chosen] and settles(columns[chosen], columns[name]):
            chosen = name
    return chosen


def settles(codes: NDArray[np.integer], others: NDArray[np.integer]) -> bool:
    """Whether rows of one value of a column, -1 where empty, always have one value of another column."""
    known = (codes >= 0) & (others >= 0)
    codes, others = np.asarray(codes)[known], np.asarray(others)[known]
    if not len(codes):
        return False
    of_value = np.zeros(int(codes.max()) + 1, dtype=others.dtype)
    of_value[codes] = others
    return bool((of_value[codes] == others).all())


def is_entity(words: Sequence[str], codes: NDArray[np.integer], sets: NDArray[np.integer]) -> bool:
    """Whether the values of a column stand for entities: all rows of a value have one and the same label set."""
    first = slice(0, TRIED)
    if not settles(codes[first], sets[first]) or not settles(codes, sets):
        return False
    known = (codes >= 0) & (sets >= 0)
    present, codes = np.unique(codes[known], return_inverse=True)
    sets = np.unique(sets[known], return_inverse=True)[1]
    counts, share = np.bincount(codes), np.bincount(sets) / len(sets)
    sizes, times = np.unique(counts[counts > 1], return_counts=True)
    if times.sum() < FEWEST_OWNERS or 2 * (sizes * times).sum() < len(codes) or sizes[-1] > LARGEST * len(codes):
        return False
    of_value = np.zeros(len(present), dtype=np.intp)
    of_value[codes] = sets
    if (np.bincount(of_value) >= LEAST_VALUES).sum() < 2:
        return False
    if sum(often * log((share**size).sum()) for size, often in zip(sizes, times, strict=True)) > log(BY_CHANCE):
        return False
    if all(map(WHOLE.fullmatch, words)):
        return not _measures(np.array([float(words[j]) for j in present]), of_value)
    numbered = 2 * sum(any(map(str.isdigit, word)) for word in words) > len(words)
    return numbered or len(present) >= max(FEW_OWNERS, len(codes) ** 0.5)


def _measures(numbers: NDArray[np.floating], sets: NDArray[np.integer]) -> bool:
    """Whether whole numbers that settle the label sets are measurements: the next number often has the same set."""
    counts = np.bincount(sets)
    if len(sets) < FEW_OWNERS and (counts > 0).sum() < 3:
        return True
    own, expected = sets[np.argsort(numbers)], float(((counts / len(sets)) ** 2).sum())
    error = (expected * (1 - expected) / (len(sets) - 1)) ** 0.5
    return bool((own[1:] == own[:-1]).mean() > expected + ORDERLY * error)


def group_codes(codes: NDArray[np.integer]) -> NDArray[np.intp]:
    """The groups of rows by the cells of a column; a row whose cell is empty (-1) is a group of its own."""
    found = np.asarray(codes, dtype=np.intp).copy()
    empty = found < 0
    found[empty] = found.max(initial=-1) + 1 + np.arange(int(empty.sum()))
    return found
