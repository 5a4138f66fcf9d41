"""Writes the files of a project: either all of them or none.

No other module in the package ``scaffold`` writes files.
"""

import shutil
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from steersman.errors import ProjectError


def read_text(path: Path) -> str | None:
    """Return the text of the file ``path``; ``None`` if the file does not exist."""
    try:
        # As bytes, so that line ends are kept.
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        problem, what_now = (
            f"{path} is not a UTF-8 text file",
            "Move the file away, or convert it to UTF-8.",
        )
        raise ProjectError(problem=problem, what_now=what_now) from error
    except OSError as error:
        problem, what_now = f"{path} cannot be read: {error.strerror}", "Move the file away."
        raise ProjectError(problem=problem, what_now=what_now) from error


def require_room(directory: Path, *, besides: Collection[str]) -> None:
    """Raise ``ProjectError`` if ``directory`` contains other names than ``besides``."""
    try:
        there = sorted(each.name for each in directory.iterdir() if each.name not in besides)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ProjectError(
            problem=f"cannot create a project in {directory}: {error.strerror}",
            what_now="Name a new directory, or an empty one.",
        ) from error
    if there:
        shown = ", ".join(there[:5]) + (f" and {len(there) - 5} more" if len(there) > 5 else "")
        raise ProjectError(
            problem=f"cannot create a project in {directory}, because it is not empty: {shown}",
            what_now="Name a new directory, or an empty one.",
        )


def require_absent(directory: Path, paths: Iterable[str]) -> None:
    """Raise ``ProjectError`` if one of ``paths`` exists in ``directory``."""
    there = sorted(path for path in paths if (directory / path).exists())
    if there:
        raise ProjectError(
            problem=f"{', '.join(there)} already {'exists' if len(there) == 1 else 'exist'}, and"
            f" would be overwritten",
            what_now=f"Move {'it' if len(there) == 1 else 'them'} away, or choose another kind.",
        )


def write_files(
    directory: Path, files: Mapping[str, str | bytes], *, removed: Iterable[str] = ()
) -> None:
    """Write ``files`` to ``directory`` and delete the paths in ``removed``.

    On an error, the directory is restored to its previous state.
    """
    with ExitStack() as undo:
        try:
            for path, content in files.items():
                _prepare(directory / path, content, undo)
            for path in files:
                _put(directory / path, undo)
            for path in removed:
                _take_away(directory / path, directory, undo)
        except OSError as error:
            raise ProjectError(
                problem=f"{error.filename or directory} cannot be written: {error.strerror}, and"
                f" nothing was changed",
                what_now="Correct this, and try again.",
            ) from error
        undo.pop_all()


def _unfinished(path: Path) -> Path:
    return path.with_name(f".{path.name}.unfinished")


def _prepare(path: Path, content: str | bytes, undo: ExitStack) -> None:
    missing = [each for each in path.parents if not each.exists()]
    for each in reversed(missing):
        each.mkdir()
        undo.callback(_try, each.rmdir)
    unfinished = _unfinished(path)
    undo.callback(_try, unfinished.unlink)
    unfinished.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    if path.exists():
        shutil.copymode(path, unfinished)


def _put(path: Path, undo: ExitStack) -> None:
    before = path.read_bytes() if path.exists() else None
    _unfinished(path).replace(path)
    if before is None:
        undo.callback(_try, path.unlink)
    else:
        undo.callback(_try, path.write_bytes, before)


def _take_away(path: Path, directory: Path, undo: ExitStack) -> None:
    before = path.read_bytes()
    path.unlink()
    undo.callback(_try, _bring_back, path, before)
    with suppress(OSError):  # up to the first directory that is not empty
        for each in path.parents:
            if each == directory:
                break
            each.rmdir()


def _bring_back(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _try(undone: Callable[..., object], *arguments: object) -> None:
    # A file that cannot be restored must not prevent the others from being restored.
    with suppress(OSError):
        undone(*arguments)
