"""The causes of a rejection."""

from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object


def causes_of(rejection: StatusError) -> list[Object]:
    """Return the causes in the details of the Status."""
    causes: list[Object] = rejection.status()["details"]["causes"]
    return causes


def sentences_of(rejection: StatusError) -> list[str]:
    """Return the causes, each as ``field: message``."""
    return [f"{each['field']}: {each['message']}" for each in causes_of(rejection)]
