"""Fields are the same with each form of annotation that the running Python has."""

import __future__

import sys
from collections.abc import Callable
from itertools import count
from types import ModuleType
from typing import Any, get_type_hints

import msgspec
import pytest

from steersman.kinds import Codec
from steersman.kinds.annotations import own_annotations
from steersman.manifests import as_document, crd_of

CODEC = Codec()
WANTED = "read a tree"
AS_VALUES = 0
AS_TEXT = __future__.annotations.compiler_flag
LAZY = sys.version_info >= (3, 14)

DECLARATIONS = '''
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from steersman.kinds import CustomResource, Part, Rule


class Port(Part):
    number: Annotated[int, Rule(ge=1)]


class Tree(Part, sensitive={"sap"}, wire_names={"ring_ids": "ringIDs"}):
    LIMIT: ClassVar[int] = 3
    name: str
    """What it is called."""
    sap: str | None = None
    ring_ids: tuple[int, ...] = (1,)
    labels: Mapping[str, str] | None = None
    branch: Annotated["Tree | None", Rule(opaque=True)] = None
    root: "Root | None" = None
    ports: "tuple[Port, ...]" = ()


class Root(Part):
    port: Port | None = None


class Oak(Tree):
    acorns: int = 2


class Forest(CustomResource[Oak, Root], group="trees.example.com", version="v1"):
    """Trees."""
'''

OBJECT = {
    "apiVersion": "trees.example.com/v1",
    "kind": "Forest",
    "metadata": {"name": "one"},
    "spec": {
        "name": "a",
        "sap": "sweet",
        "ringIDs": [1, 2],
        "labels": {"size": "big"},
        "branch": {"name": "b", "ringIDs": [], "ports": []},
        "root": {"port": {"number": 80}},
        "ports": [{"number": 443}],
        "acorns": 0,
    },
}

Load = Callable[[str, int], Any]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Load:
    """Return a function that runs a source, compiled with the flags of a future, as a module."""
    numbers = count()

    def load_module(source: str, flags: int) -> Any:
        module = ModuleType(f"{__name__}_{next(numbers)}")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        code = compile(source, module.__name__, "exec", flags=flags, dont_inherit=True)
        exec(code, vars(module))  # noqa: S102
        return module

    return load_module


@pytest.mark.parametrize("flags", [AS_VALUES, AS_TEXT])
def test_an_object_is_decoded_and_encoded_with_annotations_of_each_form(
    load: Load, flags: int
) -> None:
    trees = load(DECLARATIONS, flags)

    forest = CODEC.decode(trees.Forest, msgspec.json.encode(OBJECT), wanted=WANTED)

    assert forest.spec.root == trees.Root(port=trees.Port(number=80))
    assert isinstance(forest.spec.branch, trees.Tree)
    assert forest.spec.LIMIT == 3
    assert "sweet" not in repr(forest)
    with pytest.raises(TypeError):
        forest.spec.labels["size"] = "small"
    assert msgspec.json.decode(msgspec.json.encode(forest)) == OBJECT


def test_the_definition_is_the_same_with_annotations_of_each_form(load: Load) -> None:
    values, text = (load(DECLARATIONS, flags).Forest for flags in (AS_VALUES, AS_TEXT))

    assert as_document(crd_of(values)) == as_document(crd_of(text))


@pytest.mark.parametrize("flags", [AS_VALUES, AS_TEXT])
def test_a_class_has_only_the_annotations_of_its_own_body(load: Load, flags: int) -> None:
    trees = load(DECLARATIONS, flags)

    assert list(own_annotations(vars(trees.Oak))) == ["acorns"]
    assert list(own_annotations(vars(trees.Forest))) == ["api_version", "kind"]
    assert list(get_type_hints(trees.Root)) == ["port"]


BASE = """
from collections.abc import Mapping as Words

from steersman.kinds import Part


class Tree(Part):
    labels: Words[str, str]
    root: "Root | None" = None


class Root(Part):
    depth: int
"""

# Neither Words nor Root is a name in the module of the subclass.
DERIVED = """
from typing import Annotated

from {base} import Tree

from steersman.kinds import CustomResource, Part, Rule


class Oak(Tree):
    acorns: Annotated[int, Rule(ge=0)]


class Old(Oak):
    acorns: Annotated[int, Rule(ge=100)]
    years: int


class Wood(CustomResource[Old, Part], group="trees.example.com", version="v1"):
    pass
"""


