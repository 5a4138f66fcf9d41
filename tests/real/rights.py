"""Service accounts, their tokens and their permissions."""

from steersman.client import Client
from steersman.kinds import Resource, authentication_v1, core_v1, meta_v1, rbac_v1

GROUP = "rbac.authorization.k8s.io"


async def new_account(client: Client, namespace: str, name: str) -> str:
    """Create a service account without permissions, and return a token for it."""
    meta = meta_v1.ObjectMeta(name=name, namespace=namespace)
    await client.create(core_v1.ServiceAccount(metadata=meta))
    return await token_for(client, namespace, name)


async def token_for(
    client: Client, namespace: str, name: str, *, bound_to: str | None = None
) -> str:
    """Request a token for the account, optionally bound to a Secret."""
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


async def grant_reads(
    client: Client,
    namespace: str,
    account: str,
    kind: type[Resource],
    *,
    account_namespace: str | None = None,
) -> None:
    """Allow an account to list and watch a kind in a namespace.

    ``account_namespace`` is the namespace of the account if it differs.
    """
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
                rbac_v1.Subject(
                    kind="ServiceAccount", name=account, namespace=account_namespace or namespace
                ),
            ),
        )
    )


async def revoke_reads(client: Client, namespace: str, account: str) -> None:
    """Undo ``grant_reads``."""
    await client.delete(rbac_v1.RoleBinding, f"{account}-reads", namespace=namespace)
    await client.delete(rbac_v1.Role, f"{account}-reads", namespace=namespace)
