"""Pod control, which executes the planned steps for a StatefulSet and records events.

The steps concern the StatefulSet's Pods and PersistentVolumeClaims.
"""

from typing import Any

from steersman.client import MergePatch
from steersman.controller import Context
from steersman.errors import AlreadyExists, SteersmanError
from steersman.kinds import apps_v1, core_v1, replace
from steersman_cluster.workloads.api_errors import error_message, is_namespace_terminating
from steersman_cluster.workloads.revisions import template_of
from steersman_cluster.workloads.statefulsets.identity import (
    POD_INDEX_LABEL,
    POD_NAME_LABEL,
    Claim,
    Pod,
    StatefulSet,
    claims_for,
    has_identity,
    has_storage,
    new_pod,
    ordinal_of,
    pod_name,
    spec_of,
    volumes_with_claims,
)
from steersman_cluster.workloads.statefulsets.plan import (
    CreateClaims,
    CreatePod,
    DeletePod,
    RepairPod,
    Step,
    UpdateClaimOwners,
)
from steersman_cluster.workloads.statefulsets.retention import (
    belongs_to_earlier_pod,
    corrected_references,
    deletes_when_scaled,
    has_other_controller,
    initial_references,
)
from steersman_cluster.workloads.status_writer import plain


class StatefulPodControl:
    """An executor for the planned steps of one reconcile of a StatefulSet."""

    def __init__(
        self,
        owner: StatefulSet,
        ctx: Context,
        *,
        current: apps_v1.ControllerRevision,
        update: apps_v1.ControllerRevision,
    ) -> None:
        self._owner = owner
        self._ctx = ctx
        self._current = current
        self._update = update

    async def execute(self, step: Step) -> None:
        """Execute ``step``.

        If the API server rejects a request, record an event and raise the error.
        """
        match step:
            case CreatePod():
                await self._create(step)
            case DeletePod(pod=pod):
                await self._delete(pod)
            case CreateClaims(pod=pod):
                await self._fill_claims(ordinal_of(pod), pod.name)
                await self._own_claims(pod)
            case RepairPod(pod=pod):
                await self._repair(pod)
            case UpdateClaimOwners(pod=pod):
                await self._own_claims(pod)

    # Pods

    async def _create(self, step: CreatePod) -> None:
        name = pod_name(self._owner.name, step.ordinal)
        if deletes_when_scaled(self._owner) and self._has_left_over(step.ordinal, name):
            return  # its deletion triggers the next reconcile
        revision = self._current if step.is_current else self._update
        template = template_of(revision) if step.is_current else spec_of(self._owner).template
        pod = new_pod(self._owner, template, ordinal=step.ordinal, revision=revision.name)
        if not await self._has_claims(step.ordinal, name):
            return  # the deletion of one triggers the next reconcile
        try:
            await self._ctx.create_owned(pod)
        except AlreadyExists:
            raise  # it has another owner, or is not in the cache yet: no event
        except SteersmanError as error:
            self._failed("Create", name, error)
            raise
        self._succeeded("Create", name)

    async def _delete(self, pod: Pod) -> None:
        try:
            await self._ctx.delete(pod)
        except SteersmanError as error:
            self._failed("Delete", pod.name, error)
            raise
        self._succeeded("Delete", pod.name)

    async def _repair(self, pod: Pod) -> None:
        patch: dict[str, Any] = {}
        if not has_identity(pod):
            labels = {POD_NAME_LABEL: pod.name, POD_INDEX_LABEL: str(ordinal_of(pod))}
            patch["metadata"] = {"labels": labels}
        try:
            if not has_storage(self._owner, pod):
                # The server rejects it for a running Pod, and an event says what is wrong.
                volumes = (pod.spec.volumes if pod.spec is not None else None) or ()
                wanted = volumes_with_claims(self._owner, ordinal_of(pod), volumes)
                patch["spec"] = {"volumes": [plain(each) for each in wanted]}
                await self._fill_claims(ordinal_of(pod), pod.name)
            is_changed = await self._own_claims(pod)
            if patch:
                await self._ctx.patch(pod, MergePatch(patch))
        except SteersmanError as error:
            self._failed("Update", pod.name, error)
            raise
        if patch or is_changed:
            self._succeeded("Update", pod.name)

    # Claims

    async def _has_claims(self, ordinal: int, pod: str) -> bool:
        """Create the missing PersistentVolumeClaims of a new Pod, and return whether all claims of
        the Pod are usable now.
        """
        for claim in claims_for(self._owner, ordinal):
            there = self._claim(claim.name)
            if there is None:
                try:
                    await self._create_claim(claim, pod)
                except SteersmanError as error:
                    self._failed("Create", pod, error, f"failed to create PVC {claim.name}: ")
                    raise
            elif there.deletion_time is not None:
                self._failed("Create", pod, None, f"pvc {claim.name} is being deleted")
                return False
        return True

    async def _fill_claims(self, ordinal: int, pod: str) -> None:
        """Create the missing PersistentVolumeClaims of an existing Pod.

        A claim that is still terminating is skipped; its deletion causes another reconcile.
        """
        for claim in claims_for(self._owner, ordinal):
            if self._claim(claim.name) is None:
                await self._create_claim(claim, pod)

    async def _create_claim(self, claim: Claim, pod: str) -> None:
        about = f"Pod {pod} in StatefulSet {self._owner.name}"
        references = initial_references(self._owner) or None
        metadata = replace(claim.metadata, owner_references=references)
        try:
            await self._ctx.create(replace(claim, metadata=metadata))
        except AlreadyExists:
            return  # created by a request whose response was lost
        except SteersmanError as error:
            if not is_namespace_terminating(error):
                note = f"Create Claim {claim.name} for {about} failed error: {error_message(error)}"
                self._ctx.record("FailedCreate", note, type="Warning")
            raise
        self._ctx.record("SuccessfulCreate", f"Create Claim {claim.name} {about} success")

    async def _own_claims(self, pod: Pod) -> bool:
        """Set the owners of a Pod's claims by the retention policy, and return whether any has
        changed.
        """
        is_changed = False
        for wanted in claims_for(self._owner, ordinal_of(pod)):
            claim = self._claim(wanted.name)
            if claim is None:
                continue
            references = corrected_references(claim, self._owner, pod)
            if references is None:
                continue
            if has_other_controller(claim, self._owner, pod):
                self._ctx.record(
                    "ConflictingController",
                    f"PersistentVolumeClaim {claim.name} has a conflicting OwnerReference that"
                    f" acts as a manging controller, the retention policy is ignored for this"
                    f" claim",
                    type="Warning",
                )
            # With the version, because a list is replaced as a whole.
            version = claim.resource_version
            owners = [plain(each) for each in references]
            metadata = {"ownerReferences": owners, "resourceVersion": version}
            await self._ctx.patch(claim, MergePatch({"metadata": metadata}))
            is_changed = True
        return is_changed

    def _has_left_over(self, ordinal: int, name: str) -> bool:
        claims = (self._claim(each.name) for each in claims_for(self._owner, ordinal))
        return any(each is not None and belongs_to_earlier_pod(each, name) for each in claims)

    def _claim(self, name: str) -> Claim | None:
        return self._ctx.get(core_v1.PersistentVolumeClaim, name)

    # Events

    def _succeeded(self, verb: str, pod: str) -> None:
        note = f"{verb} Pod {pod} in StatefulSet {self._owner.name} successful"
        self._ctx.record(f"Successful{verb}", note)

    def _failed(self, verb: str, pod: str, error: SteersmanError | None, why: str = "") -> None:
        if error is not None and is_namespace_terminating(error):
            return  # the namespace is being deleted: no event
        what = why if error is None else f"{why}{error_message(error)}"
        note = f"{verb} Pod {pod} in StatefulSet {self._owner.name} failed error: {what}"
        self._ctx.record(f"Failed{verb}", note, type="Warning")
