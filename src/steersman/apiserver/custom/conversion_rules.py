"""How a definition says its versions are converted into one another."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from steersman.apiserver.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from steersman.apiserver.names_rules import dns_1035_label, dns_subdomain, port_number
from steersman.apiserver.rules import Object

_STRATEGIES: Final = ("None", "Webhook")
_REVIEWS: Final = ("v1", "v1beta1")
_DESIRED: Final = "; desired format: https://host[/path]"


def conversion_errors(spec: Object) -> Iterator[FieldError]:
    """What is wrong with a definition's conversion."""
    path, conversion = "spec.conversion", spec["conversion"]
    strategy = conversion.get("strategy") or ""
    webhook = conversion.get("webhook") or {}
    client, reviews = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if strategy != "None" and spec.get("preserveUnknownFields"):
        why = "must be None if spec.preserveUnknownFields is true"
        yield invalid(f"{path}.strategy", strategy, why)
    if not strategy:
        yield required(f"{path}.strategy")
    elif strategy not in _STRATEGIES:
        yield not_supported(f"{path}.strategy", strategy, _STRATEGIES)
    config, versions = f"{path}.webhookClientConfig", f"{path}.conversionReviewVersions"
    if strategy == "Webhook":
        if client is None:
            yield required(config, "required when strategy is set to Webhook")
        else:
            yield from _client_errors(client, config)
        yield from _review_errors(reviews, versions)
    else:
        why = "should not be set when strategy is not set to Webhook"
        if client is not None:
            yield forbidden(config, why)
        if reviews:
            yield forbidden(versions, why)


def _client_errors(client: Object, path: str) -> Iterator[FieldError]:
    url, service = client.get("url"), client.get("service")
    if (url is None) == (service is None):
        yield required(path, "exactly one of url or service is required")
    elif url is not None:
        yield from _url_errors(url, f"{path}.url")
    else:
        yield from _service_errors(service or {}, f"{path}.service")


def _url_errors(url: str, path: str) -> Iterator[FieldError]:
    parts = urlsplit(url)
    if parts.scheme != "https":
        why = f"'https' is the only allowed URL scheme{_DESIRED}"
        yield invalid(path, parts.scheme, why)
    user, _, host = parts.netloc.rpartition("@")
    if not host:
        yield invalid(path, host, f"host must be specified{_DESIRED}")
    if user:
        yield invalid(path, user, "user information is not permitted in the URL")
    if parts.fragment:
        yield invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield invalid(path, parts.query, "query parameters are not permitted in the URL")


def _service_errors(service: Object, path: str) -> Iterator[FieldError]:
    # The two are taken for each other; so they are by the real server.
    if not service.get("namespace"):
        yield required(f"{path}.name")
    if not service.get("name"):
        yield required(f"{path}.namespace")
    port = service.get("port", 443)
    if wrong := port_number(port):
        yield invalid(f"{path}.port", port, f"port is not valid: {', '.join(wrong)}")
    yield from _path_errors(service.get("path") or "", f"{path}.path")


def _path_errors(url_path: str, path: str) -> Iterator[FieldError]:
    if url_path in ("", "/"):
        return
    if url_path == "//":
        yield invalid(path, url_path, "segment[0] may not be empty")
        return
    if not url_path.startswith("/"):
        yield invalid(path, url_path, "must start with a '/'")
    for index, segment in enumerate(url_path[1:].removesuffix("/").split("/")):
        if not segment:
            yield invalid(path, url_path, f"segment[{index}] may not be empty")
            continue
        for wrong in dns_subdomain(segment):
            yield invalid(path, url_path, f"segment[{index}]: {wrong}")


def _review_errors(versions: list[Any], path: str) -> Iterator[FieldError]:
    if not versions:
        yield required(path)
        return
    seen: set[str] = set()
    for index, each in enumerate(versions):
        if each in seen:
            yield invalid(f"{path}[{index}]", each, "duplicate version")
            continue
        seen.add(each)
        for wrong in dns_1035_label(each):
            yield invalid(f"{path}[{index}]", each, wrong)
    if not seen & set(_REVIEWS):
        yield invalid(path, versions, f"must include at least one of {', '.join(_REVIEWS)}")
