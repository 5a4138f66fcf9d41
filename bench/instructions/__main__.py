"""``python -m bench.instructions [WORKLOAD…] [--record]``: compare counts with the recorded ones.

The exit status is 1 if a count has increased by more than the tolerance, or if there is no recorded
count. Without a WORKLOAD, it is also 1 if a recorded count has no workload any more.
"""

import argparse
import json
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.harness.provenance import python_build
from bench.instructions.callgrind import NAMES, CountingFailed, counted
from bench.instructions.verdicts import advice, enforced, lines, missing_record

RECORD = Path(__file__).with_name("counts.json")

# The number of parallel processes; each uses one core.
AT_ONCE = 2


def main(
    arguments: Sequence[str], *, count: Callable[[str], Mapping[str, float]], record: Path
) -> int:
    """Count and compare; return 0, or 1 if a count is too high, unknown or failed."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.instructions",
        description="Count the instructions of small, fixed workloads.",
    )
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(NAMES))
    parser.add_argument("--record", action="store_true", help="record the counts of this run")
    options = parser.parse_args(arguments)
    wanted = options.workloads or NAMES
    if unknown := set(wanted) - set(NAMES):
        parser.error(f"unknown workload: {', '.join(unknown)}; choose from {', '.join(NAMES)}")
    is_all = set(wanted) == set(NAMES)
    recorded = json.loads(record.read_text()) if record.exists() else {}
    before = recorded.get(interpreter(), {})
    if not before and not options.record:
        print(f"error: {missing_record(interpreter(), recorded)}", file=sys.stderr)
        return 1
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            counts = {
                name: number for each in pool.map(count, wanted) for name, number in each.items()
            }
    except CountingFailed as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    verdicts = enforced(before, counts, is_all=is_all)
    to_do = () if options.record else advice(verdicts)
    print(interpreter(), *lines(verdicts), *to_do, sep="\n")
    if options.record:
        kept = counts if is_all else {**before, **counts}
        whole = {name: round(number) for name, number in kept.items()}
        record.write_text(json.dumps({**recorded, interpreter(): whole}, indent=1) + "\n")
        return 0
    return 1 if any(each.is_bad for each in verdicts) else 0


def interpreter() -> str:
    """The build of this interpreter: counts of other builds are not comparable."""
    version, compiler = platform.python_version(), platform.python_compiler()
    return f"Python {version}, {python_build()}, {compiler}, {platform.machine()}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], count=counted, record=RECORD))
