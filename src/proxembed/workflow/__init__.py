"""Jobs as functions: search and comparison, one fit, new rows; their options, records and results."""
