"""The server: a request in, a reply out, over HTTPS or from within the process.

Takes:     requests, as bytes or as ``wire.Request``; the options that kube-apiserver has as flags
Gives:     replies; files with which clients find and trust the server
Promises:  - a crash of one request never harms another
Never:     knows what a verb does to an object

``api_server`` handles a request, ``running_cluster`` listens on a socket.
"""

__all__: list[str] = []
