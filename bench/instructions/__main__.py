"""``python -m bench.instructions [WORKLOAD…] [--record]``: count, and compare with the record.

The exit status is 1 if anything takes clearly more instructions than it did, or if there is nothing
to compare it with. If no WORKLOAD is named, it is also 1 if something is on record that is not
counted any more.
"""

import argparse
import json
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.harness.provenance import python_build
from bench.instructions.counting import NAMES, CannotCount, counted
from bench.instructions.verdicts import advice, judged, lines, nothing_for

RECORD = Path(__file__).with_name("counts.json")

# Each is a process of its own that waits for nothing.
AT_ONCE = 2


def main(
    arguments: Sequence[str], *, count: Callable[[str], Mapping[str, float]], record: Path
) -> int:
    """Count and compare; 0, or 1 if a verdict is bad, or nothing could be counted."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.instructions",
        description="Count the instructions of small, fixed workloads.",
    )
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(NAMES))
    parser.add_argument("--record", action="store_true", help="what is counted now is the record")
    options = parser.parse_args(arguments)
    wanted = options.workloads or NAMES
    if unknown := set(wanted) - set(NAMES):
        parser.error(f"there is no workload {', '.join(unknown)}; there are {', '.join(NAMES)}")
    is_all = set(wanted) == set(NAMES)
    recorded = json.loads(record.read_text()) if record.exists() else {}
    before = recorded.get(interpreter(), {})
    if not before and not options.record:
        print(f"error: {nothing_for(interpreter(), recorded)}", file=sys.stderr)
        return 1
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            counts = {
                name: number for each in pool.map(count, wanted) for name, number in each.items()
            }
    except CannotCount as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    verdicts = judged(before, counts, is_all=is_all)
    to_do = () if options.record else advice(verdicts)
    print(interpreter(), *lines(verdicts), *to_do, sep="\n")
    if options.record:
        kept = counts if is_all else {**before, **counts}
        whole = {name: round(number) for name, number in kept.items()}
        record.write_text(json.dumps({**recorded, interpreter(): whole}, indent=1) + "\n")
        return 0
    return 1 if any(each.is_bad for each in verdicts) else 0


def interpreter() -> str:
    """What a record is good for: others have the same work done by other instructions."""
    version, compiler = platform.python_version(), platform.python_compiler()
    return f"Python {version}, {python_build()}, {compiler}, {platform.machine()}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], count=counted, record=RECORD))
