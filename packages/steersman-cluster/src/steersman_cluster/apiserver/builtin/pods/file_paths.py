"""Paths of files inside volumes and containers."""

from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid


def backstep_errors(path: str, field: str) -> list[FieldError]:
    """Return the error for a path that contains ``..``."""
    if ".." in path and ".." in path.split("/"):
        return [invalid(field, path, "must not contain '..'")]
    return []


def descending_errors(path: str, field: str) -> list[FieldError]:
    """Return the errors for a path that is absolute or contains ``..``."""
    errors = [invalid(field, path, "must be a relative path")] if path.startswith("/") else []
    return errors + backstep_errors(path, field)


def own_path_errors(path: str, field: str) -> list[FieldError]:
    """Return the errors for a path that leaves its base directory, or starts with ``..``.

    Names that start with ``..`` are reserved for files that the volume itself creates.
    """
    errors = descending_errors(path, field)
    if path.startswith("..") and not path.startswith("../"):
        errors.append(invalid(field, path, "must not start with '..'"))
    return errors
