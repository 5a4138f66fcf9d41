"""The comparison of webhook scenarios; tests/real runs them."""

from tests.real.webhook_comparison import without_random_values

UID = "0b8c57ef-b2e3-49d6-b176-778a98935602"
PORT = 35602


def normal(text: str) -> str:
    return without_random_values(text, port=PORT, namespace="scenario-7")


def test_a_port_is_distinguished_from_the_same_digits_in_a_uid() -> None:
    asked = f'Post "https://127.0.0.1:{PORT}/first"'

    assert normal(f"{asked} {UID}") == 'Post "https://127.0.0.1:PORT/first" UID'


def test_values_that_differ_between_runs_are_omitted() -> None:
    said = "scenario-7/made-up-x7k2p in record (41) at 2026-01-02T03:04:05.678901Z"

    assert normal(said) == "NAMESPACE/made-up-XXXXX in record (VERSION) at TIME"
