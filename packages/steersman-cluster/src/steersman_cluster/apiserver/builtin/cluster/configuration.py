"""ConfigMaps and Secrets."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping

from steersman_cluster.apiserver.builtin.cluster.key_pairs import key_pair_problem
from steersman_cluster.apiserver.meta.field_errors import (
    FieldError,
    all_invalid,
    forbidden,
    immutable,
    invalid,
    required,
    too_long,
)
from steersman_cluster.apiserver.meta.go_json import BadSyntax, check_syntax
from steersman_cluster.apiserver.meta.go_messages import cannot_unmarshal
from steersman_cluster.apiserver.meta.name_validation import config_key, subdomain_name
from steersman_cluster.apiserver.meta.strategy import Object, Strategy, name_and_namespace

MAX_BYTES = 1024 * 1024
SERVICE_ACCOUNT_NAME = "kubernetes.io/service-account.name"
TLS = "kubernetes.io/tls"
FROZEN = "field is immutable when `immutable` is set"

# The required keys of each type of Secret.
_KEYS_OF_TYPE = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    TLS: ("tls.crt", "tls.key"),
}
_JSON_SECRET_TYPES = ("kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson")


def _config_map_errors(config: Object) -> list[FieldError]:
    data, binary = config.get("data", {}), config.get("binaryData", {})
    errors: list[FieldError] = []
    for key in data:
        errors += all_invalid(f"data[{key}]", key, config_key(key))
        if key in binary:
            errors.append(invalid(f"data[{key}]", key, "duplicate of key present in binaryData"))
    for key in binary:
        errors += all_invalid(f"binaryData[{key}]", key, config_key(key))
    size = sum(_utf8_size(each) for each in data.values())
    if size + sum(_decoded_size(each) for each in binary.values()) > MAX_BYTES:
        # The whole object is too long. kube-apiserver's error has no field.
        errors.append(too_long("[]", None, MAX_BYTES))
    return errors


def _secret_errors(secret: Object) -> list[FieldError]:
    data: Mapping[str, str] = secret.get("data", {})
    errors: list[FieldError] = []
    for key in data:
        errors += all_invalid(f"data[{key}]", key, config_key(key))
    if sum(_decoded_size(each) for each in data.values()) > MAX_BYTES:
        errors.append(too_long("data", None, MAX_BYTES))
    errors += _type_errors(secret, data)
    return errors


def _type_errors(secret: Object, data: Mapping[str, str]) -> Iterator[FieldError]:
    kind = secret.get("type", "")
    for key in _KEYS_OF_TYPE.get(kind, ()):
        if key not in data:
            yield required(f"data[{key}]")
        elif kind in _JSON_SECRET_TYPES and (problem := _object_problem(b64decode(data[key]))):
            yield invalid(f"data[{key}]", "<secret contents redacted>", problem)
    if kind == "kubernetes.io/service-account-token":
        if not secret["metadata"].get("annotations", {}).get(SERVICE_ACCOUNT_NAME):
            yield required(f"metadata.annotations[{SERVICE_ACCOUNT_NAME}]")
    elif kind == "kubernetes.io/basic-auth":
        if data.keys().isdisjoint(("username", "password")):
            yield required("data[username]")
            yield required("data[password]")
    elif kind == "kubernetes.io/ssh-auth" and not data.get("ssh-privatekey"):
        yield required("data[ssh-privatekey]")


def _object_problem(written: bytes) -> str | None:
    """Return Go's message for bytes that are not a JSON object; None if they are one."""
    try:
        check_syntax(written)
    except BadSyntax as error:
        return str(error)
    start = written.lstrip()[:1]
    if start in (b"{", b"n"):  # an object, or null
        return None
    # The content of an array is not shown, and could be too deep for Python. Integers are parsed as
    # floats, because int() rejects thousands of digits.
    found = [] if start == b"[" else json.loads(written.decode("latin-1"), parse_int=float)
    return cannot_unmarshal(found, "value of type map[string]interface {}")


def _config_map_change_errors(config: Object, old: Object) -> list[FieldError]:
    return list(_frozen_errors(config, old, ("data", "binaryData")))


def _secret_change_errors(secret: Object, old: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if secret.get("type") != old.get("type"):
        errors.append(immutable("type", secret.get("type", "")))
    errors += _frozen_errors(secret, old, ("data",))
    return errors


def _frozen_errors(new: Object, old: Object, parts: tuple[str, ...]) -> Iterator[FieldError]:
    if old.get("immutable"):
        if not new.get("immutable"):
            yield forbidden("immutable", FROZEN)
        for part in parts:
            if new.get(part, {}) != old.get(part, {}):
                yield forbidden(part, FROZEN)


def _default_secret(secret: Object) -> None:
    if not secret.get("type"):
        secret["type"] = "Opaque"
    if plain := secret.pop("stringData", None):
        encoded = {key: b64encode(value.encode()).decode() for key, value in plain.items()}
        secret["data"] = {**secret.get("data", {}), **encoded}


def _secret_warnings(secret: Object, _: Object | None) -> list[str]:
    if secret.get("type") != TLS:
        return []
    pair = (b64decode(secret.get("data", {}).get(each) or "") for each in _KEYS_OF_TYPE[TLS])
    problem = key_pair_problem(*pair)
    return [problem] if problem else []


def _selectable_secret(secret: Object) -> Mapping[str, str]:
    return {**name_and_namespace(secret), "type": secret.get("type", "")}


def _utf8_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _decoded_size(encoded: str) -> int:
    return len(encoded) * 3 // 4 - encoded[-2:].count("=")


CONFIG_MAP = Strategy(
    validate=_config_map_errors,
    validate_update=_config_map_change_errors,
    update_first=True,
    name_errors=subdomain_name,
)
SECRET = Strategy(
    default=_default_secret,
    validate=_secret_errors,
    validate_update=_secret_change_errors,
    update_first=True,
    name_errors=subdomain_name,
    warnings=_secret_warnings,
    selectable=_selectable_secret,
)
