"""Validation of CronJobs' schedules and time zones, with Kubernetes' messages."""

import re

from steersman.errors import BadValue
from steersman.units import parse_schedule, time_zone

_zone_part = re.compile(r"(?!-)(?!\.\.?$)[A-Za-z._0-9+-]{1,14}").fullmatch


def schedule_problem(schedule: str) -> str:
    """Return why ``schedule`` is invalid; "" if it is valid."""
    try:
        parse_schedule(schedule)
    except BadValue as error:
        return error.rule
    return ""


def zone_problems(zone: str) -> list[str]:
    """Return why ``zone`` is not a known time zone; an empty list if it is one."""
    if not zone:
        return ["timeZone must be nil or non-empty string"]
    if not all(map(_zone_part, zone.split("/"))):
        return [f"unknown time zone {zone}"]
    problems = []
    if zone.lower() == "local":
        problems.append(
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
    try:
        time_zone(zone)
    except BadValue as error:
        problems.append(error.rule)
    return problems
