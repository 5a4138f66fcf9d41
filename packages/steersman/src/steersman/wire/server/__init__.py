"""The HTTP listener of servers: it reads requests, calls a handler, and writes the replies.

Takes:     an address, certificates, and a handler
Gives:     a listener that accepts connections while its block runs
Promises:  - a stream is closed when its client disconnects
           - a listener with open streams ends immediately
           - a changed certificate is used for the next connection
Never:     decides who may send a request: the handler does
"""

__all__: list[str] = []  # steersman.wire exports the public names
