"""The error that ends ``make release``."""


class ReleaseFailure(Exception):
    """The release cannot be built, or does not work; the text says why and what to do."""

    def __init__(self, *, problem: str, what_now: str) -> None:
        self.problem = problem
        self.what_now = what_now
        super().__init__(f"{problem}\n\nhint: {what_now}")
