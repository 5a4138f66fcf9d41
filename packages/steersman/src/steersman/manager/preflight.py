"""The preflight: checks the permissions of an operator before its controllers start."""

import asyncio
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from steersman.client import Client
from steersman.controller import RbacRule
from steersman.errors import Forbidden, NotFound, SteersmanError
from steersman.kinds import authorization_v1
from steersman.observe import Observer, PermissionMissing, PermissionsUnknown

# A few concurrent reviews: with many namespaces there are hundreds, and they are not urgent. With
# few rules even fewer, because opening a connection takes longer than all reviews.
_MIN_CONCURRENT: Final = 2
_MAX_CONCURRENT: Final = 8
_RULES_FOR_ONE_MORE: Final = 8


async def missing_permissions(
    client: Client, rules: Sequence[RbacRule], *, observe: Observer
) -> tuple[RbacRule, ...]:
    """Return the rules in ``rules`` that are not granted, with only their missing verbs.

    Each missing rule is also reported to ``observe``. If the operator has no permission to send
    access reviews, which is rare, that is reported instead.
    """
    more = len(rules) // _RULES_FOR_ONE_MORE
    turn = asyncio.Semaphore(min(_MIN_CONCURRENT + more, _MAX_CONCURRENT))
    # A single one first: if the server does not respond, this is reported once, not for each rule.
    first = [await _missing_of(client, rule, turn, observe) for rule in rules[:1]]
    try:
        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(_missing_of(client, rule, turn, observe), name=str(rule))
                for rule in rules[1:]
            ]
    except ExceptionGroup as failed:
        raise _first(failed) from None
    found = (*first, *(task.result() for task in asked))
    missing = tuple(rule for rule in found if rule is not None)
    for rule in missing:
        observe(PermissionMissing(what=str(rule), rule=rule.yaml, is_needed=rule.is_needed))
    return missing


async def _missing_of(
    client: Client, rule: RbacRule, turn: asyncio.Semaphore, observe: Observer
) -> RbacRule | None:
    missing: list[str] = []
    for verb in rule.verbs:
        for name in rule.names or (None,):
            try:
                async with turn:
                    is_allowed = await _may(client, rule, verb, name)
            except (Forbidden, NotFound) as error:
                observe(PermissionsUnknown(what=str(rule), error=error))
                return None
            if not is_allowed:
                missing.append(verb)
                break
    return replace(rule, verbs=tuple(missing)) if missing else None


async def _may(client: Client, rule: RbacRule, verb: str, name: str | None) -> bool:
    review = authorization_v1.SelfSubjectAccessReview(
        spec=authorization_v1.SelfSubjectAccessReviewSpec(
            resource_attributes=authorization_v1.ResourceAttributes(
                group=rule.group,
                resource=rule.resource,
                subresource=rule.subresource or None,
                namespace=rule.namespace,
                verb=verb,
                name=name,
            )
        )
    )
    answer = await client.create(review)
    return answer.status is not None and answer.status.allowed


def _first(failed: ExceptionGroup[Exception]) -> Exception:
    """Return the first of several similar errors."""
    matched = failed.subgroup(SteersmanError)
    inner = (matched or failed).exceptions[0]
    return _first(inner) if isinstance(inner, ExceptionGroup) else inner
