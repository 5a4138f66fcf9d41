"""The functions and operators that CEL expressions can call.

Takes:     values
Gives:     values, or an evaluation error
Promises:  - integer arithmetic overflows at 64 bits
Never:     depends on the compilation of expressions
"""

__all__: list[str] = []
