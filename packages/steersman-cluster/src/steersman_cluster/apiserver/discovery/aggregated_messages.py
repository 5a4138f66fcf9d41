"""Aggregated discovery in protobuf.

Its message types are tables in this module: their API group serves no resources and has no schemas.
"""

from dataclasses import replace
from functools import cache

from steersman_cluster.apiserver.discovery.group_documents import Document
from steersman_cluster.apiserver.schema.builtin_schemas import META, OBJECT_META, BuiltinSchemas
from steersman_cluster.apiserver.schema.node import Schema
from steersman_cluster.apiserver.schema.protobuf.encoder import Encode, MessageEncoders, enveloped


def encode_aggregated(document: Document) -> bytes:
    """Return ``document``, an APIGroupDiscoveryList, as a protobuf response body."""
    return enveloped(document["apiVersion"], document["kind"], _encoder()(document))


@cache
def _encoder() -> Encode:
    schemas = BuiltinSchemas.read()
    kind = _struct(group=_text(1), version=_text(2), kind=_text(3))
    subresource = _struct(
        subresource=_text(1),
        responseKind=replace(kind, number=(2,), pointer=True),
        acceptedTypes=_many(3, kind),
        verbs=_texts(4),
    )
    resource = _struct(
        resource=_text(1),
        responseKind=replace(kind, number=(2,), pointer=True),
        scope=_text(3),
        singularResource=_text(4),
        verbs=_texts(5),
        shortNames=_texts(6),
        categories=_texts(7),
        subresources=_many(8, subresource),
    )
    version = _struct(version=_text(1), resources=_many(2, resource), freshness=_text(3))
    group = _struct(
        metadata=replace(schemas.named(OBJECT_META), number=(1,)), versions=_many(2, version)
    )
    about = replace(schemas.named(f"{META}.ListMeta"), number=(1,))
    return MessageEncoders().of(_struct(metadata=about, items=_many(2, group)))


def _struct(**fields: Schema) -> Schema:
    return Schema(type="object", properties=fields)


def _text(number: int) -> Schema:
    return Schema(type="string", number=(number,))


def _texts(number: int) -> Schema:
    return _many(number, Schema(type="string"))


def _many(number: int, items: Schema) -> Schema:
    return Schema(type="array", items=items, number=(number,))