@pytest.mark.parametrize("of_subclass", [AS_VALUES, AS_TEXT])
@pytest.mark.parametrize("of_base", [AS_VALUES, AS_TEXT])
def test_a_subclass_in_another_module_inherits_fields_of_each_form(
    load: Load, of_base: int, of_subclass: int
) -> None:
    base = load(BASE, of_base)
    woods = load(DERIVED.format(base=base.__name__), of_subclass)
    spec = b'{"labels": {"a": "b"}, "root": {"depth": 2}, "acorns": 100, "years": 9}'

    old = CODEC.decode(woods.Old, spec, wanted=WANTED)

    assert (old.labels["a"], old.root.depth, old.acorns, old.years) == ("b", 2, 100, 9)
    schema = as_document(crd_of(woods.Wood))["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    fields = schema["properties"]["spec"]["properties"]
    assert [*fields] == ["labels", "root", "acorns", "years"]
    assert fields["acorns"]["minimum"] == 100
    assert [*own_annotations(vars(woods.Old))] == ["acorns", "years"]


LOCAL = """
from steersman.kinds import Part


def declared():
    class Leaf(Part):
        color: str

    class Branch(Part):
        leaf: Leaf
        leaves: tuple[Leaf, ...] = ()

    return Branch
"""


def test_a_class_in_a_function_uses_the_local_classes_before_it(load: Load) -> None:
    branch = load(LOCAL, AS_VALUES).declared()

    found = CODEC.decode(branch, b'{"leaf": {"color": "red"}}', wanted=WANTED)

    assert found.leaf.color == "red"


def test_the_error_for_text_annotations_in_a_function_has_the_name_that_is_not_found(
    load: Load,
) -> None:
    branch = load(LOCAL, AS_TEXT).declared()

    with pytest.raises(TypeError, match="Branch: an annotation refers to Leaf"):
        CODEC.decode(branch, b'{"leaf": {"color": "red"}}', wanted=WANTED)


LATER = """
from collections.abc import Mapping

from steersman.kinds import Part


class Branch(Part):
    leaf: Leaf | None = None
    leaves: tuple[Leaf, ...] = ()
    names: Names | None = None


class Leaf(Part):
    color: str


Names = Mapping[str, str]
"""


@pytest.mark.parametrize("flags", [AS_VALUES, AS_TEXT])
def test_an_annotation_without_quotes_names_a_later_class_where_python_permits_it(
    load: Load, flags: int
) -> None:
    if flags == AS_VALUES and not LAZY:
        with pytest.raises(NameError, match="Leaf"):
            load(LATER, flags)
        return

    branch = load(LATER, flags).Branch
    body = b'{"leaf": {"color": "red"}, "leaves": [{"color": "blue"}], "names": {"a": "b"}}'
    found = CODEC.decode(branch, body, wanted=WANTED)

    assert (found.leaf.color, found.leaves[0].color) == ("red", "blue")


LATER_IN_A_FUNCTION = """
from steersman.kinds import Part


def declared():
    class Branch(Part):
        leaf: Leaf | None = None

    class Leaf(Part):
        color: str

    return Branch
"""


def test_a_class_in_a_function_names_a_later_one_where_python_permits_it(load: Load) -> None:
    declared = load(LATER_IN_A_FUNCTION, AS_VALUES).declared
    if not LAZY:
        with pytest.raises(NameError, match="Leaf"):
            declared()
        return

    found = CODEC.decode(declared(), b'{"leaf": {"color": "red"}}', wanted=WANTED)

    assert found.leaf.color == "red"


MISSING = """
from steersman.kinds import Part


class Branch(Part):
    leaf: "Missing"
"""


@pytest.mark.parametrize("flags", [AS_VALUES, AS_TEXT])
@pytest.mark.parametrize("quotes", [True, False])
def test_the_error_for_an_annotation_with_a_missing_class_names_it(
    load: Load, flags: int, quotes: bool
) -> None:
    source = MISSING if quotes else MISSING.replace('"Missing"', "Missing")
    if flags == AS_VALUES and not quotes and not LAZY:
        with pytest.raises(NameError, match="Missing"):
            load(source, flags)
        return

    branch = load(source, flags).Branch

    with pytest.raises(TypeError, match="Branch: an annotation refers to Missing"):
        CODEC.decode(branch, b'{"leaf": {}}', wanted=WANTED)


@pytest.mark.parametrize("flags", [AS_VALUES, AS_TEXT])
def test_another_error_in_an_annotation_is_that_of_the_class_statement(
    load: Load, flags: int
) -> None:
    source = "from steersman.kinds import Part\nclass Branch(Part):\n    leaf: 1 / 0\n"
    if flags == AS_TEXT:
        load(source, flags)  # not evaluated yet
        return

    with pytest.raises(ZeroDivisionError):
        load(source, flags)
