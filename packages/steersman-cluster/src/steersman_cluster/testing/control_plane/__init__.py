"""Control planes that a test starts: real ones, and the embedded API server in a process.

Takes:     the programs of a control plane, from ``$KUBEBUILDER_ASSETS`` or built from Go modules
Gives:     a running ``RealControlPlane`` or ``EmbeddedControlPlane``: its URL, kubeconfig and users
Promises:  - the block is entered once the API server is ready
           - clients verify the certificate of the API server
           - each start has its own keys and tokens, readable only by the user
           - nothing is left when the block ends, or the process is killed
           - a program in the cache is complete, even if a build was killed
           - only requested programs must exist
Never:     listens beyond loopback, or builds during a test
"""

__all__: list[str] = []  # steersman_cluster.testing exports the public names
