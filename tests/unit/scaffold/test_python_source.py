"""Old names in Python source: renamed if they are steersman's, and unchanged otherwise."""

import ast
from textwrap import dedent

import pytest

from steersman.scaffold.upgrade.python_source import imported_elsewhere, renamed_python
from steersman.scaffold.upgrade.rename_map import merged_map

RENAMES = merged_map(
    [
        {
            "modules": {
                "steersman.simulation": "steersman_cluster.simulation",
                "steersman.dashboard": "steersman.view",
            },
            "names": {
                "steersman.simulation.World": "steersman_cluster.simulation.Cluster",
                "steersman.errors.Deadlock": "steersman_cluster.errors.Deadlock",
                "steersman.controller.old_function": "steersman.controller.new_function",
            },
            "attributes": {
                "steersman.controller.Context.hold": "add_finalizer",
                "steersman.simulation.World.asked": "requests",
                "steersman.errors.Deadlock.log": "trace",
                "steersman.simulation.Faults.sending": "before_request",
                "whys": "reasons",
            },
            "keywords": {
                "steersman.simulation.Scenario.plot": "steps",
                "steersman.controller.Context.get.everywhere": "all_namespaces",
                "steersman.kinds.Part.rules": "validations",
            },
            "results": {
                "steersman.simulation.simulated_world": "steersman.simulation.World",
                "steersman.simulation.World.twin": "steersman.simulation.World",
            },
            "metrics": {"steersman_old_seconds": "steersman_new_seconds"},
        }
    ]
)


def renamed(text: str, *, exported: frozenset[str] = frozenset()) -> str:
    """The new text, which is valid Python without old names."""
    new = renamed_python(dedent(text), RENAMES, exported=exported).text
    ast.parse(new)
    assert renamed_python(new, RENAMES, exported=exported).text == new
    return new


def is_unchanged(text: str) -> bool:
    return renamed(text) == dedent(text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import steersman.simulation\n", "import steersman_cluster.simulation\n"),
        ("import steersman.dashboard as d\n", "import steersman.view as d\n"),
        ("from steersman import dashboard\n", "from steersman import view\n"),
        ("from steersman.simulation import *\n", "from steersman_cluster.simulation import *\n"),
        (
            "from steersman.simulation.world import x  # why\n",
            "from steersman_cluster.simulation.world import x  # why\n",
        ),
        (
            "if 1: from steersman.errors import Deadlock, NotFound\n",
            "if 1: from steersman_cluster.errors import Deadlock; "
            "from steersman.errors import NotFound\n",
        ),
        # A project in the middle of an upgrade.
        (
            "from steersman_cluster.simulation import World\n",
            "from steersman_cluster.simulation import Cluster\n",
        ),
    ],
)
def test_an_import_of_an_old_name_becomes_one_of_the_new(before: str, after: str) -> None:
    assert renamed(before) == after


def test_an_import_of_names_that_moved_to_two_modules_becomes_two_imports() -> None:
    text = """\
        def test() -> None:
            from steersman.errors import (
                Deadlock,  # in a simulation
                NotFound,
            )
        """

    assert renamed(text) == dedent("""\
        def test() -> None:
            # in a simulation
            from steersman_cluster.errors import Deadlock
            from steersman.errors import NotFound
        """)


def test_the_uses_of_a_name_follow_its_import() -> None:
    text = """\
        from steersman.simulation import World

        def settle(cluster: World, other: "list[World] | None" = None) -> World:
            \"\"\"A World.\"\"\"
            return World(f"{World.size} World") or mine.World
        """

    assert renamed(text) == dedent("""\
        from steersman_cluster.simulation import Cluster

        def settle(cluster: Cluster, other: "list[Cluster] | None" = None) -> Cluster:
            \"\"\"A World.\"\"\"
            return Cluster(f"{Cluster.size} World") or mine.World
        """)


@pytest.mark.parametrize(
    "rest",
    [
        "Cluster = 1\n",
        "def f(World): return World\n",
        "__all__ = ['World']\n",
        "T = TypeVar('T', bound='World')\n",
        "from other import Cluster\n",
    ],
)
def test_an_ambiguous_name_is_kept_by_an_import_alias(rest: str) -> None:
    new = renamed(f"from steersman.simulation import World\n\n{rest}")

    assert new == f"from steersman_cluster.simulation import Cluster as World\n\n{rest}"


def test_a_name_that_another_file_imports_is_kept_by_an_import_alias() -> None:
    elsewhere = imported_elsewhere("from shop.common import World\nfrom steersman import Part\n")

    new = renamed("from steersman.simulation import World\n", exported=elsewhere)

    assert elsewhere == {"World"}
    assert new == "from steersman_cluster.simulation import Cluster as World\n"


