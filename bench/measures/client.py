"""What the client costs by itself: to import it, to list with it, and for each request."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.harness.charts import Bars, panels
from bench.harness.contenders import OURS
from bench.harness.effort import Effort
from bench.harness.report import Column, Limit, Section, by_round, rounds_in_words
from bench.harness.rounds import Cost, above, compared, contending, in_rounds, python_with
from bench.harness.task import IN_FLIGHT, PAGE_SIZE
from bench.harness.world import fill
from steersman.clock import SystemClock
from steersman_cluster.testing import find_binaries, running_real_control_plane

TITLE = "The client: imports, lists and single requests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How much work."""

    apps: int
    requests: int


FULL = Scale(apps=20_000, requests=3_000)
QUICK = Scale(apps=1_000, requests=500)

BARE = "bare Python"

# The lesser of the two: our own codec is msgspec as well, and should be no excuse.
BARE_AIOHTTP = "bare aiohttp, msgspec"

# What an operator comes to import; promised is what comes before it has asked for any of it.
OURS_WHOLE = "steersman, with those and the client"

# Without these there is no verdict; without one of the others, the table is shorter.
OUR_OWN = frozenset({BARE, OURS, OURS_WHOLE, BARE_AIOHTTP})

# What ours may take, above bare Python and of what bare aiohttp takes.
IMPORT_SECONDS = 0.15
IMPORT_MEGABYTES = 25.0
LIST_SECONDS = 1.0
LIST_MEGABYTES = 125.0
REQUEST_RATIO = 1.3

IMPORTS = {
    BARE: "",
    OURS: "import steersman",
    "steersman, with apps/v1 and core/v1": (
        "import steersman; from steersman.kinds import apps_v1, core_v1"
    ),
    OURS_WHOLE: (
        "import steersman; from steersman.kinds import apps_v1, core_v1;"
        " from steersman.client import Client, connect; from steersman.wire import NetworkTransport"
    ),
    "bare aiohttp": "import aiohttp",
    "lightkube": "import lightkube",
    "lightkube, with apps/v1 and core/v1": (
        "import lightkube; from lightkube.resources import apps_v1, core_v1"
    ),
    "kubernetes_asyncio": "import kubernetes_asyncio.client",
    "kubernetes (official)": "import kubernetes.client",
    "kr8s": "import kr8s.asyncio",
    # It loads other clients wherever it finds them, and needs none.
    "kopf": (
        "import sys; sys.modules.update(kubernetes=None, kubernetes_asyncio=None); import kopf"
    ),
}

LISTING = {
    OURS: "steersman_client",
    "lightkube, typed": "lightkube_typed",
    "lightkube, dictionaries": "lightkube_generic",
    "kubernetes_asyncio, dictionaries": "kubernetes_asyncio_client",
    "kubernetes (official), dictionaries": "kubernetes_client",
}

REQUESTS = {
    BARE_AIOHTTP: "bare_aiohttp_msgspec",
    "bare aiohttp, json": "bare_aiohttp",
    OURS: "steersman_client",
    "steersman, with log and metrics": "steersman_observed",
    "lightkube": "lightkube_typed",
    "kubernetes_asyncio": "kubernetes_asyncio_client",
    "kr8s": "kr8s_client",
}

RESIDENT = Column(title="resident MB", figure="resident", decimals=1)


def sections(effort: Effort) -> Iterator[Section]:
    """Imports, which need no server; then lists and requests, which need a server."""
    scale = FULL if effort.is_full else QUICK
    yield imports(effort)
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock()
    ) as plane:
        effort.progress(f"creating {scale.apps:,} AppServices")
        asyncio.run(fill(plane.kubeconfig, apps=scale.apps))
        yield listing(effort, scale, plane.kubeconfig)
        yield requests(effort, scale, plane.kubeconfig)


def imports(effort: Effort) -> Section:
    """What it takes to be there at all, above a Python that does nothing."""
    # They are short, and more of them cost little.
    rounds = 2 * effort.rounds
    turns = {name: python_with(statement) for name, statement in IMPORTS.items()}
    notes: list[str] = []
    costs = in_rounds(
        turns,
        rounds=rounds,
        progress=effort.progress,
        optional=turns.keys() - OUR_OWN,
        report=notes.append,
    )
    extra = {name: above(costs[name], costs[BARE]) for name in costs if name != BARE}
    return Section(
        name="imports",
        title=f"Import, in a new process, above {BARE} ({rounds_in_words(rounds)})",
        columns=(
            Column(title="wall s", figure="wall", decimals=3),
            Column(title="CPU s", figure="cpu", decimals=3),
            RESIDENT,
        ),
        costs=extra,
        limits=(
            _limit(extra[OURS], "wall", IMPORT_SECONDS, " s", "import steersman, wall", effort),
            _limit(
                extra[OURS], "resident", IMPORT_MEGABYTES, " MB", "import steersman, memory", effort
            ),
            _limit(
                extra[OURS_WHOLE],
                "wall",
                IMPORT_SECONDS,
                " s",
                "import steersman, its kinds and its client, wall",
                effort,
                judged=False,
            ),
        ),
        notes=notes,
    )


