"""steersman-cluster: a Kubernetes cluster in one Python process, for development and tests.

Takes:     an operator written with steersman, or any client of Kubernetes
Gives:     an API server, the controllers of built-in kinds, simulated nodes, virtual time, and the
           pytest fixture ``cluster``
Promises:  - requires exactly the steersman of its own version
Never:     is in an operator's image, or imported by steersman itself

The packages, top first; each imports only from those below it, and from steersman:

    commands                 ``steersman cluster``, ``dev`` and ``demo``
    demos · testing          demos of the examples; the pytest plugin and the real control plane
    simulation               virtual time, one seed, faults and crashes
    kubelet                  the simulated kubelet
    apiserver · workloads    the API server; scheduler, nodes and controllers of built-in kinds
    errors                   the errors of all of these
"""

__all__: list[str] = []
