"""Impersonation of another user."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from urllib.parse import quote

from steersman.errors import BadValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Impersonation:
    """Another user's identity, which is sent with each request.

    The client's own user needs the permission ``impersonate``.
    """

    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values = (self.user, self.uid, *self.groups, *chain.from_iterable(self.extra.values()))
        if not self.user or not all(map(str.isprintable, values)):
            raise BadValue(
                wanted="a user to impersonate",
                value=self.user,
                rule="a user must be set, and all characters must be printable",
            )

    def headers(self) -> tuple[tuple[str, str], ...]:
        """The request headers of the impersonated identity."""
        uid = (("Impersonate-Uid", self.uid),) if self.uid else ()
        groups = (("Impersonate-Group", group) for group in self.groups)
        extra = (
            (f"Impersonate-Extra-{quote(key.lower(), safe='')}", value)
            for key, values in self.extra.items()
            for value in values
        )
        return (("Impersonate-User", self.user), *uid, *groups, *extra)
