"""A resource request, in the form that handlers receive."""

from collections.abc import Sequence

import msgspec

from steersman.wire import Request
from steersman_cluster.apiserver.meta.strategy import Object
from steersman_cluster.apiserver.meta.users import User
from steersman_cluster.apiserver.request.negotiation import body_type, header
from steersman_cluster.apiserver.request.options import MAX_MANAGER_LENGTH
from steersman_cluster.apiserver.request.request_info import RequestInfo
from steersman_cluster.apiserver.request.resources import ServedResource, WebhookResponses
from steersman_cluster.apiserver.request.response_encoders import ResponseEncoder
from steersman_cluster.apiserver.schema.pruner import Path
from steersman_cluster.apiserver.storage import Entry


class APIRequest(msgspec.Struct, kw_only=True):
    """A resource request: its info, user and resource, and the encoder of the response."""

    http: Request
    info: RequestInfo
    user: User
    registered: ServedResource  # the resource as the registry has it
    # The same with the strategy of the subresource, and with webhook conversion.
    served: ServedResource
    encoder: ResponseEncoder
    webhook_responses: WebhookResponses
    warnings: list[str]  # of the response
    # The paths of numbers like 1.0 in a custom resource of the body.
    whole_floats: Sequence[Path] = ()

    @property
    def is_pruned(self) -> bool:
        """Whether the body is a custom resource, whose unknown fields are pruned."""
        return self.served.custom and self.info.subresource != "scale"

    @property
    def body(self) -> bytes:
        """The request body; empty if there is none."""
        return self.http.body or b""

    @property
    def content_type(self) -> str:
        """The media type of the request body."""
        return body_type(self.http)

    @property
    def agent(self) -> str:
        """The default field manager: the first word of the User-Agent."""
        name = header(self.http, "User-Agent").partition("/")[0]
        printable = "".join(letter for letter in name if letter.isprintable())
        return printable.encode()[:MAX_MANAGER_LENGTH].decode(errors="ignore")

    def live(self, entry: Entry) -> Object:
        """Return ``entry``'s object in the version of the request.

        The caller must not change the object.
        """
        return self.served.from_stored(entry.value or {})
