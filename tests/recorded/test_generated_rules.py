"""Objects with every error that a rule can report get the errors of the real API server."""

from collections.abc import Iterator

import pytest

from tests.recorded.builtin_rules.cases import Case, placed
from tests.recorded.builtin_rules.comparison import RealServer, comparable, steersman_result
from tests.recorded.builtin_rules.generated_cases import generated_cases
from tests.recorded.module_recording import ModuleRecording, RecordedCaller


@pytest.fixture(scope="module")
def api(real: ModuleRecording) -> Iterator[RecordedCaller]:
    with real.caller() as api:
        yield api


@pytest.fixture(scope="module")
def case_namespace(real: ModuleRecording) -> Iterator[str]:
    """One namespace for all cases: no case changes it."""
    with real.namespace() as name:
        yield name


@pytest.mark.parametrize("case", [*generated_cases()], ids=str)
def test_a_generated_object_gets_the_errors_of_the_real_server(
    case: Case, api: RecordedCaller, case_namespace: str
) -> None:
    case = placed(case, case_namespace)
    server = RealServer(api, case, case_namespace)

    expected = server.response()
    actual = steersman_result(case, server.old, server.beside, case_namespace)

    assert comparable(actual, case, server.old) == comparable(expected, case, server.old)
