"""Requests and responses: request info, options, content negotiation, response encoders.

Takes:     a request: its path and query, its headers, its body
Gives:     its request info and options; response encoders and responses in JSON, YAML or protobuf
Promises:  - a body has the media type that its header names
           - list options that contradict each other are refused
           - each warning is sent once and cannot break its header
Never:     reads or writes the store, or authorizes a request

The handling of a request starts with ``request_info``.
"""

from steersman_cluster.apiserver.request.request_info import RequestInfo, parse_request_info

__all__ = ["RequestInfo", "parse_request_info"]
