"""Replaces values that always differ between two servers by their type.

A value of the wrong shape is left alone. Columns are as wide as their widest cell: where a cell
was replaced, the gaps between columns are made equal too.
"""

import re
from collections.abc import Callable

SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

# What is as wide on the one side as on the other.
SAME_WIDTH = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}( [A-Z]+)?"), "<time>"),
    (
        re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d \+0000"),
        "<time>",
    ),
    (re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+"), "<token>"),
    (re.compile(rf"(?<=-)[{SUFFIX_LETTERS}]{{5}}(?![\w-])"), "<generated>"),
    (re.compile(r"\b3[0-2]\d{3}\b"), "<port>"),
    (re.compile(r"(?<=X509SHA256=)[0-9a-f]{64}"), "<fingerprint>"),
    (re.compile(r'(?<=":")[\w-]{43}(?=")'), "<key>"),
    (re.compile(r"(?<=hash=)[0-9A-F]{128}"), "<hash>"),
    # Of the server: which build it is.
    (re.compile(r"(?<=v1\.36\.)\d+(\+\w+)?"), "<build>"),
    (
        re.compile(r'((?:buildDate|compiler|gitCommit|gitTreeState|goVersion|platform)"?: ).*'),
        r"\1<build>",
    ),
    (re.compile(r"(?<=apiserver-)[a-z2-7]{26}"), "<server>"),
    (re.compile(r"(?<=kubectl-edit-)\d+"), "<number>"),
    # What `diff` says of its two directories.
    (re.compile(r"/(LIVE|MERGED)-\d+/"), r"/\1/"),
)

OTHER_WIDTH = (
    (re.compile(r"\b10\.0\.\d+\.\d+\b"), "<address>"),
    (re.compile(r'(resourceVersion\\?"?: ?\\?"?)\d+'), r"\1<version>"),
    (re.compile(r"(Resource Version: +)\d+"), r"\1<version>"),
    (re.compile(r"(resource version to be \d+, was )\d+"), r"\1<version>"),
    (re.compile(r"^((?:Active )?(?:Duration|Age): +)\d+[sm]\d*s?$", re.MULTILINE), r"\1<age>"),
)

# What a template or a revision is called by: a hash of how Go prints it. Ours is of its JSON, so
# that two sides have the same only where both have the real controllers.
HASH = re.compile(
    rf"(?:(?<=-)|(?<=hash=)|(?<=hash: )|(?<=hash\":\"))[{SUFFIX_LETTERS}]{{6,10}}(?![\w.])"
)

# How often a controller looked again at what it complains about: ours look less often.
AGAIN = re.compile(r"(?<=<age>) \(x\d+ over <age>\)")

# Of Services, now and then: a part of the real server saw one before its address.
REPAIRED = re.compile(r".*\bClusterIPNotAllocated\b.*\n")

# Klog, asked for by us to see a watch begin.
ASIDE = re.compile(r"[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (.*)\n")

TITLE = re.compile(r"\S+(?: \S+)*")
AGES = {"AGE", "Age", "LAST SEEN", "FIRST SEEN", "LAST SCHEDULE", "DURATION"}
AGE = re.compile(r"(?<!\S|\()(\d+[smh](\d+[sm])?|<invalid>)(?=\)|\s|$)")

GAP = re.compile(r"(?<=\S) {3,}")


def normal(text: str, *, names: dict[str, str], headers: bool, hashes: bool = False) -> str:
    """The text, with ``names`` for what only one server or directory is called.

    Without ``headers`` it may be a table all the same. With ``hashes`` those of templates are
    replaced.
    """
    text = _with_cells(REPAIRED.sub("", ASIDE.sub("", text)), headers=headers)
    # Before any name: the digits of a port may stand in a uid.
    text = UID.sub(_numbered("uid"), text)
    for value, name in names.items():
        text = text.replace(value, name)
    for pattern, shown in SAME_WIDTH:
        text = pattern.sub(shown, text)
    if hashes:
        text = AGAIN.sub("", text)
    before = text
    if hashes:
        text = HASH.sub(_numbered("hash"), text)
    for pattern, shown in OTHER_WIDTH:
        text = pattern.sub(shown, text)
    return text if text == before else GAP.sub("   ", text)


def _numbered(what: str) -> Callable[[re.Match[str]], str]:
    """What is the same is the same still."""
    seen: dict[str, str] = {}
    return lambda found: seen.setdefault(found[0], f"<{what} {len(seen) + 1}>")


def _with_cells(text: str, *, headers: bool) -> str:
    """Tables that tell ages, cell by cell and without the ages.

    One ends where nothing is, or less is indented.
    """
    lines: list[str] = []
    columns: list[int] = []
    for line in text.split("\n"):
        if AGES & set(TITLE.findall(line)):
            columns = [found.start() for found in TITLE.finditer(line)]
        elif columns and (not line.strip() or line[: columns[0]].strip()):
            columns = []
        if columns:
            lines.append(AGE.sub("<age>", " | ".join(_cells(line, columns))))
        else:
            lines.append(line if headers else GAP.sub("   ", AGE.sub("<age>", line)))
    return "\n".join(lines)


def _cells(line: str, columns: list[int]) -> list[str]:
    ends = [*columns[1:], None]
    if any(line[at - 1 : at].strip() for at in columns if at):
        # A row of a watch that is wider than the header was.
        return re.split(r" {2,}", line.strip())
    return [line[at:end].strip() for at, end in zip(columns, ends, strict=True)]


# What the published documents of Kubernetes leave out: what single values of an enumeration mean,
# to the end of the paragraph that lists them, and what a Quantity is, to the end of everything.
_UNPUBLISHED = re.compile(
    r"\s*\n +(?:Possible enum values:\n(?: .*\n)*|Quantity is a fixed-point (?:.*\n?)*)"
)


def without_steps_on_the_way(text: str, *, done: bool) -> str:
    """What ``rollout status`` says in the end: which states it saw before is chance."""
    lines = text.splitlines(keepends=True)
    waiting = [line for line in lines if line.startswith("Waiting for")]
    rest = [line for line in lines if line not in waiting]
    return "".join(rest if done else [*waiting[-1:], *rest])


def without_unpublished_texts(text: str) -> str:
    """What ``explain`` prints, without the texts that only a real server has."""
    return _UNPUBLISHED.sub("\n", text).rstrip()
