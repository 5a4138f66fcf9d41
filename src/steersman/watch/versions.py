"""Which of two resourceVersions came first. Pure.

Within one history they are decimal numbers that grow. A server of another make may use other
words, of which nothing can be known but whether they are the same.
"""


def is_newer(version: str, than: str) -> bool:
    """Whether ``version`` came after ``than``; what is not a number is newer than anything else."""
    if not is_number(version):
        return version != than
    return is_number(than) and _is_greater(version, than)


def is_older(version: str, than: str) -> bool:
    """Whether ``version`` certainly came before ``than``: only of numbers can that be said."""
    if version > than and len(version) == len(than):
        return False  # the answer for almost every event of a watch, and true of other words too
    return is_number(version) and is_number(than) and _is_greater(than, version)


def is_number(version: str) -> bool:
    """Whether it is a number as Kubernetes writes them."""
    return version.isdigit() and version.isascii()


def _is_greater(a: str, b: str) -> bool:
    # Without int(): this is asked at every event, and int() refuses thousands of digits.
    if len(a) == len(b):
        return a > b
    a, b = a.lstrip("0"), b.lstrip("0")
    return (len(a), a) > (len(b), b)
