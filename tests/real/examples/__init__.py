"""Each example end to end: what its document types, on the real cluster and on the embedded one."""
