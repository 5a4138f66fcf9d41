"""Upgrades of projects of an older steersman; the author's changes are kept."""

import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from shutil import which

import pytest

from steersman.errors import ProjectError
from steersman.scaffold import (
    Origin,
    Project,
    UpgradeResult,
    create_api,
    init_project,
    upgrade_project,
)
from steersman.scaffold.base import base_text, read_base
from steersman.scaffold.creation import version_of_steersman
from tests.unit.scaffold.projects import edit, files_in, new_project

BEFORE = "0.0.9"
BASE = ".steersman/base.json"

PATH = str(Path(which("git") or "").parent)


def older_project(directory: Path, *, changes: Mapping[str, tuple[str, str]] = {}) -> Project:
    """A project as an older steersman would have created it.

    Its files differ from today's by ``changes``, which are pairs of today's text and the older one.
    """
    project = new_project(directory)
    dated = {
        f'scaffold = "{project.scaffold}"': f'scaffold = "{BEFORE}"',
        f">={project.scaffold}": f">={BEFORE}",
    }
    base = base_of(project)
    for today, older in (*changes.values(), *dated.items()):
        for path in (*changes, "pyproject.toml"):
            text = text_of(project, path)
            (project.directory / path).write_text(text.replace(today, older))
            base[path] = base[path].replace(today, older)
    write_base(project, base)
    return Project.find(project.directory)


def base_of(project: Project) -> dict[str, str]:
    return dict(read_base(project.directory))


def write_base(project: Project, base: Mapping[str, str]) -> None:
    (project.directory / BASE).write_text(base_text(base))


def upgraded(project: Project) -> UpgradeResult:
    return upgrade_project(project, search_path=PATH)


def text_of(project: Project, path: str) -> str:
    return (project.directory / path).read_text()


def test_an_upgrade_applies_the_changes_of_the_templates(tmp_path: Path) -> None:
    today = files_in(new_project(tmp_path / "new").directory)
    project = older_project(
        tmp_path / "old", changes={"Makefile": ("-m pytest\n", "-m unittest\n")}
    )

    done = upgraded(project)

    assert done == UpgradeResult(
        before=BEFORE, after=version_of_steersman(), replaced=("Makefile", "pyproject.toml")
    )
    assert files_in(project.directory) == today


def test_a_second_upgrade_changes_nothing(tmp_path: Path) -> None:
    project = older_project(tmp_path, changes={"Makefile": ("-m pytest\n", "-m unittest\n")})
    upgraded(project)
    before = files_in(project.directory)

    done = upgraded(Project.find(project.directory))

    version = version_of_steersman()
    assert done == UpgradeResult(before=version, after=version)
    assert files_in(project.directory) == before


def test_an_upgrade_keeps_what_the_author_changed(tmp_path: Path) -> None:
    project = older_project(tmp_path, changes={"Makefile": ("-m pytest\n", "-m unittest\n")})
    create_api(project, group="app", version="v1", kind="Web")
    edit(project, "Makefile", "help: ## list the targets", "help: ## what can I do?")
    edit(project, "pyproject.toml", 'image = "shop', 'image = "mine/shop')
    edit(project, "pyproject.toml", f'>={BEFORE}",\n', f'>={BEFORE}",\n    "httpx",\n')
    edit(project, "src/shop_operator/web.py", "image: str", "picture: str")

    done = upgraded(project)

    assert done.merged == ("Makefile", "pyproject.toml")
    assert done.conflicts == ()
    assert "help: ## what can I do?" in text_of(project, "Makefile")
    assert "-m pytest\n" in text_of(project, "Makefile")
    assert "picture: str" in text_of(project, "src/shop_operator/web.py")
    assert "web.controller" in text_of(project, "src/shop_operator/operator.py")
    after = Project.find(project.directory)
    assert (after.image, after.scaffold) == ("mine/shop-operator:0.1.0", done.after)
    assert '    "httpx",\n' in text_of(project, "pyproject.toml")
    assert f">={done.after}" in text_of(project, "pyproject.toml")