def test_a_dotted_use_of_a_renamed_module_is_renamed() -> None:
    text = """\
        import steersman.errors
        import steersman.simulation
        from steersman import controller, dashboard, errors

        def f(world: steersman.simulation.World) -> steersman.simulation.Scenario:
            dashboard.lines(errors.Deadlock, errors.NotFound, controller.old_function)
            raise steersman.errors.Deadlock from steersman.errors.NotFound
        """

    assert renamed(text) == dedent("""\
        import steersman.errors
        import steersman_cluster.errors
        import steersman_cluster.simulation
        from steersman import controller, view, errors

        def f(world: steersman_cluster.simulation.Cluster) -> steersman_cluster.simulation.Scenario:
            view.lines(steersman_cluster.errors.Deadlock, errors.NotFound, controller.new_function)
            raise steersman_cluster.errors.Deadlock from steersman.errors.NotFound
        """)


def test_attributes_and_keywords_of_steersmans_objects_are_renamed() -> None:
    text = """\
        from steersman import Context
        from steersman.simulation import Scenario, World

        async def f(app: App, ctx: Context[App], cluster: World, mine: Mine) -> None:
            await ctx.hold(app, "x")
            ctx.get(App, plot=1, everywhere=True)
            print(f"{ctx.hold} hold", cluster.asked, lambda: cluster.twin.twin.asked)
            scenario = Scenario(plot=f)
        """

    assert renamed(text) == dedent("""\
        from steersman import Context
        from steersman_cluster.simulation import Scenario, Cluster

        async def f(app: App, ctx: Context[App], cluster: Cluster, mine: Mine) -> None:
            await ctx.add_finalizer(app, "x")
            ctx.get(App, plot=1, all_namespaces=True)
            print(f"{ctx.add_finalizer} hold", cluster.requests, lambda: cluster.twin.twin.requests)
            scenario = Scenario(steps=f)
        """)


def test_attributes_of_fields_with_steersmans_objects_are_renamed() -> None:
    text = """\
        from steersman import Context
        from steersman.simulation import World

        class Operator:
            other: World

            def __init__(self, ctx: Context) -> None:
                self.world = World()
                self.ctx = ctx
                self.mixed = World()

            def run(self) -> None:
                self.mixed = mine()
                print(self.world.asked, self.other.asked, self.mixed.asked, other.world.asked)
                return lambda: self.ctx.hold()
        """

    assert renamed(text) == dedent("""\
        from steersman import Context
        from steersman_cluster.simulation import Cluster

        class Operator:
            other: Cluster

            def __init__(self, ctx: Context) -> None:
                self.world = Cluster()
                self.ctx = ctx
                self.mixed = Cluster()

            def run(self) -> None:
                self.mixed = mine()
                print(self.world.requests, self.other.requests, self.mixed.asked, other.world.asked)
                return lambda: self.ctx.add_finalizer()
        """)


def test_attributes_of_a_variable_whose_class_a_check_determines_are_renamed() -> None:
    text = """\
        from steersman.errors import Deadlock
        from steersman.simulation import World, simulated_world

        def f(x, y, z):
            try:
                f()
            except Deadlock as error:
                print(error.log)
            except Mine as error:
                print(error.log)
            with pytest.raises(Deadlock) as failed, simulated_world() as world:
                print(failed.value.log, failed.log, world.asked)
            if isinstance(x, World) and x.asked:
                print(x.asked, y.asked)
            print(x.asked, [each.asked for each in x if isinstance(each, World)])
            match x:
                case World(asked=(1 | 2)) as found if found.asked:
                    print(found.asked, x.asked)
                case Mine(asked=3) as found:
                    print(found.asked, x.asked)
            print(y.asked)
            assert isinstance(y, World)
            print(y.asked)
            if not isinstance(z, World):
                return z.asked
            return z.asked
        """

    assert renamed(text) == dedent("""\
        from steersman_cluster.errors import Deadlock
        from steersman_cluster.simulation import Cluster, simulated_world

        def f(x, y, z):
            try:
                f()
            except Deadlock as error:
                print(error.trace)
            except Mine as error:
                print(error.log)
            with pytest.raises(Deadlock) as failed, simulated_world() as world:
                print(failed.value.trace, failed.log, world.requests)
            if isinstance(x, Cluster) and x.requests:
                print(x.requests, y.asked)
            print(x.asked, [each.requests for each in x if isinstance(each, Cluster)])
            match x:
                case Cluster(requests=(1 | 2)) as found if found.requests:
                    print(found.requests, x.requests)
                case Mine(asked=3) as found:
                    print(found.asked, x.asked)
            print(y.asked)
            assert isinstance(y, Cluster)
            print(y.requests)
            if not isinstance(z, Cluster):
                return z.asked
            return z.requests
        """)


