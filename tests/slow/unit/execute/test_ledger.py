"""The ledger of a search with worker processes."""

from unit.execute.test_ledger import goes_on_from_any_line


def test_a_search_with_two_workers_goes_on_from_any_line_and_ends_as_the_whole_one(tmp_path):
    goes_on_from_any_line("two workers", tmp_path)
