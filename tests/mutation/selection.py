"""Which tests run on a mutant, and in which order."""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import msgspec

from tests.recorded.recordings import SUFFIX, read_recording

RECORDED: Final = Path("tests/recorded")
# All tests of the built-in kinds in ``make test``, from fast to slow.
ALL: Final = (
    (
        "tests/unit/apiserver/builtin",
        "tests/recorded/test_builtin_rules.py",
        "tests/recorded/test_generated_rules.py",
        "tests/recorded/test_pod_rules.py",
        "tests/recorded/test_mutated_kinds.py",
    ),
    (
        "tests/recorded/test_admission_plugins.py",
        "tests/recorded/test_admission_policies.py",
        "tests/recorded/test_decoding_rules.py",
        "tests/recorded/test_field_management.py",
        "tests/recorded/test_patches.py",
        "tests/recorded/differential",
    ),
)
# They take long to collect, and are about schemas.
_OTHERS: Final = ("test_discovery_documents", "test_structural_schemas")
_WORD: Final = re.compile(r"[A-Za-z][\w.-]{2,}")
# A word in more cases than this says nothing about a rule.
_MAX_CASES: Final = 1500


class CaseIndex:
    """The recorded cases by the words in what the real server responded."""

    def __init__(self, root: Path) -> None:
        self._cases: dict[str, set[str]] = {}
        for path in sorted((root / RECORDED).glob(f"*{SUFFIX}")):
            module = path.name.removesuffix(SUFFIX)
            if module in _OTHERS:
                continue
            for name, exchanges in read_recording(path).items():
                if name.startswith("fixture "):
                    continue
                text = msgspec.json.encode(exchanges).decode()
                for word in set(_WORD.findall(text)):
                    self._cases.setdefault(word, set()).add(f"{RECORDED}/{module}.py::{name}")

    def nearest(self, words: Collection[str], *, limit: int) -> list[str]:
        """The cases with most of ``words``; rare words count more."""
        scores: Counter[str] = Counter()
        for cases in self._known(words):
            for case in cases:
                scores[case] += _MAX_CASES // len(cases)
        ordered = sorted(scores.items(), key=lambda each: (-each[1], each[0]))
        return [case for case, _ in ordered[:limit]]

    def _known(self, words: Collection[str]) -> Iterator[set[str]]:
        for word in sorted(words):
            cases = self._cases.get(word, set())
            if 0 < len(cases) <= _MAX_CASES:
                yield cases
