"""Quantities equal those of Kubernetes, and behave as numbers in Python."""

import copy
import pickle
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadValue
from steersman.units import Quantity
from tests.unit.units.facts import known

NANO = Decimal("1e-9")
SUFFIXES = ["", *"numkMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]

digits = st.text("0123456789", min_size=1, max_size=20)
texts = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    digits | st.builds("{}.{}".format, digits, digits) | digits.map(".{}".format),
    st.sampled_from(SUFFIXES) | st.integers(-30, 30).map("e{}".format),
)
quantities = texts.map(Quantity)
# Quantities with exact text: Kubernetes caps those with binary suffixes at 2^63-1.
sayable = quantities.filter(lambda quantity: abs(quantity.value) < 2**62)


@pytest.mark.parametrize(
    ("text", "printed", "value", "as_int", "milli_value", "negated"), known("quantities")
)
def test_a_quantity_is_parsed_and_printed_as_in_kubernetes(
    text: str,
    printed: str | None,
    value: str,
    as_int: int | None,
    milli_value: int | None,
    negated: str,
) -> None:
    if printed is None:
        with pytest.raises(BadValue):
            Quantity(text)
        return

    quantity = Quantity(text)

    assert quantity.canonical() == printed
    assert quantity.value == Decimal(value)
    assert str(-quantity) == negated
    assert as_int in (None, quantity.as_int())
    assert milli_value in (None, quantity.milli_value())


@pytest.mark.parametrize(("left", "right", "total", "difference", "order"), known("pairs"))
def test_quantities_add_and_compare_as_in_kubernetes(
    left: str, right: str, total: str, difference: str, order: int
) -> None:
    a, b = Quantity(left), Quantity(right)

    assert str(a + b) == total
    assert str(a - b) == difference
    assert (a > b) - (a < b) == order
    assert (a >= b) - (a <= b) == order
    assert (a == b) is (order == 0)


@pytest.mark.parametrize(("text", "factor", "product"), known("products"))
def test_quantities_multiply_as_in_kubernetes(text: str, factor: int, product: str) -> None:
    assert str(Quantity(text) * factor) == product
    assert str(factor * Quantity(text)) == product


@given(texts)
def test_a_quantity_prints_exactly_the_text_it_was_made_from(text: str) -> None:
    quantity = Quantity(text)

    assert str(quantity) == text
    assert repr(quantity) == f"Quantity('{text}')"


@pytest.mark.parametrize("text", ["1Gi", "1024Mi", "1073741824", "1.073741824G", "1073741824e0"])
def test_quantities_of_one_value_are_equal_whatever_their_suffix(text: str) -> None:
    assert Quantity(text) == Quantity("1Gi")
    assert hash(Quantity(text)) == hash(Quantity("1Gi"))


@given(quantities, quantities, st.decimals(-1000, 1000, places=6))
def test_sums_and_products_of_quantities_are_exact_to_the_nano_rounding_away_from_zero(
    a: Quantity, b: Quantity, factor: Decimal
) -> None:
    with localcontext(prec=200):
        exact = a.value * factor

        assert (a + b).value == a.value + b.value
        assert (a - b).value == a.value - b.value
        assert (a * factor).value == exact.quantize(NANO, rounding="ROUND_UP")


@given(quantities, quantities, quantities)
def test_addition_is_associative_and_commutative(a: Quantity, b: Quantity, c: Quantity) -> None:
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a


@given(quantities, quantities)
def test_quantities_are_ordered_as_their_values_are(a: Quantity, b: Quantity) -> None:
    assert (a < b) is (a.value < b.value)
    assert (a <= b) is (a.value <= b.value)
    assert (a == b) is (a.value == b.value)
    assert a != b or hash(a) == hash(b)


@given(sayable)
def test_the_canonical_text_keeps_the_value_and_is_stable(quantity: Quantity) -> None:
    again = Quantity(quantity.canonical())

    assert again == quantity
    assert again.canonical() == quantity.canonical()


@given(sayable, sayable)
def test_a_computed_quantity_round_trips_through_json(a: Quantity, b: Quantity) -> None:
    total = a + b

    assert Quantity(str(total)) == total


@given(st.integers(-(10**30), 10**30))
def test_a_quantity_can_be_created_from_an_int(number: int) -> None:
    assert Quantity(number).value == number
    assert Quantity(number).as_int() == number


@given(st.decimals(-(10**30), 10**30, places=9))
def test_a_quantity_can_be_created_from_a_decimal(number: Decimal) -> None:
    assert Quantity(number).value == number


def test_a_quantity_created_from_a_number_is_printed_with_decimal_suffixes() -> None:
    assert str(Quantity(1024)) == "1024"
    assert str(Quantity(5000)) == "5k"
    assert str(Quantity(Decimal("0.25"))) == "250m"
    assert str(Quantity(Decimal("1e-12"))) == "1n"


def test_a_value_has_no_superfluous_digits() -> None:
    assert str(Quantity("1k").value) == "1000"
    assert str(Quantity("-500m").value) == "-0.5"
    assert str(Quantity("0Ki").value) == "0"


