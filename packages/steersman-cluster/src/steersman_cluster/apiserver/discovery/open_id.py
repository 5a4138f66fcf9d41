"""OpenID discovery documents: the location of the keys that sign service account tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from steersman_cluster.apiserver.meta.status_errors import not_acceptable

CONFIGURATION = "/.well-known/openid-configuration"
KEYS = "/openid/v1/jwks"
OPEN_ID_PATHS = (CONFIGURATION, KEYS)

# The media type of each path.
_FORMS = {CONFIGURATION: "application/json", KEYS: "application/jwk-set+json"}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIdDocument:
    """The response at one of the OpenID paths."""

    body: bytes
    content_type: str

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the response."""
        return {"Cache-Control": "public, max-age=3600", "Content-Type": self.content_type}


def open_id_document(
    path: str,
    *,
    accept: str,
    issuer: str,
    keys: Sequence[Mapping[str, str]],
    server_address: str,
) -> OpenIdDocument:
    """Return the OpenID document at ``path``.

    Raises an error if the Accept header ``accept`` does not include its media type.
    """
    form = _FORMS[path]
    if not _accepts(accept, form):
        problem = "406: Not Acceptable\n\nAvailable representations:"
        raise not_acceptable(f"{problem} {form}")
    if path == KEYS:
        return OpenIdDocument(body=msgspec.json.encode({"keys": keys}), content_type=form)
    document = {
        "issuer": issuer,
        "jwks_uri": f"https://{server_address}{KEYS}",
        "response_types_supported": ["id_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": sorted({each["alg"] for each in keys}),
    }
    return OpenIdDocument(body=msgspec.json.encode(document), content_type=form)


def _accepts(accept: str, form: str) -> bool:
    wanted = [each.partition(";")[0].strip() for each in accept.split(",")]
    return not accept or "*/*" in wanted or form in wanted
