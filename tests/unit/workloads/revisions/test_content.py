"""The data of a revision, in the bytes that kubectl compares."""

import msgspec

from steersman.kinds import Codec, apps_v1, core_v1, meta_v1
from steersman.units import Quantity
from steersman_cluster.workloads.revisions import (
    content_hash,
    revision_name,
    template_of,
    template_patch,
)


def template(**container: object) -> core_v1.PodTemplateSpec:
    return core_v1.PodTemplateSpec(
        metadata=meta_v1.ObjectMeta(labels={"app": "web"}),
        spec=core_v1.PodSpec(
            containers=(core_v1.Container(name="main", **container),),  # type: ignore[arg-type]
            restart_policy="Always",
        ),
    )


def test_a_patch_replaces_the_whole_template_with_its_fields_in_order() -> None:
    wanted = template(
        image="nginx", resources=core_v1.ResourceRequirements(limits={"cpu": Quantity("1500m")})
    )

    patch = template_patch(wanted)

    assert patch == (
        b'{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web"}},'
        b'"spec":{"containers":[{"image":"nginx","name":"main",'
        b'"resources":{"limits":{"cpu":"1500m"}}}],"restartPolicy":"Always"}}}}'
    )


def test_json_is_escaped_as_in_go() -> None:
    patch = template_patch(template(command=("sh", "-c", "a < b && c > d")))

    assert b'"a \\u003c b \\u0026\\u0026 c \\u003e d"' in patch


def test_a_revision_restores_its_template() -> None:
    wanted = template(image="nginx", command=("echo", "<&>"))
    data = {"spec": {"template": {"$patch": "replace", **plain(wanted)}}}

    found = template_of(apps_v1.ControllerRevision(data=data, revision=1))

    assert found == wanted


def test_revisions_are_named_as_kube_controller_manager_names_them() -> None:
    # From a real control plane.
    patch = (
        b'{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"app":"web"}},'
        b'"spec":{"containers":[{"command":["a\\u003cb\\u0026c\\u003e"],"image":"web:1",'
        b'"imagePullPolicy":"IfNotPresent","name":"web","resources":{},'
        b'"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],'
        b'"dnsPolicy":"ClusterFirst","restartPolicy":"Always",'
        b'"schedulerName":"default-scheduler","securityContext":{},'
        b'"terminationGracePeriodSeconds":30}}}}'
    )

    assert revision_name("web", content_hash(patch, 0)) == "web-5d7458d586"


def test_each_collision_changes_the_hash() -> None:
    hashes = [content_hash(b"{}", collisions) for collisions in range(3)]

    assert len(set(hashes)) == 3


def test_a_long_owner_name_is_cut_before_the_hash() -> None:
    assert len(revision_name("a" * 250, "b" * 10)) == 223 + 1 + 10


def plain(wanted: core_v1.PodTemplateSpec) -> dict[str, object]:
    return dict(msgspec.json.decode(Codec().encode(wanted)))
