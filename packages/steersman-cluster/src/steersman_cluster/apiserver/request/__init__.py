"""Requests and replies: request info, options, content negotiation, response encoders.

Takes:     a request: its path and query, its headers, its body
Gives:     what it asks for, its options, the object or patch in its body; replies in JSON or YAML
Promises:  - a body is in the language that its header names
           - list options that contradict each other are refused
           - each warning is said once and cannot break its header
Never:     reads or writes the store, or decides who may ask

``request_info`` is where each request begins.
"""

from steersman_cluster.apiserver.request.request_info import RequestInfo, parse_request_info

__all__ = ["RequestInfo", "parse_request_info"]
