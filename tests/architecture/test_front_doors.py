"""Packages import each other only through their ``__init__``, and never the lazy top package."""

from collections.abc import Iterator

from tests.architecture.tree import Module, assert_none, module_names, modules, offenders

OPEN_PACKAGES = {"steersman.kinds"}  # packages whose modules are API groups, imported by name
PUBLIC_MODULES = {"steersman.controller.changed"}  # a module that is meant to be used whole


def private_imports(module: Module) -> Iterator[str]:
    """Imports of other packages' modules, and of what the top package loads on demand."""
    for line, name in module.imports:
        root, _, inside = name.partition(".")
        package, _, rest = inside.partition(".")
        home = f"{root}.{package}"
        if (
            root != "steersman"
            or home in {module.package, *OPEN_PACKAGES}
            or name in PUBLIC_MODULES
        ):
            continue
        if rest:
            # What a package gives is a name in it; a further dot, or a module, is private.
            is_private = "." in rest or name in module_names()
        else:
            # Names of the top package load on demand; it alone may import them.
            is_private = module.name != "steersman" and (not inside or name not in module_names())
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
