"""Gives functions of imported modules the code of a mutant."""

import gc
from collections import Counter, defaultdict
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import TypeAlias

# A function and its new code.
Patch: TypeAlias = tuple[FunctionType, CodeType]


class FunctionIndex:
    """All functions of this process, by the file that contains them."""

    def __init__(self) -> None:
        self._functions: dict[str, list[FunctionType]] = defaultdict(list)
        # The list has no frozen objects, and tests/conftest.py freezes all modules.
        gc.unfreeze()
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                self._functions[each.__code__.co_filename].append(each)
        gc.freeze()

    def patches(self, module: CodeType, mutant: CodeType) -> list[Patch]:
        """The new code of each function that differs in ``mutant``; none if that is impossible.

        It is impossible if the mutant uses other variables of an enclosing function.
        """
        old, new = _codes(module), _codes(mutant)
        changed = {
            (code.co_qualname, code.co_firstlineno): new[key]
            for key, code in old.items()
            if key in new and new[key] != code
        }
        found: list[Patch] = []
        for function in self._functions[module.co_filename]:
            code = function.__code__
            if (other := changed.get((code.co_qualname, code.co_firstlineno))) is not None:
                if other.co_freevars != code.co_freevars:
                    return []
                found.append((function, other))
        return found


def _codes(module: CodeType) -> dict[tuple[str, int], CodeType]:
    """The code of each function; lambda expressions in a function have the same name."""
    seen: Counter[str] = Counter()
    found: dict[tuple[str, int], CodeType] = {}
    for code in _nested(module):
        found[code.co_qualname, seen[code.co_qualname]] = code
        seen[code.co_qualname] += 1
    return found


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        # Since Python 3.14, a function has a nested one that evaluates its annotations.
        if isinstance(each, CodeType) and each.co_name != "__annotate__":
            yield from _nested(each)
