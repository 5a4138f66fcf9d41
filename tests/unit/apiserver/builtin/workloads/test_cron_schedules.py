"""Validation of CronJob schedules and time zones, with the messages of the Go parser."""

import pytest

from steersman_cluster.apiserver.builtin.workloads.cron_schedules import (
    schedule_problem,
    zone_problems,
)


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * *",
        "*/5 1-3 * jan-MAR sun",
        "1-5/2 * ? * *",
        "1/2 * * * *",
        "1,,2 * * * *",
        "+1 * * * *",
        "*-5 * * * *",
        "0 0 31 2 *",
        " *\t* * * * ",
        "@daily",
        "@every 1h30m",
        "@every -1.5h",
        "@every 0",
        "TZ=UTC 0 0 * * *",
        "CRON_TZ=Europe/Berlin @hourly",
    ],
)
def test_a_valid_schedule_has_no_problem(schedule: str) -> None:
    assert schedule_problem(schedule) == ""


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        (" ", "expected exactly 5 fields, found 0: []"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("*/-1 * * * *", "negative number (-1) not allowed: -1"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'),
        (
            "99999999999999999999 * * * *",
            "failed to parse int from 99999999999999999999: strconv.Atoi: parsing"
            ' "99999999999999999999": value out of range',
        ),
        ("@reboot", "unrecognized descriptor: @reboot"),
        ("@DAILY", "unrecognized descriptor: @DAILY"),
        ("@every x", 'failed to parse duration @every x: time: invalid duration "x"'),
        ("@every 1", 'failed to parse duration @every 1: time: missing unit in duration "1"'),
        (
            "@every 1y",
            'failed to parse duration @every 1y: time: unknown unit "y" in duration "1y"',
        ),
        ("TZ=Foo/Bar @daily", "provided bad location Foo/Bar: unknown time zone Foo/Bar"),
        ("TZ=/x @daily", "provided bad location /x: time: invalid location name"),
        (
            "TZ=UTC",
            "invalid schedule format: runtime error: slice bounds out of range [:-1]",
        ),
    ],
)
def test_an_invalid_schedule_is_rejected_with_the_reason(schedule: str, problem: str) -> None:
    assert schedule_problem(schedule) == problem


def test_an_overlong_number_is_rejected_immediately() -> None:
    assert schedule_problem(f"{'9' * 100_000} * * * *").endswith("value out of range")


@pytest.mark.parametrize("zone", ["UTC", "Etc/UTC", "Europe/Berlin", "America/New_York", "EST"])
def test_a_known_time_zone_has_no_problem(zone: str) -> None:
    assert zone_problems(zone) == []


@pytest.mark.parametrize(
    ("zone", "problems"),
    [
        ("", ["timeZone must be nil or non-empty string"]),
        ("Foo/Bar", ["unknown time zone Foo/Bar"]),
        ("Europe/berlin", ["unknown time zone Europe/berlin"]),
        ("../etc/passwd", ["unknown time zone ../etc/passwd"]),
        ("Europe//Berlin", ["unknown time zone Europe//Berlin"]),
        ("-x", ["unknown time zone -x"]),
        ("a" * 15, [f"unknown time zone {'a' * 15}"]),
        (
            "Local",
            [
                "timeZone must be an explicit time zone as defined in"
                " https://www.iana.org/time-zones"
            ],
        ),
    ],
)
def test_an_unknown_time_zone_is_rejected_with_the_reason(zone: str, problems: list[str]) -> None:
    assert zone_problems(zone) == problems
