"""Paths of files inside volumes and containers."""

from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid


def backstep_errors(path: str, field: str) -> list[FieldError]:
    """A path that climbs out of where it starts."""
    if ".." in path and ".." in path.split("/"):
        return [invalid(field, path, "must not contain '..'")]
    return []


def descending_errors(path: str, field: str) -> list[FieldError]:
    """A path that is not below where it starts."""
    errors = [invalid(field, path, "must be a relative path")] if path.startswith("/") else []
    return errors + backstep_errors(path, field)


def own_path_errors(path: str, field: str) -> list[FieldError]:
    """A path that is not below where it starts, or may collide with a volume's own files."""
    errors = descending_errors(path, field)
    if path.startswith("..") and not path.startswith("../"):
        errors.append(invalid(field, path, "must not start with '..'"))
    return errors
