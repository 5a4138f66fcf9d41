"""Built-in rules give the same objects and errors as on the real API server."""

from collections.abc import Iterator

import pytest

from tests.recorded.builtin_rules.cases import Case, placed
from tests.recorded.builtin_rules.cluster_cases import cluster_cases
from tests.recorded.builtin_rules.comparison import RealServer, comparable, steersman_result
from tests.recorded.builtin_rules.data_cases import data_cases
from tests.recorded.builtin_rules.invalid_cases import invalid_cases
from tests.recorded.builtin_rules.limit_cases import limit_cases
from tests.recorded.builtin_rules.other_cases import other_cases
from tests.recorded.builtin_rules.pod_status_cases import pod_status_cases
from tests.recorded.builtin_rules.sample_cases import sample_cases
from tests.recorded.builtin_rules.service_cases import service_cases
from tests.recorded.module_recording import ModuleRecording, RecordedCaller
from tests.unit.apiserver.builtin.kind_handler import KindHandler

SAMPLES = [*sample_cases()]
CASES = [
    *service_cases(),
    *data_cases(),
    *other_cases(),
    *cluster_cases(),
    *invalid_cases(),
    *limit_cases(),
    *pod_status_cases(),
    *SAMPLES,
]


@pytest.fixture(scope="module")
def api(real: ModuleRecording) -> Iterator[RecordedCaller]:
    with real.caller() as api:
        yield api


@pytest.fixture(scope="module")
def case_namespace(real: ModuleRecording) -> Iterator[str]:
    """One namespace for all cases: no case changes it."""
    with real.namespace() as name:
        yield name


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_builtin_rule_gives_the_result_of_the_real_server(
    case: Case, api: RecordedCaller, case_namespace: str
) -> None:
    case = placed(case, case_namespace)
    server = RealServer(api, case, case_namespace)

    expected = server.response()
    actual = steersman_result(case, server.old, server.beside, case_namespace)

    assert comparable(actual, case, server.old) == comparable(expected, case, server.old)


@pytest.mark.parametrize("case", SAMPLES, ids=str)
def test_the_table_has_the_update_and_delete_strategy_of_each_kind(
    case: Case, api: RecordedCaller, case_namespace: str
) -> None:
    case = placed(case, case_namespace)
    rules = KindHandler(case.api_version, case.plural).strategy

    with RealServer(api, case, case_namespace).stored_object() as server:
        unconditional = server.put({"resourceVersion": None})
        created = server.put({"resourceVersion": None, "uid": None, "name": "missing"})
        deleted = server.dry_run_delete()

    is_kept = (
        rules.orphan_by_default
        or rules.begin_deletion is not None
        or "finalizers" in deleted["metadata"]
    )
    assert (unconditional.get("code") != 422) == rules.allow_unconditional_update
    assert (created.get("code") != 404) == rules.allow_create_on_update
    assert (deleted["kind"] != "Status") == (rules.return_deleted_object or is_kept)
