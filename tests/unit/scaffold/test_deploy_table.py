"""The tables ``[tool.steersman.deploy]`` and ``[tool.steersman.bundle]``, and their errors."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from steersman.errors import BadProjectSetting
from steersman.kinds import core_v1, meta_v1, networking_v1
from steersman.manifests import DeploySettings, ExtraRule
from steersman.scaffold import Project, egress_warnings
from steersman.units import Quantity
from tests.unit.scaffold.projects import new_project

DIGEST = "sha256:" + "ab" * 32

WHOLE = f"""
[tool.steersman.deploy]
replicas = 3
digest = "{DIGEST}"

[tool.steersman.deploy.env]
DATABASE_URL = "postgres://db.databases:5432/shop"
DATABASE_PASSWORD = {{ secret = "shop-database", key = "password" }}
REGION = {{ config_map = "shop", key = "region", optional = true }}
NODE = {{ field = "spec.nodeName" }}

[tool.steersman.deploy.resources]
requests = {{ cpu = "50m" }}
limits = {{ memory = "1Gi" }}

[tool.steersman.deploy.metadata]
labels = {{ team = "shop" }}
annotations = {{ "example.com/contact" = "Shop & Co" }}
pod_labels = {{ mesh = "on" }}
pod_annotations = {{ "example.com/scrape" = "true" }}

[[tool.steersman.deploy.egress]]
namespace = "databases"
pods = {{ "app.kubernetes.io/name" = "postgres" }}
ports = [5432]

[[tool.steersman.deploy.egress]]
cidr = "10.0.0.0/8"
except = ["10.1.0.0/16"]
ports = ["8000-8010", "53/UDP"]

[[tool.steersman.deploy.rules]]
groups = ["apps"]
resources = ["deployments/scale"]
verbs = ["get", "patch"]
names = ["web"]

