"""steersman with a log and metrics, as an operator runs it."""

import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry

from bench.peers.clients import steersman_client
from bench.peers.clients.steersman_client import get_motto
from steersman.client import Client
from steersman.clock import SystemClock
from steersman.observe import MetricsObserver, fan_out, log_to

__all__ = ["connected", "get_motto"]


@asynccontextmanager
async def connected(kubeconfig: Path) -> AsyncIterator[Client]:
    clock = SystemClock()
    log = log_to(sys.stderr, style="json", level=logging.INFO, clock=clock)
    observe = fan_out(log, MetricsObserver(CollectorRegistry(), clock=clock))
    async with steersman_client.connected(kubeconfig, observe) as client:
        yield client
