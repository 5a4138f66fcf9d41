"""The functions and operators that expressions may call.

Takes:     values
Gives:     values, or an error that the expression fails with
Promises:  - integers are of 64 bits
Never:     knows how an expression is compiled
"""

__all__: list[str] = []
