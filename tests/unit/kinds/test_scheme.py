"""Schemes map kinds to classes and back, and convert between versions."""

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steersman.errors import BadValue, NoConversion, UnknownKind
from steersman.kinds import Conversion, CustomResource, Part, Resource, Scheme, apps_v1
from steersman.kinds.builtin import BUILTIN_KINDS
from steersman.kinds.meta_v1 import ObjectMeta

GROUP = "app.example.com"


class Status(Part):
    ready: bool | None = None


class SpecAlpha(Part):
    image: str
    """``repository:tag``"""


class SpecBeta(Part):
    repository: str
    tag: str


class Spec(Part):
    repository: str
    tag: str
    size: int


class AppAlpha(CustomResource[SpecAlpha, Status], group=GROUP, version="v1alpha1", kind="App"):
    """The oldest version."""


class AppBeta(CustomResource[SpecBeta, Status], group=GROUP, version="v1beta1", kind="App"):
    """The middle version; its size is in an annotation."""


class App(CustomResource[Spec, Status], group=GROUP, version="v1"):
    """The newest version."""


class Other(CustomResource[Spec, Status], group=GROUP, version="v1"):
    """Another kind in the same group."""


def alpha_to_beta(old: AppAlpha) -> AppBeta:
    repository, _, tag = old.spec.image.partition(":")
    return AppBeta(
        metadata=old.metadata, spec=SpecBeta(repository=repository, tag=tag), status=old.status
    )


def beta_to_alpha(new: AppBeta) -> AppAlpha:
    image = f"{new.spec.repository}:{new.spec.tag}"
    return AppAlpha(metadata=new.metadata, spec=SpecAlpha(image=image), status=new.status)


def beta_to_v1(old: AppBeta) -> App:
    size = int(old.annotations.get("size", "1"))
    spec = Spec(repository=old.spec.repository, tag=old.spec.tag, size=size)
    return App(metadata=ObjectMeta(name=old.name), spec=spec, status=old.status)


def v1_to_beta(new: App) -> AppBeta:
    metadata = ObjectMeta(name=new.name, annotations={"size": str(new.spec.size)})
    spec = SpecBeta(repository=new.spec.repository, tag=new.spec.tag)
    return AppBeta(metadata=metadata, spec=spec, status=new.status)


SCHEME = Scheme(
    [AppAlpha, AppBeta, App],
    conversions=[
        Conversion(older=AppAlpha, newer=AppBeta, up=alpha_to_beta, down=beta_to_alpha),
        Conversion(older=AppBeta, newer=App, up=beta_to_v1, down=v1_to_beta),
    ],
)

words = st.text("abcdefghijklmnopqrstuvwxyz0123456789.-/", min_size=1)
apps = st.builds(
    App,
    metadata=st.builds(ObjectMeta, name=words),
    spec=st.builds(Spec, repository=words, tag=words, size=st.integers(0, 1000)),
    status=st.none() | st.builds(Status, ready=st.booleans()),
)


def test_a_scheme_maps_a_kind_to_its_class_and_back() -> None:
    for kind in (AppAlpha, AppBeta, App):
        gvk = kind.resource_type.gvk
        assert SCHEME.class_of(gvk.api_version, gvk.kind) is kind
        assert SCHEME.knows(gvk.api_version, gvk.kind)


@pytest.mark.parametrize(("api_version", "kind"), list(BUILTIN_KINDS))
def test_every_built_in_kind_is_in_every_scheme(api_version: str, kind: str) -> None:
    found = Scheme().class_of(api_version, kind)

    assert found.resource_type.gvk.api_version == api_version
    assert found.resource_type.gvk.kind == kind
    assert Scheme().knows(api_version, kind)


def test_the_error_for_an_unknown_kind_names_it() -> None:
    with pytest.raises(UnknownKind, match=r"the scheme does not have app\.example\.com/v9 App"):
        SCHEME.class_of("app.example.com/v9", "App")
    assert not SCHEME.knows("app.example.com/v9", "App")


def test_a_scheme_is_immutable() -> None:
    empty = Scheme()

    more = empty.with_kinds(App)

    assert more.knows("app.example.com/v1", "App")
    assert not empty.knows("app.example.com/v1", "App")


def test_an_extended_scheme_keeps_its_classes() -> None:
    app = AppAlpha(spec=SpecAlpha(image="nginx:1.27"))
    half = Scheme([App]).with_conversions(
        Conversion(older=AppAlpha, newer=AppBeta, up=alpha_to_beta, down=beta_to_alpha)
    )

    whole = half.with_conversions(
        Conversion(older=AppBeta, newer=App, up=beta_to_v1, down=v1_to_beta)
    ).with_kinds(AppBeta)

    assert whole.convert(app, App).spec == Spec(repository="nginx", tag="1.27", size=1)
    assert whole.versions_of(GROUP, "App") == (App, AppBeta)