def test_class_keywords_of_parts_only_are_renamed() -> None:
    text = """\
        import steersman as sm
        from steersman.kinds import apps_v1

        class Spec(sm.Part, rules=(sm.Cel("self.rules"),)):
            rules: int

        class Status(apps_v1.DeploymentStatus, rules = RULES): ...

        class App(sm.CustomResource[Spec, Status], group="a", rules=RULES):
            def f(self) -> None:
                class Inner(Spec, rules=()): ...

        class Mine(Other, rules=1): ...

        class Controller(sm.Controller, rules=1): ...
        """

    assert renamed(text) == dedent("""\
        import steersman as sm
        from steersman.kinds import apps_v1

        class Spec(sm.Part, validations=(sm.Cel("self.rules"),)):
            rules: int

        class Status(apps_v1.DeploymentStatus, validations = RULES): ...

        class App(sm.CustomResource[Spec, Status], group="a", validations=RULES):
            def f(self) -> None:
                class Inner(Spec, validations=()): ...

        class Mine(Other, rules=1): ...

        class Controller(sm.Controller, rules=1): ...
        """)


def test_methods_that_override_a_renamed_method_are_renamed() -> None:
    text = """\
        from steersman.simulation import Faults

        class Slow(Faults):
            whys = ()

            async def sending(self, call):
                self.other.sending(self.whys)
                await super().sending(call)

            def telling(self): ...

        class Slower(Slow):
            @logged
            async  def sending(self, call): await self.sending(call)

        class Mine:
            def sending(self, a: Slow, b: Mine): a.sending(b.sending, a.whys)

        Slow().sending(Mine().sending)
        """

    assert renamed(text) == dedent("""\
        from steersman_cluster.simulation import Faults

        class Slow(Faults):
            whys = ()

            async def before_request(self, call):
                self.other.sending(self.whys)
                await super().before_request(call)

            def telling(self): ...

        class Slower(Slow):
            @logged
            async  def before_request(self, call): await self.before_request(call)

        class Mine:
            def sending(self, a: Slow, b: Mine): a.before_request(b.sending, a.whys)

        Slow().before_request(Mine().sending)
        """)


@pytest.mark.parametrize(
    "rest",
    [
        "def f(ctx: Mine): ctx.hold()\n",
        "def f(ctx): ctx.hold()\n",
        "def f(ctx: Context):\n    ctx = mine()\n    ctx.hold()\n",
        "def f(ctx: Context[App]): ctx.owner.hold()\n",
        "def f(ctx: Context): ctx.get(App).hold()\n",
        "def f(*ctx: Context): ctx.hold()\n",
        "def f(ctx):\n    if isinstance(ctx, Context):\n        ctx = mine()\n        ctx.hold()\n",
        "def f(ctx):\n    if isinstance(ctx, Mine): ctx.hold()\n",
        "def f(ctx):\n    if isinstance(ctx, (Context, Mine)): ctx.hold()\n",
        "class Mine:\n    def hold(self): self.hold()\n",
        "def f(ctx: Context): ctx.owner.asked\n",
        "def f(ctx: Context):\n    for ctx in mine: ctx.hold()\n",
        "Mine(plot=1, everywhere=2)\n",
        "class Context: pass\ndef f(ctx: Context): ctx.hold()\n",
        "'hold', 'World', 'steersman.simulation is gone'  # steersman.simulation\n",
    ],
)
def test_a_name_that_only_resembles_an_old_name_is_kept(rest: str) -> None:
    assert is_unchanged(f"from steersman import Context\n\n{rest}")


def test_a_string_that_is_a_dotted_path_or_a_metric_is_renamed() -> None:
    text = 'import steersman\nplugins = ["steersman.simulation.plugin", "steersman_old_seconds"]\n'

    assert renamed(text) == (
        "import steersman\n"
        'plugins = ["steersman_cluster.simulation.plugin", "steersman_new_seconds"]\n'
    )


def test_other_source_stays_byte_for_byte() -> None:
    text = (
        "\ufeff# früh\r\nfrom steersman.simulation import World\r\n\x0c\r\n"
        "x = 'é', World(  1 )\r\ny = 'é\u2028', World\r\n"
    )

    new = renamed_python(text, RENAMES).text

    assert new == text.replace("steersman.sim", "steersman_cluster.sim").replace("World", "Cluster")
