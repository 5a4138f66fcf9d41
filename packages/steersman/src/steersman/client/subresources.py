"""``Subresource``: a subresource of an object, such as its status or its scale."""

from typing import Generic, TypeVar

from steersman.client.patches import APPLY, Patch
from steersman.client.request.paths import object_path
from steersman.client.request.request_sender import RequestSender
from steersman.client.request.request_spec import Query, RequestSpec, accept_header
from steersman.client.request.responses import read_status
from steersman.errors import BadValue
from steersman.kinds import MetadataOnly, Part, Resource, Unstructured
from steersman.names import ObjectRef, ResourceType

S = TypeVar("S", bound=Part | Unstructured)


class Subresource(Generic[S]):
    """One subresource of one object."""

    def __init__(
        self,
        sender: RequestSender,
        resource: ResourceType,
        *,
        namespace: str | None,
        name: str,
        path: str,
        of: type[S],
    ) -> None:
        self._sender = sender
        self._kind = of
        self._subresource = path
        self._resource = resource
        self._path = object_path(resource, namespace, name, path)
        self._ref = ObjectRef(resource.gvk.kind, namespace, name)

    async def get(self) -> S:
        """Return the current content of the subresource."""
        return await self._send("get", "GET")

    async def create(
        self, body: S, *, field_manager: str | None = None, dry_run: bool | None = None
    ) -> S:
        """Send ``body``, such as an eviction, a token request or a binding, with POST.

        Return the response, or ``body`` itself if the response only reports success.
        """
        refuse_metadata_only(body, "create")
        spec = self._question(
            "create", "POST", self._sender.write_query(field_manager, dry_run), body
        )
        answer = await self._sender.body(spec)
        if read_status(answer) is not None:
            return body
        return self._sender.decoded(self._kind, spec, answer)

    async def update(
        self, body: S, *, field_manager: str | None = None, dry_run: bool | None = None
    ) -> S:
        """Replace the subresource; raise ``Conflict`` if the object was changed since it was read.

        ``body`` must be an object of the subresource's own kind, such as a Scale, or an
        ``Unstructured`` object. A typed object of the main kind, as for the status subresource, is
        rejected: the fields that its class does not declare would be dropped.
        """
        refuse_metadata_only(body, "update")
        if isinstance(body, Resource) and body.resource_type == self._resource:
            raise whole_typed_write(self._ref)
        if isinstance(body, Resource | Unstructured) and not body.resource_version:
            raise unread_write(self._ref)
        return await self._send(
            "update", "PUT", self._sender.write_query(field_manager, dry_run), body
        )

    async def patch(
        self, patch: Patch, *, field_manager: str | None = None, dry_run: bool | None = None
    ) -> S:
        """Change some fields by ``patch``, and return the changed subresource."""
        options = self._sender.write_query(field_manager, dry_run)
        return await self._send("patch", "PATCH", options, patch.body, patch.content_type)

    async def apply(
        self, body: S, *, field_manager: str, force: bool = False, dry_run: bool | None = None
    ) -> S:
        """Set exactly the fields in ``body``, owned by ``field_manager`` (server-side apply)."""
        refuse_metadata_only(body, "apply")
        options = self._sender.write_query(field_manager, dry_run, force=force)
        return await self._send("apply", "PATCH", options, body, APPLY)

    async def _send(
        self,
        verb: str,
        method: str,
        options: Query = (),
        body: object = None,
        content_type: str = "application/json",
    ) -> S:
        spec = self._question(verb, method, options, body, content_type)
        return await self._sender.object(self._kind, spec)

    def _question(
        self,
        verb: str,
        method: str,
        options: Query,
        body: object,
        content_type: str = "application/json",
    ) -> RequestSpec:
        return RequestSpec(
            verb=verb,
            about=f"the {self._subresource} of ",
            method=method,
            path=self._path,
            ref=self._ref,
            resource=f"{self._resource.plural}/{self._subresource}",
            query=options,
            body=body,
            content_type=content_type,
            accept=accept_header(self._kind),
        )


def refuse_metadata_only(obj: Part | Unstructured, verb: str) -> None:
    """Raise ``BadValue`` if ``obj`` consists of metadata only.

    Writing such an object would drop all other fields. ``verb`` names the write in the error.
    """
    if isinstance(obj, MetadataOnly):
        raise BadValue(
            wanted=f"a complete {obj.ref} to {verb}",
            value=type(obj).__name__,
            rule=f"it contains only metadata; patch that, or {verb} a complete object",
        )


def whole_typed_write(ref: ObjectRef) -> BadValue:
    """Return the error for an attempt to replace the object ``ref`` by a typed object."""
    return BadValue(
        wanted=f"a complete {ref}",
        value=ref.kind,
        rule="a typed object lacks the fields that its class does not define;"
        " apply or patch it, or update it as Unstructured",
    )


def unread_write(ref: ObjectRef) -> BadValue:
    """Return the error for an attempt to replace the object ``ref`` without a resourceVersion."""
    return BadValue(
        wanted=f"a resourceVersion for an update of {ref}",
        value="",
        rule="without it, the update would overwrite the changes of other clients;"
        " read the object first, or patch it",
    )