def test_two_classes_for_one_kind_are_rejected() -> None:
    class OtherApp(Resource, group=GROUP, version="v1", kind="App"):
        pass

    with pytest.raises(BadValue, match="the scheme already contains App for it"):
        SCHEME.with_kinds(OtherApp)


def test_a_class_can_be_registered_twice() -> None:
    assert SCHEME.with_kinds(App).class_of("app.example.com/v1", "App") is App


def test_a_kind_has_several_versions() -> None:
    assert SCHEME.versions_of(GROUP, "App") == (AppAlpha, AppBeta, App)
    versions = Scheme().versions_of("autoscaling", "HorizontalPodAutoscaler")
    assert {each.resource_type.gvk.version for each in versions} == {"v1", "v2"}
    assert SCHEME.versions_of(GROUP, "Nothing") == ()


def test_a_custom_class_takes_precedence_over_a_built_in_one() -> None:
    class CustomEvent(Resource, group="events.k8s.io", version="v1", kind="Event"):
        pass

    scheme = Scheme([CustomEvent])

    assert scheme.class_of("events.k8s.io/v1", "Event") is CustomEvent
    assert scheme.versions_of("events.k8s.io", "Event") == (CustomEvent,)


def test_an_object_is_converted_over_several_steps() -> None:
    app = AppAlpha(metadata=ObjectMeta(name="web"), spec=SpecAlpha(image="nginx:1.27"))

    assert SCHEME.convert(app, App).spec == Spec(repository="nginx", tag="1.27", size=1)


def test_an_object_in_the_requested_version_is_not_converted() -> None:
    app = App(spec=Spec(repository="nginx", tag="1", size=1))

    assert SCHEME.convert(app, App) is app


@given(app=apps)
def test_a_conversion_round_trips(app: App) -> None:
    assert SCHEME.convert(SCHEME.convert(app, AppBeta), App) == app


def test_the_shortest_chain_of_conversions_is_used() -> None:
    class Walk(Resource, group=GROUP, version="v1"):
        steps: int = 0

    class Walk2(Walk, group=GROUP, version="v2", kind="Walk"):
        pass

    class Walk3(Walk, group=GROUP, version="v3", kind="Walk"):
        pass

    class Walk4(Walk, group=GROUP, version="v4", kind="Walk"):
        pass

    class Walk5(Walk, group=GROUP, version="v5", kind="Walk"):
        pass

    def step(older: type[Walk], newer: type[Walk]) -> Conversion[Walk, Walk]:
        return Conversion(
            older=older,
            newer=newer,
            up=lambda old: newer(steps=old.steps + 1),
            down=lambda new: older(steps=new.steps + 1),
        )

    roads = [step(Walk, Walk2), step(Walk2, Walk5)]
    detour = [step(Walk, Walk3), step(Walk3, Walk4), step(Walk4, Walk5)]

    for conversions in (roads + detour, detour + roads):
        scheme = Scheme(conversions=conversions)
        assert scheme.convert(Walk(), Walk5).steps == 2
        assert scheme.convert(Walk5(), Walk).steps == 2


def test_without_a_chain_of_conversions_there_is_an_error() -> None:
    app = App(spec=Spec(repository="nginx", tag="1", size=1))

    with pytest.raises(NoConversion, match="App to apps/v1 Deployment"):
        SCHEME.convert(app, apps_v1.Deployment)
    with pytest.raises(NoConversion):
        Scheme([AppAlpha, App]).convert(app, AppAlpha)


@pytest.mark.parametrize("newer", [App, Other])
def test_a_conversion_must_be_between_two_versions_of_one_kind(
    newer: type[App] | type[Other],
) -> None:
    with pytest.raises(BadValue, match="a conversion must be between two versions"):
        Conversion[Any, Any](older=App, newer=newer, up=lambda old: old, down=lambda new: new)


def test_a_conversion_that_returns_another_class_is_rejected() -> None:
    def unchanged(old: Any) -> Any:
        return old

    half_done = Conversion(older=AppBeta, newer=App, up=unchanged, down=unchanged)

    with pytest.raises(TypeError, match="a conversion to App returned an object of AppBeta"):
        Scheme(conversions=[half_done]).convert(
            AppBeta(spec=SpecBeta(repository="a", tag="b")), App
        )


def test_a_generated_module_is_imported_only_when_it_is_used() -> None:
    program = """
import sys
from steersman.kinds import Scheme

def loaded():
    ours = [name.rpartition(".")[2] for name in sys.modules if name.startswith("steersman.kinds.")]
    return sorted(name for name in ours if "_v" in name)

print(loaded())
Scheme().knows("batch/v1", "Job")
print(loaded())
Scheme().class_of("coordination.k8s.io/v1", "Lease")
print(loaded())
"""
    finished = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )

    assert finished.stdout.splitlines() == [
        "['meta_v1']",
        "['meta_v1']",
        "['coordination_v1', 'meta_v1']",
    ]
