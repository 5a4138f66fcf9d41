"""The access modes of PersistentVolumes and PersistentVolumeClaims."""

from typing import Final

from steersman_cluster.apiserver.meta.field_errors import FieldError, forbidden, not_supported

ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES: Final = ("Block", "Filesystem")


def access_mode_errors(modes: list[str], path: str) -> list[FieldError]:
    """Return the errors in access modes; ReadWriteOncePod excludes all other modes."""
    errors = [not_supported(path, mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    if "ReadWriteOncePod" in modes and set(modes) & {*ACCESS_MODES} - {"ReadWriteOncePod"}:
        errors.append(forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors
