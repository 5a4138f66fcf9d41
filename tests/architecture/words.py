"""Words that code and prose avoid: readers of other Kubernetes libraries would have to guess.

The test counts single words, phrases and names of classes and functions, in every text file that
people write: code with its comments and docstrings, tests, pages, templates. Parts of a name count
too: ``has_heard``, ``CacheTeller``. Names that are common English words elsewhere count
where they are defined.

It does not count *who* and *whose*, which are right for people, *sign*, which is right for tokens,
and *tell*, which Kubernetes' documentation uses too. It skips generated modules, and files with the
output of a program.
"""

import re
from collections import Counter
from collections.abc import Iterator

from tests.architecture.tree import Module, texts

# Each with its replacement. The subject of a sentence about code is a component, and its verb is
# that of Kubernetes' own documentation.
INSTEAD = {
    "anew": "again",
    "anybody": "the component",
    "anyone": "any user, any component",
    "asker": "RequestSender",
    "at its word": "as it says",
    "at their word": "as they say",
    "at work": "running",
    "bell": "ChangeSignal",
    "bereaved": "owner_check",
    "by chance": "at random",
    "calm": "NoFaults",
    "companions": "managed_objects",
    "desk": "DevSession",
    "disturbance": "FaultInjector",
    "everybody": "the components",
    "fights": "hot_loop",
    "flights": "InflightWrites",
    "gives its word": "promises",
    "goodbye": "close notification, last message",
    "guest": "PodInfo",
    "guestbook": "ConnectionRegistry",
    "hear": "receive",
    "heard": "received",
    "herald": "on_first_write",
    "in whose name": "the issuer, the user",
    "look after": "manage",
    "looked after": "managed",
    "looking after": "managing",
    "looks after": "manages",
    "misfit": "DecodeFailure",
    "neighbour": "neighbor, the next item",
    "no matter of": "not part of",
    "nobody": "no component",
    "of one s own": "of its own",
    "of ones own": "of its own",
    "saw to": "handled",
    "see to": "handle",
    "seen to": "handled",
    "sees to": "handles",
    "shelf": "ResourceLog",
    "shelves": "ResourceLog",
    "somebody": "the component",
    "someone": "the user, the component",
    "stories": "entries, steps",
    "story": "entries, steps",
    "takers": "Waiters",
    "teller": "ReflectorEvents, InformerEvents",
    "told": "notified, reported",
    "untold": "pending",
    "whoever": "the caller, the component",
    "whom": "keys, the component",
}

# Counted only where they are defined: elsewhere they are common words.
DEFINITIONS = {
    "Asked": "RequestInfo",
    "Board": "SchedulerCache",
    "Call": "RequestInfo and the handler's dependencies",
    "Gallery": "ObjectView",
    "Line": "PriorityFifo",
    "Need": "Item",
    "Performance": "DemoRun",
    "Question": "RequestSpec",
    "RealWorld": "RealCluster",
    "Refusal": "StatusError",
    "Refused": "DecodeFailure",
    "Room": "NodeInfo",
    "SimulatedWorld": "SimulatedCluster",
    "Terms": "ServerOptions",
    "Ticket": "WriteToken",
    "Unanswered": "NeedsWebhook",
    "Way": "SimulatedTransport",
    "World": "Cluster",
    "hold": "add_finalizer",
    "judge": "validate",
    "let_go": "remove_finalizer",
    "say": "set_condition",
}

# Counted as names of modules and packages.
MODULES = {
    "apart": "simulated clients",
    "asking": "request",
    "conversation": "server_connection",
    "cutting": "list_splitter",
    "forms": "response_encoders",
    "guards": "anti_affinity",
    "hearing": "request_parser",
    "outside": "webhooks",
    "putting_back": "field_conflicts",
    "telling": "events",
    "ways": "simulated transports",
}

SUFFIXES = (
    ".py",
    ".md",
    ".jinja",
    ".toml",
    ".go",
    ".session",
    ".console",
    ".yaml",
    ".txt",
    ".tpl",
    "Makefile",
    "Dockerfile",
    ".ci/run",
)

# The words themselves, the lists of this rule and others, and the names that no longer exist.
EXEMPT = (
    "tests/architecture/words.py",
    "tests/architecture/allowed/",
    "packages/steersman/src/steersman/scaffold/renames/",
    # The public names of an older version, for upgrades.
    "tests/architecture/older_api",
)

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_DEFINITION = re.compile(
    rf"^[ \t]*(?:class|(?:async )?def) ({'|'.join(DEFINITIONS)})\b", re.MULTILINE
)
_SINGLE = frozenset(phrase for phrase in INSTEAD if " " not in phrase)
_PHRASES = [phrase.split() for phrase in INSTEAD if " " in phrase]
_FIRST_OF_PHRASE = frozenset(words[0] for words in _PHRASES)


def banned_words(path: str, text: str) -> Counter[str]:
    """The number of times that each banned word is in a file and in its path."""
    words = [word.lower() for word in _WORD.findall(f"{path}\n{text}")]
    found: Counter[str] = Counter()
    for place, word in enumerate(words):
        if word in _SINGLE:
            found[word] += 1
        elif word.endswith("s") and word[:-1] in _SINGLE:
            found[word[:-1]] += 1
        elif word in _FIRST_OF_PHRASE:
            found.update(_phrases_at(words, place))
    if path.endswith(".py"):
        found.update(_DEFINITION.findall(text))
        found.update(part for part in re.split(r"[/.]", path) if part in MODULES)
    return found


def _phrases_at(words: list[str], place: int) -> Iterator[str]:
    for phrase in _PHRASES:
        if words[place : place + len(phrase)] == phrase:
            yield " ".join(phrase)


def explained(path: str) -> str:
    """The banned words of a file, each with its replacement."""
    found = banned_words(path, texts().get(path, ""))
    instead = {**INSTEAD, **DEFINITIONS, **MODULES}
    return "; ".join(f"{count} × {word} → {instead[word]}" for word, count in found.most_common())


def counted_files() -> Iterator[tuple[str, str]]:
    """The path and text of each file that the rule covers."""
    for path, text in texts().items():
        is_written = path.endswith(SUFFIXES) and not path.startswith(EXEMPT)
        if is_written and not (path.endswith(".py") and Module(path, text).is_generated):
            yield path, text


def counts_by_file() -> dict[str, int]:
    """The number of banned words in each file that has any."""
    counts = {path: banned_words(path, text).total() for path, text in counted_files()}
    return {path: count for path, count in counts.items() if count}
