"""Qian and Davidson 2010: SSDR-MC."""
