"""Before something is written: what others have to say about it.

Takes:     a write on its way into the store, and who wants it
Gives:     the object as webhooks want it to be, or the refusal that one of them asks for
Promises:  - each webhook sees what those before it have changed
           - what one webhook changes is shown once more to those that ask for it
           - a webhook that has side effects is never asked by a dry run
           - a webhook that fails refuses the write unless it says that it may be ignored
           - nobody is asked about the configurations of webhooks and policies
           - a server without webhooks asks nobody
Never:     sends anything itself, writes to the store, or decides who may ask

``chain`` is what the handlers use; ``webhook_dispatcher`` goes from webhook to webhook, with
``matcher``, ``admission_reviews`` and ``webhook_patches``, none of which knows the server.
"""

from steersman_cluster.apiserver.admission.chain import Admission

__all__ = ["Admission"]
