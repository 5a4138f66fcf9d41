"""Formats that have a name: ``format.dns1123Label().validate(self.name)``."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from steersman_cluster.apiserver.cel.library.urls import problem
from steersman_cluster.apiserver.cel.values import NONE, Function, Optional
from steersman_cluster.apiserver.meta import name_validation
from steersman_cluster.apiserver.schema.formats import is_request_uri, text_format


@dataclass(frozen=True, slots=True)
class Format:
    cel_name: ClassVar[str] = "kubernetes.NamedFormat"
    name: str
    max_pattern_length: int
    errors: Callable[[str], list[str]] = field(compare=False)


def _named(check: Callable[[str, bool], list[str]], *, prefix: bool) -> Callable[[str], list[str]]:
    return lambda text: check(text, prefix)


def _of_schemas(name: str, why: str) -> Callable[[str], list[str]]:
    fits = text_format(name) or bool
    return lambda text: [] if fits(text) else [why]


def _dns_1035(text: str, is_prefix: bool) -> list[str]:
    return name_validation.dns_1035_label(
        f"{text[:-2]}a" if is_prefix and len(text) > 1 and text.endswith("-") else text
    )


# Each with the length of its pattern, from which kube-apiserver computes the cost.
FORMATS: Final[Mapping[str, Format]] = {
    "byte": Format("byte", 84, _of_schemas("byte", "invalid base64")),
    "date": Format("date", 72, _of_schemas("date", "invalid date")),
    "datetime": Format("datetime", 72, _of_schemas("datetime", "invalid datetime")),
    "dns1035Label": Format("DNS1035Label", 30, _named(_dns_1035, prefix=False)),
    "dns1035LabelPrefix": Format("DNS1035LabelPrefix", 30, _named(_dns_1035, prefix=True)),
    "dns1123Label": Format("DNS1123Label", 30, _named(name_validation.label_name, prefix=False)),
    "dns1123LabelPrefix": Format(
        "DNS1123LabelPrefix", 30, _named(name_validation.label_name, prefix=True)
    ),
    "dns1123Subdomain": Format(
        "DNS1123Subdomain", 60, _named(name_validation.subdomain_name, prefix=False)
    ),
    "dns1123SubdomainPrefix": Format(
        "DNS1123SubdomainPrefix", 60, _named(name_validation.subdomain_name, prefix=True)
    ),
    "labelValue": Format("LabelValue", 40, name_validation.label_value),
    "qualifiedName": Format("QualifiedName", 60, name_validation.label_key),
    "uri": Format("URI", 1104, lambda text: [] if is_request_uri(text) else [problem(text)]),
    "uuid": Format("uuid", 72, _of_schemas("uuid", "does not match the UUID format")),
}


def _constant(of: Format) -> Function:
    return lambda: of


def _by_name(name: str) -> Optional:
    return Optional(FORMATS[name]) if name in FORMATS else NONE


def _validate(of: Format, text: str) -> Optional:
    errors = of.errors(text)
    return Optional(errors) if errors else NONE


IMPLEMENTATIONS: Final[Mapping[str, Function]] = {
    "format.named": _by_name,
    "validate": _validate,
    **{f"format.{name}": _constant(each) for name, each in FORMATS.items()},
}
