"""Where the documentation of a class is: the address of each page, in the diagrams of scikit-learn."""

import sys
from html import unescape
from pathlib import Path

import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version

from proxembed import CCA, MESD
from proxembed.estimator.online import SITE
from proxembed.params import declared

sys.path.append(str(Path(__file__).resolve().parents[3] / "docs" / "_ext"))
import api_pages  # noqa: E402

PAGES = {entry.thing: entry.page for group in api_pages.groups().values() for entry in group if entry.is_estimator}
TOOLTIPS = parse_version(sklearn.__version__) >= parse_version("1.8")


def test_every_estimator_links_to_its_page(tmp_path):
    api_pages.write_pages(tmp_path)
    assert len(PAGES) > 70
    for cls, page in PAGES.items():
        address = object.__new__(cls)._get_doc_link()
        assert address == f"{SITE}/generated/api/{page}.html"
        assert (tmp_path / f"{address.rpartition('/')[2].removesuffix('.html')}.md").is_file()


def test_a_class_of_a_room_is_under_its_room():
    from proxembed.classify import MultiOutputRidge

    assert MultiOutputRidge()._get_doc_link().startswith(SITE) and CCA()._get_doc_link().endswith("/api/CCA.html")


def test_a_class_of_a_user_has_no_page():
    class _Mine(CCA):
        """Mine."""

    assert _Mine()._get_doc_link() == ""


def test_the_diagram_of_a_pipeline_links_to_the_page():
    html = make_pipeline(StandardScaler(), MESD())._repr_html_()
    assert f'href="{SITE}/generated/api/MESD.html"' in html


@pytest.mark.skipif(not TOOLTIPS, reason="this scikit-learn shows no parameters as tooltips")
@pytest.mark.parametrize("cls", PAGES, ids=lambda cls: cls.__name__)
def test_parameters_have_tooltips(cls):
    estimator = cls()
    text = unescape(estimator._get_params_html(doc_link=estimator._get_doc_link())._repr_html_inner())
    for name, (_, spec) in declared(cls).items():
        assert f"--doc-link-{name};" in text and spec.doc.split()[0] in text
