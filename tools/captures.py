"""Terminal captures of ``steersman``, as text in docs/captures, for people to review.

    python -m tools.captures

runs every scene in tmux, in a new directory, and saves the screen. A test, test_captures.py in
tests/cluster/commands, compares the stable scenes. Unstable ones contain names of Pods, ages and
times. ``demo.svg`` is a recording of the terminal in each step of ``steersman demo``.

    python -m tools.captures demo

runs only the scenes whose names start with this.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.recording import Frame, picture, plain

ROOT = Path(__file__).parents[1]
HOME = ROOT / "docs" / "captures"

WIDTH, HEIGHT = 100, 40
PROMPT = "$ "

PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

LOOKS = 600
LOOK_SECONDS = 0.1

# The durations of the frames of a recording: the longest, the shortest, the first and the last one.
# The first shows nothing, and the last shows what to do next.
MAX_SECONDS = 3.0
MIN_SECONDS = 0.3
START_SECONDS = 1.0
LAST_SECONDS = 5.0
RECORDED_HEIGHT = 20

# A cluster that does not run.
KUBECONFIG = """
clusters: [{name: far, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: far, user: {token: secret}}]
contexts: [{name: far, context: {cluster: far, user: far}}]
current-context: far
"""

OPERATOR = (ROOT / "examples" / "appservice" / "src" / "opdemo" / "appservice.py").read_text(
    encoding="utf-8"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Commands in a directory with these files; their output is the capture.

    With ``shows``, the last command does not end by itself: the capture is the screen once it shows
    all of these texts. ``then`` are replacements in files (from, to) that are made while it runs;
    the screen then shows ``finally_shows``. ``is_stable``: the capture is the same in every run.
    """

    commands: tuple[str, ...]
    files: tuple[tuple[str, str], ...] = ()
    shows: tuple[str, ...] = ()
    then: tuple[str, str, str] | None = None
    finally_shows: tuple[str, ...] = ()
    is_stable: bool = True


PROJECT = (
    "steersman init shop --domain example.com",
    "cd shop",
    "steersman create api --group app --version v1 --kind AppService",
)
RUNNING = ("running", "RolledOut")

SCENES: Mapping[str, Scene] = {
    "help": Scene(commands=("steersman --help",)),
    "init": Scene(commands=(*PROJECT, "steersman generate", "steersman generate --check")),
    "dev": Scene(
        commands=(*PROJECT, "clear", "steersman dev --samples --kubeconfig dev.kubeconfig"),
        shows=RUNNING,
        is_stable=False,
    ),
    "demo": Scene(commands=("steersman demo | cat",), is_stable=False),
    "dev-does-not-start": Scene(
        commands=(*PROJECT, "clear", "steersman dev --samples --kubeconfig dev.kubeconfig"),
        shows=RUNNING,
        is_stable=False,
        then=("shop/src/shop/appservice.py", "async def reconcile", "async deff reconcile"),
        finally_shows=("does not start", "SyntaxError"),
    ),
    "error-does-not-import": Scene(
        files=(("operator.py", OPERATOR.replace("sm.Controller(", "sm.Controler(")),),
        commands=("steersman run operator.py", "echo $?"),
    ),
    "error-cannot-be-a-crd": Scene(
        files=(("operator.py", OPERATOR.replace("Annotated[str,", "Annotated[complex,")),),
        commands=("steersman generate crd operator.py", "echo $?"),
    ),
    "error-no-cluster": Scene(
        files=(("operator.py", OPERATOR), ("kubeconfig", KUBECONFIG)),
        commands=("steersman run operator.py --kubeconfig kubeconfig", "echo $?"),
    ),
    "error-edited-by-hand": Scene(
        commands=(
            *PROJECT,
            "steersman generate",
            "clear",
            "echo '# mine' >> deploy/crd/kustomization.yaml",
            "steersman generate",
            "echo $?",
        ),
    ),
    "error-wrong-name": Scene(
        commands=(
            *PROJECT[:2],
            "clear",
            "steersman create api --group app --version 1 --kind AppService",
            "echo $?",
        ),
    ),
}

