"""The admission plugins for new Pods, for example for priority and runtime class."""

from collections.abc import Set as AbstractSet
from typing import Final

from steersman.names import GroupResource
from steersman_cluster.apiserver.builtin.plugins.account_admission import admit_account
from steersman_cluster.apiserver.builtin.plugins.limit_admission import limit_pod
from steersman_cluster.apiserver.builtin.plugins.runtime_admission import set_runtime
from steersman_cluster.apiserver.builtin.pods.security import APP_ARMOR, app_armor_profile
from steersman_cluster.apiserver.meta.status_errors import forbidden
from steersman_cluster.apiserver.meta.strategy import Object, StrategyContext

_PODS: Final = GroupResource("", "pods")
_PRIORITY_CLASSES: Final = GroupResource("scheduling.k8s.io", "priorityclasses")
# How long a Pod tolerates a Node that is not ready or unreachable.
_TOLERATED_SECONDS: Final = 300

# The names of the plugins, as in --enable-admission-plugins.
DEFAULT_TOLERATIONS: Final = "DefaultTolerationSeconds"
LIMIT_RANGER: Final = "LimitRanger"
POD_SECURITY: Final = "PodSecurity"
PRIORITY: Final = "Priority"
RUNTIME_CLASS: Final = "RuntimeClass"
SERVICE_ACCOUNT: Final = "ServiceAccount"
# Without ServiceAccount, which rejects every Pod until a controller has created the namespace's
# ServiceAccount.
USUAL_PLUGINS: Final = frozenset(
    (DEFAULT_TOLERATIONS, LIMIT_RANGER, POD_SECURITY, PRIORITY, RUNTIME_CLASS)
)


def admit_pod(pod: Object, around: StrategyContext, *, plugins: AbstractSet[str]) -> None:
    """Run the enabled ``plugins`` on a new Pod, in their order; they change or reject the Pod."""
    if LIMIT_RANGER in plugins:
        limit_pod(pod, around)
    if SERVICE_ACCOUNT in plugins:
        admit_account(pod, around)
    if PRIORITY in plugins:
        _set_priority(pod, around)
    if DEFAULT_TOLERATIONS in plugins:
        add_default_tolerations(pod["spec"])
    if RUNTIME_CLASS in plugins:
        set_runtime(pod, around)
    _set_profiles(pod)


def _set_priority(pod: Object, around: StrategyContext) -> None:
    spec, name = pod["spec"], pod["metadata"].get("name", "")
    chosen: Object | None
    if class_name := spec.get("priorityClassName"):
        chosen = around.find(_PRIORITY_CLASSES, "", class_name)
        if chosen is None:
            why = f"no PriorityClass with name {class_name} was found"
            raise forbidden(_PODS, name, why)
    else:
        defaults = [each for each in around.every(_PRIORITY_CLASSES) if each.get("globalDefault")]
        chosen = min(defaults, key=lambda each: int(each.get("value", 0)), default=None)
    priority = chosen.get("value", 0) if chosen else 0
    policy = chosen.get("preemptionPolicy") if chosen else "PreemptLowerPriority"
    computed = "priority admission controller computed {} from the given PriorityClass name"
    if spec.get("priority", priority) != priority:
        why = f"the integer value of priority ({spec['priority']}) must not be provided in pod spec"
        raise forbidden(_PODS, name, f"{why}; {computed.format(priority)}")
    if policy and spec.get("preemptionPolicy", policy) != policy:
        given = spec["preemptionPolicy"]
        why = f"the string value of PreemptionPolicy ({given}) must not be provided in pod spec"
        raise forbidden(_PODS, name, f"{why}; {computed.format(policy)}")
    if chosen and not class_name:
        spec["priorityClassName"] = chosen["metadata"]["name"]
    spec["priority"] = priority
    if policy:
        spec["preemptionPolicy"] = policy


def add_default_tolerations(spec: Object) -> None:
    """Add tolerations for nodes that are not ready or unreachable; they expire after a time."""
    tolerations = spec.get("tolerations") or []
    for state in ("not-ready", "unreachable"):
        key = f"node.kubernetes.io/{state}"
        if not any(
            each.get("key", key) == key and each.get("effect", "NoExecute") == "NoExecute"
            for each in tolerations
        ):
            spec.setdefault("tolerations", []).append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": _TOLERATED_SECONDS,
                }
            )


def _set_profiles(pod: Object) -> None:
    """Copy AppArmor profiles from annotations to the fields that replaced them."""
    annotations: Object = pod["metadata"].get("annotations") or {}
    spec = pod["spec"]
    if not any(key.startswith(APP_ARMOR) for key in annotations):
        return
    of_pod = spec["securityContext"].get("appArmorProfile")
    for kind in ("initContainers", "containers"):
        for container in spec.get(kind) or ():
            value = annotations.get(f"{APP_ARMOR}{container.get('name', '')}")
            profile = app_armor_profile(value) if value is not None else None
            own = container.get("securityContext") or {}
            if profile and "appArmorProfile" not in own and profile != of_pod:
                container["securityContext"] = {**own, "appArmorProfile": profile}
