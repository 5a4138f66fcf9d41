"""Projects for tests."""

from pathlib import Path

from steersman.scaffold import Project, init_project


def new_project(directory: Path, *, name: str = "shop-operator") -> Project:
    """A project without kinds."""
    init_project(directory / name, domain="example.com")
    return Project.find(directory / name)


def files_in(directory: Path) -> dict[str, str]:
    """All files, by their path."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes().decode()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def edit(project: Project, path: str, old: str, new: str) -> None:
    """Replace text in a file, as an author does."""
    text = (project.directory / path).read_text()
    assert old in text
    (project.directory / path).write_text(text.replace(old, new))