RECORDINGS: Mapping[str, str] = {"demo": "steersman demo"}


class Terminal:
    """A tmux session with a shell."""

    def __init__(self, directory: Path, *, height: int = HEIGHT) -> None:
        self._socket = directory / "tmux"
        self._pause = threading.Event()
        self._tmux("-f/dev/null", "new-session", "-d", f"-x{WIDTH}", f"-y{height}", "/bin/sh")

    def prepare(self, directory: Path) -> None:
        """Enter the directory, with a fixed prompt and fixed programs."""
        # Not in its environment: the programs that start a shell set some of these again.
        for name, value in (("PATH", PATH), ("HOME", str(directory)), ("TMPDIR", str(directory))):
            self.type(f"export {name}='{value}'")
        self.type(f"cd '{directory}'; PS1='{PROMPT}'; clear")
        self._wait(lambda screen: screen == "\n$\n", "the first prompt")

    def type(self, line: str) -> None:
        """Type a line, and Enter."""
        self._tmux("send-keys", "-l", line)
        self._tmux("send-keys", "Enter")

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self._tmux("send-keys", "C-c")

    def screen(self) -> str:
        """All output, with long lines unwrapped."""
        return self._tmux("capture-pane", "-p", "-J", "-S-500")

    def painted(self) -> str:
        """The visible screen, with its colors."""
        return self._tmux("capture-pane", "-p", "-e")

    def pause(self) -> None:
        """The pause between two checks."""
        self._pause.wait(LOOK_SECONDS)

    def wait_for(self, *words: str) -> str:
        """Wait until all of these texts are on the screen."""
        return self._wait(lambda screen: all(word in screen for word in words), " ".join(words))

    def run(self, line: str) -> str:
        """Type a line, and wait until the shell has run it."""
        before = _prompts(self.screen())
        self.type(line)
        if line == "clear":
            self._wait(lambda screen: screen == "\n$\n", "an empty screen")
            self._tmux("clear-history")
            return ""
        return self._wait(
            lambda screen: screen.endswith("\n$\n") and _prompts(screen) > before, "the prompt"
        )

    def end(self) -> None:
        """End the session."""
        self._tmux("kill-server")

    def _wait(self, holds: Callable[[str], bool], what: str) -> str:
        screen = ""
        for _ in range(LOOKS):
            lines = [line.rstrip() for line in self.screen().rstrip().splitlines()]
            screen = "\n".join(["", *lines, ""])
            if holds(screen):
                return screen.strip("\n") + "\n"
            self.pause()
        raise SystemExit(f"waited for {what} in vain; on the screen is:\n{screen}")

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", str(self._socket), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _prompts(screen: str) -> int:
    return sum(line == PROMPT.strip() or line.startswith(PROMPT) for line in screen.splitlines())


@contextmanager
def stage(scene: Scene) -> Iterator[Path]:
    """A directory with the files of the scene."""
    with tempfile.TemporaryDirectory(prefix="captures-") as name:
        directory = Path(name)
        for path, text in scene.files:
            (directory / path).write_text(text, encoding="utf-8")
            (directory / path).chmod(0o600)
        yield directory


def captured(scene: Scene) -> str:
    """The screen after the scene."""
    with stage(scene) as directory:
        return _at_home(_captured(scene, directory), directory)


def _at_home(text: str, directory: Path) -> str:
    """The text with paths as if the scene were in a user's home, beside a clone of steersman."""
    return text.replace(str(directory), "~").replace(str(ROOT), "~/steersman")


def _captured(scene: Scene, directory: Path) -> str:
    terminal = Terminal(directory)
    try:
        terminal.prepare(directory)
        *before, last = scene.commands
        for command in before:
            terminal.run(command)
        if not scene.shows:
            return without_prompt(terminal.run(last))
        terminal.type(last)
        screen = terminal.wait_for(*scene.shows)
        if scene.then is not None:
            path, old, new = scene.then
            change(directory / path, old, new)
            screen = terminal.wait_for(*scene.finally_shows)
        terminal.interrupt()
        terminal.wait_for("The operator and its cluster have stopped.")
        return screen
    finally:
        terminal.end()


