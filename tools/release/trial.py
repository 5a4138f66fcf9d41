"""Use wheels as their users do, in a new virtual environment of the Python that runs this file.

``PYTHON trial.py WHEEL… [--from OLDER-WHEEL…]`` installs the wheels, creates a project, runs its
tests, and runs its operator with ``steersman dev``. With ``--from``, the project is created and
tested with the older wheels, and then upgraded; so are the data of its cluster. pip uses the index
of its configuration, and nothing else uses the network.

It needs only the standard library: the Python under test has no other packages.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

# The operator has started and has reconciled the sample before this time, unless it hangs.
_DEV_SECONDS = 10

# Variables that would replace the virtual environment, or its project, by another.
_UNWANTED = ("BUILDER", "KUBECONFIG", "MAKE", "MFLAGS", "PYTHON", "VIRTUAL_ENV")


class Trial:
    """A virtual environment with steersman, and a project."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._home = directory / "venv"
        self._project = directory / "shop"
        venv.create(self._home, with_pip=True)

    def install(self, wheels: Sequence[Path]) -> None:
        """Install wheels, in place of those that are installed."""
        base, *others = sorted(wheels, key=lambda path: not path.name.startswith("steersman-"))
        installed = ("-m", "pip", "install", "--quiet")
        # Wheels of the same version differ between commits, and pip would keep the older.
        self._python(*installed, "--force-reinstall", "--no-deps", base, *others)
        self._python(*installed, f"{base}[dev]", *others)

    def create_project(self) -> None:
        """Create a project with a kind."""
        self._steersman("init", "shop", "--domain", "example.com", directory=self._directory)
        self._steersman("create", "api", "--group=app", "--version=v1", "--kind=Web")

    def upgrade_project(self) -> None:
        """Upgrade the project to the installed wheels."""
        self._steersman("upgrade")

    def test_project(self) -> None:
        """Run ``make test`` of the project, which installs its further dependencies."""
        output = self._run("make", "test", directory=self._project)
        if " passed" not in output:
            sys.exit(f"make test ran no test:\n{output}")

    def run_operator(self) -> None:
        """Run the operator with its sample on the embedded cluster, whose data are kept."""
        data = self._directory / "data"
        output = self._steersman("dev", "--samples", f"--for={_DEV_SECONDS}", f"--data={data}")
        if "reconciled Web default/" not in output:
            sys.exit(f"steersman dev reconciled nothing:\n{output}")

    def _steersman(self, *arguments: str, directory: Path | None = None) -> str:
        program = self._home / "bin" / "steersman"
        return self._run(program, *arguments, directory=directory or self._project)

    def _python(self, *arguments: str | Path) -> str:
        return self._run(self._home / "bin" / "python", *arguments, directory=self._directory)

    def _run(self, *command: str | Path, directory: Path) -> str:
        environ = {
            name: value for name, value in os.environ.items() if not name.startswith(_UNWANTED)
        }
        finished = subprocess.run(
            command,
            cwd=directory,
            env={**environ, "VIRTUAL_ENV": str(self._home)},
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if finished.returncode:
            shown = " ".join(map(str, command)).replace(f"{self._directory}/", "")
            sys.exit(f"{shown} failed:\n{finished.stdout}")
        return finished.stdout


def main() -> None:
    """Run a trial; the exit status is 0 if everything works."""
    parser = argparse.ArgumentParser()
    parser.add_argument("wheels", nargs="+", type=Path)
    parser.add_argument("--from", dest="older", nargs="+", type=Path, default=[])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="steersman-trial-") as directory:
        trial = Trial(Path(directory))
        trial.install(arguments.older or arguments.wheels)
        trial.create_project()
        trial.test_project()
        trial.run_operator()
        if arguments.older:
            trial.install(arguments.wheels)
            trial.upgrade_project()
            trial.test_project()
            trial.run_operator()


if __name__ == "__main__":
    main()
