"""The report room: results in, plain data, files and one self-contained page out."""

from .adaptive import adaptive_section
from .decision_lines import Plane, decision_lines
from .map_page import map_axes
from .matrices import proximity_section
from .measured import measured_axes
from .page import page_html, table_card, verdict_card
from .record import leaderboard_csv, make_record, make_unfinished, read_record, versions
from .sections import component_section, data_card, label_section, map_section, reliability_section
from .verdict import reworded, worded
from .views import choice_text, score_text

__all__ = [
    "Plane",
    "adaptive_section",
    "choice_text",
    "component_section",
    "data_card",
    "decision_lines",
    "label_section",
    "leaderboard_csv",
    "make_record",
    "make_unfinished",
    "map_axes",
    "map_section",
    "measured_axes",
    "page_html",
    "proximity_section",
    "read_record",
    "reliability_section",
    "reworded",
    "score_text",
    "table_card",
    "verdict_card",
    "versions",
    "worded",
]
