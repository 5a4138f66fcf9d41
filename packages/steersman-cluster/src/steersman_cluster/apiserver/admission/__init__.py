"""Admission control by webhooks and policies, before an object is written.

Takes:     a write on its way into the store, and its user
Gives:     the object as webhooks want it to be, or the refusal that one of them asks for
Promises:  - each webhook sees what those before it have changed
           - what one webhook changes is shown once more to those that ask for it
           - a webhook that has side effects is never asked by a dry run
           - a webhook that fails refuses the write unless it says that it may be ignored
           - the configurations of webhooks and policies are exempt from admission
           - a server without webhooks makes no calls
Never:     sends anything itself, writes to the store, or decides who may ask

``chain`` is what the handlers use; ``webhook_dispatcher`` goes from webhook to webhook, with
``matcher``, ``admission_reviews`` and ``webhook_patches``, none of which knows the server.
"""

from steersman_cluster.apiserver.admission.chain import Admission

__all__ = ["Admission"]
