"""What exactly was measured: the commit of the sources, and how Python itself was built."""

import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

UNKNOWN = "unknown"

# What a figure depends on. What a run writes itself is none of that; nor are tests, nor what counts
# instructions.
MEASURED = (
    "packages",
    "bench",
    "examples/appservice",
    ":!bench/results",
    ":!bench/README.md",
    ":!bench/instructions",
    ":!examples/appservice/tests",
)

HASH_DIGITS = 10
ANSWER_SECONDS = 30.0

# The flags with which compilers use what a rehearsal has taught them.
FROM_PROFILES = ("-fprofile-use", "-fprofile-instr-use", "-prof-use")


def source(root: Path) -> Mapping[str, str]:
    """The last commit of what is measured, and whether that differs from it.

    One that touches nothing of it leaves figures what they are. Unknown without a repository.
    """
    top = _git(root, "rev-parse", "--show-toplevel")
    line = _git(root, "log", "-1", "--format=%h", f"--abbrev={HASH_DIGITS}", "--", *MEASURED)
    commit = (line or "").strip()
    # Sources that were copied into another repository are not of its commits.
    if not commit or Path((top or "").strip()) != root.resolve():
        return {"commit": UNKNOWN, "changes": UNKNOWN}
    changed = _git(root, "status", "--porcelain", "--", *MEASURED)
    if changed is None:
        return {"commit": commit, "changes": UNKNOWN}
    return {"commit": commit, "changes": "uncommitted" if changed else "none"}


def throughout(before: Mapping[str, str], after: Mapping[str, str]) -> Mapping[str, str]:
    """What was measured from one moment to another: programs are started all the time."""
    return before if before == after else {**before, "changes": "while it was measured"}


def python_build() -> str:
    """``optimised`` or ``plain``, and ``LTO`` where it says so: they differ in speed."""
    return built_with(sysconfig.get_config_vars())


def built_with(known: Mapping[str, Any]) -> str:
    """What such variables say about it."""
    arguments = str(known.get("CONFIG_ARGS"))
    flags = f"{known.get('PY_CORE_CFLAGS')} {known.get('PY_CORE_LDFLAGS')}"
    # Whatever the compiler, configure says how it would use profiles. Debian and those who follow
    # it build with them, and afterwards take the flag out of what is reported here.
    is_withheld = bool(known.get("PGO_PROF_GEN_FLAG")) and not known.get("PGO_PROF_USE_FLAG")
    is_optimised = (
        "--enable-optimizations" in arguments
        or any(flag in flags for flag in FROM_PROFILES)
        or is_withheld
    )
    is_whole = "--with-lto" in arguments or "-flto" in flags
    return ("optimised" if is_optimised else "plain") + (", LTO" if is_whole else "")


def said_by(*command: str | Path, cwd: Path) -> str | None:
    """What a program says; nothing, where there is no such program, or it fails."""
    try:
        return subprocess.run(
            command,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
            timeout=ANSWER_SECONDS,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *arguments: str) -> str | None:
    return said_by("git", *arguments, cwd=root)
