"""Errors of generators, and of operator projects."""

from collections.abc import Sequence

from steersman.errors.root import SteersmanError


class CannotBeACrd(SteersmanError):
    """A Python class for which no CustomResourceDefinition can be generated.

    ``field`` names the field that is the cause, if there is one.
    """

    def __init__(self, *, kind: str, field: str, problem: str, what_now: str) -> None:
        self.kind = kind
        self.field = field
        self.problem = problem
        where = f"{kind}: {field}" if field else kind
        super().__init__(f"{where} cannot be described by a CRD: {problem}. {what_now}")


class BadDefinition(SteersmanError):
    """A document that is not a CustomResourceDefinition; ``source`` is its file or other origin."""

    def __init__(self, *, source: str, problem: str, what_now: str) -> None:
        self.source = source
        self.problem = problem
        super().__init__(f"{source} is not a CustomResourceDefinition: {problem}. {what_now}")


class NoSample(SteersmanError):
    """A schema for which no sample object can be generated; ``field`` names the field at fault."""

    def __init__(self, *, kind: str, field: str, problem: str, what_now: str) -> None:
        self.kind = kind
        self.field = field
        self.problem = problem
        super().__init__(f"no sample of {kind} can be generated: {field}: {problem}. {what_now}")


class BadTarget(SteersmanError):
    """A ``module:attribute`` or a file in which no operator was found."""

    def __init__(self, *, target: str, problem: str, what_now: str) -> None:
        self.target = target
        self.problem = problem
        super().__init__(f"{target} is not an operator: {problem}. {what_now}")


class ProjectError(SteersmanError):
    """An operator project that cannot be created, found or changed; no file was changed."""

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        super().__init__(f"{problem}. {what_now}")


class BadProjectSetting(ProjectError):
    """An invalid setting in a project's pyproject.toml; ``key`` names the setting."""

    def __init__(self, *, path: str, key: str, problem: str) -> None:
        self.path = path
        self.key = key
        super().__init__(problem=f"{key} in {path}: {problem}", what_now="Correct it there.")


class EditedByHand(ProjectError):
    """Generated files that were edited later are not overwritten; ``diff`` shows the edits."""

    def __init__(self, *, paths: Sequence[str], diff: str, what_now: str) -> None:
        self.paths = tuple(paths)
        self.diff = diff
        verb = "was" if len(paths) == 1 else "were"
        problem = f"{', '.join(paths)} {verb} edited by hand, and nothing was written"
        super().__init__(problem=problem, what_now=what_now)


class OutOfDate(ProjectError):
    """Generated files that do not match the Python types from which they are generated."""

    def __init__(self, *, paths: Sequence[str], what_now: str) -> None:
        self.paths = tuple(paths)
        verb = "is" if len(paths) == 1 else "are"
        super().__init__(problem=f"{', '.join(paths)} {verb} out of date", what_now=what_now)
