"""The commit of the measured sources, and the build options of Python."""

import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

UNKNOWN = "unknown"

# The files that affect figures: without results, tests and the instruction counts.
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
COMMAND_SECONDS = 30.0

# Compiler flags for profile-guided optimization.
FROM_PROFILES = ("-fprofile-use", "-fprofile-instr-use", "-prof-use")


def source(root: Path) -> Mapping[str, str]:
    """The last commit that changed the measured files, and whether there are other changes.

    Both are unknown without a repository.
    """
    top = _git(root, "rev-parse", "--show-toplevel")
    line = _git(root, "log", "-1", "--format=%h", f"--abbrev={HASH_DIGITS}", "--", *MEASURED)
    commit = (line or "").strip()
    # A copy of the sources in another repository is not part of its commits.
    if not commit or Path((top or "").strip()) != root.resolve():
        return {"commit": UNKNOWN, "changes": UNKNOWN}
    changed = _git(root, "status", "--porcelain", "--", *MEASURED)
    if changed is None:
        return {"commit": commit, "changes": UNKNOWN}
    return {"commit": commit, "changes": "uncommitted" if changed else "none"}


def combined(before: Mapping[str, str], after: Mapping[str, str]) -> Mapping[str, str]:
    """The source of a measure, from the facts at its start and at its end."""
    return before if before == after else {**before, "changes": "during the measurement"}


def python_build() -> str:
    """The build of this Python: ``optimized`` or ``plain``, and ``LTO`` if it is used."""
    return build_kind(sysconfig.get_config_vars())


def build_kind(known: Mapping[str, Any]) -> str:
    """The build of a Python with these configuration variables."""
    arguments = str(known.get("CONFIG_ARGS"))
    flags = f"{known.get('PY_CORE_CFLAGS')} {known.get('PY_CORE_LDFLAGS')}"
    # configure records the flags for both steps of an optimized build. Debian and its derivatives
    # remove the flag of the second step.
    is_withheld = bool(known.get("PGO_PROF_GEN_FLAG")) and not known.get("PGO_PROF_USE_FLAG")
    is_optimized = (
        "--enable-optimizations" in arguments
        or any(flag in flags for flag in FROM_PROFILES)
        or is_withheld
    )
    is_whole = "--with-lto" in arguments or "-flto" in flags
    return ("optimized" if is_optimized else "plain") + (", LTO" if is_whole else "")


def output_of(*command: str | Path, cwd: Path) -> str | None:
    """The output of a command, or ``None`` if the program is missing or fails."""
    try:
        return subprocess.run(
            command,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
            timeout=COMMAND_SECONDS,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *arguments: str) -> str | None:
    return output_of("git", *arguments, cwd=root)
