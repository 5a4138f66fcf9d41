"""Which of two resourceVersions came first. Pure.

Within one history they are decimal numbers that grow. A server of another make may use other
words, of which nothing can be known but whether they are the same.
"""


def is_older(version: str, than: str) -> bool:
    """Whether ``version`` certainly came before ``than``: only of numbers can that be said."""
    if len(version) == len(than):
        # Almost always; and as long as each other, numbers are in order as words are.
        return version < than and _is_number(version + than)
    if not (version and than and _is_number(version + than)):
        return False
    # Without int(): this is asked at every event, and int() refuses thousands of digits.
    version, than = version.lstrip("0"), than.lstrip("0")
    return (len(version), version) < (len(than), than)


def _is_number(version: str) -> bool:
    return version.isdigit() and version.isascii()
