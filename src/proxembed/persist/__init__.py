"""Saved models: one .skops file that holds no code, with a card beside it, written whole or not at all."""

from .model_file import check_model_path, load, load_source, model_card, model_files, save, trusted_names

__all__ = ["check_model_path", "load", "load_source", "model_card", "model_files", "save", "trusted_names"]
