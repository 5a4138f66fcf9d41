"""Admission control by webhooks and policies, before an object is written.

Takes:     a write request before it is stored, with its user
Gives:     the object as mutating webhooks changed it, or the error of a webhook or policy that
           denies the write
Promises:  - each webhook sees what those before it have changed
           - what one webhook changes is shown once more to those that ask for it
           - a webhook that has side effects is never asked by a dry run
           - a webhook that fails refuses the write unless it says that it may be ignored
           - the configurations of webhooks and policies are exempt from admission
           - a server without webhooks makes no calls
Never:     sends requests itself, writes to the store, or decides which user may write

The handlers use ``chain``. ``webhook_dispatcher`` processes one webhook after the other, with
``matcher``, ``admission_reviews`` and ``webhook_patches``. None of these modules imports the
server.
"""

from steersman_cluster.apiserver.admission.chain import Admission

__all__ = ["Admission"]
