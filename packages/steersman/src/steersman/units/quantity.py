"""``Quantity``: a quantity of CPU, memory or any other resource."""

from __future__ import annotations

from decimal import Decimal
from functools import total_ordering
from typing import final, overload

from steersman.errors import BadValue
from steersman.units.notation import (
    MAX_EXPONENT,
    MAX_NANOS,
    NANOS,
    Amount,
    Style,
    divided,
    invalid_quantity_error,
    is_kept_unchanged,
    match,
    printed,
    read,
    without_factors,
)


@final
@total_ordering
class Quantity:
    """A quantity in Kubernetes' notation: ``Quantity("1500m")``, ``Quantity("2Gi")``.

    The value is exact to the nano; a finer value is rounded away from zero. Quantities are compared
    by value. A quantity that was created from text keeps that text. A computed quantity is printed
    with the family of suffixes of the left operand, or of the right operand if the left one is
    zero.
    """

    # Decoding creates many quantities and few are used. The text is parsed when the amount is
    # needed, and a computed amount is formatted when its text is needed.
    __slots__ = ("_amount", "_text")

    _amount: Amount | None
    _text: str

    def __init__(self, amount: str | int | Decimal) -> None:
        if isinstance(amount, str):
            if match(amount) is None:
                raise invalid_quantity_error(amount)
            self._text = amount
            self._amount = None
        elif isinstance(amount, bool) or not isinstance(amount, (int, Decimal)):
            raise BadValue(
                wanted="a quantity",
                value=amount,
                rule="pass a string such as '500m', an int or a Decimal; a float is not exact",
            )
        else:
            numerator, denominator = _ratio(amount)
            self._text = ""
            self._amount = _bounded(divided(numerator * NANOS, denominator), Style.DECIMAL)

    @property
    def value(self) -> Decimal:
        """The exact value of the quantity."""
        number, times = without_factors(self._read().nanos, 10, most=9)
        return Decimal(f"{number}E{times - 9}")

    def as_int(self) -> int:
        """The quantity as an integer; a fraction is rounded away from zero."""
        return divided(self._read().nanos, NANOS)

    def milli_value(self) -> int:
        """The quantity in thousandths, rounded away from zero to an integer."""
        return divided(self._read().nanos, NANOS // 1000)

    def canonical(self) -> str:
        """The text to which the API server would convert this quantity's text."""
        text = str(self)
        return text if is_kept_unchanged(text) else printed(self._read())

    def __str__(self) -> str:
        if not self._text:
            self._text = printed(self._read())
        return self._text

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __hash__(self) -> int:
        return hash(self._read().nanos)

    def __bool__(self) -> bool:
        return self._read().nanos != 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        if self._text and self._text == other._text:
            return True
        return self._read().nanos == other._read().nanos

    def __lt__(self, other: Quantity) -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._read().nanos < other._read().nanos

    def __neg__(self) -> Quantity:
        nanos, style = self._read()
        return Quantity._of(-nanos, style)

    def __abs__(self) -> Quantity:
        return -self if self._read().nanos < 0 else self

    def __add__(self, other: Quantity) -> Quantity:
        if not isinstance(other, Quantity):
            return NotImplemented
        mine, theirs = self._read(), other._read()
        return Quantity._of(mine.nanos + theirs.nanos, mine.style if mine.nanos else theirs.style)

    def __radd__(self, other: int) -> Quantity:
        # sum() starts from 0.
        return self if other == 0 else NotImplemented

    def __sub__(self, other: Quantity) -> Quantity:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self + -other

    def __mul__(self, factor: int | Decimal) -> Quantity:
        if not isinstance(factor, (int, Decimal)):
            return NotImplemented
        nanos, style = self._read()
        numerator, denominator = _ratio(factor)
        return Quantity._of(divided(nanos * numerator, denominator), style)

    __rmul__ = __mul__

    @overload
    def __truediv__(self, divisor: Quantity) -> Decimal: ...

    @overload
    def __truediv__(self, divisor: int | Decimal) -> Quantity: ...

    def __truediv__(self, divisor: Quantity | int | Decimal) -> Quantity | Decimal:
        """Return a fraction of this quantity, or its ratio to another quantity."""
        if isinstance(divisor, Quantity):
            if not divisor:
                raise ZeroDivisionError(f"{self} / {divisor}")
            return Decimal(self._read().nanos) / Decimal(divisor._read().nanos)
        if not isinstance(divisor, (int, Decimal)):
            return NotImplemented
        nanos, style = self._read()
        numerator, denominator = _ratio(divisor)
        return Quantity._of(divided(nanos * denominator, numerator), style)

    def _read(self) -> Amount:
        if self._amount is None:
            self._amount = read(self._text)
        return self._amount

    @classmethod
    def _of(cls, nanos: int, style: Style) -> Quantity:
        quantity = cls.__new__(cls)
        quantity._text = ""
        quantity._amount = _bounded(nanos, style)
        return quantity


def _bounded(nanos: int, style: Style) -> Amount:
    if abs(nanos) > MAX_NANOS:
        raise BadValue(
            wanted="a quantity",
            value=f"about 2^{nanos.bit_length() - NANOS.bit_length()}",
            rule="it has too many digits",
        )
    return Amount(nanos, style)


def _ratio(number: int | Decimal) -> tuple[int, int]:
    if isinstance(number, Decimal) and not (
        number.is_finite() and abs(number.adjusted()) <= MAX_EXPONENT
    ):
        raise BadValue(
            wanted="a number for a quantity",
            value=number,
            rule=f"it must be finite, and its exponent must be at most {MAX_EXPONENT}",
        )
    return number.as_integer_ratio()
