"""The kubectl commands in the pages print the output in the pages."""

import os
from pathlib import Path

import pytest

from steersman_cluster.testing import Program, find_binaries
from tools.sessions import DOCS, Typed, acts, follow, pages_with_sessions

PAGES = [
    page
    for page in pages_with_sessions()
    if any(isinstance(act, Typed) and act.is_for_kubectl for act in acts(page))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_kubectl_commands_of_a_page_print_the_pages_output(page: Path) -> None:
    kubectl = find_binaries(environ=os.environ).path(Program.KUBECTL)

    done = list(follow(page, kubectl=kubectl))

    assert len(done) == len(list(acts(page)))
