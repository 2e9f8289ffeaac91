"""Where the documentation of a class is on the web: the diagrams of scikit-learn link to it."""

from importlib import import_module

SITE = "https://proxembed.readthedocs.io/en/latest"  # of the project that .readthedocs.yaml builds


def public_path(cls: type) -> str:
    """Where users import a class from: the package, its room, or its module."""
    package, room = cls.__module__.split(".")[:2]
    name, own = cls.__name__, f"{package}.{room}"
    if name in import_module(package).__all__:
        return f"{package}.{name}"
    return f"{own if hasattr(import_module(own), name) else cls.__module__}.{name}"


class DocumentedOnline:
    """The address of the page of a class, as ``BaseEstimator`` of scikit-learn asks for it."""

    _doc_link_module = "proxembed"
    _doc_link_template = SITE + "/generated/api/{page}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"page": public_path(type(self)).partition(".")[2]}
