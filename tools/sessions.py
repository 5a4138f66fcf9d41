"""Runs the terminal sessions of a documentation page, from the page's own text and in its order.

    python -m tools.sessions [--kubectl FILE] docs/tutorial.md …

Every ``console`` block is typed into a shell in an empty directory, and its output is compared with
the page. ``…`` stands for anything within a line, and on its own line for any number of lines; the
distance between columns does not matter. Comments before a block, which readers do not see, change
this:

    <!-- as made -->    the next included file, with its caption as its path, exists already
    <!-- goes on -->    the command in the next block does not end: its output is waited for
    <!-- now shows -->  the next block, of text, is the output of that command by then
    <!-- Ctrl-C -->     ends that command, and all others that run

A file that is included with a caption is written, whole, to the path in the caption: at each place
on the page, the reader has the files that the script has. Commands of kubectl are skipped without
kubectl; commands that only read are repeated until the output is right.
"""

import argparse
import fcntl
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from markdown_it import MarkdownIt

from tools.transcripts import PROMPT, Step

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

COLUMNS, LINES = 100, 40
# Longer than `make check` of a project takes beside other jobs; it only ends what hangs.
PATIENCE_SECONDS = 240.0
LOOK_SECONDS = 0.1

REMARK = re.compile(r"<!-- (as made|goes on|now shows|Ctrl-C) -->")

