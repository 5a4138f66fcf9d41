"""``steersman run``: runs an operator against a cluster."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steersman.cli.commands.common import target_argument, working

if TYPE_CHECKING:
    from steersman.manager import ManagerSettings


class _WithSettings(click.Command):
    """A command that also has an option for every setting of a manager.

    The settings are loaded only when the command runs or its help is shown, because loading takes
    noticeable time.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        from steersman.manager import SETTINGS

        own = super().get_params(ctx)
        more: list[click.Parameter] = [
            click.Option(["--config"], metavar="FILE", help="A YAML file with settings.")
        ]
        for each in SETTINGS:
            how: dict[str, Any] = {"help": f"{each.help} [{each.variable}]"}
            names = [each.flag, each.field]
            if each.is_flag:
                names[0] = f"{each.flag}/--no-{each.key}"
                how["default"] = None
            else:
                how["metavar"] = each.metavar
            more.append(click.Option(names, **how))
        # The help option comes last, as in other commands.
        return [*own[:-1], *more, own[-1]]


@click.command(
    cls=_WithSettings,
    epilog="""\b
Examples:
  steersman run shop.operator:manager --context staging
  steersman run operator.py --install-crds --namespaces team-a,team-b
  steersman run                                         in a project: its operator
""",
)
@target_argument
@click.option(
    "--install-crds", is_flag=True, help="Apply the operator's CRDs to the cluster first."
)
def run(target: str | None, install_crds: bool, **given: Any) -> None:
    """Run an operator against a cluster.

    TARGET is module:attribute, a module, or a file. In a project, the default is the project's
    operator. An option with a variable in brackets can also be set by this environment variable or
    in the --config file.
    """
    import asyncio
    from random import SystemRandom

    from steersman.cli.crds import prepare_cluster
    from steersman.cli.operator_target import find_operator
    from steersman.cli.targets import load_manager
    from steersman.clock import SystemClock

    operator = find_operator(target, directory=Path.cwd())
    with working(f"loading {operator.target}"):
        manager = load_manager(operator.target, directory=operator.directory)
    settings = _settings(manager.settings, given)
    with working("connecting to the cluster"):
        lines = asyncio.run(
            prepare_cluster(
                manager,
                settings,
                install=install_crds,
                clock=SystemClock(),
                rng=SystemRandom(),
                environ=os.environ,
            )
        )
    for line in lines:
        click.echo(line, err=True)
    manager.with_options(settings=settings).run()


def _settings(own: "ManagerSettings | None", given: dict[str, Any]) -> "ManagerSettings":
    from steersman.manager import ManagerSettings

    arguments: list[str] = []
    for name, value in given.items():
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else value
            arguments.append(f"--{name.replace('_', '-')}={text}")
    return ManagerSettings.read(arguments, os.environ, prog="steersman run", usual=own)
