"""An installation as a Helm chart. A release with the operator's name renders install.yaml.

    Chart.yaml  values.yaml  values.schema.json
    templates/
      _helpers.tpl  NOTES.txt
      crds/             one file for each CRD
      *.yaml            the other objects of install.yaml, without the Namespace: Helm creates it

CRDs are templates, because Helm installs files in a top-level ``crds`` folder once and never
upgrades them. Values cover what differs between clusters. There is no value for what an operator
needs in every cluster: its permissions and its security context.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from steersman.manifests.distribution.catalog import oldest_kubernetes, summary_of, title_of
from steersman.manifests.distribution.chart_templates import (
    Conditional,
    Number,
    OptionalExpression,
    TemplateString,
    literal,
    template_of,
)
from steersman.manifests.distribution.chart_values import schema_text, values_text
from steersman.manifests.distribution.scopes import (
    DEFAULT_NAMESPACE,
    EVERYWHERE,
    SOME_NAMESPACE,
    by_place,
    in_each,
)
from steersman.manifests.documents import GENERATED, Document, optional_document, yaml_of
from steersman.manifests.files import Tree
from steersman.manifests.install import parts_of
from steersman.manifests.installation import Installation

_HAS_METRICS: Final = "$.Values.metrics.enabled"
_HAS_MONITOR: Final = f"and {_HAS_METRICS} $.Values.metrics.serviceMonitor.enabled"
_SOME_ONLY: Final = "$.Values.namespaces"

_HERE: Final = "{{ $.Release.Namespace }}"

# As long as the operator's own name may be: every suffix fits.
_HELPERS: Final = """\
{{- define "NAME.fullname" -}}
{{- $name := $.Values.fullnameOverride -}}
{{- if not $name -}}
{{- $own := contains "NAME" $.Release.Name -}}
{{- $name = ternary $.Release.Name (printf "%s-%s" $.Release.Name "NAME") $own -}}
{{- end -}}
{{- $name | replace "." "-" | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "NAME.account" -}}
{{- $.Values.serviceAccount.name | default (include "NAME.fullname" $) -}}
{{- end -}}

{{- define "NAME.lease" -}}
{{- $name := include "NAME.fullname" $ -}}
{{- ternary "LEASE" (printf "%s.%s" $name "LEASE") (eq $name "NAME") -}}
{{- end -}}

{{- define "NAME.image" -}}
{{- with $.Values.image -}}
{{- .repository -}}
{{- with .tag }}:{{ . }}{{ end -}}
{{- with .digest }}@{{ . }}{{ end -}}
{{- end -}}
{{- end -}}
"""

_NOTES: Final = """\
TITLE {{ $.Chart.AppVersion }} is in namespace {{ $.Release.Namespace }}, and manages
{{- with $.Values.namespaces }} namespace{{ if gt (len .) 1 }}s{{ end }} {{ join ", " . }}
{{- else }} all namespaces
{{- end }}.

Wait until it is ready:

  kubectl --namespace {{ $.Release.Namespace }} rollout status deployment/FULLNAME

Its Pods satisfy the Pod Security Standard restricted. To enforce this level in the namespace:

  kubectl label namespace {{ $.Release.Namespace }} pod-security.kubernetes.io/enforce=restricted
