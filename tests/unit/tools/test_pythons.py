"""Pythons on this machine, in small directories."""

import sys
from pathlib import Path

import pytest

from tools.pythons import debian
from tools.pythons.debian import DebianFailure
from tools.pythons.interpreters import Interpreter, NotPython, about, find
from tools.versions import supported_pythons

# apt-get writes a package into the cache directory of its configuration. The last argument of
# dpkg-deb is the directory for the files in the package. The Pythons in the package make only the
# directory of a virtual environment, which is their last argument.
APT_GET = """
case "$*" in
*indextargets*) echo file:/mirror ;;
*install*) : > "${2%/apt.conf}/cache/archives/python.deb" ;;
esac
"""
DPKG_DEB = """
for last; do :; done
for minor in 3.14 3.15; do
    program="$last/usr/bin/python$minor"
    library="$last/usr/lib/python$minor"
    /bin/mkdir -p "$last/usr/bin" "$library"
    printf '#!/bin/sh\\nfor last; do :; done\\n/bin/mkdir "$last"\\n' > "$program"
    /bin/chmod +x "$program"
    printf "{'WHEEL_PKG_DIR': '/usr/share/python-wheels/'}" > "$library/_sysconfigdata_a.py"
    /bin/ln -s _sysconfigdata_a.py "$library/_sysconfigdata_b.py"
done
"""
PATCHELF = """
for last; do :; done
echo "# $*" >> "$last"
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def python(path: Path, version: str) -> Path:
    return program(path, f'echo \'["CPython", "{version}"]\'')


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": str(tmp_path / "bin"),
        "PYENV_ROOT": str(tmp_path / "pyenv"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


@pytest.fixture
def apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with small programs in place of those of apt and dpkg."""
    keyring = tmp_path / "keyring.gpg"
    keyring.touch()
    monkeypatch.setattr(debian, "_KEYRING", keyring)
    directory = tmp_path / "bin"
    program(directory / "apt-get", APT_GET)
    program(directory / "dpkg", "echo amd64")
    program(directory / "dpkg-deb", DPKG_DEB)
    program(directory / "patchelf", PATCHELF)
    return directory