def test_an_upgrade_renames_the_extra_that_a_project_requires(tmp_path: Path) -> None:
    project = older_project(
        tmp_path, changes={"pyproject.toml": ("steersman[tls]", "steersman[webhooks]")}
    )
    edit(project, "pyproject.toml", f'>={BEFORE}",\n', f'>={BEFORE}",\n    "httpx",\n')

    done = upgraded(project)

    assert done.conflicts == ()
    assert f'"steersman[tls]>={done.after}",\n    "httpx",\n' in text_of(project, "pyproject.toml")
    assert "webhooks" not in text_of(project, "pyproject.toml")


def test_conflicting_changes_of_a_line_are_both_shown(tmp_path: Path) -> None:
    project = older_project(tmp_path, changes={"Dockerfile": ("3.13-slim\n", "3.12-slim\n")})
    edit(project, "Dockerfile", "3.12-slim\n", "3.12-alpine\n")

    done = upgraded(project)

    assert done.conflicts == ("Dockerfile",)
    assert (
        "<<<<<<< yours\nFROM python:3.12-alpine\n=======\nFROM python:3.13-slim\n"
        f">>>>>>> steersman {done.after}\n"
    ) in text_of(project, "Dockerfile")


def test_an_upgrade_is_rejected_until_the_last_one_is_resolved(tmp_path: Path) -> None:
    project = older_project(tmp_path, changes={"Dockerfile": ("3.13-slim\n", "3.12-slim\n")})
    edit(project, "Dockerfile", "3.12-slim\n", "3.12-alpine\n")
    upgraded(project)
    before = files_in(project.directory)

    with pytest.raises(ProjectError, match="Dockerfile has marks of a merge that was never"):
        upgraded(Project.find(project.directory))

    assert files_in(project.directory) == before


def test_a_resolved_conflict_is_kept_by_later_upgrades(tmp_path: Path) -> None:
    project = older_project(tmp_path, changes={"Dockerfile": ("3.13-slim\n", "3.12-slim\n")})
    edit(project, "Dockerfile", "3.12-slim\n", "3.12-alpine\n")
    theirs = text_of(project, "Dockerfile")
    upgraded(project)
    (project.directory / "Dockerfile").write_text(theirs)

    done = upgraded(Project.find(project.directory))

    assert done.conflicts == done.merged == ()
    assert text_of(project, "Dockerfile") == theirs


def test_a_file_that_the_author_deleted_stays_deleted(tmp_path: Path) -> None:
    project = older_project(tmp_path, changes={"Dockerfile": ("3.13-slim\n", "3.12-slim\n")})
    (project.directory / "Dockerfile").unlink()

    for _ in range(2):
        done = upgraded(Project.find(project.directory))

        assert "Dockerfile" not in (*done.added, *done.replaced, *done.merged, *done.conflicts)
        assert not (project.directory / "Dockerfile").exists()


def test_a_new_file_is_added_unless_the_author_has_one(tmp_path: Path) -> None:
    project = older_project(tmp_path)
    base = base_of(project)
    for path in (".dockerignore", ".gitignore"):
        (project.directory / path).unlink()
        del base[path]
    write_base(project, base)
    (project.directory / ".gitignore").write_text("mine\n")

    done = upgraded(project)

    assert done.added == (".dockerignore",)
    assert done.kept == (".gitignore",)
    assert text_of(project, ".gitignore") == "mine\n"
    assert text_of(project, ".dockerignore") == base_of(project)[".dockerignore"]


def test_a_file_without_a_template_is_removed_unless_it_was_changed(tmp_path: Path) -> None:
    project = older_project(tmp_path)
    for name in ("old.cfg", "changed.cfg"):
        (project.directory / name).write_text("a\n")
    write_base(project, {**base_of(project), "old.cfg": "a\n", "changed.cfg": "a\n"})
    (project.directory / "changed.cfg").write_text("mine\n")

    done = upgraded(project)

    assert (done.removed, done.kept) == (("old.cfg",), ("changed.cfg",))
    left = files_in(project.directory)
    assert "old.cfg" not in left
    assert not {"old.cfg", "changed.cfg"} & set(base_of(project))
    assert left["changed.cfg"] == "mine\n"


