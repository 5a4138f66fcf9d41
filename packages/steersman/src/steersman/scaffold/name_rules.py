"""Rules for the names of a project, its package and its modules."""

import keyword
import sys
from typing import Final

from steersman.errors import BadName
from steersman.names import check_label, check_subdomain

# Installed objects have names like NAME-…, most of which may have 63 characters.
MAX_NAME_LENGTH: Final = 50

# A package with one of these names would hide another package or directory of the project.
_TAKEN: Final = frozenset(
    {
        *sys.stdlib_module_names,
        *("click", "cryptography", "httptools", "jinja2", "msgspec", "mypy", "pip"),
        *("prometheus_client", "pytest", "pytest_asyncio", "ruff", "setuptools", "steersman"),
        *("yaml", "conftest", "deploy", "docs", "samples", "src", "test", "tests"),
    }
)

# Modules of every project, whose names no other module may have.
_MODULES: Final = frozenset({"operator", "models"})


def check_project_name(name: str) -> str:
    """Return ``name`` if it is valid as the name of a project; otherwise raise ``BadName``.

    The name is a DNS label, short enough to derive other names from it.
    """
    wanted = "a project's name"
    check_label(name, wanted=wanted)
    if not name[0].isalpha() or len(name) > MAX_NAME_LENGTH:
        rule = f"it must begin with a letter, and have at most {MAX_NAME_LENGTH} characters"
        raise BadName(wanted=wanted, value=name, rule=rule)
    return name


def check_domain(domain: str) -> str:
    """Return ``domain`` if it is valid as the suffix of a project's API groups."""
    return check_subdomain(domain, wanted="a domain")


def package_of(name: str) -> str:
    """Return the default name of the Python package of the project ``name``."""
    return name.replace("-", "_")


def check_package(package: str) -> str:
    """Return ``package`` if it is valid as the name of a project's Python package.

    The name is in lower case, can be imported, and is not the name of another package.
    """
    if not (package.isidentifier() and package.isascii() and package == package.lower()):
        rule = (
            "it must consist of lower-case letters, digits and underscores, and not begin with a"
            " digit"
        )
    elif keyword.iskeyword(package) or keyword.issoftkeyword(package):
        rule = "it is a Python keyword"
    elif package in _TAKEN:
        rule = "another module already has this name"
    else:
        return package
    raise BadName(
        wanted="the name of a package",
        value=package,
        rule=f"{rule}; choose another name with --package",
    )


def module_of(kind: str) -> str:
    """Return the name of the module for ``kind``.

    It is the kind in lower case, unless that name is reserved.
    """
    word = kind.lower()
    if keyword.iskeyword(word) or word in _MODULES:
        return f"{word}_kind"
    return word


def class_suffix(version: str) -> str:
    """Return the suffix of the class for a further version: ``V1Beta1`` for ``v1beta1``."""
    return version.replace("-", "").title()
