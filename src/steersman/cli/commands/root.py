"""``steersman`` itself, and in which module each of its commands is."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

import click

from steersman.cli.commands.groups import Group

_HOME: Final = "steersman.cli.commands"

# Each command by its module and its name there, in the order in which somebody meets them.
_COMMANDS: Final = MappingProxyType(
    {
        "init": ("creating", "init"),
        "create": ("creating", "create"),
        "generate": ("generating", "generate"),
        "dev": ("developing", "dev"),
        "run": ("running", "run"),
        "demo": ("demonstrating", "demo"),
        "cluster": ("cluster", "cluster"),
        "upgrade": ("creating", "upgrade"),
        "completion": ("completing", "completion"),
    }
)


class LazyGroup(Group):
    """A group whose commands are loaded when they are asked for."""

    def __init__(self, *args: Any, homes: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._homes = homes

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """All of them, in their order."""
        return list(self._homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        if cmd_name not in self._homes:
            return super().get_command(ctx, cmd_name)
        module, name = self._homes[cmd_name]
        command: click.Command = getattr(import_module(f"{_HOME}.{module}"), name)
        return command


@click.group(
    cls=LazyGroup,
    homes=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  steersman init shop --domain example.com
  steersman create api --group app --version v1 --kind AppService
  steersman dev
""",
)
@click.version_option(package_name="steersman")
def steersman() -> None:
    """Kubernetes operators in Python."""
