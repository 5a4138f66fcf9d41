"""The valid names of projects, packages and modules."""

import pytest

from steersman.errors import BadName
from steersman.scaffold.name_rules import (
    check_domain,
    check_package,
    check_project_name,
    class_suffix,
    module_of,
    package_of,
)


@pytest.mark.parametrize("name", ["shop", "shop-operator", "s3", "a" * 50])
def test_a_project_name_is_a_valid_namespace(name: str) -> None:
    assert check_project_name(name) == name


@pytest.mark.parametrize("name", ["", "Shop", "shop_operator", "3s", "-shop", "a" * 51, "a.b"])
def test_a_project_name_that_is_not_a_namespace_is_rejected(name: str) -> None:
    with pytest.raises(BadName, match="a project's name"):
        check_project_name(name)


@pytest.mark.parametrize(
    ("package", "rule"),
    [
        ("", "it must consist of lower-case letters"),
        ("3s", "it must consist of lower-case letters"),
        ("shop-operator", "it must consist of lower-case letters"),
        ("Shop", "it must consist of lower-case letters"),
        ("größe", "it must consist of lower-case letters"),
        ("class", "a Python keyword"),
        ("match", "a Python keyword"),
        ("operator", "another module already has this name"),
        ("steersman", "another module already has this name"),
        ("test", "another module already has this name"),
        ("yaml", "another module already has this name"),
    ],
)
def test_a_package_name_that_cannot_be_imported_is_rejected(package: str, rule: str) -> None:
    with pytest.raises(BadName, match=rule):
        check_package(package)


def test_a_package_is_named_after_its_project() -> None:
    assert check_package(package_of("shop-operator")) == "shop_operator"


@pytest.mark.parametrize("domain", ["example.com", "internal", "a.b.c-d.io"])
def test_a_domain_is_a_dns_name(domain: str) -> None:
    assert check_domain(domain) == domain


@pytest.mark.parametrize("domain", ["", "Example.com", "example..com", "https://x", "a_b.c"])
def test_an_invalid_dns_name_is_rejected_as_a_domain(domain: str) -> None:
    with pytest.raises(BadName, match="a domain"):
        check_domain(domain)


@pytest.mark.parametrize(
    ("kind", "module"),
    [
        ("AppService", "appservice"),
        ("Class", "class_kind"),
        ("Operator", "operator_kind"),
        ("Match", "match"),
    ],
)
def test_a_module_is_named_after_its_kind_if_possible(kind: str, module: str) -> None:
    assert module_of(kind) == module


def test_the_class_of_another_version_contains_the_version() -> None:
    assert class_suffix("v1beta1") == "V1Beta1"
    assert class_suffix("v2-next") == "V2Next"
