"""Errors of values and configuration that cannot be used."""

from steersman.errors.root import SteersmanError, shown


class ConfigError(SteersmanError):
    """A kubeconfig, certificate or token file that cannot be used."""

    def __init__(self, *, source: str, problem: str, what_now: str) -> None:
        self.source = source
        self.problem = problem
        super().__init__(f"{source}: {problem}. {what_now}")


class CertificateRefused(ConfigError):
    """The certificate of the server or of the client was rejected."""


class CredentialPluginFailed(ConfigError):
    """A credential plugin was not permitted, crashed, hung, or returned an invalid credential."""


class BadValue(SteersmanError, ValueError):
    """A value that Kubernetes would reject."""

    def __init__(self, *, wanted: str, value: object, rule: str) -> None:
        self.wanted = wanted
        self.value = value
        self.rule = rule
        super().__init__(f"{shown(value)} is not {wanted}: {rule}.")


class BadName(BadValue):
    """A name, label or path that Kubernetes would reject; ``rule`` is the violated rule."""


class NotAKind(BadValue, AttributeError):
    """A class that has no ``resource_type``, and is therefore not the class of a kind."""


class UnknownKind(SteersmanError):
    """A kind that the scheme does not contain, or that the API server does not serve.

    ``missing_from`` is ``"the scheme"`` or ``"the API server"``.
    """

    def __init__(self, *, kind: str, missing_from: str, what_now: str) -> None:
        self.kind = kind
        self.missing_from = missing_from
        super().__init__(f"{missing_from} does not have {kind}. {what_now}")


class NoConversion(SteersmanError):
    """There is no conversion from one API version of a kind to another."""

    def __init__(self, *, source: str, target: str) -> None:
        self.source = source
        self.target = target
        super().__init__(
            f"the scheme has no conversion from {source} to {target}."
            f" Add a Conversion for each step between them."
        )
