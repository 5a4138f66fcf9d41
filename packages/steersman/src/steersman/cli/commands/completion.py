"""``steersman completion``: prints the script with which a shell completes command lines."""

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(
    epilog="""\b
Examples:
  eval "$(steersman completion bash)"                 for this shell, or in ~/.bashrc
  eval "$(steersman completion zsh)"                  for this shell, or in ~/.zshrc
  steersman completion fish > ~/.config/fish/completions/steersman.fish
"""
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a completion script for a shell."""
    from click.shell_completion import get_completion_class  # not needed for help

    maker = get_completion_class(shell)
    if maker is None:
        raise click.UsageError(f"completion for {shell} is not supported")
    root = context.find_root().command
    click.echo(maker(root, {}, "steersman", "_STEERSMAN_COMPLETE").source())
