"""Handlers of TokenReview, SelfSubjectReview and the access reviews, which are not stored."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from steersman.clock import Clock
from steersman.units import format_time
from steersman_cluster.apiserver.authn import Authenticator, TokenRejected
from steersman_cluster.apiserver.authz import Attributes, Authorizer
from steersman_cluster.apiserver.meta import field_errors, status_errors
from steersman_cluster.apiserver.meta.field_errors import FieldError
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.users import User
from steersman_cluster.apiserver.request.selectors import parse_label_selector

_NEITHER = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
_BOTH = "cannot be specified in combination with resourceAttributes"
_NO_SUBJECT = "at least one of user or group must be specified"

_RESOURCE_RULE = ("verbs", "apiGroups", "resources", "resourceNames")
_PATH_RULE = ("verbs", "nonResourceURLs")


class AccessReviews:
    """The handlers of all kinds of review; a handler sets the status of a review.

    In a LocalSubjectAccessReview, unlike in the other kinds, the metadata contains a namespace.
    """

    def __init__(
        self, authenticator: Authenticator, authorizer: Authorizer, *, clock: Clock
    ) -> None:
        self._authenticator = authenticator
        self._authorizer = authorizer
        self._clock = clock
        self._reviewers: Mapping[str, Callable[[Object, User], Object]] = {
            "localsubjectaccessreviews": self._local_access,
            "selfsubjectaccessreviews": self._self_access,
            "selfsubjectreviews": self._self,
            "selfsubjectrulesreviews": self._self_rules,
            "subjectaccessreviews": self._access,
            "tokenreviews": self._token,
        }

    def serves(self, plural: str) -> bool:
        """Return whether this class handles the resource ``plural``."""
        return plural in self._reviewers

    def review(self, plural: str, review: Object, *, user: User) -> Object:
        """Return ``review``, an object of the resource ``plural``, with its status.

        Some kinds of review are returned without their spec.
        """
        return self._reviewers[plural](review, user)

    def _self_access(self, review: Object, user: User) -> Object:
        _check(_access_errors(review["spec"]) + _metadata_errors(review))
        return self._decided(review, user)

    def _access(self, review: Object, _: User) -> Object:
        _check(_subject_errors(review["spec"]) + _metadata_errors(review))
        return self._decided(review, _subject(review["spec"]))

    def _local_access(self, review: Object, _: User) -> Object:
        spec = review["spec"]
        errors = _subject_errors(spec) + _metadata_errors(review, "namespace")
        resource = spec.get("resourceAttributes")
        if resource is not None and (
            (wanted := resource.get("namespace", "")) != review["metadata"]["namespace"]
        ):
            where, detail = "spec.resourceAttributes.namespace", "must match metadata.namespace"
            errors.append(field_errors.invalid(where, wanted, detail))
        if (path := spec.get("nonResourceAttributes")) is not None:
            detail = "disallowed on this kind of request"
            errors.append(_path_error(path, detail))
        _check(errors)
        return self._decided(review, _subject(spec))

    def _decided(self, review: Object, user: User) -> Object:
        spec = review["spec"]
        decision = self._authorizer.decide(user, _attributes(spec))
        status: Object = {"allowed": decision.allowed}
        if decision.reason:
            status["reason"] = decision.reason
        if _is_unreadable((spec.get("resourceAttributes") or {}).get("labelSelector")):
            # A selector only narrows the request, so that an invalid one changes nothing.
            where = "spec.resourceAttributes.labelSelector"
            status["evaluationError"] = f"{where} ignored due to parse error"
        return {**review, "status": status}

    def _self(self, review: Object, user: User) -> Object:
        now = format_time(self._clock.now())
        return _without_spec(
            review, {"creationTimestamp": now}, status={"userInfo": _user_info(user)}
        )

    def _self_rules(self, review: Object, user: User) -> Object:
        namespace = review["spec"].get("namespace")
        if not namespace:
            raise status_errors.bad_request("no namespace on request")
        granted = self._authorizer.rules_for(user, namespace)
        status: Object = {
            "resourceRules": [
                _part(rule, _RESOURCE_RULE) for rule in granted.rules if rule.get("resources")
            ],
            "nonResourceRules": [
                _part(rule, _PATH_RULE) for rule in granted.rules if rule.get("nonResourceURLs")
            ],
            "incomplete": False,
        }
        if granted.problem:
            status["evaluationError"] = granted.problem
        return _without_spec(review, {}, spec={}, status=status)

    def _token(self, review: Object, _: User) -> Object:
        spec = review["spec"]
        if not (token := spec.get("token")):
            raise status_errors.bad_request("token is required for TokenReview in authentication")
        if audiences := spec.get("audiences"):
            found = self._authenticator.bearer(token, audiences=audiences)
        else:
            found = self._authenticator.bearer(token)
        if isinstance(found, TokenRejected):
            return {**review, "status": {"user": {}, "error": found.why}}
        status = {
            "authenticated": True,
            "user": _user_info(found.user),
            "audiences": list(found.audiences),
        }
        return {**review, "status": status}


def _without_spec(review: Object, metadata: Object, **parts: Object) -> Object:
    """Return a review without the spec that the client sent."""
    kind = {name: review[name] for name in ("kind", "apiVersion")}
    return {**kind, "metadata": metadata, **parts}


def _part(rule: Mapping[str, Any], names: tuple[str, ...]) -> Object:
    return {name: rule[name] for name in names if rule.get(name)}


def _user_info(user: User) -> Object:
    """Return a user in the format of reviews."""
    info: Object = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {key: list(user.extra[key]) for key in sorted(user.extra)}
    return info


def _check(errors: list[FieldError]) -> None:
    if errors:
        # kube-apiserver omits the kind.
        raise status_errors.invalid(".authorization.k8s.io", "", errors)


def _subject_errors(spec: Object) -> list[FieldError]:
    is_empty = not spec.get("user") and not spec.get("groups")
    subject = [field_errors.invalid("spec.user", "", _NO_SUBJECT)] if is_empty else []
    return _either_errors(spec) + subject + _selector_errors(spec)


def _access_errors(spec: Object) -> list[FieldError]:
    return _either_errors(spec) + _selector_errors(spec)


def _either_errors(spec: Object) -> list[FieldError]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        return [_path_error(path, _BOTH)]
    if resource is None and path is None:
        return [field_errors.invalid("spec.resourceAttributes", None, _NEITHER)]
    return []


def _path_error(path: Object, detail: str) -> FieldError:
    value = {"Path": path.get("path", ""), "Verb": path.get("verb", "")}
    return field_errors.invalid("spec.nonResourceAttributes", value, detail)


def _selector_errors(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    resource = spec.get("resourceAttributes") or {}
    for name in ("fieldSelector", "labelSelector"):
        if (selector := resource.get(name)) is None:
            continue
        where = f"spec.resourceAttributes.{name}"
        raw, requirements = selector.get("rawSelector"), selector.get("requirements")
        if raw and requirements:
            detail = "may not specified at the same time as requirements"
            errors.append(field_errors.invalid(f"{where}.rawSelector", raw, detail))
        if not raw and not requirements:
            detail = f"when {where} is specified, requirements or rawSelector is required"
            errors.append(field_errors.required(f"{where}.requirements", detail))
    return errors


def _is_unreadable(selector: Object | None) -> bool:
    try:
        parse_label_selector((selector or {}).get("rawSelector", ""))
    except StatusError:
        return True
    return False


def _metadata_errors(review: Object, *allowed: str) -> list[FieldError]:
    metadata = review["metadata"]
    if not any(
        value for name, value in metadata.items() if name not in ("managedFields", *allowed)
    ):
        return []
    detail = " except for ".join(("must be empty", *allowed))
    return [field_errors.invalid("metadata", msgspec.Raw(msgspec.json.encode(metadata)), detail)]


def _subject(spec: Object) -> User:
    return User(
        name=spec.get("user", ""), groups=tuple(spec.get("groups") or ()), uid=spec.get("uid", "")
    )


def _attributes(spec: Object) -> Attributes:
    if (path := spec.get("nonResourceAttributes")) is not None:
        return Attributes(verb=path.get("verb", ""), path=path.get("path", ""))
    resource = spec["resourceAttributes"]
    return Attributes(
        verb=resource.get("verb", ""),
        group=resource.get("group", ""),
        resource=resource.get("resource", ""),
        subresource=resource.get("subresource", ""),
        namespace=resource.get("namespace", ""),
        name=resource.get("name", ""),
    )
