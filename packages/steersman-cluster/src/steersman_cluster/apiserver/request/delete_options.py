"""DeleteOptions, from the body or from the query."""

import re
from dataclasses import dataclass

import msgspec

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta import field_errors, status_errors
from steersman_cluster.apiserver.meta.field_errors import FieldError
from steersman_cluster.apiserver.meta.status_errors import StatusError
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.request.options import boolean, dry_run_errors, integer
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.schema.serializer.decoder import BodyDecoder, canonical, decode

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
POLICIES = ("Foreground", "Background", "Orphan")

# The decoder's message around the reason. Errors of options contain only the reason.
_DECODER_PREFIX = re.compile(
    r"the object provided is unrecognized \(must be of type DeleteOptions\): (?P<unread>.*) \(.*\)"
    r'|DeleteOptions in version "v1" cannot be handled as a DeleteOptions: (?P<unfit>.*)',
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """The options of a deletion, including its preconditions."""

    dry_run: bool = False
    grace_seconds: int | None = None
    propagation: str | None = None
    orphan_dependents: bool | None = None
    uid: str | None = None
    resource_version: str | None = None

    @classmethod
    def of(
        cls, info: RequestInfo, body: bytes, *, content_type: str, expected: BodyDecoder
    ) -> "DeleteOptions":
        """Return the options in ``body``; if there is no body, the options in the query."""
        written = _read(body, content_type, expected) if body else _from_query(info)
        return cls.written(written)

    @classmethod
    def written(cls, written: Object) -> "DeleteOptions":
        """Return the options in ``written``, a DeleteOptions object."""
        preconditions = written.get("preconditions") or {}
        dry_run = written.get("dryRun") or []
        policy, orphan = written.get("propagationPolicy"), written.get("orphanDependents")
        errors: list[FieldError] = []
        if orphan is not None and policy is not None:
            detail = "orphanDependents and deletionPropagation cannot be both set"
            errors.append(field_errors.invalid("propagationPolicy", policy, detail))
        if policy is not None and policy not in POLICIES:
            supported = [*POLICIES, "nil"]
            errors.append(field_errors.not_supported("propagationPolicy", policy, supported))
        errors += dry_run_errors(dry_run)
        if errors:
            raise status_errors.invalid("DeleteOptions.meta.k8s.io", "", errors)
        grace = written.get("gracePeriodSeconds")
        return cls(
            dry_run=bool(dry_run),
            # kube-apiserver replaces a negative grace period with 1.
            grace_seconds=1 if grace is not None and grace < 0 else grace,
            propagation=policy,
            orphan_dependents=orphan,
            uid=preconditions.get("uid"),
            resource_version=preconditions.get("resourceVersion"),
        )

    def shown(self, *, grace_seconds: int | None) -> Object:
        """Return the options as a DeleteOptions object with the grace period ``grace_seconds``."""
        preconditions = {"uid": self.uid, "resourceVersion": self.resource_version}
        written: Object = {
            "gracePeriodSeconds": grace_seconds,
            "preconditions": _without_none(preconditions) or None,
            "orphanDependents": self.orphan_dependents,
            "propagationPolicy": self.propagation,
            "dryRun": ["All"] if self.dry_run else None,
        }
        head = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1"}
        return head | _without_none(written)

    @property
    def names_policy(self) -> bool:
        """Whether the client has set a propagation policy."""
        return self.propagation is not None or self.orphan_dependents is not None

    def check(self, obj: Object, served: ServedResource) -> None:
        """Raise a conflict if ``obj`` does not meet the preconditions."""
        metadata = obj["metadata"]
        for wanted, actual, word, perhaps in (
            (self.uid, metadata["uid"], "UID", "deleted and then recreated"),
            (self.resource_version, metadata["resourceVersion"], "ResourceVersion", "modified"),
        ):
            if wanted is not None and wanted != actual:
                if served.strategy.begin_deletion is not None:
                    raise status_errors.conflict(
                        served.group_resource,
                        metadata["name"],
                        f"Precondition failed: {word} in precondition: {wanted},"
                        f" {word} in object meta: {actual}",
                    )
                kind, _, group = served.group_kind.partition(".")
                raise status_errors.conflict(
                    GroupResource(group, kind),  # as in kube-apiserver
                    metadata["name"],
                    f"the {word} in the precondition ({wanted}) does not match the {word} in"
                    f" record ({actual}). The object might have been {perhaps}",
                )

    def finalizers(
        self, current: list[str], *, orphans: bool, false_means_foreground: bool = False
    ) -> list[str]:
        """Return ``current`` with the garbage collector's finalizer for the propagation policy.

        The finalizers of other policies are removed. ``orphans``: whether the default policy of the
        kind is Orphan. ``false_means_foreground``: whether the option ``orphanDependents: false``
        means Foreground.
        """
        orphan, foreground = ORPHAN in current, FOREGROUND in current
        if self.orphan_dependents is not None:
            orphan = self.orphan_dependents
            foreground = false_means_foreground and not orphan
        elif self.propagation is not None:
            orphan, foreground = self.propagation == "Orphan", self.propagation == "Foreground"
        elif orphans and not foreground:
            orphan = True
        others = [each for each in current if each not in (ORPHAN, FOREGROUND)]
        added = [name for name, wanted in ((ORPHAN, orphan), (FOREGROUND, foreground)) if wanted]
        wanted = others + added
        return current if set(wanted) == set(current) else wanted


def _without_none(written: Object) -> Object:
    return {name: value for name, value in written.items() if value is not None}


def _read(body: bytes, content_type: str, expected: BodyDecoder) -> Object:
    try:
        if content_type != "application/json":
            return decode(body, expected, content_type=content_type).obj
        try:
            written = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return decode(body, expected, content_type=content_type).obj
        if not isinstance(written, dict):
            return decode(body, expected, content_type=content_type).obj
        # Each group has its own DeleteOptions; all have the same fields.
        kind, version = written.pop("kind", None), written.pop("apiVersion", None)
        if kind not in (None, "", "DeleteOptions"):
            raise status_errors.bad_request(
                f'no kind "{kind}" is registered for version "{version}"'
                ' in scheme "pkg/runtime/scheme.go:111"'
            )
        return canonical(written, expected).obj
    except StatusError as error:
        found = _DECODER_PREFIX.fullmatch(error.message)
        if found is None:
            raise
        raise status_errors.bad_request(found["unread"] or found["unfit"]) from None


def _from_query(info: RequestInfo) -> Object:
    return {
        "dryRun": info.query.get("dryRun"),
        "propagationPolicy": info.option("propagationPolicy") or None,
        "orphanDependents": boolean(info, "orphanDependents"),
        "gracePeriodSeconds": integer(info, "gracePeriodSeconds"),
        # kube-apiserver also applies the resourceVersion of a deleted collection, which is that of
        # the list, as a precondition. It hardly ever matches.
        "preconditions": {
            "uid": info.option("uid") or None,
            "resourceVersion": info.option("resourceVersion") or None,
        },
    }
