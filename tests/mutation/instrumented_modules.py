"""Imports modules with the switches of all their mutants."""

import ast
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from tests.mutation import switches
from tests.mutation.rule_mutants import SWITCHES, Mutant, instrumented


class InstrumentedModules(MetaPathFinder, Loader):
    """The instrumented modules of ``paths``, below the directory ``root`` of an import path."""

    def __init__(self, root: Path, paths: Sequence[Path]) -> None:
        # The mutants of all modules, in the order of their numbers.
        self.mutants: list[tuple[Path, Mutant]] = []
        self._modules: dict[str, tuple[Path, ast.Module]] = {}
        for path in paths:
            module, found = instrumented(path.read_text(encoding="utf-8"), len(self.mutants))
            self._modules[".".join(path.relative_to(root).with_suffix("").parts)] = path, module
            self.mutants += ((path, each) for each in found)

    def install(self) -> None:
        """Let all later imports find the instrumented modules."""
        imported = self._modules.keys() & sys.modules.keys()
        assert not imported, f"imported without switches: {sorted(imported)}"
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self._modules:
            return None
        return spec_from_file_location(fullname, self._modules[fullname][0], loader=self)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        path, tree = self._modules[module.__name__]
        setattr(module, SWITCHES, switches)
        exec(compile(tree, str(path), "exec"), module.__dict__)  # noqa: S102