def test_the_authors_line_endings_are_kept(tmp_path: Path) -> None:
    project = older_project(tmp_path)
    path = project.directory / "README.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    before = path.read_bytes()

    upgraded(project)

    assert path.read_bytes() == before


def test_a_project_of_a_newer_steersman_is_not_upgraded(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    edit(project, "pyproject.toml", project.scaffold, "99.0.0")
    before = files_in(project.directory)

    with pytest.raises(ProjectError, match=r"was last upgraded by 99\.0\.0\. Upgrade steersman"):
        upgraded(Project.find(project.directory))

    assert files_in(project.directory) == before


def test_the_error_for_a_conflicted_pyproject_says_what_to_do(tmp_path: Path) -> None:
    project = older_project(
        tmp_path, changes={"pyproject.toml": ("line-length = 100", "line-length = 88")}
    )
    edit(project, "pyproject.toml", "line-length = 88", "line-length = 120")

    done = upgraded(project)

    assert done.conflicts == ("pyproject.toml",)
    with pytest.raises(ProjectError, match="Resolve the conflicts between <<<<<<< and >>>>"):
        Project.find(project.directory)


def test_without_git_an_upgrade_is_rejected(tmp_path: Path) -> None:
    project = older_project(tmp_path)
    before = files_in(project.directory)

    with pytest.raises(ProjectError, match="needs git, which is not on the PATH"):
        upgrade_project(project, search_path=str(tmp_path))

    assert files_in(project.directory) == before


def test_without_a_base_an_upgrade_is_rejected(tmp_path: Path) -> None:
    project = older_project(tmp_path)
    (project.directory / BASE).rename(tmp_path / "elsewhere")

    with pytest.raises(ProjectError, match=r"git checkout -- \.steersman/base\.json$"):
        upgraded(project)


@pytest.mark.needs_tools
def test_linters_and_formatters_ignore_the_base(tmp_path: Path) -> None:
    project = older_project(tmp_path, changes={"Makefile": ("-m pytest\n", "-m unittest\n")})
    before = base_of(project)

    for command in (("check", "--fix", "--select=ALL"), ("format", "--line-length=40")):
        subprocess.run(
            [sys.executable, "-m", "ruff", *command, "."],
            cwd=project.directory,
            check=command[0] == "format",  # a linter with all rules has findings
            capture_output=True,
        )

    assert base_of(project) == before
    assert "Makefile" in upgraded(project).replaced


def test_a_base_of_many_files_becomes_one_file(tmp_path: Path) -> None:
    project = older_project(
        tmp_path / "cache", changes={"Makefile": ("-m pytest\n", "-m unittest\n")}
    )
    old = project.directory / ".steersman" / "base"
    for path, text in base_of(project).items():
        (old / path).parent.mkdir(parents=True, exist_ok=True)
        (old / path).write_text(text)
    for cache in (old / ".ruff_cache", project.directory / ".ruff_cache"):
        cache.mkdir()
        (cache / "1").write_bytes(b"\xff\xfe")
        (cache / "CACHEDIR.TAG").write_text("a cache")
    (project.directory / BASE).unlink()

    done = upgraded(project)

    assert done.replaced == ("Makefile", "pyproject.toml")
    assert "-m pytest\n" in base_of(project)["Makefile"]
    assert not old.exists()
    assert (project.directory / ".ruff_cache" / "CACHEDIR.TAG").exists()
    assert done.removed == ()


@pytest.mark.parametrize("text", ["", "[]", '{"files": 1}'])
def test_the_error_for_an_unreadable_base_says_how_to_restore_it(tmp_path: Path, text: str) -> None:
    project = older_project(tmp_path)
    (project.directory / BASE).write_text(text)

    with pytest.raises(ProjectError, match=r"git checkout -- \.steersman/base\.json$"):
        upgraded(project)


def test_an_upgrade_adds_the_wheels_of_this_steersman(tmp_path: Path) -> None:
    old = Origin(source="file:///old", wheels={"steersman-0.0.9-py3-none-any.whl": b"old"})
    wheels = {
        "steersman-0.1.0-py3-none-any.whl": b"new",
        "steersman_cluster-0.1.0-py3-none-any.whl": b"new cluster",
    }
    new = Origin(source="file:///new", wheels=wheels)
    init_project(tmp_path / "shop-operator", domain="example.com", origin=lambda: old)
    project = Project.find(tmp_path / "shop-operator")
    edit(project, "pyproject.toml", "origin =", "namespaces = []\norigin =")

    done = upgrade_project(project, search_path=PATH, origin=lambda: new)
    vendored = {each.name: each.read_bytes() for each in (project.directory / "vendor").iterdir()}
    released = upgrade_project(Project.find(project.directory), search_path=PATH)

    assert (project.origin, done.conflicts) == ("file:///old", ())
    assert vendored == wheels
    assert {f"vendor/{name}" for name in wheels} <= {*released.removed}
    assert Project.find(project.directory).origin == "index"
    assert not (project.directory / "vendor").exists()


@pytest.mark.parametrize("with_digest", [True, False])
def test_an_upgrade_keeps_the_origin_of_a_vendored_steersman(
    tmp_path: Path, with_digest: bool
) -> None:
    name = "steersman-0.1.0-py3-none-any.whl"
    cluster = "steersman_cluster-0.1.0-py3-none-any.whl"
    first = Origin(
        source="git+https://example.com/s@abc", wheels={name: b"as built", cluster: b"cluster"}
    )
    init_project(tmp_path / "shop-operator", domain="example.com", origin=lambda: first)
    project = Project.find(tmp_path / "shop-operator")
    before = files_in(project.directory)
    # pip records the source of the wheel and its digest; other installers record only the source.
    carried = (
        f"file:///elsewhere/{name}#sha256={sha256(first.wheels[name]).hexdigest()}"
        if with_digest
        else (project.directory / "vendor" / name).as_uri()
    )
    again = Origin(source=carried, wheels={name: b"packed from what is installed"})

    done = upgrade_project(project, search_path=PATH, origin=lambda: again)

    assert (done.added, done.replaced, done.removed) == ((), (), ())
    assert files_in(project.directory) == before


def test_the_error_for_a_file_that_is_not_text_names_it(tmp_path: Path) -> None:
    project = older_project(tmp_path, changes={"Makefile": ("-m pytest\n", "-m unittest\n")})
    (project.directory / "Dockerfile").write_bytes(b"\xff\xfe")

    with pytest.raises(ProjectError, match="Dockerfile is not a UTF-8 text file"):
        upgraded(project)

    assert "-m unittest" in text_of(project, "Makefile")


def test_an_upgrade_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    project = older_project(tmp_path, changes={"Makefile": ("-m pytest\n", "-m unittest\n")})
    (project.directory / ".Makefile.unfinished").mkdir()
    before = files_in(project.directory)

    with pytest.raises(ProjectError, match="nothing was changed"):
        upgraded(project)

    assert files_in(project.directory) == before


def bytes_in(project: Project) -> dict[Path, bytes]:
    return {each: each.read_bytes() for each in project.directory.rglob("*") if each.is_file()}


OLD_IMPORT = "from steersman.simulation import simulate\n"


def test_an_upgrade_replaces_old_names_in_code_and_text(tmp_path: Path) -> None:
    project = older_project(tmp_path)
    written = {
        "src/shop_operator/web.py": "import steersman.dashboard as view\n",
        "tests/deep/test_web.py": OLD_IMPORT,
        "docs/page.md": "See `steersman.testing`.\n",
        ".github/workflows/more.yaml": "run: python -m steersman.testing.binaries\n",
    }
    skipped = {
        ".venv/lib/steersman.py": OLD_IMPORT,
        "env/pyvenv.cfg": "",
        "env/lib/web.py": OLD_IMPORT,
        "CHANGELOG.md": "`steersman.testing`\n",
        "deploy/install.yaml": "# steersman.testing\n",
        ".steersman/generated.json": '{"parts": {"crd": {"deploy/install.yaml": "sha256:0"}}}',
    }
    for path, text in {**written, **skipped}.items():
        (project.directory / path).parent.mkdir(parents=True, exist_ok=True)
        (project.directory / path).write_text(text)

    done = upgraded(project)

    assert done.renamed == tuple(sorted(written))
    assert done.names == (
        ("steersman.dashboard", "steersman.view"),
        ("steersman.simulation", "steersman_cluster.simulation"),
        ("steersman.testing", "steersman_cluster.testing"),
    )
    texts = {path: text_of(project, path) for path in written}
    assert texts == {
        "src/shop_operator/web.py": "import steersman.view as view\n",
        "tests/deep/test_web.py": "from steersman_cluster.simulation import simulate\n",
        "docs/page.md": "See `steersman_cluster.testing`.\n",
        ".github/workflows/more.yaml": "run: python -m steersman_cluster.testing.binaries\n",
    }
    assert {path: text_of(project, path) for path in skipped} == skipped


def test_an_upgrade_renames_in_code_excerpts_of_pages(tmp_path: Path) -> None:
    project = older_project(tmp_path)
    code = "from steersman.dashboard import Gallery\n\n\ndef f() -> None:\n    x = Gallery(1)\n"
    (project.directory / "src/shop_operator/web.py").write_text(code)
    page = project.directory / "docs/web.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text("```python\n    x = Gallery(1)\n    y = Gallery(2)\n```\n    x = Gallery(1)\n")

    upgraded(project)

    assert page.read_text() == (
        "```python\n    x = ObjectView(1)\n    y = Gallery(2)\n```\n    x = Gallery(1)\n"
    )


def test_an_upgrade_renames_in_excerpts_of_code_that_gets_more_lines(tmp_path: Path) -> None:
    project = older_project(tmp_path)
    code = (
        "from steersman.cache import key_of, on\n\n\ndef f() -> None:\n    x = on(added=key_of)\n"
    )
    (project.directory / "src/shop_operator/web.py").write_text(code)
    page = project.directory / "docs/web.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text("```python\n    x = on(added=key_of)\n```\n")

    upgraded(project)

    assert text_of(project, "src/shop_operator/web.py").count("import") == 2
    assert page.read_text() == "```python\n    x = handler_funcs(added=key_of)\n```\n"


def test_a_name_that_modules_of_the_project_import_from_each_other_is_kept(tmp_path: Path) -> None:
    project = older_project(tmp_path)
    common = project.directory / "src/shop_operator/common.py"
    common.write_text("from steersman.dashboard import Gallery\n")
    (project.directory / "tests/test_common.py").write_text(
        "from shop_operator.common import Gallery\n"
    )

    upgraded(project)

    assert common.read_text() == "from steersman.view import ObjectView as Gallery\n"


@pytest.mark.parametrize(
    "content", [b"from steersman import (\n", b"import steersman\0", b"import steersman # \xff\n"]
)
def test_a_file_that_is_not_valid_python_is_rejected_before_anything_is_written(
    tmp_path: Path, content: bytes
) -> None:
    project = older_project(tmp_path, changes={"Makefile": ("-m pytest\n", "-m unittest\n")})
    (project.directory / "src/shop_operator/a.py").write_text(OLD_IMPORT)
    broken = project.directory / "src/shop_operator/broken.py"
    broken.write_bytes(content)
    before = bytes_in(project)

    with pytest.raises(ProjectError) as refused:
        upgraded(project)

    assert "src/shop_operator/broken.py" in str(refused.value)
    assert bytes_in(project) == before


def test_a_file_without_steersmans_names_need_not_be_valid_python(tmp_path: Path) -> None:
    project = older_project(tmp_path)
    (project.directory / "src/shop_operator/template.py").write_text("class {{ name }}:\n")

    assert upgraded(project).renamed == ()


def test_the_files_of_a_new_project_contain_no_old_name(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    create_api(project, group="app", version="v1", kind="Web")

    done = upgraded(project)

    assert (done.renamed, done.names, done.replaced, done.merged) == ((), (), (), ())
