"""Kinds of the cluster's network: Services, endpoints, Ingresses, NetworkPolicies.

Takes:     objects of these kinds, and the addresses and ports that are left
Gives:     their rules, and addresses and ports for Services
Promises:  - what a service was given is taken only once it is stored
           - the same manifest again keeps what was given
           - an address does not change
Never:     sends or listens to anything
"""

__all__: list[str] = []
