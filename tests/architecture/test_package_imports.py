"""Packages import each other only through their ``__init__``, and never the lazy top package."""

import re
from collections.abc import Iterator

from tests.architecture.tree import SOURCES, Module, assert_none, module_names, modules, offenders

OPEN_PACKAGES = {"steersman.kinds"}  # packages whose modules are API groups, imported by name
PUBLIC_MODULES = {"steersman.controller.changed"}  # modules that are imported as a whole


def private_imports(module: Module) -> Iterator[str]:
    """Imports of other packages' modules, and of lazy names of the top package."""
    for line, name in module.imports:
        root, _, inside = name.partition(".")
        package, _, rest = inside.partition(".")
        home = f"{root}.{package}"
        if (
            root not in SOURCES
            or home in {module.package, *OPEN_PACKAGES}
            or name in PUBLIC_MODULES
        ):
            continue
        if rest:
            # The names of a package are public; its modules are private.
            is_private = "." in rest or name in module_names()
        else:
            # Names of the top package are lazy; only the top package may import them.
            is_private = module.name != root and (not inside or name not in module_names())
        if is_private:
            yield f"{module.path}:{line} imports {name}"


def test_packages_import_each_other_only_through_their_public_interface() -> None:
    bad = [
        Module("steersman/cache/example.py", text)
        for text in (
            "from steersman.watch.reflector import Reflector",
            "from steersman.watch import reflector",
            "def f():\n    import steersman.watch.reflector",
            "import steersman",
            "from steersman import Client",
        )
    ]

    assert_none(offenders(private_imports, modules(), bad=bad))


# The base mentions the other distribution only in messages about its installation, for the wheels
# of a project, in renames of imports, and to distinguish steersman's code from an author's.
KNOW_THE_CLUSTER = {
    "_own_code.py",
    "cli/cluster_client.py",
    "cli/commands/root.py",
    "scaffold/origin.py",
    "scaffold/upgrade/rename_map.py",
    "scaffold/upgrade/text_source.py",
}
CLUSTER = re.compile(r"steersman[-_ ]cluster")


def cluster_mentions(module: Module) -> Iterator[str]:
    """Lines of the base that mention the distribution for development."""
    inside = module.path.removeprefix("steersman/")
    if inside == module.path or inside in KNOW_THE_CLUSTER:
        return
    for number, line in enumerate(module.text.splitlines(), start=1):
        if CLUSTER.search(line):
            yield f"{module.path}:{number}: {line.strip()}"


def test_the_production_distribution_does_not_mention_the_development_cluster() -> None:
    bad = [Module("steersman/a.py", "if find_spec('steersman_cluster'):\n    slow = True")]

    assert_none(offenders(cluster_mentions, modules(), bad=bad))
