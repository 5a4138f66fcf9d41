"""How a volume may be used, by how many at once."""

from typing import Final

from steersman_cluster.apiserver.meta.field_errors import FieldError, forbidden, not_supported

ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES: Final = ("Block", "Filesystem")


def access_mode_errors(modes: list[str], path: str) -> list[FieldError]:
    """What is wrong with ways to use a volume, of which one excludes all others."""
    errors = [not_supported(path, mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    if "ReadWriteOncePod" in modes and set(modes) & {*ACCESS_MODES} - {"ReadWriteOncePod"}:
        errors.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors
