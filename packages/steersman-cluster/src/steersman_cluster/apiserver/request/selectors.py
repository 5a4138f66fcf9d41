"""Label and field selectors: parsed, and compiled to a function.

The function runs for every object of a list and every event of a watch.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from steersman_cluster.apiserver.meta.field_errors import FieldError, aggregated, invalid
from steersman_cluster.apiserver.meta.name_validation import (
    MAX_LABEL,
    label_key,
    label_value,
    path_segment,
)
from steersman_cluster.apiserver.meta.status_errors import StatusError, bad_request

Predicate: TypeAlias = Callable[[Mapping[str, str]], bool]

# The errors for an unsupported field: of most kinds, and of kinds that support more than name and
# namespace.
NOT_KNOWN = '"{}" is not a known field selector: only "metadata.name", "metadata.namespace"'
NOT_SUPPORTED = "field label not supported: {}"


def _always(_: Mapping[str, str]) -> bool:
    return True


def _never(_: Mapping[str, str]) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """A predicate of labels or fields."""

    matches: Predicate = _always

    @property
    def is_everything(self) -> bool:
        """Whether the selector selects all objects."""
        return self.matches is _always


EVERYTHING: Final = Selector()
NOTHING: Final = Selector(matches=_never)


class Requirement(NamedTuple):
    """One condition of a label selector, on one label."""

    key: str
    operator: str  # as in the text: "in", "=", …; "exists" and "!" have no values
    values: Sequence[str] = ()


def parse_label_selector(text: str) -> Selector:
    """Parse ``app=web,tier in (a, b),!legacy``; raise an error for invalid text."""
    return _of_labels(_LabelParser(text).requirements()) if text else EVERYTHING


def label_selector(selector: Mapping[str, Any] | None) -> Selector:
    """Compile a ``LabelSelector``; None selects nothing, an empty selector selects everything."""
    if selector is None:
        return NOTHING
    requirements = [
        _checked(Requirement(key, "=", (value,)))
        for key, value in (selector.get("matchLabels") or {}).items()
    ]
    for each in selector.get("matchExpressions") or ():
        operator = _OBJECT_OPERATORS.get(each["operator"])
        if operator is None:
            raise bad_request(f'"{each["operator"]}" is not a valid label selector operator')
        requirements.append(
            _checked(Requirement(each["key"], operator, tuple(each.get("values") or ())))
        )
    return _of_labels(requirements)


def parse_field_selector(
    text: str, *, known: Collection[str], unsupported: str = NOT_KNOWN
) -> Selector:
    """Parse ``metadata.name=web,status.phase!=Running``; raise an error for invalid text.

    ``known`` contains the supported fields; ``unsupported`` is the message for other fields.
    """
    terms = _field_terms(text)
    for term in terms:
        if term.name not in known:
            raise bad_request(unsupported.format(term.name))
    return Selector(matches=_all_of([term.predicate() for term in terms]))


def selected_name(field_selector: str) -> str:
    """Return the object name that ``field_selector`` requires.

    Returns "" if the selector requires no name, or is invalid.
    """
    try:
        terms = _field_terms(field_selector)
    except StatusError:
        return ""
    names = (term.value for term in terms if term.wanted and term.name == "metadata.name")
    name = next(names, "")
    return "" if path_segment(name) else name


_OBJECT_OPERATORS = {"In": "in", "NotIn": "notin", "Exists": "exists", "DoesNotExist": "!"}
_BINARY_OPERATORS = ("in", "notin", "=", "==", "!=", "gt", "lt")
_SYMBOLS = frozenset(("=", "==", "!=", "!", "(", ")", ",", "<", ">"))
_TOKENS = re.compile(r"==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+")
_INTEGER = re.compile(r"[+-]?[0-9]+")


class _LabelParser:
    """A parser of kube-apiserver's grammar, which accepts more than the documentation describes."""

    def __init__(self, text: str) -> None:
        # The empty token is the end. kube-apiserver also ends the text at a zero byte.
        self._tokens: list[str] = [*_TOKENS.findall(text.partition("\0")[0]), ""]
        self._at = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while (first := self._ahead()) != "":
            if not _is_word(first) and first != "!":
                raise _expected(first, "!, identifier, or 'end of string'")
            found.append(self._requirement())
            match self._next():
                case "":
                    break
                case ",":
                    if not _is_word(after := self._ahead()) and after != "!":
                        raise _expected(after, "identifier after ','")
                case other:
                    raise _expected(other, "',' or 'end of string'")
        return found

    def _requirement(self) -> Requirement:
        is_absence = self._ahead() == "!"
        if is_absence:
            self._next()
        if not _is_word(key := self._next()):
            raise _unreadable(_found(key, "identifier"))
        if errors := label_key(key):
            # kube-apiserver's message: the field has no path.
            raise _unreadable(str(invalid("<nil>", key, "; ".join(errors))))
        if is_absence:
            return Requirement(key, "!")
        if self._ahead() in ("", ","):
            return Requirement(key, "exists")
        operator = self._next()
        if operator in ("in", "notin"):
            return _checked(Requirement(key, operator, self._values()), refuse=_unreadable)
        if operator in ("=", "==", "!=", "<", ">"):
            return _checked(Requirement(key, operator, (self._value(),)), refuse=_unreadable)
        raise _unreadable(_found(operator, ", ".join(_BINARY_OPERATORS)))

    def _value(self) -> str:
        if self._ahead() in ("", ","):
            return ""
        if not _is_word(value := self._next()):
            raise _unreadable(_found(value, "identifier"))
        return value

    def _values(self) -> list[str]:
        if (opening := self._next()) != "(":
            raise _unreadable(f"found '{opening}' expected: '('")
        if self._ahead() == ")":
            self._next()
            return [""]
        if not _is_word(first := self._ahead()) and first != ",":
            raise _unreadable(_found(first, "',', ')' or identifier"))
        values: set[str] = set()
        while (part := self._next()) != ")":
            if _is_word(part):
                values.add(part)
                if (after := self._ahead()) not in (",", ")"):
                    raise _unreadable(_found(after, "',' or ')'"))
            elif part != ",":
                raise _unreadable(_found(part, "',', or identifier"))
            elif not values or self._ahead() in (",", ")"):
                values.add("")
        return sorted(values)

    def _ahead(self) -> str:
        return self._tokens[self._at]

    def _next(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]