def recorded(command: str) -> str:
    """A recording of the command on a terminal, from its first screen to its end."""
    with stage(Scene(commands=())) as directory:
        terminal = Terminal(directory, height=RECORDED_HEIGHT)
        try:
            terminal.prepare(directory)
            screens = list(_screens(terminal, command))
        finally:
            terminal.end()
    shown = [_at_home(each, directory).rstrip() for each in screens]
    frames = list(_frames(shown))
    return picture(
        frames,
        columns=WIDTH,
        lines=RECORDED_HEIGHT,
        # The still image is the fullest frame.
        still=max(range(len(frames)), key=lambda number: len(plain(frames[number].screen))),
        title=command,
    )


def _screens(terminal: Terminal, command: str) -> Iterator[str]:
    terminal.type(command)
    for _ in range(LOOKS):
        screen = terminal.painted()
        yield screen
        if plain(screen).rstrip().endswith(f"\n{PROMPT.strip()}"):
            return
        terminal.pause()
    raise SystemExit(f"{command} does not end; on the screen is:\n{terminal.screen()}")


def _frames(screens: Sequence[str]) -> Iterator[Frame]:
    """The frames that differ in more than ages; each with its last screen."""
    kept: list[list[str]] = []
    for screen in screens:
        if kept and _ageless(screen) == _ageless(kept[-1][-1]):
            kept[-1].append(screen)
        else:
            kept.append([screen])
    for same in kept:
        seconds = len(same) * LOOK_SECONDS
        if same is kept[-1]:
            yield Frame(same[-1], LAST_SECONDS)
        elif seconds >= MIN_SECONDS:
            longest = MAX_SECONDS if "»" in same[-1] else START_SECONDS
            yield Frame(same[-1], min(seconds, longest))


def _ageless(screen: str) -> str:
    return re.sub(r"\d+s( ago)?\b", "", plain(screen))


def plain_text(scene: Scene) -> str:
    """The output of a stable scene without a terminal: the commands and their text."""
    shown: list[str] = []
    status = 0
    with stage(scene) as directory:
        here = directory
        for command in scene.commands:
            shown.append(f"{PROMPT}{command}\n")
            if command == "clear":
                shown.clear()
            elif command.startswith("cd "):
                here /= command.removeprefix("cd ")
            elif command == "echo $?":
                shown.append(f"{status}\n")
            else:
                finished = subprocess.run(
                    ["/bin/sh", "-c", f"{command} 2>&1"],
                    cwd=here,
                    env={**os.environ, "PATH": PATH, "COLUMNS": str(WIDTH)},
                    capture_output=True,
                    text=True,
                    check=False,
                )
                status = finished.returncode
                shown.append(finished.stdout)
    return "".join(shown)


def change(path: Path, old: str, new: str) -> None:
    """Replace a text in a file."""
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise SystemExit(f"{path.name} does not say {old!r}")
    path.write_text(text.replace(old, new), encoding="utf-8")


def without_prompt(screen: str) -> str:
    """The text before the last prompt."""
    return screen.rstrip("\n").removesuffix("$").rstrip("\n") + "\n"


def main() -> None:
    """Write all captures, or some of them."""
    if shutil.which("tmux") is None:
        raise SystemExit("captures are made with tmux, which is not installed")
    begins = tuple(sys.argv[1:]) or ("",)
    HOME.mkdir(parents=True, exist_ok=True)
    for name, scene in SCENES.items():
        if name.startswith(begins):
            text = captured(scene)
            (HOME / f"{name}.txt").write_text(text, encoding="utf-8")
            print(f"──── {name}\n{text}")
    for name, command in RECORDINGS.items():
        if name.startswith(begins):
            text = recorded(command)
            (HOME / f"{name}.svg").write_text(text, encoding="utf-8")
            print(f"──── {name}, {len(text)} letters")


if __name__ == "__main__":
    main()
