"""Service accounts with limited permissions in some namespaces."""

from steersman.client import Client
from steersman.kinds import Resource, authentication_v1, core_v1, meta_v1, rbac_v1

GROUP = "rbac.authorization.k8s.io"


async def new_account(client: Client, namespace: str, name: str) -> str:
    """A service account that may do nothing, and a token of it."""
    meta = meta_v1.ObjectMeta(name=name, namespace=namespace)
    await client.create(core_v1.ServiceAccount(metadata=meta))
    return await token_for(client, namespace, name)


async def token_for(
    client: Client, namespace: str, name: str, *, bound_to: str | None = None
) -> str:
    """Another token of the account; it is invalid once its bound Secret is deleted."""
    request = authentication_v1.TokenRequest(
        spec=authentication_v1.TokenRequestSpec(
            audiences=(),
            bound_object_ref=None
            if bound_to is None
            else authentication_v1.BoundObjectReference(
                api_version="v1", kind="Secret", name=bound_to
            ),
        )
    )
    response = await client.token(name, namespace=namespace).create(request)
    assert response.status is not None
    assert response.status.token is not None
    return response.status.token


async def allow(
    client: Client, namespace: str, account: str, kind: type[Resource], *, home: str | None = None
) -> None:
    """Let an account, whose home is perhaps elsewhere, list and watch a kind in a namespace."""
    gvk = kind.resource_type.gvk
    meta = meta_v1.ObjectMeta(name=f"{account}-reads", namespace=namespace)
    rule = rbac_v1.PolicyRule(
        api_groups=(gvk.group,), resources=(kind.resource_type.plural,), verbs=("list", "watch")
    )
    await client.create(rbac_v1.Role(metadata=meta, rules=(rule,)))
    await client.create(
        rbac_v1.RoleBinding(
            metadata=meta,
            role_ref=rbac_v1.RoleRef(api_group=GROUP, kind="Role", name=f"{account}-reads"),
            subjects=(
                rbac_v1.Subject(kind="ServiceAccount", name=account, namespace=home or namespace),
            ),
        )
    )


async def forbid(client: Client, namespace: str, account: str) -> None:
    """Take that back."""
    await client.delete(rbac_v1.RoleBinding, f"{account}-reads", namespace=namespace)
    await client.delete(rbac_v1.Role, f"{account}-reads", namespace=namespace)
