"""Programs with the names and flags of kube-apiserver and etcd, for envtest to start.

Takes:     the flags of kube-apiserver 1.36 and of etcd 3.6
Gives:     the embedded server at the address, and with the keys and users, that the flags name
Promises:  - a flag that the real program has not is refused as the real one does
           - a flag that changes nothing here is accepted and mentioned on stderr
           - a kube-apiserver that is started again finds its objects again
           - a signal ends them at once
Never:     needs click, or loads the server to print its help
"""

from steersman_cluster.commands.launchers.flags import BadFlag, ParsedFlags, parsed

__all__ = ["BadFlag", "ParsedFlags", "parsed"]
