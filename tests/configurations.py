"""Global configurations of scikit-learn under which every result must be that of the default one."""

import os
import sys
from contextlib import contextmanager

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.utils import _set_output

from proxembed.methods.pipeline import EmbeddingPipeline

CONFIGURATIONS = {
    "routing": {"enable_metadata_routing": True},
    "pandas": {"transform_output": "pandas"},
    "polars": {"transform_output": "polars"},
}
DEFAULT = {"enable_metadata_routing": False, "transform_output": "default"}
NAMED = os.environ.get("PROXEMBED_SKLEARN_CONFIG")
SKIPPED = ("sklearn", "contextlib", "joblib", "functools")


@contextmanager
def configured(name):
    """A block under a configuration by its name, in which tests read arrays; None: under the default one."""
    with pytest.MonkeyPatch.context() as patch, sklearn.config_context(**(CONFIGURATIONS[name] if name else DEFAULT)):
        if name and "transform_output" in CONFIGURATIONS[name]:
            arrays_for_tests(patch)
        yield


def arrays_for_tests(monkeypatch):
    """Tests get arrays, as they read them; the package gets the container that scikit-learn makes."""
    made, contained = _set_output._wrap_data_with_container, EmbeddingPipeline._contained

    def wrapped(method, values, *args):
        sparse_for_tests = sparse.issparse(values) and _caller(SKIPPED) != "proxembed"  # scikit-learn refuses them
        return values if sparse_for_tests else read(made(method, values, *args), SKIPPED)

    def read(container, skipped):
        frame = type(container).__module__.partition(".")[0] in ("pandas", "polars")
        return np.asarray(container) if frame and _caller(skipped) != "proxembed" else container

    monkeypatch.setattr(_set_output, "_wrap_data_with_container", wrapped)
    monkeypatch.setattr(
        EmbeddingPipeline, "_contained", lambda *args: read(contained(*args), (*SKIPPED, "proxembed.methods.pipeline"))
    )


def _caller(skipped):
    """The package of the nearest caller outside of this module and of the skipped ones."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != __name__ and not any(name == each or name.startswith(f"{each}.") for each in skipped):
            return name.partition(".")[0]
        frame = frame.f_back
    return ""
