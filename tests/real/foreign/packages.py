"""Charts and bundles as Helm and the Operator Framework read them."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steersman.manifests import Installation, Tree, bundle_tree, helm_tree, in_folder
from tests.real.foreign.go_programs import BUNDLE, CHART


class ProgramFailed(Exception):
    """A program exited with an error; the text is its stderr."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart on disk; its release has the operator's name by default."""

    directory: Path
    release: str
    namespace: str

    def objects(
        self,
        values: Mapping[str, Any] | None = None,
        *,
        release: str | None = None,
        namespace: str | None = None,
    ) -> list[dict[str, Any]]:
        """The objects of a release with these values."""
        lines = self._run("template", values, release=release, namespace=namespace)
        return [json.loads(line) for line in lines.split("\n") if line]

    def notes(self, values: Mapping[str, Any] | None = None) -> str:
        """The notes that Helm prints after an installation."""
        return self._run("notes", values)

    def lint(self, values: Mapping[str, Any] | None = None) -> list[str]:
        """The output of ``helm lint``."""
        return self._run("lint", values).splitlines()

    def _run(
        self,
        verb: str,
        values: Mapping[str, Any] | None,
        *,
        release: str | None = None,
        namespace: str | None = None,
    ) -> str:
        file = self.directory.with_name(f"{self.directory.name}-values.json")
        file.write_text(json.dumps(values or {}))
        options = (
            f"-release={release or self.release}",
            f"-namespace={namespace or self.namespace}",
            f"-values={file}",
        )
        return _run(CHART.path, *options, verb, self.directory)


def chart_of(what: Installation, directory: Path) -> Chart:
    """Write the chart of an installation to ``directory``."""
    _write(helm_tree(what), directory)
    return Chart(directory=directory, release=what.name, namespace=what.namespace)


def rendered(tree: Tree, directory: Path) -> list[dict[str, Any]]:
    """The objects that Helm renders from a chart with only these templates."""
    about = "apiVersion: v2\nname: templates\nversion: 1.0.0\n"
    _write({"Chart.yaml": about, "values.yaml": "{}\n", **in_folder("templates", tree)}, directory)
    return Chart(directory=directory, release="release", namespace="default").objects()


def findings_in_bundle(what: Installation, directory: Path, **options: Any) -> list[str]:
    """Errors and warnings of the Operator Framework's validation."""
    _write(bundle_tree(what, **options), directory)
    return findings_in(directory)


def findings_in(directory: Path) -> list[str]:
    """Errors and warnings for a directory that has a bundle."""
    return _run(BUNDLE.path, directory).splitlines()


def _run(program: Path, *arguments: str | Path) -> str:
    finished = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    if finished.returncode != 0:
        raise ProgramFailed(finished.stderr)
    return finished.stdout


def _write(tree: Tree, directory: Path) -> None:
    for path, text in tree.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        # As bytes, because text mode translates line ends.
        file.write_bytes(text.encode())
