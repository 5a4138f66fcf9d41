"""The API server: handles a request, over HTTPS or from within the process, and replies.

Takes:     requests, as bytes or as ``wire.Request``; options, which are flags in kube-apiserver
Gives:     replies; a kubeconfig and certificates for clients
Promises:  - a crash of one request never harms another
Never:     implements what a verb does to an object

``api_server`` handles a request, ``running_cluster`` listens on a socket.
"""

__all__: list[str] = []
