"""The main job as functions: search() and compare(), their options and their results."""
