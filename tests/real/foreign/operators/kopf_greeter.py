"""An operator for Greetings, written with kopf as its documentation shows; see ``kopf run``."""

from typing import Any

import kopf
import kubernetes


@kopf.on.startup()
def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
    settings.persistence.finalizer = "foreign.steersman.dev/kopf"
    # By default kopf keeps this in the status, where the schema of Greetings would prune it.
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(
        prefix="kopf.foreign.steersman.dev"
    )
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(
        prefix="kopf.foreign.steersman.dev"
    )


@kopf.on.resume("greetings")
@kopf.on.create("greetings")
@kopf.on.update("greetings", field="spec")
def greet(
    spec: kopf.Spec, name: str, namespace: str, patch: kopf.Patch, body: kopf.Body, **_: Any
) -> None:
    message = f"Hello, {spec['name']}{'!' if spec['excited'] else '.'}"
    config_map = {"metadata": {"name": name}, "data": {"message": message}}
    kopf.adopt(config_map)
    api = kubernetes.client.CoreV1Api()
    try:
        api.create_namespaced_config_map(namespace, config_map)
    except kubernetes.client.ApiException as error:
        if error.status != 409:
            raise
        api.patch_namespaced_config_map(name, namespace, config_map)
    patch.status["message"] = message
    kopf.info(body, reason="Greeted", message=f"said {message!r}")


@kopf.on.delete("greetings")
def finalize(name: str, namespace: str, **_: Any) -> None:
    # Without controllers, no garbage collector deletes the ConfigMap.
    try:
        kubernetes.client.CoreV1Api().delete_namespaced_config_map(name, namespace)
    except kubernetes.client.ApiException as error:
        if error.status != 404:
            raise
