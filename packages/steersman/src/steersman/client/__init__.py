"""The API server's verbs, typed: get, list, watch, create, patch, apply, delete, and the rest.

Takes:     kinds, objects, selectors and patches; a transport, a clock and randomness
Gives:     objects, events, and errors with the failed operation, the reason and the remedy
Promises:  - a call ends by its deadline
           - no request that could write twice is sent again
           - retries add at most a tenth to the load
           - a watch is never resumed and a 410 never hidden
           - a typed object is never sent as a full update
           - no secret appears in an error or an observation
Never:     caches objects, makes decisions, or reads the environment unless requested
"""

from typing import TYPE_CHECKING

from steersman._lazy import lazy_names
from steersman.client.client import Client, Listing
from steersman.client.deletion import Deletion, Preconditions, is_gone
from steersman.client.patches import JsonPatch, MergePatch, Patch, StrategicMergePatch
from steersman.client.request.retries import RetryPolicy
from steersman.client.selectors import Fields, Labels
from steersman.client.settings import ClientSettings
from steersman.client.subresources import Subresource
from steersman.client.watch_events import (
    Bookmark,
    DecodeFailure,
    ObjectDeleted,
    ObjectWritten,
    WatchEvent,
)

if TYPE_CHECKING:
    from steersman.client.access import (
        UNTRUSTED,
        AuthenticatedTransport,
        ClientCertificate,
        ClusterConfig,
        Credentials,
        ExecPlugin,
        ExecPolicy,
        Impersonation,
        Kubeconfig,
        Password,
        Token,
        TokenFile,
        Trust,
        find_config,
        in_cluster_config,
        read_yaml_mapping,
    )
    from steersman.client.client_factory import connect, open_transport
    from steersman.client.discovery import Discovery, ServedResource
    from steersman.client.mapper import RestMapper
    from steersman.client.pod_logs import LogOptions
    from steersman.client.wait import (
        has_condition,
        retry_on_conflict,
        wait_for,
        wait_until_gone,
    )

__all__ = [
    "UNTRUSTED",
    "AuthenticatedTransport",
    "Bookmark",
    "Client",
    "ClientCertificate",
    "ClientSettings",
    "ClusterConfig",
    "Credentials",
    "DecodeFailure",
    "Deletion",
    "Discovery",
    "ExecPlugin",
    "ExecPolicy",
    "Fields",
    "Impersonation",
    "JsonPatch",
    "Kubeconfig",
    "Labels",
    "Listing",
    "LogOptions",
    "MergePatch",
    "ObjectDeleted",
    "ObjectWritten",
    "Password",
    "Patch",
    "Preconditions",
    "RestMapper",
    "RetryPolicy",
    "ServedResource",
    "StrategicMergePatch",
    "Subresource",
    "Token",
    "TokenFile",
    "Trust",
    "WatchEvent",
    "connect",
    "find_config",
    "has_condition",
    "in_cluster_config",
    "is_gone",
    "open_transport",
    "read_yaml_mapping",
    "retry_on_conflict",
    "wait_for",
    "wait_until_gone",
]


# Loaded lazily: not every client needs these, and their import takes as long as that of the rest of
# the package.
_LAZY = {
    "UNTRUSTED": "access",
    "AuthenticatedTransport": "access",
    "ClientCertificate": "access",
    "ClusterConfig": "access",
    "Credentials": "access",
    "Discovery": "discovery",
    "ExecPlugin": "access",
    "ExecPolicy": "access",
    "Impersonation": "access",
    "Kubeconfig": "access",
    "LogOptions": "pod_logs",
    "Password": "access",
    "RestMapper": "mapper",
    "ServedResource": "discovery",
    "Token": "access",
    "TokenFile": "access",
    "Trust": "access",
    "connect": "client_factory",
    "find_config": "access",
    "has_condition": "wait",
    "in_cluster_config": "access",
    "open_transport": "client_factory",
    "read_yaml_mapping": "access",
    "retry_on_conflict": "wait",
    "wait_for": "wait",
    "wait_until_gone": "wait",
}

if not TYPE_CHECKING:  # to the type checkers, a module with __getattr__ has every attribute
    __getattr__ = lazy_names(__name__, _LAZY)
