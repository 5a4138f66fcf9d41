"""Arguments and options that several commands share, and functions for their output."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Final, TextIO, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

F = TypeVar("F", bound=Callable[..., Any])

# The number of files above which only their folders are printed.
MAX_FILES: Final = 15

# The duration after which a message names the current step.
PATIENCE_SECONDS: Final = 1.0


def target_argument(function: F) -> F:
    """Add the argument TARGET, which names the operator, to a click command."""
    return click.argument("target", required=False, metavar="[TARGET]", shell_complete=_some_file)(
        function
    )


def _some_file(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


class CommandError(click.ClickException):
    """A failure of a command: one sentence, and a ``hint`` that can be pasted into a shell."""

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the error and its hint in the format that all commands use."""
        click.echo(f"steersman: {self.message}\n\nhint: {self.hint}", file=file, err=True)


def output_option(*formats: str, help: str) -> Callable[[F], F]:
    """Return the option ``-o``, which selects one of ``formats`` for a command's output."""
    return click.option(
        "-o", "--output", type=click.Choice(formats), metavar="|".join(formats), help=help
    )


def echo_json(value: object) -> None:
    """Print ``value`` as JSON on stdout, for scripts."""
    import json

    click.echo(json.dumps(value, indent=2))


def echo_files(files: Mapping[str, Sequence[str]], *, output: str | None) -> None:
    """Print ``files``: the paths of files, grouped by a word such as ``created``.

    The paths are printed to stderr, or, if ``output`` is ``json``, as JSON to stdout.
    """
    if output == "json":
        echo_json({word: list(paths) for word, paths in files.items()})
        return
    longest = max((len(word) for word, paths in files.items() if paths), default=0)
    for word, paths in files.items():
        for path in paths if len(paths) <= MAX_FILES else _by_folder(paths):
            click.echo(f"{word:<{longest}}  {path}", err=True)


def _by_folder(paths: Sequence[str]) -> Iterator[str]:
    """Yield the folders of the second level, each with its number of files."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        first, *rest = path.split("/")
        folders.setdefault("/".join((first, *rest[:1])) if len(rest) > 1 else first, []).append(
            path
        )
    for folder, inside in folders.items():
        yield inside[0] if len(inside) == 1 else f"{folder}/  ({len(inside)} files)"


@contextmanager
def working(
    on: str, *, stream: TextIO | None = None, patience_seconds: float = PATIENCE_SECONDS
) -> Iterator[None]:
    """Show ``on``, the name of the work, on a terminal if the block takes long.

    The text appears if the block takes longer than ``patience_seconds``.
    """
    terminal = sys.stderr if stream is None else stream
    if not terminal.isatty():
        yield
        return
    import threading

    lock = threading.Lock()
    shown: list[str] = []

    def show() -> None:
        with lock:
            shown.append(on)
            terminal.write(f"{on} …")
            terminal.flush()

    timer = threading.Timer(patience_seconds, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with lock:
            if shown:
                terminal.write("\r\x1b[K")
                terminal.flush()
