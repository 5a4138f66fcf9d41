"""``steersman cluster``: the embedded cluster, for kubectl and for test suites."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steersman.cli import Group

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_FILE = click.Path(dir_okay=False, path_type=Path)


def _parts(
    _context: click.Context, _parameter: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    from click.shell_completion import CompletionItem

    from steersman_cluster.workloads import PARTS

    return [CompletionItem(each) for each in PARTS if each.startswith(incomplete)]


@click.group(
    cls=Group,
    epilog="""\b
Examples:
  steersman cluster up --nodes 3
  export KUBEBUILDER_ASSETS=$(steersman cluster envtest .envtest)
""",
)
def cluster() -> None:
    """Run an embedded Kubernetes cluster in one process."""


@cluster.command(
    epilog="""\b
Examples:
  steersman cluster up
  steersman cluster up --nodes 3 --kubeconfig dev.kubeconfig --data .cluster
  steersman cluster up --without scheduler --without garbagecollector
  steersman cluster up -o json | jq -r .kubeconfig
"""
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="N",
    help="Port to listen on; 0 selects a free port.",
)
@click.option(
    "--kubeconfig",
    type=_FILE,
    metavar="FILE",
    help="Write the kubeconfig to this file; it is removed when the cluster stops.",
)
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Persist the cluster's data in this directory (default: in memory).",
)
@click.option(
    "--bind-address",
    "host",
    default="127.0.0.1",
    show_default=True,
    metavar="IP",
    help="Address to listen on.",
)
@click.option(
    "--tls-cert-file", type=_FILE, help="TLS certificate of the server (default: generated)."
)
@click.option("--tls-private-key-file", type=_FILE, help="Private key of the TLS certificate.")
@click.option(
    "--client-ca-file",
    type=_FILE,
    help="CA of client certificates; their CN is the user, their O the groups.",
)
@click.option(
    "--token-auth-file",
    type=_FILE,
    help='File with more users, one per line: token,user,uid,"group1,group2".',
)
@click.option(
    "--service-account-key-file",
    "service_account_key_files",
    type=_FILE,
    multiple=True,
    help="Public key that verifies service account tokens; repeatable.",
)
@click.option(
    "--service-account-signing-key-file",
    type=_FILE,
    help="Private key that signs service account tokens.",
)
@click.option(
    "--service-account-issuer",
    "service_account_issuers",
    multiple=True,
    metavar="URL",
    help="Issuer of service account tokens; repeatable. New tokens have the first"
    " issuer; tokens of every listed issuer are accepted.",
)
@click.option(
    "--permit-port-sharing",
    is_flag=True,
    help="Share the port with other processes (SO_REUSEPORT).",
)
@click.option(
    "--nodes",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of simulated nodes.",
)
@click.option(
    "--no-workloads",
    is_flag=True,
    help="Run only the API server, without nodes, scheduler and controllers.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="NAME",
    shell_complete=_parts,
    help="Disable one part of the cluster, such as scheduler; repeatable.",
)
@click.option(
    "--force", is_flag=True, help="Start even in a Pod, where the command fails by default."
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["json"]),
    help="Print URL and kubeconfig as one line of JSON once the cluster is ready.",
)
def up(
    port: int,
    kubeconfig: Path | None,
    data: Path | None,
    host: str,
    tls_cert_file: Path | None,
    tls_private_key_file: Path | None,
    client_ca_file: Path | None,
    token_auth_file: Path | None,
    service_account_key_files: tuple[Path, ...],
    service_account_signing_key_file: Path | None,
    service_account_issuers: tuple[str, ...],
    permit_port_sharing: bool,
    nodes: int,
    no_workloads: bool,
    without: tuple[str, ...],
    force: bool,
    output: str | None,
) -> None:
    """Start a cluster and run it until Ctrl-C.

    The parts that --without can disable are namespaces, garbagecollector, nodes, scheduler,
    volumes, replicasets, replicationcontrollers, deployments, statefulsets, daemonsets, jobs,
    cronjobs, services, podautoscalers, disruptions and quotas.
    """
    # Imported here, so that help is quick.
    import asyncio
    from random import SystemRandom

    from steersman.clock import SystemClock
    from steersman_cluster.apiserver import ClusterSettings
    from steersman_cluster.commands.embedded_cluster import run_cluster
    from steersman_cluster.workloads import WorkloadSettings

    settings = ClusterSettings(
        host=host,
        port=port,
        kubeconfig=kubeconfig,
        data=data,
        tls_cert_file=tls_cert_file,
        tls_private_key_file=tls_private_key_file,
        client_ca_file=client_ca_file,
        token_auth_file=token_auth_file,
        service_account_key_files=service_account_key_files,
        service_account_signing_key_file=service_account_signing_key_file,
        service_account_issuers=service_account_issuers,
        even_in_a_cluster=force,
        share_port=permit_port_sharing,
    )
    # Unpredictable names and uids; a test passes a Random with a seed instead.
    rng = SystemRandom()
    workloads = WorkloadSettings(nodes=nodes, heartbeat_seconds=10.0).without(*without)
    asyncio.run(
        run_cluster(
            settings,
            None if no_workloads else workloads,
            clock=SystemClock(),
            rng=rng,
            environ=os.environ,
            on_ready=None if output is None else click.echo,
        )
    )


@cluster.command(
    epilog="""\b
Example:
  export KUBEBUILDER_ASSETS=$(steersman cluster envtest .envtest)
  go test ./...
"""
)
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), metavar="DIR")
def envtest(directory: Path) -> None:
    """Write envtest launchers that start the embedded cluster.

    Writes two scripts into DIR: kube-apiserver starts the embedded API server, and etcd is a
    placeholder that stores nothing. Links kubectl if it is on the PATH. Prints DIR. With
    KUBEBUILDER_ASSETS=DIR, test suites that use controller-runtime's envtest run on the embedded
    API server.
    """
    from steersman_cluster.commands.launchers.assets import write_assets

    assets = write_assets(directory, search_path=os.environ.get("PATH"))
    kubectl = (
        f"linked to {assets.kubectl}" if assets.kubectl else "not linked: it is not on the PATH"
    )
    click.echo(f"kube-apiserver and etcd were written, kubectl is {kubectl}", err=True)
    click.echo(assets.directory)
