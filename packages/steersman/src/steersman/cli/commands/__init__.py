"""The base's commands and their options: parse, call, print.

Takes:     arguments
Gives:     the result of another module's function on stdout; the rest on stderr
Promises:  - every command says what it is for with an example
           - help is there before anything heavy is loaded
           - a command that does not exist is refused with status 2
Never:     has logic that a program would miss
"""

from steersman.cli.commands.root import steersman

__all__ = ["steersman"]
