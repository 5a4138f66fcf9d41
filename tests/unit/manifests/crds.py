"""CustomResourceDefinitions for tests: small ones, and one with many features."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import yaml


def definition(
    schema: Mapping[str, Any] | None = None, *, name: str = "v1", **spec: Any
) -> dict[str, Any]:
    """A definition with one version, whose objects have a ``spec`` with this schema."""
    return of_versions(version(name, schema), **spec)


def of_versions(*versions: Mapping[str, Any], **spec: Any) -> dict[str, Any]:
    """A definition with these versions; the first is stored unless another is marked."""
    found = [dict(each) for each in versions]
    if not any(each.get("storage") for each in found):
        found[0]["storage"] = True
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.shop.example.com"},
        "spec": {
            "group": "shop.example.com",
            "scope": "Namespaced",
            "names": {
                "kind": "Widget",
                "listKind": "WidgetList",
                "plural": "widgets",
                "singular": "widget",
            },
            "versions": found,
            **spec,
        },
    }


def version(name: str, schema: Mapping[str, Any] | None = None, **said: Any) -> dict[str, Any]:
    """A version whose objects have a ``spec`` with this schema."""
    root = {"type": "object", "properties": {"spec": schema or {"type": "object"}}}
    return {
        "name": name,
        "served": True,
        "storage": False,
        "schema": {"openAPIV3Schema": root},
        **said,
    }


def fields(*required: str, **properties: Any) -> dict[str, Any]:
    """The schema of an object with these fields."""
    found: dict[str, Any] = {"type": "object", "properties": properties}
    return found | {"required": list(required)} if required else found


def rich() -> dict[str, Any]:
    """A definition with all features of structural schemas."""
    return deepcopy(_RICH)


_RICH: dict[str, Any] = yaml.safe_load(r"""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names:
    kind: Gadget
    listKind: GadgetList
    plural: gadgets
    singular: gadget
    shortNames: [gd, gdg]
    categories: [all, shop]
  versions:
    - name: v1
      served: true
      storage: true
      subresources:
        status: {}
        scale:
          specReplicasPath: .spec.replicas
          statusReplicasPath: .status.replicas
          labelSelectorPath: .status.selector
      selectableFields: [{jsonPath: .spec.mode}]
      additionalPrinterColumns:
        - {name: Mode, type: string, jsonPath: .spec.mode, description: "How it runs | or not."}
        - {name: Age, type: date, jsonPath: .metadata.creationTimestamp, priority: 1}
      schema:
        openAPIV3Schema:
          type: object
          description: |-
            A gadget, as "people" call it.

            It has <parts>, a C:\path, and three quotes: \"\"\".
          required: [spec]
          properties:
            apiVersion: {type: string}
            kind: {type: string}
            metadata: {type: object, properties: {name: {type: string, maxLength: 40}}}
            spec:
              type: object
              description: What should be.
              required: [image, mode, ports, from, owner, when, host, address, code, limits, surge]
              x-kubernetes-validations:
                - {rule: "self.low <= self.high", message: "low is above high"}
              oneOf: [{required: [inline]}, {required: [reference]}]
              properties:
                image: {type: string, minLength: 3, maxLength: 60, description: "Which image."}
                mode: {type: string, enum: [fast, "safe"], description: "How it runs."}
                replicas: {type: integer, format: int32, minimum: 0, default: 1}
                low: {type: integer, minimum: 3, exclusiveMinimum: true, default: 4}
                high: {type: integer, multipleOf: 5, maximum: 100, default: 10}
                ratio: {type: number, minimum: 0, maximum: 1, example: 0.5}
                owner: {type: string, nullable: true}
                from: {type: string, pattern: '^[a-z]+$'}
                class: {type: string}
                labels: {type: object, additionalProperties: {type: string}}
                when: {type: string, format: date-time}
                host: {type: string, format: hostname}
                address: {type: string, format: ipv4}
                code: {type: string, pattern: '^[A-Z]{2}-\d{3,5}(/x|/y)?$'}
                password: {type: string, format: password}
                surge: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
                inline: {type: string}
                reference: {type: object, properties: {name: {type: string}}}
                anything: {x-kubernetes-preserve-unknown-fields: true}
                options: {type: object, x-kubernetes-preserve-unknown-fields: true}
                template:
                  type: object
                  x-kubernetes-embedded-resource: true
                  x-kubernetes-preserve-unknown-fields: true
                job:
                  type: object
                  x-kubernetes-embedded-resource: true
                  properties: {spec: {type: object, properties: {size: {type: integer}}}}
                matrix: {type: array, items: {type: array, items: {type: integer}}}
                tags:
                  type: array
                  x-kubernetes-list-type: set
                  items: {type: string}
                ports:
                  type: array
                  minItems: 2
                  description: Where it listens.
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [name]
                  items:
                    type: object
                    required: [name, port]
                    properties:
                      name: {type: string, maxLength: 15}
                      port: {type: integer, minimum: 1, maximum: 65535}
                      protocol: {type: string, enum: [TCP, UDP], default: TCP}
                limits:
                  type: object
                  minProperties: 1
                  additionalProperties:
                    type: object
                    required: [most]
                    properties: {most: {type: integer}, least: {type: integer, nullable: true}}
            status:
              type: object
              properties:
                replicas: {type: integer}
                selector: {type: string}
                conditions:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [type]
                  items:
                    type: object
                    required: [lastTransitionTime, message, reason, status, type]
                    properties:
                      lastTransitionTime: {type: string, format: date-time}
                      message: {type: string}
                      observedGeneration: {type: integer, format: int64}
                      reason: {type: string}
                      status: {type: string}
                      type: {type: string, enum: [Ready, Degraded]}
""")
