"""The report room: results in, plain data, files and one self-contained page out."""

from .files import leaderboard_csv, write_atomic
from .page import data_card, page_html, score_text, versions
from .summarise import summarise

__all__ = ["data_card", "leaderboard_csv", "page_html", "score_text", "summarise", "versions", "write_atomic"]
