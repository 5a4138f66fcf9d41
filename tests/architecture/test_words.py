"""Code and prose use the words of Kubernetes' own documentation."""

from tests.architecture.allowances import WORDS
from tests.architecture.tree import assert_none
from tests.architecture.words import DEFINITIONS, INSTEAD, MODULES, banned_words


def test_no_file_has_words_to_avoid_except_those_on_the_list() -> None:
    accepted = [word for word in INSTEAD if banned_words("a.md", f"{word}.") != {word: 1}]
    accepted += [word for word in INSTEAD if word not in banned_words("a", f"a_{word.title()}_b")]
    accepted += [name for name in DEFINITIONS if not banned_words("a.py", f"class {name}:")]
    accepted += [name for name in MODULES if not banned_words(f"src/{name}/a.py", "")]
    assert accepted == []
    assert banned_words("a.py", "def who_is_it(line, need): 'A call. A board.'") == {}

    assert_none(WORDS.differences())
