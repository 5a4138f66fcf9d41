"""The macros that the parser library lacks: two-variable comprehensions and ``sortBy``."""

from steersman_cluster.apiserver.cel import nodes
from steersman_cluster.apiserver.cel.errors import Issue

ACCUMULATOR = "@result"
_RESERVED = (ACCUMULATOR, "__result__")
_SORT_INPUT = "@__sortBy_input__"
_TWO_VARIABLES = {
    ("all", 3),
    ("exists", 3),
    ("existsOne", 3),
    ("exists_one", 3),
    ("transformList", 3),
    ("transformList", 4),
    ("transformMap", 3),
    ("transformMap", 4),
    ("transformMapEntry", 3),
    ("transformMapEntry", 4),
}


class MacroExpansion:
    """Expands the macros in the expression ``text``.

    The generated nodes have the position of the macro call.
    """

    def __init__(self, text: str, positions: dict[int, int]) -> None:
        self.issues: list[Issue] = []
        self._text = text
        self._positions = positions
        self._next = max(positions, default=0) + 1

    def expanded(self, call: nodes.FunctionCall) -> nodes.Node:
        if call.target is None:
            return call
        if (call.function, len(call.args)) in _TWO_VARIABLES:
            return self._over_two(call, call.target)
        if (call.function, len(call.args)) == ("sortBy", 2):
            return self._sorted(call, call.target)
        return call

    def _over_two(self, call: nodes.FunctionCall, target: nodes.Node) -> nodes.Node:
        first, second, *rest = call.args
        if (variables := self._variables(first, second)) is None:
            return call
        new = _Builder(self, call.id)
        body = rest[-1]
        condition: nodes.Node = new.literal(True)
        match call.function:
            case "all":
                initial: nodes.Node = new.literal(True)
                condition = new.call("@not_strictly_false", new.accumulator())
                step: nodes.Node = new.call("_&&_", new.accumulator(), body)
                result: nodes.Node = new.accumulator()
            case "exists":
                initial = new.literal(False)
                condition = new.call("@not_strictly_false", new.call("!_", new.accumulator()))
                step = new.call("_||_", new.accumulator(), body)
                result = new.accumulator()
            case "existsOne" | "exists_one":
                initial = new.literal(0)
                counted = new.call("_+_", new.accumulator(), new.literal(1))
                step = new.call("_?_:_", body, counted, new.accumulator())
                result = new.call("_==_", new.accumulator(), new.literal(1))
            case _:
                initial, step = new.transformed(call.function, variables[0], body)
                if len(rest) == 2:
                    step = new.call("_?_:_", rest[0], step, new.accumulator())
                result = new.accumulator()
        return nodes.Fold(
            id=new.id(),
            variable=variables[0],
            second_variable=variables[1],
            range=target,
            accumulator=ACCUMULATOR,
            initial=initial,
            condition=condition,
            step=step,
            result=result,
        )

    def _variables(self, first: nodes.Node, second: nodes.Node) -> tuple[str, str] | None:
        names: list[str] = []
        for each in (first, second):
            if not isinstance(each, nodes.Ident):
                self._complain(each, "argument must be a simple name")
            elif each.name in _RESERVED:
                self._complain(each, "iteration variable overwrites accumulator variable")
            elif each.name in names:
                self._complain(each, f"duplicate variable name: {each.name}")
            else:
                names.append(each.name)
                continue
            return None
        return names[0], names[1]

    def _sorted(self, call: nodes.FunctionCall, target: nodes.Node) -> nodes.Node:
        variable, body = call.args
        if isinstance(target, nodes.Literal | nodes.MapLiteral | nodes.MessageLiteral):
            self._complain(
                target,
                "sortBy can only be applied to a list, identifier, comprehension, call or select"
                " expression",
            )
            return call
        if not isinstance(variable, nodes.Ident):
            self._complain(variable, "argument is not an identifier")
            return call
        new = _Builder(self, call.id)
        keys = nodes.Fold(
            id=new.id(),
            variable=variable.name,
            range=nodes.Ident(new.id(), _SORT_INPUT),
            accumulator=ACCUMULATOR,
            initial=nodes.ListLiteral(new.id(), ()),
            condition=new.literal(True),
            step=new.call("_+_", new.accumulator(), nodes.ListLiteral(new.id(), (body,))),
            result=new.accumulator(),
        )
        ordered = nodes.FunctionCall(
            new.id(), "@sortByAssociatedKeys", nodes.Ident(new.id(), _SORT_INPUT), (keys,)
        )
        return nodes.Fold(
            id=new.id(),
            variable="#unused",
            range=nodes.ListLiteral(new.id(), ()),
            accumulator=_SORT_INPUT,
            initial=target,
            condition=new.literal(False),
            step=nodes.Ident(new.id(), _SORT_INPUT),
            result=ordered,
        )

    def _complain(self, node: nodes.Node, message: str) -> None:
        self.issues.append(Issue(self._positions.get(node.id, 0), message))

    def starts_at_brace(self, node_id: int) -> None:
        """Set the position of the message literal ``node_id`` to its opening brace.

        The parser library sets the position to the start of the message's name.
        """
        start = self._positions.get(node_id, 0)
        self._positions[node_id] = max(start, self._text.find("{", start))

    def fresh(self, like: int) -> int:
        self._next += 1
        self._positions[self._next] = self._positions.get(like, 0)
        return self._next


class _Builder:
    def __init__(self, expansion: MacroExpansion, at: int) -> None:
        self._expansion = expansion
        self._at = at

    def id(self) -> int:
        return self._expansion.fresh(self._at)

    def literal(self, value: object) -> nodes.Node:
        return nodes.Literal(self.id(), value)

    def accumulator(self) -> nodes.Node:
        return nodes.Ident(self.id(), ACCUMULATOR)

    def call(self, function: str, *args: nodes.Node) -> nodes.Node:
        return nodes.FunctionCall(self.id(), function, None, args)

    def transformed(
        self, function: str, variable: str, body: nodes.Node
    ) -> tuple[nodes.Node, nodes.Node]:
        """Return the initial value of a transformation, and the step that adds each element."""
        if function == "transformList":
            added = nodes.ListLiteral(self.id(), (body,))
            return nodes.ListLiteral(self.id(), ()), self.call("_+_", self.accumulator(), added)
        given: tuple[nodes.Node, ...] = (body,)
        if function == "transformMap":
            given = (nodes.Ident(self.id(), variable), body)
        step = self.call("cel.@mapInsert", self.accumulator(), *given)
        return nodes.MapLiteral(self.id(), ()), step
