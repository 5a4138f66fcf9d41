"""Requests and responses: request info, options, content negotiation, response encoders.

Takes:     a request: its path and query, its headers, its body
Gives:     its request info and options; response encoders and responses in JSON, YAML or protobuf
Promises:  - the content-type header determines the body type
           - contradictory list options are rejected
           - each warning is sent once and escaped
Never:     reads or writes the store, or authorizes a request

The handling of a request starts with ``request_info``.
"""

from steersman_cluster.apiserver.request.request_info import RequestInfo, parse_request_info

__all__ = ["RequestInfo", "parse_request_info"]
