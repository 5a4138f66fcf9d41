"""What a project, its package and its modules may be called."""

import keyword
import sys
from typing import Final

from steersman.errors import BadName
from steersman.names import check_label, check_subdomain

# What is installed is called NAME-…, and most of those names have 63 characters at most.
LONGEST_NAME: Final = 50

# A package of one of these names would be imported in the place of another: what an operator or its
# tests import, and the directories beside it.
_TAKEN: Final = frozenset(
    {
        *sys.stdlib_module_names,
        *("click", "cryptography", "httptools", "jinja2", "msgspec", "mypy", "pip"),
        *("prometheus_client", "pytest", "pytest_asyncio", "ruff", "setuptools", "steersman"),
        *("yaml", "conftest", "deploy", "docs", "samples", "src", "test", "tests"),
    }
)

# Modules that every project has, and what must not be the name of a module beside them.
_MODULES: Final = frozenset({"operator", "models"})


def check_project_name(name: str) -> str:
    """A project's name: a DNS label, short enough that others can be made of it."""
    wanted = "a project's name"
    check_label(name, wanted=wanted)
    if not name[0].isalpha() or len(name) > LONGEST_NAME:
        rule = f"it begins with a letter, and is {LONGEST_NAME} characters at most"
        raise BadName(wanted=wanted, value=name, rule=rule)
    return name


def check_domain(domain: str) -> str:
    """What the groups of a project's kinds end in."""
    return check_subdomain(domain, wanted="a domain")


def package_of(name: str) -> str:
    """The package of a project, unless it is given one."""
    return name.replace("-", "_")


def check_package(package: str) -> str:
    """A package: lower-case, importable, and not in the way of another one."""
    if not (package.isidentifier() and package.isascii() and package == package.lower()):
        rule = "it has lower-case letters, digits and underscores, and begins with a letter"
    elif keyword.iskeyword(package) or keyword.issoftkeyword(package):
        rule = "it is a word of Python's own"
    elif package in _TAKEN:
        rule = "another module is called so, and one of the two could not be imported"
    else:
        return package
    raise BadName(wanted="a Python package", value=package, rule=f"{rule}; --package names another")


def module_of(kind: str) -> str:
    """The module of a kind: its name in lower case, unless that cannot be one."""
    word = kind.lower()
    if keyword.iskeyword(word) or word in _MODULES:
        return f"{word}_kind"
    return word


def class_suffix(version: str) -> str:
    """What sets the class of another version apart: ``v1beta1`` becomes ``V1Beta1``."""
    return version.replace("-", "").title()
