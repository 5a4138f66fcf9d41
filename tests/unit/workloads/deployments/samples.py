"""Deployments as the server returns them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from steersman.kinds import apps_v1, core_v1, meta_v1

LABELS: Mapping[str, str] = {"app": "web"}


def template(image: str = "web:1", **labels: str) -> core_v1.PodTemplateSpec:
    """A template with this image."""
    return core_v1.PodTemplateSpec(
        metadata=meta_v1.ObjectMeta(labels={**LABELS, **labels}),
        spec=core_v1.PodSpec(containers=(core_v1.Container(name="web", image=image),)),
    )


def deployment(
    *,
    status: apps_v1.DeploymentStatus | None = None,
    annotations: Mapping[str, str] | None = None,
    generation: int = 1,
    surge: int | str = 1,
    unavailable: int | str = 0,
    strategy: str = "RollingUpdate",
    image: str = "web:1",
    **spec: Any,
) -> apps_v1.Deployment:
    """A Deployment ``here/web`` of three Pods, with a deadline of ten minutes."""
    rolling = apps_v1.RollingUpdateDeployment(max_surge=surge, max_unavailable=unavailable)
    spec.setdefault("replicas", 3)
    spec.setdefault("progress_deadline_seconds", 600)
    return apps_v1.Deployment(
        metadata=meta_v1.ObjectMeta(
            name="web",
            namespace="here",
            uid="uid-of-web",
            generation=generation,
            annotations=annotations,
        ),
        spec=apps_v1.DeploymentSpec(
            selector=meta_v1.LabelSelector(match_labels=LABELS),
            template=template(image),
            strategy=apps_v1.DeploymentStrategy(
                type=strategy, rolling_update=rolling if strategy == "RollingUpdate" else None
            ),
            **spec,
        ),
        status=status,
    )


def replica_set(
    name: str,
    *,
    image: str = "web:1",
    size: int = 0,
    pods: int | None = None,
    ready: int | None = None,
    revision: str | None = None,
    created: datetime | None = None,
    annotations: Mapping[str, str] | None = None,
    generation: int = 1,
    observed: int = 1,
    conditions: tuple[apps_v1.ReplicaSetCondition, ...] | None = None,
) -> apps_v1.ReplicaSet:
    """A ReplicaSet of ``here/web``; by default all its Pods exist and are ready."""
    there = size if pods is None else pods
    up = there if ready is None else ready
    numbered = {} if revision is None else {"deployment.kubernetes.io/revision": revision}
    return apps_v1.ReplicaSet(
        metadata=meta_v1.ObjectMeta(
            name=name,
            namespace="here",
            uid=f"uid-of-{name}",
            generation=generation,
            creation_timestamp=created,
            annotations={**numbered, **(annotations or {})},
        ),
        spec=apps_v1.ReplicaSetSpec(
            replicas=size,
            selector=meta_v1.LabelSelector(match_labels=LABELS),
            template=template(image, **{"pod-template-hash": name}),
        ),
        status=apps_v1.ReplicaSetStatus(
            replicas=there,
            ready_replicas=up or None,
            available_replicas=up or None,
            terminating_replicas=0,
            observed_generation=observed,
            conditions=conditions,
        ),
    )
