"""Old names in text: dotted paths, command line flags, metrics and extras."""

import pytest

from steersman.scaffold.upgrade.rename_map import merged_map
from steersman.scaffold.upgrade.text_source import renamed_text

RENAMES = merged_map(
    [
        {
            "modules": {"steersman.testing": "steersman_cluster.testing"},
            "names": {"steersman.testing.World": "steersman_cluster.testing.Cluster"},
            "flags": {"--old": "--new"},
            "metrics": {"steersman_old_seconds": "steersman_new_seconds"},
            "extras": {"webhooks": "tls"},
        }
    ]
)


def renamed(text: str, path: str) -> str:
    """The new text, without old names."""
    new = renamed_text(text, RENAMES, path=path, programs=["shop", "shop-operator"]).text
    assert renamed_text(new, RENAMES, path=path, programs=["shop"]).text == new
    return new


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("Makefile", "\tpython -m steersman.testing.x", "\tpython -m steersman_cluster.testing.x"),
        ("a.md", "See `steersman.testing.World`.", "See `steersman_cluster.testing.Cluster`."),
        (
            "a.py.jinja",
            "from steersman.testing import World, x\n{% if a %}",
            "from steersman_cluster.testing import Cluster, x\n{% if a %}",
        ),
        (
            "a.md",
            "- so\n  ```python\n  from steersman.testing import World\n\n  World()\n  ```\n",
            "- so\n  ```python\n  from steersman_cluster.testing import Cluster\n\n  Cluster()\n"
            "  ```\n",
        ),
        ("Makefile", "\tsteersman dev --old=1", "\tsteersman dev --new=1"),
        ("Makefile", "\tsteersman dev \\\n\t  --old 1", "\tsteersman dev \\\n\t  --new 1"),
        ("Dockerfile", 'CMD ["-m", "shop", "--old"]', 'CMD ["-m", "shop", "--new"]'),
        ("deployment.yaml", 'args: ["--old=1"]', 'args: ["--new=1"]'),
        ("a.json", '"rate(steersman_old_seconds_sum)"', '"rate(steersman_new_seconds_sum)"'),
        ("pyproject.toml", '"steersman[webhooks]>=1"', '"steersman[tls]>=1"'),
        ("requirements.txt", "steersman[cli, webhooks,tls]", "steersman[cli,tls]"),
    ],
)
def test_an_old_name_in_a_text_is_replaced(path: str, before: str, after: str) -> None:
    assert renamed(before, path) == after


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "steersman.testings, my.steersman.testing, steersman.testing-x, testing.World"),
        ("a.md", "https://example.com/steersman.testing/ and me@steersman.testing"),
        ("a.md", "```python\nfrom mine import World\n\nWorld()\n```\n"),
        ("Makefile", "\tkubectl get --old\n\tsteersman dev --older ---old\n"),
        ("Makefile", "\tbeststeersman --old"),
        ("a.txt", "my_steersman_old_seconds steersman_old_seconds_ago"),
        ("pyproject.toml", '"other[webhooks]", "steersman[cli, dev]"'),
    ],
)
def test_a_text_that_only_resembles_an_old_name_is_kept(path: str, text: str) -> None:
    assert renamed(text, path) == text