[tool.steersman.bundle]
channel = "fast"
replaces = "0.0.9"
icon = "icon.svg"
"""


def project_with(directory: Path, more: str, *, dependencies: str = "") -> Project:
    """A project with this text in its pyproject.toml."""
    project = new_project(directory)
    (project.directory / "icon.svg").write_text("<svg/>")
    path = project.directory / "pyproject.toml"
    text = path.read_text()
    if dependencies:
        text = text.replace("dependencies = [\n", f"dependencies = [\n    {dependencies},\n")
    path.write_text(text + more)
    return Project.read(project.directory, tomllib.loads(path.read_text()))


def test_the_deploy_table_configures_the_deployment(tmp_path: Path) -> None:
    project = project_with(tmp_path, WHOLE)

    port = networking_v1.NetworkPolicyPort
    assert (project.deploy.replicas, project.deploy.digest) == (3, DIGEST)
    assert project.deploy.settings == DeploySettings(
        env=(
            core_v1.EnvVar(name="DATABASE_URL", value="postgres://db.databases:5432/shop"),
            core_v1.EnvVar(
                name="DATABASE_PASSWORD",
                value_from=core_v1.EnvVarSource(
                    secret_key_ref=core_v1.SecretKeySelector(name="shop-database", key="password")
                ),
            ),
            core_v1.EnvVar(
                name="REGION",
                value_from=core_v1.EnvVarSource(
                    config_map_key_ref=core_v1.ConfigMapKeySelector(
                        name="shop", key="region", optional=True
                    )
                ),
            ),
            core_v1.EnvVar(
                name="NODE",
                value_from=core_v1.EnvVarSource(
                    field_ref=core_v1.ObjectFieldSelector(field_path="spec.nodeName")
                ),
            ),
        ),
        requests={"cpu": Quantity("50m")},
        limits={"memory": Quantity("1Gi")},
        egress=(
            networking_v1.NetworkPolicyEgressRule(
                to=(
                    networking_v1.NetworkPolicyPeer(
                        namespace_selector=meta_v1.LabelSelector(
                            match_labels={"kubernetes.io/metadata.name": "databases"}
                        ),
                        pod_selector=meta_v1.LabelSelector(
                            match_labels={"app.kubernetes.io/name": "postgres"}
                        ),
                    ),
                ),
                ports=(port(port=5432, protocol="TCP"),),
            ),
            networking_v1.NetworkPolicyEgressRule(
                to=(
                    networking_v1.NetworkPolicyPeer(
                        ip_block=networking_v1.IPBlock(cidr="10.0.0.0/8", except_=("10.1.0.0/16",))
                    ),
                ),
                ports=(
                    port(port=8000, end_port=8010, protocol="TCP"),
                    port(port=53, protocol="UDP"),
                ),
            ),
        ),
        rules=(
            ExtraRule(
                groups=("apps",),
                resources=("deployments/scale",),
                verbs=("get", "patch"),
                names=("web",),
            ),
        ),
        labels={"team": "shop"},
        annotations={"example.com/contact": "Shop & Co"},
        pod_labels={"mesh": "on"},
        pod_annotations={"example.com/scrape": "true"},
    )
    assert (project.bundle.channel, project.bundle.replaces) == ("fast", "0.0.9")
    assert project.bundle.icon == ("image/svg+xml", project.directory / "icon.svg")


@pytest.mark.parametrize(
    ("table", "key", "problem"),
    [
        ("deploy = 1", "deploy", "1 is not a table"),
        ("deploy.replica = 3", "deploy.replica", "did you mean replicas?"),
        ("deploy.replicas = 0", "deploy.replicas", "not a whole number of at least 1"),
        ("deploy.replicas = true", "deploy.replicas", "not a whole number of at least 1"),
        ('deploy.digest = "sha256:12"', "deploy.digest", "64 hexadecimal digits"),
        ("deploy.env = []", "deploy.env", "not a table"),
        ('deploy.env."a b" = ""', "deploy.env.a b", "a variable may contain only letters"),
        ("deploy.env.A = 1", "deploy.env.A", "1 is not a string, or a table with one of secret"),
        ('deploy.env.STEERSMAN_NAMESPACES = ""', "deploy.env.STEERSMAN_NAMESPACES", "sets this"),
        ("deploy.env.A = {}", "deploy.env.A", "one of secret, config_map, field"),
        ('deploy.env.A.secret = "s"', "deploy.env.A.key", "set it to a key of the secret"),
        ('deploy.env.A = {secret="S", key="k"}', "deploy.env.A.secret", "'S' is not"),
        ('deploy.env.A = {secret="s", key="k", kye="k"}', "deploy.env.A.kye", "did you mean key?"),
        ('deploy.env.A.field = "spec"', "deploy.env.A.field", "not a field of a Pod"),
        (
            'deploy.resources.request.cpu = "1"',
            "deploy.resources.request",
            "did you mean requests?",
        ),
        ("deploy.resources.requests.cpu = 1", "deploy.resources.requests.cpu", "not a string"),
        ('deploy.resources.limits.cpu = "-1"', "deploy.resources.limits.cpu", "is negative"),
        (
            'deploy.resources.limits.cpuu = "1"',
            "deploy.resources.limits.cpuu",
            "it is not cpu or memory",
        ),
        (
            'deploy.resources.limits.cpu = "much"',
            "deploy.resources.limits.cpu",
            "not an amount such as",
        ),
        (
            'deploy.resources.limits.memory = "1Mi"',
            "deploy.resources.limits.memory",
            "the request, 128Mi, is greater than the limit, 1Mi",
        ),
        (
            'deploy.resources.requests.memory = "1Gi"',
            "deploy.resources.requests.memory",
            "than the limit, 512Mi",
        ),
        ('deploy.egress = "all"', "deploy.egress", "not a list"),
        (
            'deploy.egress = [{cidr="10.0.0.0/8"}, {cidr="x"}]',
            "deploy.egress[1].cidr",
            "is not a CIDR",
        ),
        ('deploy.egress = [{cidr="10.0.0.0"}]', "deploy.egress[0].cidr", "such as 10.0.0.0/8"),
        ('deploy.egress = [{cidr="10.0.0.0/255.0.0.0"}]', "deploy.egress[0].cidr", "is not a CIDR"),
        ('deploy.egress = [{cidr="10.0.0.1/8"}]', "deploy.egress[0].cidr", "host bits set"),
        (
            'deploy.egress = [{cidr="10.0.0.0/8", except=["11.0.0.0/16"]}]',
            "deploy.egress[0].except[0]",
            "not a smaller range inside 10.0.0.0/8",
        ),
        ('deploy.egress = [{except=["11.0.0.0/16"]}]', "deploy.egress[0].except", "a cidr, which"),
        (
            'deploy.egress = [{cidr="10.0.0.0/8", namespace="a"}]',
            "deploy.egress[0].cidr",
            "or namespace and pods",
        ),
        ('deploy.egress = [{namespace="A"}]', "deploy.egress[0].namespace", "'A' is not"),
        ("deploy.egress = [{ports=[0]}]", "deploy.egress[0].ports[0]", "not between 1 and 65535"),
        ('deploy.egress = [{ports=["9-8"]}]', "deploy.egress[0].ports[0]", "not between"),
        ('deploy.egress = [{ports=["53/udp"]}]', "deploy.egress[0].ports[0]", "not a port such as"),
        ("deploy.egress = [{port=[1]}]", "deploy.egress[0].port", "did you mean ports?"),
        ('deploy.rules = [{verbs=["get"]}]', "deploy.rules[0].resources", "it is missing"),
        (
            'deploy.rules = [{resources=["Pods"], verbs=["get"]}]',
            "deploy.rules[0].resources[0]",
            "not valid in an RBAC rule",
        ),
        (
            'deploy.rules = [{groups=["-"], resources=["pods"], verbs=["get"]}]',
            "deploy.rules[0].groups[0]",
            "'-' is not",
        ),
        ('deploy.metadata.label = {a="b"}', "deploy.metadata.label", "did you mean labels?"),
        ('deploy.metadata.labels = {"a b"="c"}', "deploy.metadata.labels.a b", "'a b' is not"),
        ('deploy.metadata.labels = {a="-"}', "deploy.metadata.labels.a", "'-' is not"),
        (
            'deploy.metadata.labels."app.kubernetes.io/name" = "x"',
            "deploy.metadata.labels.app.kubernetes.io/name",
            "sets this label itself",
        ),
        ("deploy.metadata.annotations.a = 1", "deploy.metadata.annotations.a", "not a string"),
        ('bundle.chanel = "x"', "bundle.chanel", "did you mean channel?"),
        ('bundle.channel = "a b"', "bundle.channel", "letters, digits"),
        ('bundle.replaces = "v1.0"', "bundle.replaces", "not a version such as 1.2.0"),
        ('bundle.icon = "icon.txt"', "bundle.icon", "is not a file of type .gif"),
        ('bundle.icon = "none.png"', "bundle.icon", "does not exist"),
    ],
)
def test_the_error_for_an_invalid_setting_has_its_key(
    tmp_path: Path, table: str, key: str, problem: str
) -> None:
    with pytest.raises(BadProjectSetting) as caught:
        read(tmp_path, table)

    assert caught.value.key == f"tool.steersman.{key}"
    assert problem in str(caught.value)
    assert str(tmp_path / "pyproject.toml") in str(caught.value)


def read(directory: Path, line: str) -> Project:
    said: dict[str, Any] = tomllib.loads(f"[tool.steersman]\n{line}\n")
    said["tool"]["steersman"] |= {
        "target": "shop.operator:manager",
        "name": "shop",
        "domain": "example.com",
        "image": "shop:1",
        "scaffold": "1",
    }
    return Project.read(directory, said)


def warnings_of(directory: Path, more: str, *, dependencies: str = "") -> str:
    return "\n".join(egress_warnings(project_with(directory, more, dependencies=dependencies)))


@pytest.mark.parametrize(
    ("more", "dependencies", "said"),
    [
        ("", '"asyncpg>=0.30"', "shop-operator depends on asyncpg, but the NetworkPolicy allows"),
        ("", '"Psycopg2_Binary"', "depends on psycopg2-binary"),
        ("", '"httpx[http2]"', "depends on httpx"),
        (
            '[tool.steersman.deploy.env]\nURL = "postgres://u:canary@db/shop"\n',
            "",
            "URL is postgres://db, but the NetworkPolicy blocks connections to port 5432",
        ),
        (
            '[tool.steersman.deploy.env]\nBROKER = "broker.example.com:9092"\n',
            "",
            "BROKER is broker.example.com:9092, but the NetworkPolicy blocks connections to port",
        ),
        (
            '[tool.steersman.deploy.env]\nURL = "jdbc:mysql://u:canary@db/shop"\n',
            "",
            "URL is mysql://db, but the NetworkPolicy blocks connections to port 3306",
        ),
        (
            '[tool.steersman.deploy]\negress = [{ports = [443]}]\nenv = {U = "http://a:8080/x"}\n',
            "",
            "blocks connections to port 8080",
        ),
    ],
)
def test_a_connection_that_the_network_policy_drops_gets_a_warning(
    tmp_path: Path, more: str, dependencies: str, said: str
) -> None:
    warning = warnings_of(tmp_path, more, dependencies=dependencies)

    assert said in warning
    assert "[[tool.steersman.deploy.egress]], or set egress = []" in warning
    assert "canary" not in warning


@pytest.mark.parametrize(
    ("more", "dependencies"),
    [
        ("", ""),
        ("", '"pydantic"'),
        ("[tool.steersman.deploy]\negress = []\n", '"asyncpg"'),
        ('[tool.steersman.deploy]\negress = []\nenv = {U = "http://a:8080/x"}\n', ""),
        ('[tool.steersman.deploy.env]\nREDIS_IMAGE = "redis:7"\n', ""),
        ('[tool.steersman.deploy.env]\nA = "localhost:9000"\nB = "http://127.0.0.1:9000/"\n', ""),
        ('[tool.steersman.deploy.env]\nKEY = "some:70000"\n', ""),
        (WHOLE, '"asyncpg"'),
        ('[tool.steersman.deploy.env]\nURL = "https://api.example.com/v1"\n', ""),
        ('[tool.steersman.deploy.env]\nMODE = "12:30"\nTEXT = "a: b"\n', ""),
        ('[tool.steersman.deploy]\negress = [{}]\nenv = {U = "http://a:8080/x"}\n', ""),
    ],
)
def test_without_dropped_connections_there_is_no_warning(
    tmp_path: Path, more: str, dependencies: str
) -> None:
    assert warnings_of(tmp_path, more, dependencies=dependencies) == ""
