"""The client's transport: connections to a server, kept in a pool and used again.

Takes:     a ``Request``, and a function that guards it immediately before it is sent
Gives:     a ``Response``, held open while its body is read
Promises:  - a request is sent at most once
           - a request whose guard raises is not sent
           - redirects are not followed
           - a connection is used again for the next request
Never:     retries a request, or reads a proxy from the environment
"""

__all__: list[str] = []  # steersman.wire exports the public names
