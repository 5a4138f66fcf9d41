"""Request paths of objects, from a kind, a namespace and a name. No I/O."""

from functools import lru_cache

from steersman.errors import BadName
from steersman.names import ResourceType, check_label, check_path_segment


def collection_path(resource: ResourceType, namespace: str | None) -> str:
    """Return the request path of all objects of ``resource``.

    With ``namespace``, the path is limited to that namespace.
    """
    gvk = resource.gvk
    root = f"/apis/{gvk.group}/{gvk.version}" if gvk.group else f"/api/{gvk.version}"
    if namespace is None:
        return f"{root}/{resource.plural}"
    if not resource.namespaced:
        raise BadName(
            wanted=f"a namespace for {gvk}", value=namespace, rule="this kind is cluster-scoped"
        )
    check_label(namespace, wanted="a namespace")
    return f"{root}/namespaces/{namespace}/{resource.plural}"


def object_path(
    resource: ResourceType, namespace: str | None, name: str, subresource: str = ""
) -> str:
    """Return the request path of one object, or of its ``subresource``."""
    path = f"{home_path(resource, namespace)}/{check_path_segment(name)}"
    if not subresource:
        return path
    return f"{path}/{check_path_segment(subresource, wanted='a subresource')}"


# An operator writes to few collections, again and again.
@lru_cache(maxsize=1024)
def home_path(resource: ResourceType, namespace: str | None) -> str:
    """Return the request path of the collection in which an object is created.

    The namespace is part of the path if the kind is namespaced.
    """
    if resource.namespaced and namespace is None:
        raise BadName(
            wanted=f"a namespace for {resource.gvk}",
            value=namespace,
            rule="this kind is namespaced; pass a namespace",
        )
    return collection_path(resource, namespace)
