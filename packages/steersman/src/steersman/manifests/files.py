"""Generated files on disk. Either all files are written or none, and no edited file is overwritten.

    digest of the file on disk     result
    ─────────────────────────      ────────────────────────────────────────────────────────────
    no such file                   written
    digest of the new text         left unchanged
    digest in the record           replaced; removed, if it is no longer generated
    any other                      edited by hand: no file is written, and a diff shows the edit;
                                   left in place, if it is no longer generated

The record of digests is part of the project and belongs into its repository. Files are generated in
parts ("crd", "rbac", …). The record lists the files of each part: generating one part removes no
file of another.
"""

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Final, TypeAlias

from steersman.errors import EditedByHand, OutOfDate, ProjectError

# Paths relative to a directory, with forward slashes, each with the text of its file.
Tree: TypeAlias = Mapping[str, str]
_Record: TypeAlias = dict[str, dict[str, str]]

RECORD: Final = ".steersman/generated.json"

# The format of the record. The first has no field ``format``; a later one must have it.
RECORD_FORMAT: Final = 1

_ABOUT: Final = "Digests of generated files; steersman uses them to detect edits by hand."


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChanges:
    """The changes that ``write_trees`` made, as sorted paths."""

    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    # The paths that are no longer generated.
    removed: tuple[str, ...] = ()
    # Paths that are no longer generated, but were edited since: from now on the author's own files.
    left: tuple[str, ...] = ()


def in_folder(folder: str, tree: Tree) -> Tree:
    """Return the same tree inside ``folder``."""
    return {str(PurePosixPath(folder, path)): text for path, text in tree.items()}


def write_trees(
    directory: Path, parts: Mapping[str, Tree], *, force: bool = False, record: str = RECORD
) -> FileChanges:
    """Write and remove files so that these parts match their trees: all of them, or none.

    With ``force``, files that were edited by hand are replaced as well.
    """
    recorded = _read_record(directory / record)
    plan = _plan(directory, parts, recorded)
    if plan.edited and not force:
        wanted = _together(parts)
        raise EditedByHand(
            paths=plan.edited,
            diff="".join(_diff(directory, path, wanted[path]) for path in plan.edited),
            what_now="Make the change in the source of the file, or delete the file; with"
            " --force, steersman overwrites it.",
        )
    changed = sorted((*plan.stale, *plan.edited))
    record_after = _record_after(parts, recorded)
    texts = {path: text for path, text in _together(parts).items() if path in changed}
    if record_after != recorded:
        texts[record] = _record_text(record_after)
    _replace(directory, texts)
    for path in plan.gone:
        _remove(directory, path)
    return FileChanges(
        written=tuple(changed),
        unchanged=tuple(sorted(set(_together(parts)).difference(changed))),
        removed=plan.gone,
        left=plan.left,
    )


def check_trees(directory: Path, parts: Mapping[str, Tree], *, record: str = RECORD) -> None:
    """Raise ``OutOfDate`` if ``write_trees`` would write or remove a file."""
    plan = _plan(directory, parts, _read_record(directory / record))
    if paths := sorted((*plan.stale, *plan.edited, *plan.gone)):
        raise OutOfDate(paths=paths, what_now="Run `steersman generate`, and commit the files.")


def was_generated(directory: Path, folder: str, *, record: str = RECORD) -> bool:
    """Whether ``directory`` contains a record of generated files, or the ``folder`` for them."""
    return (directory / record).exists() or (directory / folder).exists()


def generated_paths(directory: Path, *, record: str = RECORD) -> frozenset[str]:
    """Return the paths of the files in the record, whether or not the files exist."""
    recorded = _read_record(directory / record)
    return frozenset(path for part in recorded.values() for path in part)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    stale: tuple[str, ...]  # missing, or not edited since the last generation, so safe to overwrite
    edited: tuple[str, ...]
    gone: tuple[str, ...]
    left: tuple[str, ...]


def _plan(directory: Path, parts: Mapping[str, Tree], recorded: _Record) -> _Plan:
    wanted = _together(parts)
    known = {path: digest for part in recorded.values() for path, digest in part.items()}
    stale: list[str] = []
    edited: list[str] = []
    gone: set[str] = set()
    left: set[str] = set()
    for path, text in wanted.items():
        match _digest_on_disk(directory, path):
            case None:
                stale.append(path)
            case digest if digest == _digest(text):
                pass
            case digest if digest == known.get(path):
                stale.append(path)
            case _:
                edited.append(path)
    # A file that another part also generates stays.
    elsewhere = {path for part, files in recorded.items() if part not in parts for path in files}
    for part in parts:
        for path, digest in recorded.get(part, {}).items():
            if path in wanted or path in elsewhere:
                continue
            found = _digest_on_disk(directory, path)
            if found is not None:
                (gone if found == digest else left).add(path)
    return _Plan(
        stale=tuple(sorted(stale)),
        edited=tuple(sorted(edited)),
        gone=tuple(sorted(gone)),
        left=tuple(sorted(left)),
    )


