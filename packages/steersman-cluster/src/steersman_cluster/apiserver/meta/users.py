"""Users, well-known groups, and the names of service accounts and nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from steersman_cluster.apiserver.meta.name_validation import label_name, subdomain_name

ADMINISTRATORS = "system:masters"
AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
NODES = "system:nodes"
ACCOUNTS = "system:serviceaccounts"

CREDENTIAL = "authentication.kubernetes.io/credential-id"
NODE_NAME = "authentication.kubernetes.io/node-name"

_ACCOUNT = "system:serviceaccount:"
_NODE = "system:node:"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A user: the name, the groups, the UID and extra attributes."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def joining(self, group: str) -> "User":
        """Return a user that differs from this one only in one more group, ``group``."""
        return self if group in self.groups else replace(self, groups=(*self.groups, group))


ANONYMOUS = User(name="system:anonymous", groups=(UNAUTHENTICATED,))


def account_user(namespace: str, name: str) -> str:
    """Return the user name of the service account ``name`` in ``namespace``."""
    return f"{_ACCOUNT}{namespace}:{name}"


def account_groups(namespace: str) -> tuple[str, ...]:
    """Return the groups to which every service account in ``namespace`` belongs."""
    return ACCOUNTS, f"{ACCOUNTS}:{namespace}"


def account_of(user: str) -> tuple[str, str] | None:
    """Return the namespace and the name of the service account whose user name is ``user``.

    Returns None if ``user`` is not the user name of a service account.
    """
    if not user.startswith(_ACCOUNT):
        return None
    namespace, separator, name = user.removeprefix(_ACCOUNT).partition(":")
    if not separator or label_name(namespace, False) or subdomain_name(name, False):
        return None
    return namespace, name


def node_of(user: str) -> str | None:
    """Return the name of the node whose user name is ``user``; None if there is none."""
    if not user.startswith(_NODE):
        return None
    name = user.removeprefix(_NODE)
    return None if subdomain_name(name, False) else name