def test_a_python_on_the_path_precedes_one_of_pyenv(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    on_path = python(tmp_path / "bin" / "python3.12", "3.12.4")
    python(tmp_path / "pyenv/versions/3.12.9/bin/python3.12", "3.12.9")

    found = find(["3.11", "3.12"], environ=environ)

    assert found == {
        "3.12": Interpreter(program=str(on_path), implementation="CPython", version="3.12.4")
    }


def test_the_newest_release_of_pyenv_is_found_behind_a_shim_that_fails(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    program(tmp_path / "bin" / "python3.13", "exit 127")
    versions = tmp_path / "pyenv" / "versions"
    for release in ("3.13.9", "3.13.10", "3.13.11t", "3.13-dev"):
        python(versions / release / "bin" / "python3.13", release)

    found = find(["3.13"], environ=environ)

    assert found["3.13"].program == str(versions / "3.13.10" / "bin" / "python3.13")


def test_a_program_of_another_version_is_not_used(tmp_path: Path, environ: dict[str, str]) -> None:
    python(tmp_path / "bin" / "python3.13", "3.12.1")

    assert find(["3.13"], environ=environ) == {}


def test_pyenv_is_in_the_home_directory_by_default(tmp_path: Path) -> None:
    mine = python(tmp_path / ".pyenv/versions/3.12.1/bin/python3.12", "3.12.1")

    found = find(["3.12"], environ={"HOME": str(tmp_path), "PATH": "", "PYENV_ROOT": ""})

    assert found["3.12"].program == str(mine)


def test_a_program_tells_its_own_version() -> None:
    found = about(sys.executable)

    assert found.minor == f"{sys.version_info[0]}.{sys.version_info[1]}"
    with pytest.raises(NotPython, match="/bin/false does not run as a Python"):
        about("/bin/false")


def test_extracted_pythons_use_the_files_of_their_own_directory(
    apt: Path, environ: dict[str, str]
) -> None:
    root = debian.provide(environ)

    for minor in ("3.14", "3.15"):
        library = root / "usr" / "lib" / f"python{minor}"
        wheels = f"{{'WHEEL_PKG_DIR': '{root}/usr/share/python-wheels/'}}"
        assert (library / "_sysconfigdata_a.py").read_text() == wheels
        patched = (root / "usr" / "bin" / f"python{minor}").read_text()
        assert f"--set-interpreter {root}/usr/lib/x86_64-linux-gnu/ld-linux" in patched
        assert f"--force-rpath --set-rpath {root}/usr/lib/x86_64-linux-gnu " in patched
    assert sorted(each.name for each in root.parent.iterdir()) == ["forky-amd64", "lock"]


def test_extracted_pythons_are_reused(apt: Path, environ: dict[str, str]) -> None:
    first = debian.provide(environ)
    (first / "usr" / "mine").touch()

    again = debian.provide({**environ, "PATH": ""})

    assert again == first
    assert (again / "usr" / "mine").exists()


def test_an_incomplete_directory_is_made_again(apt: Path, environ: dict[str, str]) -> None:
    rest = debian.root_directory(environ) / "usr" / "rest"
    rest.mkdir(parents=True)

    root = debian.provide(environ)

    assert (root / "usr" / "bin" / "python3.15").exists()
    assert not rest.exists()


def test_a_failed_download_leaves_nothing_and_is_reported_with_its_last_lines(
    apt: Path, environ: dict[str, str]
) -> None:
    program(
        apt / "apt-get",
        'case "$*" in *indextargets*) echo file:/mirror ;;'
        " *) for each in 1 2 3 4 5 6; do echo line $each; done; exit 100 ;; esac",
    )

    with pytest.raises(DebianFailure) as caught:
        debian.provide(environ)

    lines = "".join(f"\n  line {number}" for number in range(2, 7))
    assert str(caught.value) == f"apt-get update failed:{lines}"
    assert [each.name for each in debian.root_directory(environ).parent.iterdir()] == ["lock"]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        pytest.param("dpkg", "echo arm64", "this machine is arm64", id="architecture"),
        pytest.param("apt-get", "true", "apt has no lists of a Debian mirror", id="no mirror"),
    ],
)
def test_a_machine_that_cannot_have_them_is_reported(
    apt: Path, environ: dict[str, str], name: str, text: str, reason: str
) -> None:
    program(apt / name, text)

    with pytest.raises(DebianFailure, match=reason):
        debian.provide(environ)


def test_a_machine_without_apt_is_reported(environ: dict[str, str]) -> None:
    with pytest.raises(DebianFailure, match="the program apt-get is missing"):
        debian.provide(environ)


def test_a_cache_that_cannot_be_written_is_reported(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    (tmp_path / "cache").touch()

    with pytest.raises(DebianFailure, match="forky-amd64 cannot be written"):
        debian.provide(environ)


def test_apt_verifies_signatures_and_works_in_one_directory(tmp_path: Path) -> None:
    files = debian.apt_files(tmp_path, site="file:/mirror")

    assert all(path.is_relative_to(tmp_path) for path in files)
    source = files[tmp_path / "sources.list"]
    assert source.startswith("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ")
    assert source.endswith(" file:/mirror forky main\n")
    settings = files[tmp_path / "apt.conf"]
    assert f'Dir::State "{tmp_path}/state";' in settings
    assert "AllowInsecure" not in settings
    assert "trusted" not in settings


def test_both_distributions_support_the_same_versions() -> None:
    base, cluster = map(supported_pythons, ("steersman", "steersman-cluster"))

    assert base == cluster
    assert set(debian.MINORS) <= set(base)
