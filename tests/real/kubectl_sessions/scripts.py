"""Sessions as text: each line is a command, without the word ``kubectl``.

# a comment
$ get pods --output=wide             run it
$ EDITOR='sed -i s/1/2/' edit cm/a   run it with environment variables
$ apply -f - <<END                   run it with the lines up to END as stdin
~ get widgets                        run it again until it succeeds
~ 'yes' auth can-i get pods          … and until its output contains the text
~ '' get pods                        … and until its output is empty
file web.yaml <<END                  write the lines up to END to a file
start pods: get pods --watch         continue once its watch has begun
end pods 3                           terminate it after three lines
end pods                             wait until it exits
kubelet on                           Pods run from now on; off: they no longer change
next-second                          continue in the next second
nodes                                run in a cluster with two nodes, node-1 and node-2
"""

import hashlib
import operator
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

HERE = Path(__file__).with_name("sessions")
SUFFIX = ".session"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """kubectl with these arguments, repeated until its output matches ``until``, if given."""

    line: int
    arguments: tuple[str, ...]
    environ: tuple[tuple[str, str], ...] = ()
    stdin: str = ""
    until: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """Write a file into the working directory of kubectl."""

    line: int
    path: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Start a kubectl that keeps running during the next steps."""

    line: int
    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """Terminate a started kubectl after so many lines, or wait until it exits."""

    line: int
    name: str
    lines: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubelet:
    """Switch the stand-in kubelet on or off."""

    line: int
    on: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NextSecond:
    """Wait until the next second begins."""

    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """State that the session needs nodes that run Pods."""

    line: int


Step: TypeAlias = Run | Write | Start | End | Kubelet | NextSecond | Nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The steps of a user in a namespace with the name of the session."""

    name: str
    steps: tuple[Step, ...]
    # Of its text: a recording is that of this text.
    digest: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def needs_controllers(self) -> bool:
        """Whether the session needs controllers."""
        return any(isinstance(step, Kubelet) for step in self.steps)

    @property
    def needs_nodes(self) -> bool:
        """Whether the session needs a cluster with nodes."""
        return any(isinstance(step, Nodes) for step in self.steps)


def all_sessions() -> tuple[Session, ...]:
    """All sessions, sorted by name."""
    return tuple(
        session(path.stem, path.read_text(encoding="utf-8"))
        for path in sorted(HERE.glob(f"*{SUFFIX}"))
    )


def session(name: str, text: str) -> Session:
    """The session with this text."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Session(name=name, steps=parsed(text), digest=digest)


def commands(session: Session) -> int:
    """The number of compared steps."""
    return sum(isinstance(step, Run | End) for step in session.steps)


def parsed(text: str) -> tuple[Step, ...]:
    """The steps of a session."""
    lines = iter(enumerate(text.splitlines(), start=1))
    return tuple(_step(number, line, lines) for number, line in lines if _is_step(line))


def _is_step(line: str) -> bool:
    return bool(line.strip()) and not line.startswith("#")


def _step(number: int, line: str, lines: Iterator[tuple[int, str]]) -> Step:
    line, content = _with_content(line, lines)
    word, _, rest = line.partition(" ")
    match word:
        case "$":
            environ, arguments = _command(rest)
            return Run(line=number, arguments=arguments, environ=environ, stdin=content)
        case "~":
            until: Callable[[str], bool] = _anything
            if rest.startswith("'"):
                _, wanted, rest = rest.split("'", 2)
                until = _contains(wanted) if wanted else operator.not_
            environ, arguments = _command(rest)
            return Run(
                line=number, arguments=arguments, environ=environ, stdin=content, until=until
            )
        case "file":
            return Write(line=number, path=rest.strip(), content=content)
        case "start":
            name, _, command = rest.partition(": ")
            return Start(line=number, name=name, arguments=tuple(shlex.split(command)))
        case "end":
            name, _, count = rest.partition(" ")
            return End(line=number, name=name, lines=int(count) if count else None)
        case "kubelet":
            return Kubelet(line=number, on={"on": True, "off": False}[rest])
        case "next-second":
            return NextSecond(line=number)
        case "nodes":
            return Nodes(line=number)
        case _:
            raise ValueError(f"line {number}: unknown command {line!r}")


def _anything(_: str) -> bool:
    return True


def _contains(wanted: str) -> Callable[[str], bool]:
    return lambda text: wanted in text


def _with_content(line: str, lines: Iterator[tuple[int, str]]) -> tuple[str, str]:
    command, marked, end = line.partition("<<")
    if not marked:
        return line, ""
    content: list[str] = []
    for _, each in lines:
        if each == end:
            return command.rstrip(), "".join(f"{one}\n" for one in content)
        content.append(each)
    raise ValueError(f"{line!r} has no end")


def _command(text: str) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    words = shlex.split(text)
    environ: list[tuple[str, str]] = []
    while words and words[0].partition("=")[0].isupper():
        name, _, value = words.pop(0).partition("=")
        environ.append((name, value))
    return tuple(environ), tuple(words)
