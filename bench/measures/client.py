"""The cost of the client: its import, lists, and single requests."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.harness.charts import BarChart, panels
from bench.harness.contenders import STEERSMAN
from bench.harness.fixtures import fill
from bench.harness.report import Column, Limit, Section, by_round, rounds_text
from bench.harness.rounds import Cost, client_turn, in_rounds, minus, python_with, with_ratios
from bench.harness.run_options import RunOptions
from bench.harness.task import IN_FLIGHT, PAGE_SIZE
from steersman.clock import SystemClock
from steersman_cluster.testing import find_binaries, running_real_control_plane

TITLE = "The client: imports, lists and single requests"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The number of objects and requests."""

    apps: int
    requests: int


FULL = Scale(apps=20_000, requests=3_000)
QUICK = Scale(apps=1_000, requests=500)

BARE = "bare Python"

# The faster of the two references: it uses msgspec, as steersman does.
BARE_AIOHTTP = "bare aiohttp, msgspec"

# The imports of an operator. The limit is for `import steersman` alone.
STEERSMAN_WHOLE = "steersman, with those and the client"

# The limits need these. Without one of the others, the table has one row less.
OUR_OWN = frozenset({BARE, STEERSMAN, STEERSMAN_WHOLE, BARE_AIOHTTP})

# The limits: above bare Python, and as a ratio to bare aiohttp.
IMPORT_SECONDS = 0.15
IMPORT_MEGABYTES = 25.0
LIST_SECONDS = 1.0
LIST_MEGABYTES = 125.0
REQUEST_RATIO = 1.3