def _together(parts: Mapping[str, Tree]) -> dict[str, str]:
    together: dict[str, str] = {}
    for part, tree in parts.items():
        for path, text in tree.items():
            if not _is_inside(path):
                raise ValueError(f"a tree has paths below its directory, got {path!r} in {part}")
            if together.setdefault(path, text) != text:
                raise ValueError(f"two parts make {path}, and {part} makes it another way")
    return together


def _is_inside(path: str) -> bool:
    steps = PurePosixPath(path)
    return bool(steps.parts) and not steps.is_absolute() and ".." not in steps.parts


def _record_after(parts: Mapping[str, Tree], recorded: _Record) -> _Record:
    ours = _together(parts)
    others = {
        part: {path: digest for path, digest in files.items() if path not in ours}
        for part, files in recorded.items()
        if part not in parts
    }
    made = {
        part: {path: _digest(text) for path, text in tree.items()} for part, tree in parts.items()
    }
    return {part: files for part, files in {**others, **made}.items() if files}


def _read_record(path: Path) -> _Record:
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise _bad_record(path, str(error)) from error
    except OSError as error:
        raise ProjectError(
            problem=f"{path} cannot be read: {error.strerror}", what_now="Check its permissions."
        ) from error
    return _as_record(path, document)


def _as_record(path: Path, document: Any) -> _Record:
    if isinstance(document, dict) and document.get("format", 1) != RECORD_FORMAT:
        raise ProjectError(
            problem=f"{path}, the record of generated files, has the format of another version of"
            " steersman",
            what_now="Upgrade steersman first: pip install --upgrade steersman",
        )
    parts = document.get("parts") if isinstance(document, dict) else None
    if not isinstance(parts, dict):
        raise _bad_record(path, '"parts" is missing')
    for part, files in parts.items():
        if not isinstance(files, dict):
            raise _bad_record(path, f"the entry {part} is not a list of files")
        for name, digest in files.items():
            if not (_is_inside(name) and isinstance(digest, str)):
                raise _bad_record(path, f"{name!r} is not a file with a digest")
    return parts


def _bad_record(path: Path, problem: str) -> ProjectError:
    return ProjectError(
        problem=f"{path}, the record of generated files, cannot be used: {problem}",
        what_now="Restore it from the repository; or delete it, and run `steersman generate"
        " --force`.",
    )


def _record_text(record: _Record) -> str:
    document = {"about": _ABOUT, "parts": record}
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _digest_on_disk(directory: Path, path: str) -> str | None:
    text = _text_on_disk(directory, path)
    return None if text is None else _digest(text)


def _text_on_disk(directory: Path, path: str) -> str | None:
    try:
        # git may change line ends: a file with those of Windows does not count as edited.
        return (directory / path).read_text(encoding="utf-8", errors="backslashreplace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError as error:
        raise ProjectError(
            problem=f"{directory / path} is a directory, but must be a generated file",
            what_now="Move the directory out of the way.",
        ) from error
    except OSError as error:
        raise ProjectError(
            problem=f"{directory / path} cannot be read: {error.strerror}",
            what_now="Check its permissions.",
        ) from error


def _diff(directory: Path, path: str, wanted: str) -> str:
    found = _text_on_disk(directory, path) or ""
    lines = difflib.unified_diff(
        wanted.splitlines(keepends=True),
        found.splitlines(keepends=True),
        fromfile=f"{path} (generated)",
        tofile=f"{path} (on disk)",
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _replace(directory: Path, texts: Tree) -> None:
    # Everything that can fail for lack of space or permissions is done before the first file is
    # touched; only renames remain.
    prepared: dict[Path, Path] = {}
    made: list[Path] = []
    try:
        for path, text in texts.items():
            target = directory / path
            _make_folders(target.parent, made)
            beside = target.with_name(f".{target.name}.new")
            prepared[beside] = target
            beside.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        _forget(prepared, made)
        raise ProjectError(
            problem=f"{error.filename or directory} cannot be written: {error.strerror},"
            f" and no file was written",
            what_now="Check its permissions, and whether another file is in the way.",
        ) from error
    except BaseException:
        _forget(prepared, made)
        raise
    for beside, target in prepared.items():
        beside.replace(target)


def _make_folders(folder: Path, made: list[Path]) -> None:
    if not folder.exists():
        _make_folders(folder.parent, made)
        folder.mkdir()
        made.append(folder)


def _forget(prepared: Iterable[Path], folders: list[Path]) -> None:
    for beside in prepared:
        try:
            beside.unlink(missing_ok=True)
        except NotADirectoryError:
            continue
    for folder in reversed(folders):
        folder.rmdir()


def _remove(directory: Path, path: str) -> None:
    (directory / path).unlink()
    for folder in PurePosixPath(path).parents:
        here = directory / folder
        if here == directory or any(here.iterdir()):
            return
        here.rmdir()
