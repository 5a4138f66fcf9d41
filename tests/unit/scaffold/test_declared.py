"""The kinds that a project declares, read from its source without an import."""

import ast

import pytest

from steersman.errors import ProjectError
from steersman.scaffold.declared import DeclaredKind, bases_of, declared_in, types_of

SOURCE = '''"""Web."""

import json
import random as dice
from typing import Annotated, Any

import steersman as sm
from steersman import changed, recipes
from steersman.kinds import apps_v1, core_v1

from shop.more import SIZES, Extra

LONGEST = 63
Name = Annotated[str, sm.Rule(max_length=LONGEST)]
unused = dice.random()


def sizes() -> tuple[int, ...]:
    return SIZES


# Where it listens.
class Port(sm.Part):
    number: int  # which


class Spec(sm.Part):
    """What is wanted."""

    name: Name
    ports: tuple[Port, ...] = ()
    env: core_v1.EnvVar | None = None
    size: int = sizes()[0]


class Status(apps_v1.DeploymentStatus):
    """What is."""


class Web(
    sm.CustomResource[Spec, Status],
    group="app.example.com",
    version="v1",
    plural="webben",
    crd=sm.Crd(short_names=SHORT, columns=(sm.Column("Name", ".spec.name"),)),
):
    """A web.

    Of things.
    """


async def reconcile(obj: Web, ctx: sm.Context) -> sm.Outcome:
    print(json.dumps({}), recipes, changed, Any, Extra)
    return sm.Done()
'''

WEB = DeclaredKind(
    path="src/shop/web.py", class_name="Web", group="app.example.com", version="v1", kind="Web"
)


def test_a_class_with_a_group_and_a_version_is_a_kind() -> None:
    other = 'class WebV2(Base, group="g.io", version="v2", kind="Web"): ...\nclass No(Base): ...\n'

    found = declared_in({"src/shop/web.py": SOURCE, "src/shop/other.py": other})

    assert found == (
        WEB,
        DeclaredKind(
            path="src/shop/other.py", class_name="WebV2", group="g.io", version="v2", kind="Web"
        ),
    )


def test_a_kind_includes_only_the_definitions_that_its_types_need() -> None:
    types = types_of(WEB, SOURCE)

    assert types.startswith(
        "from typing import Annotated\n\n"
        "import steersman as sm\n"
        "from steersman.kinds import apps_v1, core_v1\n\n"
        "from shop.more import SIZES\n\n\n"
        "LONGEST = 63\n"
    )
    names = [getattr(node, "name", None) for node in ast.parse(types).body if hasattr(node, "name")]
    assert names == ["sizes", "Port", "Spec", "Status"]
    assert "# Where it listens.\nclass Port(sm.Part):\n    number: int  # which\n" in types
    assert "unused" not in types


def test_settings_of_each_version_are_included() -> None:
    base, rest, docstring = bases_of(WEB, SOURCE)

    assert base == "sm.CustomResource[Spec, Status]"
    assert rest == [
        'plural="webben"',
        'crd=sm.Crd(\n        columns=(sm.Column("Name", ".spec.name"),),\n    )',
    ]
    assert docstring == '"""A web.\n\n    Of things.\n    """'


def test_a_syntax_error_is_reported_with_file_and_line() -> None:
    with pytest.raises(ProjectError, match=r"^src/shop/web\.py is not valid Python, in line 2\."):
        declared_in({"src/shop/web.py": "x = 1\nclass :\n"})
