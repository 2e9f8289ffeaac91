"""Every reader of the registry: found by its suffixes, named in messages, and any bytes are read or refused."""

import gzip
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proxembed.data import Columns, DataError, Dataset, read, read_rows, size_of
from proxembed.data.readers import READERS
from proxembed.data.readers.reader import readers
from proxembed.tables import TableRows

SUFFIXES = list(READERS)
TWO_FEATURES = {"n_features": 2, "names": ["s0", "s1"]}


def refusal(call, *arguments, **options):
    """The text of a DataError, which is one sentence."""
    with pytest.raises(DataError) as caught:
        call(*arguments, **options)
    text = str(caught.value)
    assert text.endswith((".", "?")) and "\n" not in text
    return text


@pytest.mark.parametrize("reader", readers(), ids=lambda reader: reader.name)
def test_a_reader_states_what_it_reads(reader):
    assert [each.name for each in readers()].count(reader.name) == 1
    assert len(type(reader).__doc__.partition("\n")[0]) > 20
    for suffix in reader.suffixes:
        assert re.fullmatch(r"\.[a-z0-9]+", suffix) and suffix in reader.accepts and READERS[suffix] is reader


@pytest.mark.parametrize("call", [read, lambda path: read_rows(path, {})], ids=["labelled", "new rows"])
def test_the_formats_are_listed_in_their_order(tmp_path, call):
    (tmp_path / "a.none").touch()
    text, known = refusal(call, tmp_path / "a.none"), readers()
    names = [reader.accepts for reader in known] if call is read else SUFFIXES
    places = [text.find(name) for name in names]
    begin = "the file name has no known ending; if it is a table of text, name it a.csv; accepted are"
    assert begin in text and min(places) > 0
    assert [reader.place for reader in known] == sorted(reader.place for reader in known)
    assert call is not read or places == sorted(places)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_does_not_fit_is_refused(tmp_path, suffix):
    gone, there = tmp_path / f"gone{suffix}", tmp_path / f"there{suffix.upper()}"
    there.touch()
    for call in (read, lambda path: read_rows(path, {}), size_of):
        assert "no such file" in refusal(call, gone)
    other = next(each for each in SUFFIXES if READERS[each] is not READERS[suffix])
    (tmp_path / f"other{other}").touch()
    assert "the format differs" in refusal(read, there, test=tmp_path / f"other{other}")
    if not READERS[suffix].takes_columns:
        assert "columns of this format are not named by purpose" in refusal(read, there, columns=Columns(id="doc"))


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=20, deadline=None)  # the first example pays for imports
@given(content=st.binary(max_size=200))
@example(content=b"")
@example(content=b"\n")
@example(content=b"1 2\n3 4\n")
@example(content=b"\xff\xfe1")
def test_any_bytes_are_read_or_refused(suffix, packed, content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}.gz" if packed else f"a{suffix}")
        path.write_bytes(gzip.compress(content) if packed else content)
        for call, kinds in ((read, Dataset), (lambda path: read_rows(path, TWO_FEATURES), tuple)):
            try:
                found = call(path)
            except DataError as error:
                assert path.name in str(error) and str(error).endswith((".", "?")) and "\n" not in str(error)
            else:
                assert isinstance(found, kinds)
                X = found.X if call is read else found[0]
                assert call is read or isinstance(X, TableRows) or X.shape[1] == 2