# Variables that the shell of this process may have, and a reader's has not.
NOT_INHERITED = {"BUILDER", "KUBECONFIG", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "NO_COLOR", "PYTHON"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A command to type, and its output."""

    line: int
    step: Step
    goes_on: bool = False

    @property
    def is_for_kubectl(self) -> bool:
        """Whether it needs kubectl."""
        return self.step.command.startswith("kubectl ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A file that the reader writes, or has already."""

    line: int
    source: Path
    to: str
    is_there: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Further output of the running command."""

    line: int
    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Interrupted:
    """Ctrl-C for the running command."""

    line: int


Act: TypeAlias = Typed | Written | Shown | Interrupted


def acts(page: Path) -> Iterator[Act]:
    """The actions of a reader who follows the page."""
    remark = ""
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "html_block" and (found := REMARK.search(token.content)):
            remark = found[1]
            if remark == "Ctrl-C":
                yield Interrupted(line=line)
        elif token.type == "fence" and token.info.strip() == "console":
            typed = [Typed(line=line + step.line, step=step) for step in _steps(token.content)]
            if remark == "goes on":
                typed[-1] = replace(typed[-1], goes_on=True)
            yield from typed
            remark = ""
        elif token.type == "fence" and remark == "now shows":
            [step] = _steps(f"{PROMPT}\n{token.content}")
            yield Shown(line=line, step=step)
            remark = ""
        elif token.type == "fence" and (included := _included(token.info, token.content)):
            source, to = included
            yield Written(
                line=line, source=page.parent / source, to=to, is_there=remark == "as made"
            )
            remark = ""


def _steps(text: str) -> Iterator[Step]:
    """The commands in a block, each with its output; empty lines are ignored."""
    typed: list[tuple[int, list[str]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(PROMPT):
            typed.append((number, [line.removeprefix(PROMPT)]))
        elif line.strip():
            typed[-1][1].append(line)
    for number, (command, *shown) in typed:
        yield Step(number, command, tuple(shown))


def _included(info: str, content: str) -> tuple[str, str] | None:
    found = re.fullmatch(r"\{literalinclude\}\s+(\S+)", info.strip())
    caption = re.search(r"^:caption: (\S+)$", content, re.MULTILINE)
    return (found[1], caption[1]) if found and caption else None


def pages_with_sessions() -> list[Path]:
    """The pages with commands to type."""
    return [page for page in pages() if any(isinstance(act, Typed) for act in acts(page))]


def pages() -> list[Path]:
    """All pages except decisions, which are records and need not keep working."""
    apart = ("_build", "captures", "code", "decisions")
    found = sorted(DOCS.rglob("*.md"))
    return [page for page in found if page.relative_to(DOCS).parts[0] not in apart]


class Differs(Exception):
    """The page shows something other than the terminal."""

    def __init__(self, page: Path, act: Act, *, wanted: str, found: str) -> None:
        match act:
            case Typed():
                what = f"$ {act.step.command}"
            case Written():
                what = act.to
            case _:
                what = "on the screen is"
        super().__init__(
            f"{page.name}:{act.line}: {what}\n{found}\n──── should have been\n{wanted}"
        )


class Shell:
    """A reader's shell: its directory and variables stay from command to command."""

    def __init__(self, home: Path, *, kubectl: Path | None) -> None:
        self._home = home
        self._after = home / ".after"
        programs = [Path(sys.executable).parent, *os.environ["PATH"].split(":")]
        self.environ = {
            **{name: text for name, text in os.environ.items() if name not in NOT_INHERITED},
            "HOME": str(home),
            "PATH": ":".join(map(str, ([kubectl.parent] if kubectl else []) + programs)),
            "VIRTUAL_ENV": sys.prefix,
            "COLUMNS": str(COLUMNS),
            "PYTHONDONTWRITEBYTECODE": "1",
            # Other processes on this machine may use the usual ports.
            "STEERSMAN_HEALTH_ADDRESS": "",
            "STEERSMAN_METRICS_ADDRESS": "",
        }
        self.directory = home / "work"
        self.directory.mkdir()

    def run(self, command: str) -> str:
        """Run a command; returns its output, from both streams."""
        after = shlex.quote(str(self._after))
        finished = subprocess.run(
            ["/bin/sh", "-c", f"{command}\n{{ pwd; env -0; }} > {after}"],
            cwd=self.directory,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE_SECONDS,
            encoding="utf-8",
            check=False,
        )
        directory, _, variables = self._after.read_text(encoding="utf-8").partition("\n")
        self.directory = Path(directory)
        self.environ = dict(each.split("=", 1) for each in variables.rstrip("\0").split("\0"))
        return finished.stdout.replace(str(self._home / "work"), "~")

    @contextmanager
    def beside(self, command: str) -> Iterator["Screen"]:
        """Run a command on a terminal of its own until the block ends."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        with subprocess.Popen(
            ["/bin/sh", "-c", f"exec {command}"],
            cwd=self.directory,
            env={**self.environ, "TERM": "xterm", "NO_COLOR": "1"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        ) as process:
            screen = Screen(ours, home=str(self._home / "work"))
            try:
                yield screen
                process.send_signal(signal.SIGINT)
                process.wait(timeout=PATIENCE_SECONDS)
            finally:
                process.kill()
                process.wait()
                os.close(theirs)
                screen.close()


class Screen:
    """The terminal of a program that writes lines or draws whole screens."""

    def __init__(self, end: int, *, home: str) -> None:
        self._end = end
        self._home = home
        self._text = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._end, 65536)
            except OSError:  # the other end is closed
                return
            self._text += data.decode(errors="replace")

    def close(self) -> None:
        """Stop reading: no process writes to the terminal any more."""
        self._reader.join(timeout=PATIENCE_SECONDS)
        os.close(self._end)

    def shown(self) -> str:
        """The visible lines."""
        return "\n".join(on_screen(self._text)).replace(self._home, "~")


MOVES = re.compile(r"\x1b\[(\?\d+[hl]|\d+;1H|[0-9;]*[KJm])|\r?\n")


def on_screen(text: str) -> list[str]:
    """The lines that a terminal shows for this output."""
    lines: dict[int, str] = {}
    row, place = 1, 0
    for move in [*MOVES.finditer(text), None]:
        said = text[place : move.start() if move else len(text)]
        if said:
            lines[row] = said
        if move is None:
            break
        place = move.end()
        match move[1]:
            case None:
                row += 1
            case "2J":
                lines, row = {}, 1
            case "J" | "0J":
                lines = {each: line for each, line in lines.items() if each < row}
            case str(code) if code.endswith(";1H"):
                row = int(code.removesuffix(";1H"))
                lines[row] = ""
            case _:
                pass
    return [lines.get(each, "").rstrip() for each in range(1, max(lines, default=0) + 1)]


def follow(page: Path, *, kubectl: Path | None) -> Iterator[Act]:
    """Follow the page in an empty directory; yields each action once it is done."""
    with tempfile.TemporaryDirectory(prefix="pages-") as home, ExitStack() as beside:
        shell = Shell(Path(home).resolve(), kubectl=kubectl)
        screen: Screen | None = None
        for act in acts(page):
            match act:
                case Typed() if kubectl is None and act.is_for_kubectl:
                    continue
                case Typed(goes_on=True):
                    screen = beside.enter_context(shell.beside(act.step.command))
                    _expect(page, act, screen.shown, again=True)
                case Typed():
                    look = partial(shell.run, act.step.command)
                    _expect(page, act, look, again=act.step.asks)
                case Shown() if screen is not None:
                    _expect(page, act, screen.shown, again=True)
                case Written():
                    _write(page, act, shell.directory / act.to)
                case Shown() | Interrupted():
                    beside.close()
            yield act


def _expect(page: Path, act: Typed | Shown, look: Callable[[], str], *, again: bool) -> None:
    pause = threading.Event()
    looks = int(PATIENCE_SECONDS / LOOK_SECONDS) if again else 1
    while not act.step.fits(found := look()):
        looks -= 1
        if not looks:
            raise Differs(page, act, wanted="\n".join(act.step.shown), found=found)
        pause.wait(LOOK_SECONDS)


def _write(page: Path, act: Written, path: Path) -> None:
    text = act.source.read_text(encoding="utf-8")
    if not act.is_there:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    elif (found := path.read_text(encoding="utf-8")) != text:
        raise Differs(page, act, wanted=text, found=found)


def main() -> None:
    """Follow each page, and print its actions."""
    parser = argparse.ArgumentParser(prog="python -m tools.sessions")
    parser.add_argument("--kubectl", type=Path, help="without it, its commands are left out")
    parser.add_argument("pages", type=Path, nargs="+")
    arguments = parser.parse_args()
    for page in arguments.pages:
        try:
            for act in follow(page, kubectl=arguments.kubectl):
                if isinstance(act, Typed):
                    print(f"{page.name}:{act.line}: $ {act.step.command}", flush=True)
        except Differs as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main()
