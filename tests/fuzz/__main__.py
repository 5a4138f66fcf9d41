"""``python -m tests.fuzz``: send random requests for some minutes, and report the findings."""

import argparse
import asyncio
import time  # noqa: TID251 - minutes of a person's time
from collections import Counter

from tests.fuzz.request_generator import samples
from tests.fuzz.scenarios import FuzzResult, Scenario


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz the embedded API server in this process.")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first scenario")
    parser.add_argument("--scenarios", type=int, default=0, help="number of scenarios")
    arguments = parser.parse_args()
    total, causes = FuzzResult(), Counter[str]()
    valid = samples()
    began_at = time.monotonic()
    seed = arguments.seed
    while True:
        result = asyncio.run(Scenario(seed, valid).run())
        for each in result.findings:
            causes[each.what] += 1
            if causes[each.what] == 1:
                _print(str(each))
        total.add(result)
        seed += 1
        done = seed - arguments.seed
        if done == arguments.scenarios or time.monotonic() - began_at > arguments.minutes * 60:
            break
    took_seconds = time.monotonic() - began_at
    _print(f"\n{total.requests} requests in {took_seconds:.0f} s, {total.written} writes,")
    _print(f"scenarios {arguments.seed} to {seed - 1}")
    _print(f"  by status: {dict(sorted(total.statuses.items()))}")
    _print(f"  by verb: {dict(total.verbs.most_common())}")
    _print(f"  findings: {len(causes)}")
    for what, times in causes.most_common():
        _print(f"    {times} × {what}")
    return 1 if causes else 0


def _print(line: str) -> None:
    print(line, flush=True)  # noqa: T201 - that is what this program is for


if __name__ == "__main__":
    raise SystemExit(main())
