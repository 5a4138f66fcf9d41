"""What a terminal shows of ``steersman``, kept as text in docs/captures: to be looked at.

    python -m tools.captures

runs every scene in tmux, in a directory of its own, and writes down what is on the screen. What
does not change from one run to the next is compared by a test, test_captures.py in
tests/cluster/commands; names of Pods, ages and times do. ``demo.svg`` is a recording: what a
terminal showed of ``steersman demo`` in each of its steps.

    python -m tools.captures demo

makes those only whose names begin so.
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

# Of a recording: of whatever lasts this much is enough to read it, less than the least is not seen,
# the start shows nothing, and at its end is what to do next.
LONGEST_SECONDS = 3.0
SHORTEST_SECONDS = 0.3
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
    """Commands in a directory with these files; what they write is the capture.

    With ``shows``, the last command is one that does not end by itself: the capture is the screen
    once it has all of these words on it. ``then`` are changes to files (from, to) that are made
    while it runs, after which it has the words of ``finally_shows``. What is not the same every
    time is not ``is_stable``.
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
    """A tmux of its own, with a shell in it."""

    def __init__(self, directory: Path, *, height: int = HEIGHT) -> None:
        self._socket = directory / "tmux"
        self._pause = threading.Event()
        self._tmux("-f/dev/null", "new-session", "-d", f"-x{WIDTH}", f"-y{height}", "/bin/sh")

    def prepare(self, directory: Path) -> None:
        """Go there, with a prompt and programs that are the same everywhere."""
        # Not in its environment: what starts a shell sets some of these again.
        for name, value in (("PATH", PATH), ("HOME", str(directory)), ("TMPDIR", str(directory))):
            self.type(f"export {name}='{value}'")
        self.type(f"cd '{directory}'; PS1='{PROMPT}'; clear")
        self._wait(lambda screen: screen == "\n$\n", "the first prompt")

    def type(self, line: str) -> None:
        """Type a line, and Enter."""
        self._tmux("send-keys", "-l", line)
        self._tmux("send-keys", "Enter")

    def interrupt(self) -> None:
        """Ctrl-C."""
        self._tmux("send-keys", "C-c")

    def screen(self) -> str:
        """All that was written, long lines whole."""
        return self._tmux("capture-pane", "-p", "-J", "-S-500")

    def painted(self) -> str:
        """What is to be seen now, with its colours."""
        return self._tmux("capture-pane", "-p", "-e")

    def pause(self) -> None:
        """Between two looks."""
        self._pause.wait(LOOK_SECONDS)

    def wait_for(self, *words: str) -> str:
        """Wait until all of these words are on the screen."""
        return self._wait(lambda screen: all(word in screen for word in words), " ".join(words))

    def run(self, line: str) -> str:
        """Type a line, and wait until the shell is done with it."""
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
        """Nothing of it is left."""
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
    """What is on the screen after it."""
    with stage(scene) as directory:
        return _at_home(_captured(scene, directory), directory)


def _at_home(text: str, directory: Path) -> str:
    """As it would be with the scene in a user's home, and a clone of steersman beside it."""
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
    """A picture of what the command shows on a terminal, from its first screen to its end."""
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
        # The fullest says most.
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
    """Those that differ in more than in how old things are; each as it was at its last."""
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
        elif seconds >= SHORTEST_SECONDS:
            longest = LONGEST_SECONDS if "»" in same[-1] else START_SECONDS
            yield Frame(same[-1], min(seconds, longest))


def _ageless(screen: str) -> str:
    return re.sub(r"\d+s( ago)?\b", "", plain(screen))


def plain_text(scene: Scene) -> str:
    """The same without a terminal, for a scene that is stable: the commands and their words."""
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
    """Edit a file, as with an editor."""
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise SystemExit(f"{path.name} does not say {old!r}")
    path.write_text(text.replace(old, new), encoding="utf-8")


def without_prompt(screen: str) -> str:
    """What stands before the last prompt."""
    return screen.rstrip("\n").removesuffix("$").rstrip("\n") + "\n"


def main() -> None:
    """Write all captures, or some of them, again."""
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
