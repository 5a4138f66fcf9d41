"""The decoders of request bodies, by resource and subresource."""

from steersman.names import GroupVersionKind
from steersman_cluster.apiserver.request.api_request import APIRequest
from steersman_cluster.apiserver.request.resources import ServedResource
from steersman_cluster.apiserver.schema.builtin_schemas import BuiltinSchemas
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.serializer.decoder import BodyDecoder, BodyDecoders

SCALE = GroupVersionKind("autoscaling", "v1", "Scale")
_DELETE_OPTIONS = GroupVersionKind("", "v1", "DeleteOptions")

# The bodies of these subresources have no kind.
_CONNECTED = frozenset(("attach", "exec", "portforward"))


def body_part(subresource: str) -> str:
    """Return ``subresource`` if the bodies of its requests have a kind; otherwise ""."""
    return "" if subresource in _CONNECTED else subresource


class BodyTypes:
    """The decoders and the schemas of the bodies that the server accepts."""

    def __init__(self, schemas: BuiltinSchemas) -> None:
        self._expectations = BodyDecoders.of(schemas)
        self._scale = schemas.of(SCALE)
        self.delete_options = self._expectations.builtin(_DELETE_OPTIONS)

    def of(self, served: ServedResource, subresource: str) -> BodyDecoder:
        """Return the decoder of bodies sent to a resource or to one of its subresources."""
        gvk = served.kind_of(subresource)
        if served.custom and subresource != "scale":
            return self._expectations.custom(gvk)
        return self._expectations.builtin(gvk)

    def schema(self, request: APIRequest) -> Schema:
        """Return the schema of the request's body and of its response."""
        return self._scale if request.info.subresource == "scale" else request.served.schema
