"""A package does not open files of another package."""

from tests.architecture.allowances import OPENED_PATHS
from tests.architecture.file_paths import opened_paths, paths_outside
from tests.architecture.tree import Module, assert_none

SIBLING = "steersman/schema/pod.json"


def test_no_module_opens_files_of_another_package_except_those_on_the_list() -> None:
    texts = [
        "Path(__file__).parents[1] / 'schema' / 'pod.json'",
        "A: Final = Path(__file__).resolve().parent\nB = A.parent.joinpath('schema/pod.json')",
        "def f(here=Path(__file__).parent): return here.parent / 'schema/pod.json'",
        "import steersman.schema\nPath(steersman.schema.__file__).parent / 'pod.json'",
        "from importlib.resources import files\nfiles('steersman') / 'schema' / 'pod.json'",
        "from importlib import resources\nresources.files('steersman.schema') / 'pod.json'",
        "from steersman import schema\nresources.files(schema).joinpath('pod.json')",
    ]
    example = [Module("steersman/kinds/example.py", text) for text in texts]
    own = Module("steersman/kinds/inner/example.py", "Path(__file__).parents[1] / 'pod.json'")
    assert [list(paths_outside(module)) for module in example] == [[SIBLING]] * len(texts)
    assert opened_paths([own]) == {}

    assert_none(OPENED_PATHS.differences())
