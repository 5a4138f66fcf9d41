"""The command ``steersman`` itself, and the table of the modules of its subcommands."""

from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click

from steersman.cli.commands.common import CommandError
from steersman.cli.commands.groups import Group

if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.metadata import EntryPoint

_HOME: Final = "steersman.cli.commands"

# The base's own commands, each by its module and its name there.
_MODULES: Final = MappingProxyType(
    {
        "init": ("project", "init"),
        "create": ("project", "create"),
        "generate": ("generate", "generate"),
        "run": ("run", "run"),
        "upgrade": ("project", "upgrade"),
        "explain": ("explain", "explain"),
        "completion": ("completion", "completion"),
    }
)

# The entry-point group of commands from other distributions, each a click command. Its module
# should import little, because help loads it.
ENTRY_POINTS: Final = "steersman.commands"

# Commands of steersman-cluster. If it is not installed, they print how to install it.
_IN_CLUSTER: Final = frozenset(("cluster", "demo", "dev"))

# In the order of first use; other commands follow.
_ORDER: Final = (
    *("init", "create", "generate", "dev", "run", "demo", "cluster", "upgrade", "explain"),
    "completion",
)


class _Unusable(click.Command):
    """A placeholder for a command that is not installed or does not load; it prints the reason."""

    def __init__(self, name: str, problem: str, *, hint: str) -> None:
        super().__init__(
            name, short_help="Cannot be used; run it to see why.", add_help_option=False
        )
        self._error = CommandError(f"`{name}` {problem}", hint=hint)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raise the error of this command, whatever the arguments are."""
        if not ctx.resilient_parsing:  # set while a shell completes
            raise self._error
        return super().parse_args(ctx, args)


class RootGroup(Group):
    """The group of all commands of ``steersman``; each command is imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        """Return the names of all installed commands, in the order in which the help lists them."""
        installed = {*_MODULES, *self._entry_points}
        return [each for each in _ORDER if each in installed] + sorted(installed - {*_ORDER})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Return the command named ``cmd_name``."""
        if cmd_name in _MODULES:  # without reading the entry points, which takes a while
            module, name = _MODULES[cmd_name]
            command: click.Command = getattr(import_module(f"{_HOME}.{module}"), name)
            return command
        if cmd_name in self._entry_points:
            return _command_of(cmd_name, self._entry_points[cmd_name])
        if cmd_name in _IN_CLUSTER:
            return _Unusable(
                cmd_name,
                "comes with steersman-cluster, which is not installed",
                hint="pip install 'steersman[dev]'",
            )
        return None

    @cached_property
    def _entry_points(self) -> "Mapping[str, Sequence[EntryPoint]]":
        """The entry points of other distributions, by the names of the commands."""
        from importlib.metadata import entry_points

        found: dict[str, list[EntryPoint]] = {}
        for each in entry_points(group=ENTRY_POINTS):
            found.setdefault(each.name, []).append(each)
        return found


def _command_of(name: str, offered: "Sequence[EntryPoint]") -> click.Command:
    """Return the command of an entry point.

    If several distributions provide the command, the returned command reports this conflict.
    """
    distributions = sorted({_distribution(each) for each in offered})
    if len(offered) > 1:
        return _Unusable(
            name,
            f"comes with several distributions: {', '.join(distributions)}",
            hint=f"pip uninstall {distributions[-1]}",
        )
    (entry_point,) = offered
    (distribution,) = distributions
    problem = f"of {distribution} cannot be loaded from {entry_point.value}"
    hint = f"pip install --force-reinstall {distribution}"
    try:
        command: Any = entry_point.load()
    except Exception as error:  # noqa: BLE001 - another distribution's, and the rest has to work
        return _Unusable(name, f"{problem}: {type(error).__name__}: {error}", hint=hint)
    if not isinstance(command, click.Command):
        return _Unusable(name, f"{problem}: it is not a click command", hint=hint)
    return command


def _distribution(entry_point: "EntryPoint") -> str:
    return entry_point.dist.name if entry_point.dist is not None else "an unknown distribution"


@click.group(
    cls=RootGroup,
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
