"""Tests of tests/real that need a newer server are skipped on an older one."""

import pytest

from tests.real.kubernetes_versions import needs_kubernetes, reason_to_skip

MARKS = [needs_kubernetes("1.9", "fine").mark, needs_kubernetes("1.36", "no such kind").mark]


@pytest.mark.parametrize("served", ["1.36", "1.37", "1.100", "2.0"])
def test_a_test_runs_on_the_version_that_it_needs_and_on_newer_ones(served: str) -> None:
    assert reason_to_skip(MARKS, served=served) is None


@pytest.mark.parametrize("served", ["1.35", "1.10", "1.9"])
def test_a_test_is_skipped_on_an_older_version_with_the_reason(served: str) -> None:
    assert reason_to_skip(MARKS, served=served) == "needs Kubernetes 1.36: no such kind"
