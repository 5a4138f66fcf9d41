"""HostProcess containers of Windows nodes.

In a Pod, either all containers are HostProcess containers or none.
"""

from collections.abc import Iterator

from steersman_cluster.apiserver.builtin.pods.security import containers_of
from steersman_cluster.apiserver.meta.field_errors import FieldError, invalid
from steersman_cluster.apiserver.meta.go_messages import go_text
from steersman_cluster.apiserver.meta.strategy import Object


def host_process_errors(spec: Object, path: str) -> Iterator[FieldError]:
    """Yield the errors in a Pod with HostProcess containers."""
    of_pod = _is_host_process(spec)
    are_processes: list[bool] = []
    for field, container in containers_of(spec, path):
        own = _is_host_process(container)
        if of_pod is not None and own is not None and own != of_pod:
            value = go_text(of_pod)
            why = f"pod hostProcess value must be identical if both are specified, was {value}"
            yield invalid(f"{field}.securityContext.windowsOptions.hostProcess", own, why)
        are_processes.append(bool(of_pod if own is None else own))
    if not any(are_processes):
        return
    if not all(are_processes):
        why = "If pod contains any hostProcess containers then all containers must be HostProcess"
        yield invalid(path, "", f"{why} containers")
    if not spec.get("hostNetwork"):
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid(f"{path}.hostNetwork", False, why)


def _is_host_process(owner: Object) -> bool | None:
    options = (owner.get("securityContext") or {}).get("windowsOptions") or {}
    found: bool | None = options.get("hostProcess")
    return found