def listing(effort: Effort, scale: Scale, kubeconfig: Path) -> Section:
    """All AppServices, from shaking hands to having every object at hand."""
    turns = {
        name: contending(contender, "list", kubeconfig, scale.apps)
        for name, contender in LISTING.items()
    }
    notes: list[str] = []
    costs = in_rounds(
        turns,
        rounds=effort.rounds,
        progress=effort.progress,
        optional=turns.keys() - OUR_OWN,
        report=notes.append,
    )
    return Section(
        name="listing",
        title=f"List {scale.apps:,} AppServices, {PAGE_SIZE} to a page,"
        f" in a new process ({rounds_in_words(effort.rounds)})",
        columns=(
            Column(title="CPU s", figure="cpu", decimals=2),
            Column(title="process CPU s", figure="process_cpu", decimals=2),
            Column(title="wall s", figure="wall", decimals=2),
            RESIDENT,
            Column(title="peak MB", figure="peak", decimals=1),
        ),
        costs=costs,
        limits=(
            _limit(costs[OURS], "cpu", LIST_SECONDS, " s", "listing, CPU", effort),
            _limit(costs[OURS], "resident", LIST_MEGABYTES, " MB", "listing, memory", effort),
        ),
        notes=notes,
    )


def requests(effort: Effort, scale: Scale, kubeconfig: Path) -> Section:
    """One small object, got again and again over connections that stay open."""
    turns = {
        name: contending(contender, "get", kubeconfig, scale.requests)
        for name, contender in REQUESTS.items()
    }
    few = {
        name: contending(contender, "get", kubeconfig, 10 * IN_FLIGHT)
        for name, contender in REQUESTS.items()
    }
    notes: list[str] = []
    costs = in_rounds(
        turns,
        rounds=effort.rounds,
        progress=effort.progress,
        warming_up=few,
        optional=turns.keys() - OUR_OWN,
        report=notes.append,
    )
    beside = {name: compared(costs[name], costs[BARE_AIOHTTP], ["cpu"]) for name in costs}
    return Section(
        name="requests",
        title=f"Get one ConfigMap {scale.requests:,} times, {IN_FLIGHT} in flight,"
        f" in a new process ({rounds_in_words(effort.rounds)})",
        columns=(
            Column(title="CPU µs", figure="cpu", decimals=0, factor=1e6),
            Column(title=f"of {BARE_AIOHTTP}", figure="cpu_ratio", decimals=2),
            Column(title="wall µs", figure="wall", decimals=0, factor=1e6),
            RESIDENT,
            Column(title="peak MB", figure="peak", decimals=1),
        ),
        costs=beside,
        limits=(
            _limit(
                beside[OURS],
                "cpu_ratio",
                REQUEST_RATIO,
                "",
                f"a request, CPU of that of {BARE_AIOHTTP}",
                effort,
            ),
        ),
        notes=notes,
    )


def pictures(sections: Mapping[str, Section]) -> Iterator[Bars]:
    """One for each of the three; of what is there."""
    # Limits of imports are of the first alone, and would say nothing of the two below it.
    limits: dict[str, float] = {}
    if "requests" in sections:
        bare = sections["requests"].costs[BARE_AIOHTTP]
        limits["CPU, µs"] = REQUEST_RATIO * median(cost["cpu"] for cost in bare) * 1e6
    for name, title, shown in (
        (
            "imports",
            "Import, in a new process, above bare Python",
            {
                "wall, ms": ("imports", "wall", 1e3),
                "resident memory, MB": ("imports", "resident", 1.0),
            },
        ),
        (
            "listing",
            sections["listing"].title.partition(" (")[0] if "listing" in sections else "",
            {
                "CPU, s": ("listing", "cpu", 1.0),
                "wall, s": ("listing", "wall", 1.0),
                "peak memory, MB": ("listing", "peak", 1.0),
            },
        ),
        (
            "requests",
            "One request, over a connection that stays open",
            {
                "CPU, µs": ("requests", "cpu", 1e6),
                "resident memory, MB": ("requests", "resident", 1.0),
            },
        ),
    ):
        if name in sections:
            yield Bars(
                name=name,
                title=title,
                panels=panels(sections, shown),
                limits={panel: limit for panel, limit in limits.items() if panel in shown},
            )


def _limit(
    costs: Sequence[Cost],
    figure: str,
    most: float,
    unit: str,
    what: str,
    effort: Effort,
    *,
    judged: bool = True,
) -> Limit:
    return Limit(
        what=what,
        most=most,
        unit=unit,
        rounds=by_round(costs, figure),
        judged=judged and effort.is_judged,
    )
