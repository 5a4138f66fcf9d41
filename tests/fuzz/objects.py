"""Random objects for a schema, most of which a server accepts."""

import base64
from copy import deepcopy
from random import Random
from typing import Any

from steersman_cluster.apiserver.schema.node import UNSET, Schema
from tests.fuzz.values import Oddities

_QUANTITIES = ("1", "500m", "1Gi", "0", "1.5", "2e3", "100k", "0.1Ki")
_TIMES = ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000001Z", "2026-01-02T03:04:05+02:00")

# Valid values for fields with these names, where the schema only says that they are strings.
_BY_NAME = {
    "protocol": ("TCP", "UDP", "SCTP"),
    "image": ("example.com/main:1", "a"),
    "mountPath": ("/data", "/a/b"),
    "path": ("/", "/data", "/healthz"),
    "operator": ("In", "Exists", "Equal", "DoesNotExist", "NotIn"),
    "effect": ("NoSchedule", "NoExecute", "PreferNoSchedule"),
    "restartPolicy": ("Always", "Never", "OnFailure"),
    "ip": ("10.1.2.3", "fd00::1"),
    "clusterIP": ("10.0.0.5", "None", ""),
    "apiGroup": ("rbac.authorization.k8s.io", "", "apps"),
    "scope": ("Namespaced", "Cluster", "*"),
    "verbs": ("get", "list", "create", "*"),
    "resources": ("pods", "configmaps", "*", "pods/status"),
    "apiGroups": ("", "apps", "*"),
    "accessModes": ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteOncePod"),
    "finalizers": ("example.com/hold", "foregroundDeletion", "orphan"),
    "status": ("True", "False", "Unknown"),
    "schedule": ("* * * * *", "@hourly", "1-5/2 0 1 1 0"),
    "conditionType": ("a", "example.com/ready"),
    "type": ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName", "RollingUpdate", "Opaque"),
    "kind": ("Pod", "ConfigMap", "ServiceAccount", "User", "Group", "Role", "ClusterRole"),
    "apiVersion": ("v1", "apps/v1"),
}


class Objects:
    """Generates values that are valid by a schema."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._odd = Oddities(rng)

    def of(self, schema: Schema, *, name: str = "", depth: int = 0) -> Any:
        """A value for ``schema``, in a field of that name."""
        rng = self._rng
        if schema.default is not UNSET and self._odd.chance(0.2):
            return deepcopy(schema.default)  # the server sets it
        if choices := schema.written.get("enum"):
            return deepcopy(rng.choice(choices))
        if schema.int_or_string or schema.format == "int-or-string":
            return rng.choice((0, 80, "http", "50%"))
        match schema.type:
            case "object":
                return self._object(schema, depth)
            case "array" if schema.items is not None:
                most = 3 if depth < 8 else 1
                return [
                    self.of(schema.items, name=name, depth=depth + 1)
                    for _ in range(rng.randrange(most + 1))
                ]
            case "boolean":
                return rng.choice((True, False))
            case "integer":
                return rng.choice((0, 1, 2, 3, 30, 80, 8080, 30080))
            case "number":
                return rng.choice((0, 0.5, 1, 1e3))
            case "string":
                return self._text(schema, name)
            case _ if schema.format == "quantity":
                return rng.choice(_QUANTITIES)
            case _:
                return self._odd.value() if self._odd.chance(0.3) else {"a": 1}

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        if schema.additional is not None:
            return {
                self._odd.word(): self.of(schema.additional, depth=depth + 1)
                for _ in range(self._rng.randrange(3))
            }
        wanted = 0.5 if depth < 2 else 0.3 if depth < 6 else 0.05
        return {
            name: self.of(each, name=name, depth=depth + 1)
            for name, each in schema.properties.items()
            if name in schema.required
            or self._odd.chance(wanted / (1 + len(schema.properties) / 20))
        }

    def _text(self, schema: Schema, name: str) -> str:
        rng = self._rng
        if schema.format in ("date-time", "micro-time"):
            return rng.choice(_TIMES)
        if schema.format == "byte":
            return base64.b64encode(rng.randbytes(rng.randrange(5))).decode()
        return rng.choice(_BY_NAME[name]) if name in _BY_NAME else self._odd.word()
