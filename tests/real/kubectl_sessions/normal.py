"""Replaces values that always differ between two servers by their type.

A value of the wrong form stays. A column is as wide as its widest cell: after a replacement, the
gaps between columns are normalized too.
"""

import re
from collections.abc import Callable

SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

# Values with the same width on both servers.
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
    # The build of the server.
    (re.compile(r"(?<=v1\.36\.)\d+(\+\w+)?"), "<build>"),
    (
        re.compile(r'((?:buildDate|compiler|gitCommit|gitTreeState|goVersion|platform)"?: ).*'),
        r"\1<build>",
    ),
    (re.compile(r"(?<=apiserver-)[a-z2-7]{26}"), "<server>"),
    (re.compile(r"(?<=kubectl-edit-)\d+"), "<number>"),
    # The temporary directories of `diff`.
    (re.compile(r"/(LIVE|MERGED)-\d+/"), r"/\1/"),
)

OTHER_WIDTH = (
    # The time since a date in a session.
    (re.compile(r"\b(?:\d{3,}d|\d+y(?:\d+d)?)\b"), "<days>"),
    (re.compile(r"\b10\.0\.\d+\.\d+\b"), "<address>"),
    (re.compile(r'(resourceVersion\\?"?: ?\\?"?)\d+'), r"\1<version>"),
    (re.compile(r"(Resource Version: +)\d+"), r"\1<version>"),
    (re.compile(r"(resource version to be \d+, was )\d+"), r"\1<version>"),
    (re.compile(r"^((?:Active )?(?:Duration|Age): +)\d+[sm]\d*s?$", re.MULTILINE), r"\1<age>"),
)

# The hash in the names of templates and revisions. The real controllers hash Go's printed form,
# steersman's controllers the JSON.
HASH = re.compile(
    rf"(?:(?<=-)|(?<=hash=)|(?<=hash: )|(?<=hash\":\"))[{SUFFIX_LETTERS}]{{6,10}}(?![\w.])"
)

# The number of repetitions of a warning: steersman's controllers retry less often.
AGAIN = re.compile(r"(?<=<age>) \(x\d+ over <age>\)")

# A repair controller of the real server sometimes sees a Service before its address is allocated.
REPAIRED = re.compile(r".*\bClusterIPNotAllocated\b.*\n")

# The log lines of klog, which the runner enables to see when a watch begins.
KLOG_LINE = re.compile(r"[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ (.*)\n")

TITLE = re.compile(r"\S+(?: \S+)*")
AGES = {"AGE", "Age", "LAST SEEN", "FIRST SEEN", "LAST SCHEDULE", "DURATION"}
AGE = re.compile(r"(?<!\S|\()(\d+[smh](\d+[sm])?|<invalid>)(?=\)|\s|$)")

GAP = re.compile(r"(?<=\S) {3,}")


def normal(text: str, *, names: dict[str, str], headers: bool, hashes: bool = False) -> str:
    """The text with placeholders for values, and ``names`` for those of one server or directory.

    Without ``headers`` it can still be a table. With ``hashes`` the hashes of templates are
    replaced.
    """
    text = _with_cells(REPAIRED.sub("", KLOG_LINE.sub("", text)), headers=headers)
    # Before the names: a uid can contain the digits of a port.
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
    """Replace equal values by equal numbers."""
    seen: dict[str, str] = {}
    return lambda found: seen.setdefault(found[0], f"<{what} {len(seen) + 1}>")


def _with_cells(text: str, *, headers: bool) -> str:
    """Split the rows of tables with ages into cells, and replace the ages.

    A table ends at an empty line or at a line with less indentation.
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
        # A row of a watch that is wider than the header.
        return re.split(r" {2,}", line.strip())
    return [line[at:end].strip() for at, end in zip(columns, ends, strict=True)]


# Descriptions that Kubernetes' published OpenAPI lacks: those of enumeration values, to the end of
# their paragraph, and that of Quantity, to the end of the text.
_UNPUBLISHED = re.compile(
    r"\s*\n +(?:Possible enum values:\n(?: .*\n)*|Quantity is a fixed-point (?:.*\n?)*)"
)


def without_intermediate_states(text: str, *, done: bool) -> str:
    """The end of ``rollout status``: the states that it prints before are random."""
    lines = text.splitlines(keepends=True)
    waiting = [line for line in lines if line.startswith("Waiting for")]
    rest = [line for line in lines if line not in waiting]
    return "".join(rest if done else [*waiting[-1:], *rest])


def without_unpublished_texts(text: str) -> str:
    """The output of ``explain`` without the texts that only a real server has."""
    return _UNPUBLISHED.sub("\n", text).rstrip()
