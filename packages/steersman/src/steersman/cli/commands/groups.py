"""Command groups that suggest the most similar command for a mistyped one."""

from difflib import get_close_matches
from typing import Final

import click

# ``chrat`` suggests ``chart`` (0.8), and ``replay`` does not suggest ``deploy`` (0.67).
_SIMILARITY: Final = 0.75


class Group(click.Group):
    """A command group that suggests the most similar command for an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names, and the remaining arguments."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            similar = self._similar(ctx, name)
            hint = f" Did you mean {' or '.join(similar)}?" if similar else ""
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def _similar(self, ctx: click.Context, name: str) -> list[str]:
        own = self.list_commands(ctx)
        # Users often omit the group of a subcommand: steersman crd.
        below = {
            f"{group} {each}": each
            for group in own
            if isinstance(found := self.get_command(ctx, group), click.Group)
            for each in found.list_commands(ctx)
        }
        same = [path for path, each in below.items() if each == name]
        longer = [each for each in own if each.startswith(name)]
        if same or longer:
            return same or longer
        close = get_close_matches(name, [*own, *below.values()], n=1, cutoff=_SIMILARITY)
        paths = {each: each for each in own} | {each: path for path, each in below.items()}
        return [paths[each] for each in close]
