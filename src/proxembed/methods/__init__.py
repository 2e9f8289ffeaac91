"""The methods, one family per file."""
