"""Why something was refused, in pieces."""

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object


def causes_of(refusal: StatusError) -> list[Object]:
    """The causes, as the answer has them."""
    causes: list[Object] = refusal.status()["details"]["causes"]
    return causes


def sentences_of(refusal: StatusError) -> list[str]:
    """The causes, each as ``field: sentence``."""
    return [f"{each['field']}: {each['message']}" for each in causes_of(refusal)]