IMPORTS = {
    BARE: "",
    STEERSMAN: "import steersman",
    "steersman, with apps/v1 and core/v1": (
        "import steersman; from steersman.kinds import apps_v1, core_v1"
    ),
    STEERSMAN_WHOLE: (
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
    # kopf imports installed clients, but does not need them.
    "kopf": (
        "import sys; sys.modules.update(kubernetes=None, kubernetes_asyncio=None); import kopf"
    ),
}

LISTING = {
    STEERSMAN: "steersman_client",
    "lightkube, typed": "lightkube_typed",
    "lightkube, dictionaries": "lightkube_generic",
    "kubernetes_asyncio, dictionaries": "kubernetes_asyncio_client",
    "kubernetes (official), dictionaries": "kubernetes_client",
}

REQUESTS = {
    BARE_AIOHTTP: "bare_aiohttp_msgspec",
    "bare aiohttp, json": "bare_aiohttp",
    STEERSMAN: "steersman_client",
    "steersman, with log and metrics": "steersman_observed",
    "lightkube": "lightkube_typed",
    "kubernetes_asyncio": "kubernetes_asyncio_client",
    "kr8s": "kr8s_client",
}

RESIDENT = Column(title="resident MB", figure="resident", decimals=1)


def sections(options: RunOptions) -> Iterator[Section]:
    """Imports, lists and requests."""
    scale = FULL if options.is_full else QUICK
    yield imports(options)
    with running_real_control_plane(
        find_binaries(environ=os.environ), clock=SystemClock()
    ) as plane:
        options.progress(f"creating {scale.apps:,} AppServices")
        asyncio.run(fill(plane.kubeconfig, apps=scale.apps))
        yield listing(options, scale, plane.kubeconfig)
        yield requests(options, scale, plane.kubeconfig)


def imports(options: RunOptions) -> Section:
    """The cost of an import, minus that of a Python process without imports."""
    # These turns are short, so there are twice as many rounds.
    rounds = 2 * options.rounds
    turns = {name: python_with(statement) for name, statement in IMPORTS.items()}
    notes: list[str] = []
    costs = in_rounds(
        turns,
        rounds=rounds,
        progress=options.progress,
        optional=turns.keys() - OUR_OWN,
        report=notes.append,
    )
    extra = {name: minus(costs[name], costs[BARE]) for name in costs if name != BARE}
    return Section(
        name="imports",
        title=f"Import, in a new process, above {BARE} ({rounds_text(rounds)})",
        columns=(
            Column(title="wall s", figure="wall", decimals=3),
            Column(title="CPU s", figure="cpu", decimals=3),
            RESIDENT,
        ),
        costs=extra,
        limits=(
            _limit(
                extra[STEERSMAN], "wall", IMPORT_SECONDS, " s", "import steersman, wall", options
            ),
            _limit(
                extra[STEERSMAN],
                "resident",
                IMPORT_MEGABYTES,
                " MB",
                "import steersman, memory",
                options,
            ),
            _limit(
                extra[STEERSMAN_WHOLE],
                "wall",
                IMPORT_SECONDS,
                " s",
                "import steersman, its kinds and its client, wall",
                options,
                enforced=False,
            ),
        ),
        notes=notes,
    )


def listing(options: RunOptions, scale: Scale, kubeconfig: Path) -> Section:
    """List all AppServices, including the TLS handshake and the decoding."""
    turns = {
        name: client_turn(contender, "list", kubeconfig, scale.apps)
        for name, contender in LISTING.items()
    }
    notes: list[str] = []
    costs = in_rounds(
        turns,
        rounds=options.rounds,
        progress=options.progress,
        optional=turns.keys() - OUR_OWN,
        report=notes.append,
    )
    return Section(
        name="listing",
        title=f"List {scale.apps:,} AppServices, {PAGE_SIZE} to a page,"
        f" in a new process ({rounds_text(options.rounds)})",
        columns=(
            Column(title="CPU s", figure="cpu", decimals=2),
            Column(title="process CPU s", figure="process_cpu", decimals=2),
            Column(title="wall s", figure="wall", decimals=2),
            RESIDENT,
            Column(title="peak MB", figure="peak", decimals=1),
        ),
        costs=costs,
        limits=(
            _limit(costs[STEERSMAN], "cpu", LIST_SECONDS, " s", "listing, CPU", options),
            _limit(costs[STEERSMAN], "resident", LIST_MEGABYTES, " MB", "listing, memory", options),
        ),
        notes=notes,
    )


def requests(options: RunOptions, scale: Scale, kubeconfig: Path) -> Section:
    """Get one small object repeatedly over open connections."""
    turns = {
        name: client_turn(contender, "get", kubeconfig, scale.requests)
        for name, contender in REQUESTS.items()
    }
    few = {
        name: client_turn(contender, "get", kubeconfig, 10 * IN_FLIGHT)
        for name, contender in REQUESTS.items()
    }
    notes: list[str] = []
    costs = in_rounds(
        turns,
        rounds=options.rounds,
        progress=options.progress,
        warming_up=few,
        optional=turns.keys() - OUR_OWN,
        report=notes.append,
    )
    beside = {name: with_ratios(costs[name], costs[BARE_AIOHTTP], ["cpu"]) for name in costs}
    return Section(
        name="requests",
        title=f"Get one ConfigMap {scale.requests:,} times, {IN_FLIGHT} in flight,"
        f" in a new process ({rounds_text(options.rounds)})",
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
                beside[STEERSMAN],
                "cpu_ratio",
                REQUEST_RATIO,
                "",
                f"CPU of one request, ratio to {BARE_AIOHTTP}",
                options,
            ),
        ),
        notes=notes,
    )


def charts(sections: Mapping[str, Section]) -> Iterator[BarChart]:
    """A chart of each table."""
    # Without the limit of imports, which applies to one of three rows of steersman.
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
            "One request, over an open connection",
            {
                "CPU, µs": ("requests", "cpu", 1e6),
                "resident memory, MB": ("requests", "resident", 1.0),
            },
        ),
    ):
        if name in sections:
            yield BarChart(
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
    options: RunOptions,
    *,
    enforced: bool = True,
) -> Limit:
    return Limit(
        what=what,
        most=most,
        unit=unit,
        rounds=by_round(costs, figure),
        enforced=enforced and options.is_enforced,
    )
