"""The default class of an object that names no class."""

from collections.abc import Iterable

from steersman_cluster.apiserver.meta.strategy import Object


def newest_default(classes: Iterable[Object], *annotations: str) -> str | None:
    """Return the name of the newest default class; None if there is none.

    A class is a default class if one of ``annotations`` marks it.
    """
    found = [each["metadata"] for each in classes if _is_default(each, annotations)]
    # Two classes with the same creation time are ordered by name.
    found.sort(key=lambda about: str(about["name"]))
    found.sort(key=lambda about: str(about["creationTimestamp"]), reverse=True)
    return str(found[0]["name"]) if found else None


def _is_default(obj: Object, annotations: tuple[str, ...]) -> bool:
    has = obj["metadata"].get("annotations") or {}
    return any(has.get(each) == "true" for each in annotations)