"""

_NOTES_ON_CRDS: Final = """\
{{ if and $.Values.crds.enabled $.Values.crds.keep }}
The CRDs remain when the chart is uninstalled. To delete them, with all objects of these kinds:

  kubectl delete crd CRDS
{{ end -}}
"""


def helm_tree(installation: Installation) -> Tree:
    """Return the files of the Helm chart.

    A release with the operator's name, in the operator's namespace, renders install.yaml.
    """
    return _Chart(installation).tree()


class _Chart:
    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self._name = installation.name
        # The chart contains everything; values turn parts off. An author's additions that a cluster
        # may need to change are defaults of values.
        deploy = installation.deploy
        adds = replace(deploy, env=(), egress=None, pod_labels={}, pod_annotations={})
        self._full = replace(installation, metrics=True, namespaces=(), deploy=adds)
        self._parts = parts_of(self._full)
        self._fullname = f'{{{{ include "{self._name}.fullname" $ }}}}'
        self._account = f'{{{{ include "{self._name}.account" $ }}}}'
        # Another release, for other namespaces, elects its own leader.
        self._lease = f'{{{{ include "{self._name}.lease" $ }}}}'
        self._lease_name = self._full.settings.lease_name or ""

    def tree(self) -> Tree:
        parts = self._parts
        templates = {
            **{f"crds/{crd['metadata']['name']}.yaml": self._crd(crd) for crd in parts.crds},
            "account.yaml": self._account_template(),
            "roles.yaml": "---\n".join(filter(None, self._grants())),
            "metrics-roles.yaml": self._several(
                (*parts.metrics_grants, *optional_document(parts.metrics_reader)), when=_HAS_METRICS
            ),
            "user-roles.yaml": self._several(parts.user_roles, when="$.Values.userRoles.enabled"),
            "network-policy.yaml": self._network_policy(),
            "disruption-budget.yaml": template_of(
                self._placed(parts.disruption_budget), when="$.Values.podDisruptionBudget.enabled"
            ),
            "metrics-service.yaml": self._several(
                optional_document(parts.metrics_service), when=_HAS_METRICS
            ),
            "monitor.yaml": self._monitor(),
            "deployment.yaml": template_of(self._deployment()),
        }
        tree = {
            "Chart.yaml": self._chart(),
            "values.yaml": f"# {GENERATED}\n#\n{values_text(self._installation, parts)}",
            "values.schema.json": schema_text(self._installation, parts),
            "templates/_helpers.tpl": self._helpers(),
            "templates/NOTES.txt": self._notes(),
        }
        for path, text in templates.items():
            if text:
                tree[f"templates/{path}"] = f"{{{{- /* {GENERATED} */ -}}}}\n{text}"
        return tree

    def _chart(self) -> str:
        installation = self._installation
        chart: dict[str, Any] = {
            "apiVersion": "v2",
            "name": self._name,
            "description": summary_of(installation),
            "type": "application",
            "version": installation.version,
            "appVersion": installation.version,
            # The dash permits vendor suffixes of the version.
            "kubeVersion": f">={oldest_kubernetes(self._parts.crds)}-0",
            "keywords": ["operator"],
        }
        if installation.maintainers:
            chart["maintainers"] = [
                {"name": name, "email": email} if email else {"name": name}
                for name, email in installation.maintainers
            ]
        return f"# {GENERATED}\n{yaml_of([chart])}"

    def _helpers(self) -> str:
        return _HELPERS.replace("NAME", self._name).replace("LEASE", self._lease_name)

    def _notes(self) -> str:
        crds = " ".join(crd["metadata"]["name"] for crd in self._parts.crds)
        text = _NOTES.replace("FULLNAME", self._fullname)
        # Last, so that nothing of the user's is replaced.
        if crds:
            text += _NOTES_ON_CRDS.replace("CRDS", crds)
        return text.replace("TITLE", literal(title_of(self._installation)), 1)

    def _crd(self, crd: Document) -> str:
        annotations = crd["metadata"].get("annotations", {})
        keep = "helm.sh/resource-policy"
        if annotations:
            held: Any = {**annotations, keep: Conditional("$.Values.crds.keep", "keep")}
        else:
            held = Conditional("$.Values.crds.keep", {keep: "keep"})
        metadata = {**crd["metadata"], "annotations": held}
        return template_of({**crd, "metadata": metadata}, when="$.Values.crds.enabled")

    def _account_template(self) -> str:
        account = dict(self._placed(self._parts.account))
        account["metadata"] = {
            **account["metadata"],
            "name": TemplateString(self._account),
            "annotations": self._annotations("$.Values.serviceAccount.annotations"),
        }
        return template_of(account, when="$.Values.serviceAccount.create")

    # The operator's permissions: in all namespaces, or in some

    def _grants(self) -> Iterable[str]:
        everywhere = by_place(self._parts.grants)
        in_some = by_place(parts_of(in_each(self._full)).grants)
        places = ["list $.Release.Namespace", _SOME_ONLY]
        conditions = {
            SOME_NAMESPACE: f"has $place {_SOME_ONLY}",
            self._full.namespace: "eq $place $.Release.Namespace",
        }
        if DEFAULT_NAMESPACE in in_some:
            # The administrators of this namespace have these permissions already.
            places.append(f'ternary (list "{DEFAULT_NAMESPACE}") list (not (empty {_SOME_ONLY}))')
            conditions[DEFAULT_NAMESPACE] = (
                f'and (eq $place "{DEFAULT_NAMESPACE}") {_SOME_ONLY}'
                f" (not (has $place {_SOME_ONLY}))"
            )
        role, binding = in_some[SOME_NAMESPACE]
        rules = [
            Conditional(condition, self._placed(in_some[place][0])["rules"])
            for place, condition in conditions.items()
            if place in in_some
        ]
        roles = "---\n".join(
            template_of({**self._placed(each), **more})
            for each, more in ((role, {"rules": rules}), (binding, {}))
        )
        joined = " ".join(f"({each})" for each in places)
        yield f"{{{{- range $place := uniq (concat {joined}) }}}}\n---\n{roles}{{{{- end }}}}\n"
        yield self._several(everywhere.get(EVERYWHERE, ()), when=f"not {_SOME_ONLY}")
        yield self._several(in_some.get(EVERYWHERE, ()), when=_SOME_ONLY)

    # The operator

    def _deployment(self) -> Mapping[Any, Any]:
        document = dict(self._placed(self._parts.deployment))
        spec = dict(document["spec"])
        template = dict(spec["template"])
        pod = dict(template["spec"])
        (container,) = pod["containers"]
        deploy = self._installation.deploy
        # Keys that the author sets are in the values; a duplicate key is not valid YAML.
        labels = _without(template["metadata"]["labels"], deploy.pod_labels)
        template["metadata"] = {
            "labels": {**labels, OptionalExpression("$.Values.podLabels"): None},
            "annotations": self._annotations("$.Values.podAnnotations", deploy.pod_annotations),
        }
        template["spec"] = {
            **pod,
            "serviceAccountName": TemplateString(self._account),
            "containers": [self._container(container)],
            "imagePullSecrets": OptionalExpression("$.Values.imagePullSecrets"),
            "nodeSelector": OptionalExpression("$.Values.nodeSelector"),
            "tolerations": OptionalExpression("$.Values.tolerations"),
            "affinity": OptionalExpression("$.Values.affinity"),
            "priorityClassName": _word("$.Values.priorityClassName"),
        }
        document["spec"] = {**spec, "replicas": Number("$.Values.replicas"), "template": template}
        return document

    def _container(self, container: Document) -> Mapping[Any, Any]:
        (metrics,) = (port for port in container["ports"] if port["name"] == "metrics")
        ports = [
            Conditional(_HAS_METRICS, [port]) if port is metrics else port
            for port in container["ports"]
        ]
        return {
            **container,
            "image": TemplateString(f'{{{{ include "{self._name}.image" $ }}}}'),
            "imagePullPolicy": _word("$.Values.image.pullPolicy"),
            "env": [*self._environ(), OptionalExpression("$.Values.env")],
            "ports": ports,
            "resources": OptionalExpression("$.Values.resources"),
        }

    def _environ(self) -> Iterable[Any]:
        settings = replace(self._full.settings, namespaces=(SOME_NAMESPACE,), log_level="debug")
        for name, value in settings.environ().items():
            entry: dict[str, Any] = {"name": name, "value": value}
            match name:
                case "STEERSMAN_NAMESPACES":
                    entry["value"] = TemplateString('{{ join "," $.Values.namespaces }}')
                    yield Conditional(_SOME_ONLY, [entry])
                case "STEERSMAN_LEASE_NAME":
                    yield {**entry, "value": TemplateString(self._lease)}
                case "STEERSMAN_LOG_LEVEL":
                    entry["value"] = TemplateString("{{ $.Values.logLevel }}")
                    # The manager's own defaults.
                    yield Conditional('ne $.Values.logLevel "info"', [entry])
                case "STEERSMAN_METRICS_ADDRESS":
                    entry["value"] = TemplateString(
                        f'{{{{ ternary "{value}" "" {_HAS_METRICS} }}}}'
                    )
                    yield entry
                case _:
                    yield entry

    def _network_policy(self) -> str:
        document = dict(self._placed(self._parts.network_policy))
        without = parts_of(replace(self._full, metrics=False)).network_policy["spec"]["ingress"]
        spec = document["spec"]
        ingress = [
            rule if rule in without else Conditional(_HAS_METRICS, [rule])
            for rule in spec["ingress"]
        ]
        egress = [*spec["egress"], OptionalExpression("$.Values.networkPolicy.egress")]
        document["spec"] = {**spec, "ingress": ingress, "egress": egress}
        return template_of(document, when="$.Values.networkPolicy.enabled")

    def _monitor(self) -> str:
        (monitor,) = optional_document(self._parts.monitor)
        document = dict(self._placed(monitor))
        metadata = document["metadata"]
        labels = {
            **metadata["labels"],
            OptionalExpression("$.Values.metrics.serviceMonitor.labels"): None,
        }
        document["metadata"] = {**metadata, "labels": labels}
        return template_of(document, when=_HAS_MONITOR)

    def _annotations(self, expression: str, default: Mapping[str, str] = {}) -> Any:
        """Return the annotations of every object, followed by those of the chart value
        ``expression``.
        """
        every = _without(self._full.deploy.annotations, default)
        return (
            {**every, OptionalExpression(expression): None}
            if every
            else OptionalExpression(expression)
        )

    # Names that follow the release

    def _several(self, documents: Sequence[Document], *, when: str) -> str:
        return "---\n".join(template_of(self._placed(each), when=when) for each in documents)

    def _placed(self, document: Document) -> Mapping[Any, Any]:
        """Return the document with the release's name and namespace."""
        placed: Mapping[Any, Any] = self._walked(document, ())
        return placed

    def _walked(self, node: Any, where: tuple[str, ...]) -> Any:
        if isinstance(node, Mapping):
            return {key: self._walked(value, (*where, key)) for key, value in node.items()}
        if isinstance(node, list | tuple):
            return [self._walked(each, where) for each in node]
        match where:
            case (*_, "namespace") if node == self._full.namespace:
                return TemplateString(_HERE)
            case (*_, "namespace") if node == SOME_NAMESPACE:
                return TemplateString("{{ $place }}")
            case (*_, "resourceNames") if node == self._lease_name:
                return TemplateString(self._lease)
            case ("subjects", "name"):
                return TemplateString(self._account)
            case ("metadata" | "roleRef", "name") | (*_, "app.kubernetes.io/name"):
                return self._renamed(node)
            case _:
                return node

    def _renamed(self, name: str) -> Any:
        if name == self._name:
            return TemplateString(self._fullname)
        own = f"{self._name}-"
        return (
            TemplateString(f"{self._fullname}-{name.removeprefix(own)}")
            if name.startswith(own)
            else name
        )


def _without(mapping: Mapping[str, str], keys: Collection[str]) -> dict[str, str]:
    return {key: value for key, value in mapping.items() if key not in keys}


def _word(expression: str) -> Conditional:
    return Conditional(expression, TemplateString(f"{{{{ {expression} }}}}"))
