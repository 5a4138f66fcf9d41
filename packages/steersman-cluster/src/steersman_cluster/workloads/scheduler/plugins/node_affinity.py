"""NodeAffinity: node selectors and node affinity. No I/O."""

from typing import Final

from steersman.kinds import core_v1

NOT_SELECTED: Final = "node(s) didn't match Pod's node affinity/selector"


def matches_node(spec: core_v1.PodSpec, node: core_v1.Node) -> bool:
    """Return whether ``node`` matches the node selector and required node affinity in ``spec``."""
    labels = node.labels
    wanted = spec.node_selector
    if wanted and any(labels.get(key) != value for key, value in wanted.items()):
        return False
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    if affinity is None:
        return True
    required = affinity.required_during_scheduling_ignored_during_execution
    return required is None or any(
        matches_selector_term(term, node) for term in required.node_selector_terms
    )


def matches_selector_term(term: core_v1.NodeSelectorTerm, node: core_v1.Node) -> bool:
    """Return whether ``node`` matches all requirements of ``term``.

    A term without requirements matches no node.
    """
    expressions, fields = term.match_expressions or (), term.match_fields or ()
    if not expressions and not fields:
        return False
    labels = node.labels
    return all(_requirement_matches(each, labels.get(each.key)) for each in expressions) and all(
        # A term can select by no other field.
        _requirement_matches(each, node.name if each.key == "metadata.name" else None)
        for each in fields
    )


def preferred_score(spec: core_v1.PodSpec, node: core_v1.Node) -> int:
    """Return the sum of the weights of the preferred node affinity terms that match ``node``."""
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    if affinity is None:
        return 0
    return sum(
        each.weight
        for each in affinity.preferred_during_scheduling_ignored_during_execution or ()
        if matches_selector_term(each.preference, node)
    )


def _requirement_matches(wanted: core_v1.NodeSelectorRequirement, value: str | None) -> bool:
    match wanted.operator:
        case "In":
            return value is not None and value in (wanted.values or ())
        case "NotIn":
            return value is None or value not in (wanted.values or ())
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            have, limit = as_int(value), as_int((wanted.values or ("",))[0])
            if have is None or limit is None:
                return False
            return have > limit if wanted.operator == "Gt" else have < limit
        case _:
            return False


def as_int(text: str | None) -> int | None:
    """Return ``text``, the value of a label or taint, as a number, or ``None`` if it is none."""
    try:
        return int(text or "")
    except ValueError:
        return None
