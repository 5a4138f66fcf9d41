"""Which files belong to steersman."""

import os
import subprocess
import sys
from pathlib import Path

import steersman
from steersman import names, wire
from steersman._own_code import is_own_code


def test_a_file_of_any_package_is_own_code() -> None:
    assert is_own_code(names.__file__)
    assert is_own_code(str(wire.__file__))
    assert is_own_code(is_own_code.__code__.co_filename)


def test_a_file_beside_the_package_is_an_authors_code() -> None:
    beside = Path(str(steersman.__file__)).parents[1]

    assert not is_own_code(str(beside / "steersman_operator" / "controller.py"))
    assert not is_own_code(str(beside / "steersman.py"))
    assert not is_own_code("/srv/steersman/src/operator.py")
    assert not is_own_code(__file__)
    assert not is_own_code("<string>")


def test_a_file_of_the_package_of_the_cluster_is_own_code_wherever_it_is_installed(
    tmp_path: Path,
) -> None:
    package = tmp_path / "steersman_cluster"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    program = (
        "import sys; from steersman._own_code import is_own_code; print(is_own_code(sys.argv[1]))"
    )

    said = subprocess.run(
        [sys.executable, "-c", program, str(package / "apiserver" / "server.py")],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        check=True,
        text=True,
    )

    assert said.stdout == "True\n"
