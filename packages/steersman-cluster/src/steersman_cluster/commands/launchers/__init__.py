"""Programs with the names and flags of kube-apiserver and etcd, for envtest to start.

They run the embedded API server.

Takes:     the flags of kube-apiserver 1.36 and of etcd 3.6
Gives:     the embedded server, with the address, keys and users that the flags name
Promises:  - a flag that the real program lacks is rejected with the same error
           - a flag without an effect is accepted, and mentioned on stderr
           - a restarted kube-apiserver still has its objects
           - a signal ends the programs immediately
Never:     needs click, or loads the server to print its help
"""

from steersman_cluster.commands.launchers.flags import BadFlag, ParsedFlags, parsed

__all__ = ["BadFlag", "ParsedFlags", "parsed"]
