"""Admission control by webhooks and policies, before an object is written.

Takes:     a write request before it is stored, with its user
Gives:     the object as mutating webhooks changed it, or the error of a webhook or policy that
           denies the write
Promises:  - each webhook receives the changes of the earlier webhooks
           - a change by a webhook reinvokes the earlier webhooks with policy IfNeeded
           - a webhook with side effects is never called for a dry run
           - a failing webhook rejects the write unless its failure policy is Ignore
           - the configurations of webhooks and policies are exempt from admission
           - a server without webhooks makes no calls
Never:     sends requests itself, writes to the store, or decides which user may write

The handlers use ``chain``. ``webhook_dispatcher`` processes one webhook after the other, with
``matcher``, ``admission_reviews`` and ``webhook_patches``. None of these modules imports the
server.
"""

from steersman_cluster.apiserver.admission.chain import Admission

__all__ = ["Admission"]
