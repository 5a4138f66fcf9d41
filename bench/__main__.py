"""``python -m bench``: what steersman costs, with the same work done by other clients beside it.

Prints tables and verdicts; the exit status is 1 if one of our limits is missed.
"""

import argparse
import asyncio
import json
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from subprocess import CalledProcessError

from bench.measures import FULL, QUICK, Scale, imports, listing, requests
from bench.report import Section, show_progress
from bench.world import described, fill
from steersman.clock import SystemClock
from steersman.errors import ControlPlaneError
from steersman.testing import find_binaries, running_control_plane

PACKAGES = (
    "steersman",
    "aiohttp",
    "msgspec",
    "lightkube",
    "lightkube-models",
    "kubernetes_asyncio",
)


def main() -> int:
    """Measure and report; 0, or 1 if a limit is missed or there is no control plane to be had."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure steersman beside other clients, against a real kube-apiserver.",
    )
    parser.add_argument("--quick", action="store_true", help="less work and fewer rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure there, too")
    options = parser.parse_args()
    try:
        return _run(QUICK if options.quick else FULL, options.json)
    except (ControlPlaneError, CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _run(scale: Scale, json_file: Path | None) -> int:
    sections: list[Section] = []
    for line in _machine():
        print(line)
    for section in _measured(scale):
        sections.append(section)
        print("", *section.lines(), sep="\n", flush=True)
    # Whoever else uses these cores empties their caches, and not for all contenders alike.
    print(f"\nLoad average, this run included: {os.getloadavg()[2]:.1f} on {os.cpu_count()} cores.")
    if json_file is not None:
        json_file.write_text(json.dumps(_as_json(sections), indent=1) + "\n")
    return 0 if all(limit.is_held for section in sections for limit in section.limits) else 1


def _measured(scale: Scale) -> Iterator[Section]:
    yield imports(scale, show_progress)
    with running_control_plane(find_binaries(environ=os.environ), clock=SystemClock()) as plane:
        show_progress(f"creating {scale.apps:,} AppServices")
        asyncio.run(fill(plane.kubeconfig, apps=scale.apps))
        print("", described(plane), sep="\n")
        yield listing(scale, plane.kubeconfig, show_progress)
        yield requests(scale, plane.kubeconfig, show_progress)


def _machine() -> Iterator[str]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    yield f"Python {platform.python_version()}, {os.cpu_count()} cores, {memory:.0f} GiB"
    yield ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    yield "Figures are medians, with the smallest and the largest in brackets; MB are 10⁶ bytes."


def _as_json(sections: Sequence[Section]) -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "versions": {package: version(package) for package in PACKAGES},
        "sections": [asdict(section) for section in sections],
    }


if __name__ == "__main__":
    sys.exit(main())
