"""One request of the client: its path and body, its deadline and retries, and its response.

Takes:     a ``RequestSpec``; a transport, a clock and randomness
Gives:     decoded objects and lists, or the error for a response that is not a success
Promises:  - a call ends by its deadline
           - no request that could write twice is sent again
           - retries add at most a tenth to the load
Never:     knows a verb's options, or decides what to do after an error
"""

__all__: list[str] = []  # steersman.client exports the public names
