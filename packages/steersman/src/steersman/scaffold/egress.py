"""Warns of connections that an operator needs and its NetworkPolicy does not permit.

A NetworkPolicy drops packets silently: a connection that it does not permit ends in a timeout, and
no error names the cause. So the commands that generate manifests warn of two signs of such
connections: a client library for servers that listen on a port that is not permitted, and addresses
in environment variables.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from steersman.kinds import networking_v1
from steersman.manifests import API_SERVER_PORTS, DNS_PORT
from steersman.scaffold.project import Project

# Client libraries by package name, with the usual port of their servers. HTTP clients have no port,
# because their servers use any port.
_CLIENTS: Final[Mapping[str, int | None]] = MappingProxyType(
    {
        **dict.fromkeys(("aiohttp", "httpx", "requests", "urllib3", "grpcio", "websockets")),
        **dict.fromkeys(("asyncpg", "aiopg", "psycopg", "psycopg2", "psycopg2-binary"), 5432),
        **dict.fromkeys(("aiomysql", "mysql-connector-python", "mysqlclient", "pymysql"), 3306),
        **dict.fromkeys(("redis", "valkey"), 6379),
        **dict.fromkeys(("motor", "pymongo"), 27017),
        **dict.fromkeys(("aiokafka", "confluent-kafka", "kafka-python"), 9092),
        **dict.fromkeys(("aio-pika", "pika"), 5672),
        **dict.fromkeys(("elasticsearch", "opensearch-py"), 9200),
        **dict.fromkeys(("asyncssh", "paramiko"), 22),
        "aiosmtplib": 587,
        "cassandra-driver": 9042,
        "clickhouse-connect": 8123,
        "hvac": 8200,
        "influxdb-client": 8086,
        "ldap3": 636,
        "minio": 9000,
        "nats-py": 4222,
        "neo4j": 7687,
        "oracledb": 1521,
        "paho-mqtt": 1883,
        "pymemcache": 11211,
    }
)

_SCHEMES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "amqp": 5672,
        "amqps": 5671,
        "http": 80,
        "https": 443,
        "kafka": 9092,
        "ldap": 389,
        "ldaps": 636,
        "mongodb": 27017,
        "mysql": 3306,
        "nats": 4222,
        "postgres": 5432,
        "postgresql": 5432,
        "redis": 6379,
        "rediss": 6379,
        "smtp": 25,
        "smtps": 465,
    }
)

_HOST_AND_PORT: Final = re.compile(
    r"(?P<host>[\w.-]*[a-zA-Z][\w.-]*|\d+(\.\d+){3}):(?P<port>\d{1,5})"
)
# Sidecars: a policy applies to connections that leave the Pod.
_LOOPBACK: Final = re.compile(r"localhost|127(\.\d+){3}|::1")
_LAST_PORT: Final = 65535
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_WHAT_NOW: Final = (
    "add it to [[tool.steersman.deploy.egress]], or set egress = [] if there is no connection"
)


def egress_warnings(project: Project) -> tuple[str, ...]:
    """Return a warning for each needed connection that the project's NetworkPolicy would drop.

    There is no warning if the project declares that the operator needs no other connections.
    """
    policy = project.deploy.settings.egress
    if policy == ():
        return ()
    found = [
        f"{variable} is {_shown(value)}, but the NetworkPolicy blocks connections to port {port}:"
        f" {_WHAT_NOW}"
        for variable, value, port in _addresses(project)
        if not _is_open(port, policy or ())
    ]
    if policy is None:
        usual = ", ".join(map(str, (DNS_PORT, *API_SERVER_PORTS)))
        found += [
            f"{project.name} depends on {name}, but the NetworkPolicy allows only connections to"
            f" the ports {usual}: {_WHAT_NOW}"
            for name, port in _clients(project)
            if port is None or not _is_open(port, ())
        ]
    return tuple(found)


def _clients(project: Project) -> Iterator[tuple[str, int | None]]:
    for requirement in project.dependencies:
        found = _NAME.match(requirement.strip())
        name = re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""
        if name in _CLIENTS:
            yield name, _CLIENTS[name]


def _addresses(project: Project) -> Iterator[tuple[str, str, int]]:
    for each in project.deploy.settings.env:
        port = _port_of(each.value or "")
        # redis:7 also looks like an address.
        if port is not None and "IMAGE" not in each.name.upper():
            yield each.name, each.value or "", port


def _port_of(value: str) -> int | None:
    """Return the port of an address, such as ``postgres://db/shop`` or ``db.example.com:5432``."""
    if "://" in value:
        try:
            parts = urlsplit(value.removeprefix("jdbc:"))
            if parts.hostname and not _LOOPBACK.fullmatch(parts.hostname):
                # Libraries name their drivers in schemes such as postgresql+asyncpg://.
                return parts.port or _SCHEMES.get(parts.scheme.partition("+")[0])
        except ValueError:
            pass
        return None
    found = _HOST_AND_PORT.fullmatch(value)
    if found is None or _LOOPBACK.fullmatch(found["host"]):
        return None
    return int(found["port"]) if 0 < int(found["port"]) <= _LAST_PORT else None


def _shown(value: str) -> str:
    """Return the address without the parts that may contain a secret."""
    if "://" not in value:
        return value
    parts = urlsplit(value.removeprefix("jdbc:"))
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}"


def _is_open(port: int, policy: tuple[networking_v1.NetworkPolicyEgressRule, ...]) -> bool:
    if port in (DNS_PORT, *API_SERVER_PORTS):
        return True
    return any(
        rule.ports is None or any(_covers(each, port) for each in rule.ports) for rule in policy
    )


def _covers(allowed: networking_v1.NetworkPolicyPort, port: int) -> bool:
    first = allowed.port
    if not isinstance(first, int):
        return first is None
    return first <= port <= (allowed.end_port or first)
