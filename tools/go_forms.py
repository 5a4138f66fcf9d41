"""``python -m tools.go_forms``: write the internal Go types of the real API server to a file.

Some of its error messages print internal Go types, whose fields have no JSON names. Their order and
types are read from the source of the internal types, and their JSON names from the source of the
public types.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

MODULES = {"kubernetes": "v1.36.3", "api": "v0.36.3"}
TARGET = Path(
    "packages/steersman-cluster/src/steersman_cluster/apiserver/builtin/go-forms-kubernetes-1.36.json"
)
# The types that messages can contain.
SHOWN = (
    "PodTemplateSpec",
    "DeploymentStrategy",
    "DaemonSetUpdateStrategy",
    "StatefulSetUpdateStrategy",
    "PodFailurePolicy",
    "SuccessPolicy",
    "UncountedTerminatedPods",
    "PersistentVolumeClaimSpec",
    "PersistentVolumeSource",
    "VolumeAttachmentSpec",
    "CSINodeDriver",
    "NodeAddress",
    "ParentReference",
    "ScopeSelector",
    "ServiceCIDRSpec",
    "Taint",
    "Toleration",
    "ResourceClaimSpec",
    "ResourceClaimTemplateSpec",
    "RoleRef",
    "PodDisruptionBudgetSpec",
)
# The packages of the types; of two types with one name, the one of the later group is meant.
GROUPS = ("batch", "networking", "policy", "rbac", "resource", "storage", "apps", "core")
INLINE_METADATA = "=metadata:inline"
SCALARS = {
    "string": "",
    "types.UID": "",
    "bool": "b",
    **dict.fromkeys(("int", "int32", "int64", "intstr.IntOrString"), "i"),
    "resource.Quantity": "q",
}
STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
ALIAS = re.compile(r"^type (\w+) ([\w.\[\]]+)$", re.MULTILINE)
FIELD = re.compile(r'^\t(?:(\w+)\s+)?([\w.*\[\]]+)(?:\s+`.*?json:"([^",]*).*`)?\s*(?://.*)?$')


class Field(NamedTuple):
    """One line of a struct; a field without a name is an embedded struct."""

    name: str | None
    type: str
    json_name: str | None


class Source:
    """The types of some Go files."""

    def __init__(self, *files: Path) -> None:
        self.structs: dict[str, list[Field]] = {}
        self.aliases: dict[str, str] = {}
        for file in files:
            text = re.sub(r"/\*.*?\*/", "", file.read_text(), flags=re.DOTALL)
            for name, body in STRUCT.findall(text):
                found = (FIELD.match(line) for line in body.split("\n"))
                self.structs[name] = [
                    Field(each[1], each[2], each[3]) for each in found if each is not None
                ]
            self.aliases.update(ALIAS.findall(text))

    def json_names(self, struct: str) -> Mapping[str, str | None]:
        """The JSON names of the fields of a public type."""
        names: dict[str, str | None] = {}
        for field in self.structs.get(struct, ()):
            if field.name is None:
                names.update(self.json_names(field.type.rpartition(".")[2]))
            else:
                names[field.name] = field.json_name
        return names


class Forms:
    """Each requested internal type as one line of text, with the types that it contains."""

    def __init__(self, internal: Source, public: Source) -> None:
        self._internal = internal
        self._public = public
        self.lines: dict[str, str] = {}

    def add(self, struct: str) -> None:
        """Add a type."""
        if struct in self.lines:
            return
        self.lines[struct] = ""
        names = self._public.json_names(struct)
        self.lines[struct] = " ".join(
            self._word(field, names) for field in self._internal.structs[struct]
        )

    def _word(self, field: Field, names: Mapping[str, str | None]) -> str:
        if field.name is None:
            if field.type == "metav1.ObjectMeta":
                return INLINE_METADATA
            self.add(field.type)
            return self.lines[field.type]
        usual = field.name[:1].lower() + field.name[1:]
        json_name = names.get(field.name) or usual
        word = field.name if json_name == usual else f"{field.name}={json_name}"
        kind = self._kind(field.type.replace("api.", ""))
        return f"{word}:{kind}" if kind else word

    def _kind(self, type_: str) -> str:
        if type_ in SCALARS:
            return SCALARS[type_]
        if type_ in self._internal.aliases:
            return self._kind(self._internal.aliases[type_])
        if type_.startswith(("*", "[]")):
            inner = self._kind(type_.lstrip("*[]"))
            is_struct = inner in self.lines
            return f"{'*' if type_[0] == '*' else '[]'}{inner}" if is_struct else "*"
        if type_ in self._internal.structs:
            self.add(type_)
            return type_
        return "*"  # a map, or a type that encodes itself as JSON


def main() -> None:
    """Write the file."""
    go = shutil.which("go") or "go"
    cache = Path(subprocess.check_output([go, "env", "GOMODCACHE"], text=True).strip())
    kubernetes, api = (cache / f"k8s.io/{name}@{version}" for name, version in MODULES.items())
    forms = Forms(
        Source(*(kubernetes / f"pkg/apis/{group}/types.go" for group in GROUPS)),
        Source(*(api / f"{group}/v1/types.go" for group in GROUPS)),
    )
    for struct in SHOWN:
        forms.add(struct)
    TARGET.write_text(f"{json.dumps(forms.lines, indent=1, sort_keys=True)}\n")


if __name__ == "__main__":
    main()