def _is_word(token: str) -> bool:
    return token != "" and token not in _SYMBOLS


def _found(token: str, expected: str) -> str:
    return f"found '{token}', expected: {expected}"


def _expected(token: str, expected: str) -> StatusError:
    return bad_request(_found(token, expected))


def _unreadable(why: str) -> StatusError:
    return bad_request(f"unable to parse requirement: {why}")


def _checked(
    requirement: Requirement, *, refuse: Callable[[str], StatusError] = bad_request
) -> Requirement:
    if errors := list(_requirement_errors(requirement)):
        raise refuse(aggregated(errors))
    return requirement


def _requirement_errors(requirement: Requirement) -> Iterable[FieldError]:
    key, operator, values = requirement
    if errors := label_key(key):
        yield invalid("key", key, "; ".join(errors))
    if operator in ("in", "notin") and not values:
        detail = "for 'in', 'notin' operators, values set can't be empty"
        yield invalid("values", list(values), detail)
    if operator in ("exists", "!") and values:
        detail = "values set must be empty for exists and does not exist"
        yield invalid("values", list(values), detail)
    if operator in ("<", ">") and _integer(values[0]) is None:
        detail = "for 'Gt', 'Lt' operators, the value must be an integer"
        yield invalid("values[0]", values[0], detail)
    for place, value in enumerate(values):
        if errors := label_value(value):
            yield invalid(f"values[{place}][{key}]", value, "; ".join(errors))


def _of_labels(requirements: Sequence[Requirement]) -> Selector:
    return Selector(matches=_all_of([_predicate(each) for each in requirements]))


def _all_of(predicates: Sequence[Predicate]) -> Predicate:
    """Join predicates in a balanced tree.

    A chain of thousands of predicates would exceed the recursion limit.
    """
    match predicates:
        case []:
            return _always
        case [only]:
            return only
        case _:
            half = len(predicates) // 2
            first, second = _all_of(predicates[:half]), _all_of(predicates[half:])
            return lambda labels: first(labels) and second(labels)


def _predicate(requirement: Requirement) -> Predicate:
    key, operator, values = requirement
    match operator:
        case "=" | "==":
            wanted = values[0]
            return lambda labels: labels.get(key) == wanted
        case "!=":
            unwanted = values[0]
            return lambda labels: labels.get(key) != unwanted
        case "in":
            ins = frozenset(values)
            return lambda labels: labels.get(key) in ins
        case "notin":
            outs = frozenset(values)
            return lambda labels: labels.get(key) not in outs
        case "exists":
            return lambda labels: key in labels
        case "!":
            return lambda labels: key not in labels
        case _:
            return _comparison(key, int(values[0]), greater=operator == ">")


def _comparison(key: str, limit: int, *, greater: bool) -> Predicate:
    def compares(labels: Mapping[str, str]) -> bool:
        found = _integer(labels.get(key, ""))
        if found is None:
            return False
        return found > limit if greater else found < limit

    return compares


def _integer(text: str) -> int | None:
    """Parse a 64-bit integer; None for other text."""
    if _INTEGER.fullmatch(text) is None or len(text) > MAX_LABEL:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


# An escaped comma does not end a term.
_FIELD_TERMS = re.compile(r"(?:\\.|[^\\,]|\\$)+", re.DOTALL)
_FIELD_TERM = re.compile(r"(.*?)(!=|==|=)(.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.?)|[,=]", re.DOTALL)


class _FieldTerm(NamedTuple):
    name: str
    wanted: bool
    value: str

    def predicate(self) -> Predicate:
        name, wanted, value = self
        if wanted:
            return lambda fields: fields.get(name, "") == value
        return lambda fields: fields.get(name, "") != value


def _field_terms(text: str) -> list[_FieldTerm]:
    terms = [_field_term(part, text) for part in sorted(_FIELD_TERMS.findall(text)) if part]
    return [term for term in terms if term.name or term.value]


def _field_term(part: str, whole: str) -> _FieldTerm:
    found = _FIELD_TERM.fullmatch(part)
    if found is None:
        raise bad_request(f"invalid selector: '{whole}'; can't understand '{part}'")
    name, operator, value = found.groups()
    return _FieldTerm(name, operator != "!=", _ESCAPED.sub(_unescaped, value))


def _unescaped(found: re.Match[str]) -> str:
    if not found[0].startswith("\\"):
        raise bad_request(f"invalid field selector: unescaped character in value: {ord(found[0])}")
    if found[1] not in ("\\", ",", "="):
        raise bad_request(f"invalid field selector: invalid escape sequence: {found[0]}")
    return found[1]
