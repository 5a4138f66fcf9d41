"""The base commands and their options: each parses, calls a function, and prints.

Takes:     arguments
Gives:     the result of another module's function on stdout; the rest on stderr
Promises:  - every command describes its purpose with an example
           - help is shown before anything heavy is loaded
           - a command that does not exist is rejected with status 2
Never:     contains logic that a program would need
"""

from steersman.cli.commands.root import steersman

__all__ = ["steersman"]
