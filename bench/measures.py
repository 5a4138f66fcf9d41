"""The three kinds of work, and what we promise of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.report import Column, Limit, Section
from bench.rounds import Cost, Progress, above, compared, contending, in_rounds, python_with
from bench.task import IN_FLIGHT, PAGE_SIZE


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much work, and how often."""

    apps: int
    requests: int
    import_rounds: int
    list_rounds: int
    request_rounds: int


FULL = Scale(apps=20_000, requests=3_000, import_rounds=15, list_rounds=5, request_rounds=25)
QUICK = Scale(apps=1_000, requests=500, import_rounds=3, list_rounds=2, request_rounds=3)

BARE = "bare Python"
OURS = "steersman"

# The lesser of the two: our own codec is msgspec as well, and should be no excuse.
BARE_AIOHTTP = "bare aiohttp, msgspec"

IMPORTS = {
    BARE: "",
    OURS: "import steersman",
    "steersman, with apps/v1 and core/v1": (
        "import steersman; from steersman.kinds import apps_v1, core_v1"
    ),
    "steersman, with those and the client": (
        "import steersman; from steersman.kinds import apps_v1, core_v1;"
        " from steersman.client import Client, connect; from steersman.wire import NetworkTransport"
    ),
    "aiohttp": "import aiohttp",
    "lightkube": "import lightkube",
    "lightkube, with apps/v1 and core/v1": (
        "import lightkube; from lightkube.resources import apps_v1, core_v1"
    ),
    "kubernetes_asyncio.client": "import kubernetes_asyncio.client",
}

LISTING = {
    OURS: "steersman_client",
    "lightkube, typed": "lightkube_typed",
    "lightkube, dictionaries": "lightkube_generic",
    "kubernetes_asyncio, dictionaries": "kubernetes_asyncio_client",
}

REQUESTS = {
    BARE_AIOHTTP: "bare_aiohttp_msgspec",
    "bare aiohttp, json": "bare_aiohttp",
    OURS: "steersman_client",
    "steersman, with log and metrics": "steersman_observed",
    "lightkube": "lightkube_typed",
    "kubernetes_asyncio": "kubernetes_asyncio_client",
}

RESIDENT = Column(title="resident MB", figure="resident", decimals=1)


def imports(scale: Scale, progress: Progress) -> Section:
    """What it takes to be there at all, above a Python that does nothing."""
    turns = {name: python_with(statement) for name, statement in IMPORTS.items()}
    costs = in_rounds(turns, rounds=scale.import_rounds, progress=progress)
    extra = {name: above(costs[name], costs[BARE]) for name in turns if name != BARE}
    return Section(
        title=f"Import, in a new process, above {BARE} ({scale.import_rounds} rounds)",
        columns=(
            Column(title="wall s", figure="wall", decimals=3),
            Column(title="CPU s", figure="cpu", decimals=3),
            RESIDENT,
        ),
        costs=extra,
        limits=(
            _limit(extra[OURS], "wall", 0.15, " s", "import steersman, wall time"),
            _limit(extra[OURS], "resident", 25, " MB", "import steersman, memory"),
        ),
    )


def listing(scale: Scale, kubeconfig: Path, progress: Progress) -> Section:
    """All AppServices, from shaking hands to having every object at hand."""
    turns = {
        name: contending(contender, "list", kubeconfig, scale.apps)
        for name, contender in LISTING.items()
    }
    costs = in_rounds(turns, rounds=scale.list_rounds, progress=progress)
    judged = scale.apps == FULL.apps
    return Section(
        title=f"List {scale.apps:,} AppServices, {PAGE_SIZE} to a page,"
        f" in a new process ({scale.list_rounds} rounds)",
        columns=(
            Column(title="CPU s", figure="cpu", decimals=2),
            Column(title="process CPU s", figure="process_cpu", decimals=2),
            Column(title="wall s", figure="wall", decimals=2),
            RESIDENT,
            Column(title="peak MB", figure="peak", decimals=1),
        ),
        costs=costs,
        limits=(
            _limit(costs[OURS], "cpu", 1.0, " s", "listing, CPU", judged=judged),
            _limit(costs[OURS], "resident", 125, " MB", "listing, memory", judged=judged),
        ),
    )


def requests(scale: Scale, kubeconfig: Path, progress: Progress) -> Section:
    """One small object, got again and again over connections that stay open."""
    turns = {
        name: contending(contender, "get", kubeconfig, scale.requests)
        for name, contender in REQUESTS.items()
    }
    costs = in_rounds(turns, rounds=scale.request_rounds, progress=progress)
    beside = {name: compared(costs[name], costs[BARE_AIOHTTP], ["cpu"]) for name in turns}
    # Single rounds differ by half; the median of a few says nothing yet.
    judged = scale.request_rounds == FULL.request_rounds
    return Section(
        title=f"Get one ConfigMap {scale.requests:,} times, {IN_FLIGHT} in flight,"
        f" in a new process ({scale.request_rounds} rounds)",
        columns=(
            Column(title="CPU µs", figure="cpu", decimals=0, factor=1e6),
            Column(title="of the first", figure="cpu_ratio", decimals=2),
            Column(title="wall µs", figure="wall", decimals=0, factor=1e6),
            RESIDENT,
        ),
        costs=beside,
        limits=(
            _limit(
                beside[OURS],
                "cpu_ratio",
                1.3,
                "",
                f"a request, CPU over that of {BARE_AIOHTTP}",
                judged=judged,
            ),
        ),
    )


def _limit(
    costs: Sequence[Cost], figure: str, most: float, unit: str, what: str, *, judged: bool = True
) -> Limit:
    found = median(cost[figure] for cost in costs)
    return Limit(what=what, most=most, unit=unit, found=found, judged=judged)
