"""The address of a webhook, determined from its client configuration.

An embedded cluster has no Pod network. A Service resolves to the address of its endpoints or to its
external name, so that a configuration can refer to webhooks on this machine by Service or by URL.
"""

from base64 import b64decode
from collections.abc import Iterable
from dataclasses import dataclass
from posixpath import normpath
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from steersman.names import GroupResource
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext
from steersman_cluster.apiserver.webhooks import (
    WebhookResponse,
    WebhookTransport,
    WebhookUnreachable,
)

SERVICES: Final = GroupResource("", "services")
SLICES: Final = GroupResource("discovery.k8s.io", "endpointslices")
ENDPOINTS: Final = GroupResource("", "endpoints")

_OF_SERVICE: Final = "kubernetes.io/service-name"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAddress:
    """The address of a webhook.

    If the address cannot be used, ``why_not`` is the reason, worded as in Go, else empty.
    """

    url: str
    ca_bundle: bytes = b""
    server_name: str = ""
    connect_to: str = ""
    why_not: str = ""

    async def post(
        self, outbound: WebhookTransport, body: bytes, *, timeout_seconds: float
    ) -> WebhookResponse:
        """Return the webhook's response to ``body``.

        Raises ``WebhookUnreachable`` if there is no response. As in Go, its message contains the
        URL.
        """
        joint = "&" if "?" in self.url else "?"
        url = f"{self.url}{joint}timeout={timeout_seconds:.0f}s"
        try:
            if self.why_not:
                raise WebhookUnreachable(self.why_not)
            return await outbound.post(
                url,
                body,
                ca_bundle=self.ca_bundle,
                server_name=self.server_name,
                connect_to=self.connect_to,
                timeout_seconds=timeout_seconds,
            )
        except WebhookUnreachable as undelivered:
            raise WebhookUnreachable(f'Post "{url}": {undelivered.why}') from undelivered


def webhook_address(client: Object, around: StrategyContext) -> WebhookAddress:
    """Return the address in ``client``, the ``clientConfig`` of a webhook.

    A Service in ``client`` is looked up in ``around``, the stored objects.
    """
    trusted = b64decode(client.get("caBundle") or "").strip()
    if (url := client.get("url")) is not None:
        return WebhookAddress(url=_normalized(url), ca_bundle=trusted)
    service = client["service"]
    name, namespace = service["name"], service["namespace"]
    port, path = service.get("port", 443), service.get("path") or ""
    host = f"{name}.{namespace}.svc"
    try:
        connect_to = _address(around, namespace, name, port)
    except LookupError as problem:
        connect_to, why_not = "", str(problem.args[0])
    else:
        why_not = ""
    return WebhookAddress(
        url=_normalized(f"https://{host}:{port}/{path}"),
        ca_bundle=trusted,
        server_name=host,
        connect_to=connect_to,
        why_not=why_not,
    )


def _normalized(url: str) -> str:
    """Return the URL as Go's client normalizes it: with a path, and without redundant slashes."""
    parts = urlsplit(url)
    path = normpath(f"/{parts.path}").lstrip("/")
    return urlunsplit(parts._replace(path=f"/{path}"))


def _address(around: StrategyContext, namespace: str, name: str, port: int) -> str:
    """Return the address of a service port; raise ``LookupError`` if the port has no address."""
    service = around.find(SERVICES, namespace, name)
    if service is None:
        raise LookupError(f'service "{name}" not found')
    spec = service.get("spec") or {}
    if spec.get("type") == "ExternalName":
        return f"{spec['externalName']}:{port}"
    wanted = next((each for each in spec.get("ports") or () if each["port"] == port), None)
    if wanted is None:
        raise LookupError(f'no service port {port} found for service "{name}"')
    for address, number in _endpoints(around, namespace, name, wanted.get("name", "")):
        return f"[{address}]:{number}" if ":" in address else f"{address}:{number}"
    raise LookupError(f'no endpoints available for service "{name}"')


def _endpoints(
    around: StrategyContext, namespace: str, service: str, port: str
) -> Iterable[tuple[str, int]]:
    """Yield the addresses of the ready endpoints of one service port."""
    for each in around.every(SLICES):
        about: dict[str, Any] = each["metadata"]
        if about["namespace"] != namespace:
            continue
        if (about.get("labels") or {}).get(_OF_SERVICE) != service:
            continue
        for endpoint in each.get("endpoints") or ():
            if (endpoint.get("conditions") or {}).get("ready", True):
                for number in _numbers(each.get("ports"), port):
                    yield from ((address, number) for address in endpoint["addresses"])
    whole = around.find(ENDPOINTS, namespace, service) or {}
    for subset in whole.get("subsets") or ():
        for number in _numbers(subset.get("ports"), port):
            yield from ((each["ip"], number) for each in subset.get("addresses") or ())


def _numbers(ports: list[Object] | None, name: str) -> Iterable[int]:
    return [each["port"] for each in ports or () if (each.get("name") or "") == name]
