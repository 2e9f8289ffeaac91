"""What an estimator says of an attribute that it does not have."""

from typing import Any

ALSO_PREDICTS = "proxembed.fit_on({}(), dataset) fits it with a scaling and a read-out that predicts."
PREDICTIONS = ("predict", "predict_proba", "decision_function", "score")


def missing_attribute(estimator: Any, name: str) -> Any:
    """Raise the AttributeError of an attribute that an embedding does not have, with the reason where there is one, and
    with what predicts."""
    try:
        return object.__getattribute__(estimator, name)
    except AttributeError as error:
        cause = error.__cause__
        reason = str(cause) if isinstance(cause, AttributeError) else ""
        if not reason and name in PREDICTIONS:
            reason = f"it embeds and does not predict. {ALSO_PREDICTS.format(type(estimator).__name__)}"
        if not reason:
            raise
        raise AttributeError(f"{error}: {reason}", name=name, obj=estimator) from cause
