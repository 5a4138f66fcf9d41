"""The authorization of a request, and the ``Forbidden`` error of a denied request."""

from steersman.names import GroupResource
from steersman_cluster.apiserver.authz.rbac import Attributes, Authorizer
from steersman_cluster.apiserver.meta import status_errors
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.users import User

# The message must not contain HTML.
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def authorize(authorizer: Authorizer, user: User, wanted: Attributes) -> None:
    """Raise ``Forbidden`` if ``user`` lacks the permission for the action ``wanted``."""
    decision = authorizer.decide(user, wanted)
    if not decision.allowed:
        raise denied(user, wanted, why=decision.reason)


def denied(user: User, wanted: Attributes, *, why: str = "") -> StatusError:
    """Return the ``Forbidden`` error for a ``user`` who lacks the permission for ``wanted``.

    ``why`` is an additional reason in the error message.
    """
    sentence = _sentence(user, wanted).translate(_ESCAPED)
    if why:
        sentence = f"{sentence}: {why}"
    if wanted.path is not None:
        return StatusError(403, "Forbidden", f"forbidden: {sentence}", details={})
    return status_errors.forbidden(
        GroupResource(wanted.group, wanted.resource), wanted.name, sentence
    )


def _sentence(user: User, wanted: Attributes) -> str:
    who = f'User "{user.name}" cannot {wanted.verb}'
    if wanted.path is not None:
        return f'{who} path "{wanted.path}"'
    what = f'{who} resource "{wanted.full_resource}" in API group "{wanted.group}"'
    if wanted.namespace:
        return f'{what} in the namespace "{wanted.namespace}"'
    return f"{what} at the cluster scope"
