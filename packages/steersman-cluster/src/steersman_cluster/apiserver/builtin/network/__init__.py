"""Kinds of the cluster's network: Services, endpoints, Ingresses, NetworkPolicies.

Takes:     objects of these kinds, and the free addresses and ports
Gives:     their rules, and addresses and ports for Services
Promises:  - an allocation takes effect only when the service is stored
           - an update with the same manifest keeps the allocations
           - the address of a service is immutable
Never:     sends traffic, or listens to a port
"""

__all__: list[str] = []
