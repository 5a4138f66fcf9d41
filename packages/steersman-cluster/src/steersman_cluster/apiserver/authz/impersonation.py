"""Impersonation, which requires permission for each impersonated name, group and extra.

There are several modes of impersonation. The legacy mode requires the verb ``impersonate`` on
everything that is impersonated, and applies to every request. Each other mode permits the
impersonation only for some requests: it requires the verb ``impersonate:MODE`` on everything that
is impersonated, and the verb ``impersonate-on:MODE:VERB`` on the resource of the request.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote

from msgspec import structs

from steersman.wire import Request
from steersman_cluster.apiserver.authz.denials import denied
from steersman_cluster.apiserver.authz.rbac import Attributes, Authorizer
from steersman_cluster.apiserver.meta import field_errors, status_errors
from steersman_cluster.apiserver.meta.name_validation import dns_subdomain
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.users import (
    ADMINISTRATORS,
    ANONYMOUS,
    AUTHENTICATED,
    NODE_NAME,
    NODES,
    UNAUTHENTICATED,
    User,
    account_groups,
    account_of,
    node_of,
)

AUTHENTICATION = "authentication.k8s.io"

_HEADERS = "impersonate-"
_EXTRA = "extra-"
# The size of the cache of users' modes; a guess at how many users are active at a time.
_CACHED_USERS = 1000


@dataclass(frozen=True, slots=True)
class _Mode:
    """An impersonation mode for some users; the name of the legacy mode is empty."""

    name: str
    applies: Callable[[User, User], bool]  # the impersonated user, and the requesting user

    @property
    def verb(self) -> str:
        return f"impersonate:{self.name}" if self.name else "impersonate"

    @property
    def group(self) -> str:
        """The API group in which the mode checks permissions on users and groups."""
        return AUTHENTICATION if self.name else ""


def _has_only_a_name(user: User) -> bool:
    return not (user.uid or user.groups or user.extra)


def _is_own_node(other: User, user: User) -> bool:
    return (
        _is_node(other, user)
        and account_of(user.name) is not None
        and user.extra.get(NODE_NAME) == (node_of(other.name),)
    )


def _is_node(other: User, _: User) -> bool:
    return _has_only_a_name(other) and node_of(other.name) is not None


def _is_account(other: User, _: User) -> bool:
    return _has_only_a_name(other) and account_of(other.name) is not None


def _is_any_other(other: User, _: User) -> bool:
    return node_of(other.name) is None and account_of(other.name) is None


_OWN_NODE = _Mode("associated-node", _is_own_node)
_MODES = (
    _OWN_NODE,
    _Mode("arbitrary-node", _is_node),
    _Mode("serviceaccount", _is_account),
    _Mode("user-info", _is_any_other),
    _Mode("", lambda _other, _user: True),
)


class ImpersonationHandler:
    """Determines the impersonated user, after its permission checks.

    The last impersonation mode that permitted a request is cached for each user.
    """

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer
        self._last: dict[str, _Mode] = {}

    def impersonated_user(self, request: Request, user: User, wanted: Attributes) -> User:
        """Return the user that ``request`` impersonates; ``user`` without impersonation headers.

        ``user`` sent the request. ``wanted`` is the action of the request, which an impersonation
        mode can restrict.
        """
        shown = [
            (name, value.strip())
            for header, value in request.headers
            # The first letter is compared first: this runs for every request.
            if header[:1] in "iI" and (name := header.lower()).startswith(_HEADERS)
        ]
        other = _requested_user(shown) if shown else None
        if other is None:
            return user
        first: StatusError | None = None
        for mode in sorted(_MODES, key=lambda each: each is not self._last.get(user.name)):
            if not mode.applies(other, user):
                continue
            try:
                self._check(mode, other, user, wanted)
            except StatusError as error:
                first = first or error
                continue
            if len(self._last) >= _CACHED_USERS:
                self._last.clear()
            self._last[user.name] = mode
            return _with_default_groups(other, mode)
        raise first or status_errors.internal_error("all impersonation modes failed")

    def _check(self, mode: _Mode, other: User, user: User, wanted: Attributes) -> None:
        if mode.name:
            self._require(
                user, structs.replace(wanted, verb=f"impersonate-on:{mode.name}:{wanted.verb}")
            )
        for right in _rights(mode, other):
            if mode.name and (why := _mode_error(right)):
                raise denied(user, right, why=why)
            self._require(user, right)

    def _require(self, user: User, right: Attributes) -> None:
        decision = self._authorizer.decide(user, right)
        if not decision.allowed:
            raise denied(user, right, why=decision.reason)


def _requested_user(headers: Iterable[tuple[str, str]]) -> User | None:
    """Return the user to impersonate from the headers; None without impersonation headers."""
    name, uid = "", ""
    groups: list[str] = []
    extra: dict[str, list[str]] = {}
    for header, value in headers:
        match header.removeprefix(_HEADERS):
            case "user":
                name = name or value
            case "uid":
                uid = uid or value
            case "group":
                groups.append(value)
            case key if key.startswith(_EXTRA):
                extra.setdefault(unquote(key.removeprefix(_EXTRA)), []).append(value)
            case _:
                pass
    taken = User(
        name=name,
        uid=uid,
        groups=tuple(groups),
        extra={key: tuple(values) for key, values in extra.items()},
    )
    if not name and not _has_only_a_name(taken):
        raise status_errors.bad_request(
            f"requested {_go_text(taken)} without impersonating a user name"
        )
    return taken if name else None


def _rights(mode: _Mode, other: User) -> Iterator[Attributes]:
    """Yield the permission required for each impersonated attribute of ``other``."""
    one = Attributes(verb=mode.verb, group=mode.group, resource="users", name=other.name)
    if account := account_of(other.name):
        namespace, name = account
        yield structs.replace(one, resource="serviceaccounts", namespace=namespace, name=name)
    elif mode.name and (node := node_of(other.name)):
        yield structs.replace(one, resource="nodes", name="*" if mode is _OWN_NODE else node)
    else:
        yield one
    if other.uid:
        yield structs.replace(one, group=AUTHENTICATION, resource="uids", name=other.uid)
    for group in other.groups:
        yield structs.replace(one, resource="groups", name=group)
    for key, values in other.extra.items():
        for value in values:
            yield structs.replace(
                one, group=AUTHENTICATION, resource="userextras", subresource=key, name=value
            )


def _mode_error(right: Attributes) -> str:
    """Return why modes other than the legacy mode never permit ``right``; empty if they can.

    The restriction applies even to a user with all permissions.
    """
    if right.resource == "groups":
        if not right.name:
            return "impersonating the empty string group is not allowed"
        if right.name == ADMINISTRATORS:
            return "impersonating the system:masters group is not allowed"
    if right.resource == "userextras":
        if not right.subresource:
            return "impersonating the empty string key in extra is not allowed"
        domain, _, path = right.subresource.partition("/")
        if not domain or not path or dns_subdomain(domain):
            detail = 'must be a domain-prefixed path (such as "acme.io/foo")'
            error = field_errors.invalid("extra.key", right.subresource, detail)
            return f"impersonating an invalid key in extra is not allowed: {error}"
        if not right.name:
            return "impersonating the empty string value in extra is not allowed"
    return ""


def _with_default_groups(other: User, mode: _Mode) -> User:
    """Return the impersonated user with its implicit groups added."""
    if not other.groups and (account := account_of(other.name)):
        other = replace(other, groups=account_groups(account[0]))
    elif mode.name and node_of(other.name):
        other = replace(other, groups=(NODES,))
    if other.name == ANONYMOUS.name:
        return other.joining(UNAUTHENTICATED)
    return other if UNAUTHENTICATED in other.groups else other.joining(AUTHENTICATED)


def _go_text(user: User) -> str:
    """Return the user as Go formats it."""

    def texts(values: tuple[str, ...]) -> str:
        return f"[]string{{{', '.join(map(field_errors.shown, values))}}}" if values else ""

    groups = texts(user.groups) or "[]string(nil)"
    extra = ", ".join(
        f"{field_errors.shown(key)}:{texts(user.extra[key])}" for key in sorted(user.extra)
    )
    listed = f"map[string][]string{{{extra}}}" if extra else "map[string][]string(nil)"
    return (
        f'&user.DefaultInfo{{Name:"", UID:{field_errors.shown(user.uid)}, Groups:{groups},'
        f" Extra:{listed}}}"
    )
