"""Tests that compare steersman with what the real server responded to the same requests.

Takes:     test modules whose cases send requests to the real server through the fixture ``real``,
           and ``--real-responses``: ``replay``, ``verify`` or ``record``
Gives:     recordings, one file per module, next to the modules; and their cases in ``make test``
Promises:  - a case with other requests than its recording fails
           - a case without a recording fails
           - a recording without a case fails
           - two recordings of the same cases have the same bytes
Never:     starts or asks a real server in replay

``replay`` is the default and needs only Python: the real server is the recording. ``verify`` sends
each request to a real kube-apiserver and fails if a recording is out of date; ``make test-real``
runs it. ``record`` writes the recordings; ``make record`` runs it. Review the difference with
``git diff`` after ``git config diff.recordings.textconv zcat``.

A response is recorded after ``canonical`` has replaced what differs on each run: UIDs, resource
versions, times, generated names, and allocated addresses and ports. Equal values are replaced by
equal values in all exchanges of a case. A value that the case itself sent first is unchanged.

A case is a test that requests ``real``, directly or through another fixture. Fixtures of a module
record what they send under their own name. A case whose requests depend on time, for example
because it waits, uses ``RecordedCaller.call_until``: only the last response is recorded.
"""
