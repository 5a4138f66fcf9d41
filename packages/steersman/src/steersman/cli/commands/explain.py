"""``steersman explain``: prints what an error means, its cause and its fix."""

import click


@click.command(
    epilog="""\b
Examples:
  steersman explain NotOurs
  steersman explain
"""
)
@click.argument("error", required=False)
def explain(error: str | None) -> None:
    """Explain an error: its cause and its fix.

    ERROR is the name of an error class, as in a traceback. Without it, the command lists all
    errors.
    """
    from steersman.errors import explanations  # not needed for help

    found = explanations()
    if error is None:
        longest = max(map(len, found))
        for name, each in found.items():
            click.echo(f"{name:<{longest}}  {each.meaning.splitlines()[0]}")
        return
    # A traceback shows the module of a class, too.
    name = error.rpartition(".")[2]
    if name not in found:
        from difflib import get_close_matches

        close = {each.lower(): each for each in found}
        like = [close[each] for each in get_close_matches(name.lower(), close, n=1)]
        meant = f" Did you mean {like[0]}?" if like else ""
        raise click.UsageError(f"No such error {name!r}.{meant}")
    click.echo(found[name])