@pytest.mark.parametrize("value", [0.5, 1.0, True, None, b"1", Quantity("1")])
def test_a_quantity_is_created_only_from_text_an_int_or_a_decimal(value: object) -> None:
    with pytest.raises(BadValue, match="a float is not exact"):
        Quantity(value)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("value", ["NaN", "-Infinity", "1e1000000000", "1e-1000000000"])
def test_a_decimal_that_is_not_finite_is_rejected(value: str) -> None:
    with pytest.raises(BadValue):
        Quantity(Decimal(value))
    with pytest.raises(BadValue):
        _ = Quantity("1") * Decimal(value)
    with pytest.raises(BadValue):
        _ = Quantity("1") / Decimal(value)


@pytest.mark.parametrize("text", ["m", "-", "+Ki", ".", ".e3"])
def test_a_suffix_without_a_digit_is_rejected_although_kubernetes_reads_zero(text: str) -> None:
    with pytest.raises(BadValue):
        Quantity(text)


@pytest.mark.parametrize(
    "text", ["1e1000", "1e-1000", "1e4294967299", "1" * 1000, f"0.{'1' * 1000}"]
)
def test_a_number_that_kubernetes_cannot_parse_is_rejected(text: str) -> None:
    with pytest.raises(BadValue):
        Quantity(text)


def test_a_computed_quantity_that_cannot_be_parsed_again_is_rejected() -> None:
    largest = Quantity(f"{'9' * 990}.{'9' * 9}")

    assert Quantity(str(-largest)) == -largest
    with pytest.raises(BadValue, match="too many digits"):
        _ = largest + Quantity("1n")
    with pytest.raises(BadValue, match="too many digits"):
        Quantity(10**5000)


def test_the_longest_text_is_kept_and_compared() -> None:
    largest = Quantity(f"{'9' * 999}.{'9' * 999}e999")

    assert largest > Quantity("1e999")
    assert Decimal(largest.canonical()) == largest.value


def test_the_error_for_an_invalid_quantity_states_the_rule() -> None:
    with pytest.raises(BadValue) as caught:
        Quantity("100mb")

    assert caught.value.value == "100mb"
    assert str(caught.value).startswith("'100mb' is not a quantity: it must be a number such as 1,")
    assert "n u m k M G T P E Ki Mi Gi Ti Pi Ei or by an exponent such as e3" in str(caught.value)


def test_quantities_beyond_the_last_suffix_keep_the_value_that_kubernetes_loses() -> None:
    assert Quantity("1000E").canonical() == "1000E"
    assert str(Quantity("999E") + Quantity("1E")) == "1000E"
    assert str(Quantity("4Ei") * 256) == "1024Ei"


def test_sum_adds_quantities() -> None:
    assert sum([Quantity("100m"), Quantity("1"), Quantity("900m")]) == Quantity("2")
    assert str(sum([Quantity("0"), Quantity("1Gi"), Quantity("512M")])) == "1548576Ki"


def test_a_quantity_is_divided_by_a_number_into_a_part_and_by_a_quantity_into_a_ratio() -> None:
    assert str(Quantity("3Gi") / 2) == "1536Mi"
    assert str(Quantity("1") / 3) == "333333334n"
    assert str(Quantity("1") / -3) == "-333333334n"
    assert str(Quantity("1") / Decimal("0.5")) == "2"
    assert Quantity("1Gi") / Quantity("512Mi") == 2
    assert Quantity("250m") / Quantity("1") == Decimal("0.25")


@pytest.mark.parametrize("nothing", [0, Decimal(0), Quantity("0Ki")])
def test_a_division_by_zero_is_an_error(nothing: int | Decimal | Quantity) -> None:
    with pytest.raises(ZeroDivisionError):
        _ = Quantity("0") / nothing


def test_whole_numbers_and_thousandths_are_rounded_away_from_zero() -> None:
    assert Quantity("1001m").as_int() == 2
    assert Quantity("-1001m").as_int() == -2
    assert Quantity("1n").milli_value() == 1
    assert Quantity("-1n").milli_value() == -1


def test_abs_and_truth_are_those_of_a_number() -> None:
    assert abs(Quantity("-1Ki")) == abs(Quantity("1Ki")) == Quantity("1Ki")
    assert Quantity("1n")
    assert not Quantity("0Ki")


def test_a_quantity_does_not_combine_with_a_number_or_text() -> None:
    assert Quantity("1") != 1
    assert Quantity("1") != "1"
    for operation in ("__lt__", "__add__", "__sub__"):
        assert getattr(Quantity("1"), operation)(1) is NotImplemented
    for operation in ("__mul__", "__truediv__"):
        assert getattr(Quantity("1"), operation)(0.5) is NotImplemented
    with pytest.raises(TypeError):
        _ = 1 + Quantity("1")


def test_a_quantity_cannot_be_changed() -> None:
    quantity = Quantity("1")

    with pytest.raises(AttributeError):
        quantity.value = Decimal(2)  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError):
        quantity.unit = "m"  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]


def test_copies_and_pickles_keep_text_and_value() -> None:
    for quantity in (Quantity("1.50"), Quantity("1.50") * 2):
        for twin in (copy.deepcopy(quantity), pickle.loads(pickle.dumps(quantity))):  # noqa: S301
            assert twin == quantity
            assert str(twin) == str(quantity)
