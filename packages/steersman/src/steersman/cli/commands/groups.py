"""Command groups that suggest the most similar command for a mistyped one."""

from difflib import get_close_matches

import click


class Group(click.Group):
    """A command group that suggests the most similar command for an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names, and the remaining arguments."""
        name = args[0]
        if self.get_command(ctx, name) is None and not name.startswith("-"):
            meant = self._nearest(ctx, name)
            hint = f" Did you mean {' or '.join(meant)}?" if meant else ""
            ctx.fail(f"No such command {name!r}.{hint}")
        return super().resolve_command(ctx, args)

    def _nearest(self, ctx: click.Context, name: str) -> list[str]:
        own = self.list_commands(ctx)
        # Users often omit the group of a subcommand: steersman crd.
        below = {
            f"{group} {each}": each
            for group in own
            if isinstance(found := self.get_command(ctx, group), click.Group)
            for each in found.list_commands(ctx)
        }
        same = [whole for whole, each in below.items() if each == name]
        begun = [each for each in own if each.startswith(name)]
        if same or begun:
            return same or begun
        near = get_close_matches(name, [*own, *below.values()], n=1)
        whole = {each: each for each in own} | {each: path for path, each in below.items()}
        return [whole[each] for each in near]
