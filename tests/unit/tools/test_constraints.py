from typing import Any

import pytest

from tools.constraints import IndexFile, pins, with_hashes
from tools.requirements import requirements

INDEX = {
    "Jinja2": [
        IndexFile("jinja2-3.1.6-py3-none-any.whl", "bb"),
        IndexFile("jinja2-3.1.6.tar.gz", "aa"),
        IndexFile("jinja2-3.1.5.tar.gz", "cc"),
        IndexFile("Jinja2-3.1.6.exe", "dd"),
    ],
    "re2": [
        IndexFile("re2-1.0-cp311-cp311-manylinux_2_28_x86_64.whl", "11"),
        IndexFile("re2-1.0-cp315-cp315-win_amd64.whl", "22"),
    ],
}

WRITTEN = """\
Jinja2==3.1.6 \\
    --hash=sha256:aa \\
    --hash=sha256:bb
re2==1.0 \\
    --hash=sha256:11 \\
    --hash=sha256:22
"""


def test_each_pin_gets_the_hashes_of_all_files_of_its_release() -> None:
    assert with_hashes("re2==1.0\nJinja2==3.1.6\n", INDEX.__getitem__) == WRITTEN


def test_hashes_are_renewed_in_place() -> None:
    older = WRITTEN.replace("sha256:bb", "sha256:ee")

    assert with_hashes(older, INDEX.__getitem__) == WRITTEN
    assert pins(WRITTEN) == {"Jinja2": "3.1.6", "re2": "1.0"}


def test_a_release_that_the_index_does_not_have_is_an_error() -> None:
    with pytest.raises(SystemExit, match=r"the index of pip has no re2 2\.0"):
        with_hashes("re2==2.0\n", INDEX.__getitem__)


def test_a_file_without_a_hash_is_an_error() -> None:
    index = [*INDEX["re2"], IndexFile("re2-1.0.tar.gz", None)]

    with pytest.raises(SystemExit, match=r"no SHA-256 of re2-1\.0\.tar\.gz"):
        with_hashes("re2==1.0\n", {"re2": index}.__getitem__)


def test_the_requirements_of_projects_are_those_of_others() -> None:
    projects: list[dict[str, Any]] = [
        {
            "name": "steersman",
            "dependencies": ["PyYAML>=6.0.1"],
            "optional-dependencies": {
                "cli": ["click>=8.1"],
                "dev": ["steersman[cli]", "Steersman_Cluster==0.1.0"],
            },
        },
        {
            "name": "steersman-cluster",
            "dependencies": ["steersman[cli]==0.1.0", "re2; python_version < '3.15'"],
        },
    ]

    assert requirements(projects) == ["PyYAML>=6.0.1", "click>=8.1", "re2; python_version < '3.15'"]
