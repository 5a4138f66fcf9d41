"""Services: their defaults, their updates, and invalid ones."""

from collections.abc import Iterator
from ipaddress import IPv4Address
from typing import Any

from tests.recorded.builtin_rules.cases import Case, Object

PORT: Object = {"port": 80}


def service(says: str, /, *, annotations: dict[str, str] | None = None, **spec: Any) -> Case:
    metadata: Object = {"name": "web"}
    if annotations:
        metadata["annotations"] = annotations
    spec.setdefault("ports", [dict(PORT)])
    return Case(says=says, plural="services", body={"metadata": metadata, "spec": spec})


def changed(says: str, before: Object, change: Object, *, subresource: str = "") -> Case:
    """An existing Service, and a PUT that changes its spec or its status."""
    body = {"metadata": {"name": "web"}, "spec": {"ports": [dict(PORT)], **before}}
    patch = {"status": change} if subresource else {"spec": change}
    return Case(says=says, plural="services", body=body, change=patch, subresource=subresource)


def really(says: str, *, beside: tuple[Object, ...] = (), **spec: Any) -> Case:
    spec.setdefault("ports", [dict(PORT)])
    body = {"metadata": {"name": "web"}, "spec": spec}
    return Case(says=says, plural="services", body=body, for_real=True, beside=beside)


def other(**spec: Any) -> Object:
    spec.setdefault("ports", [dict(PORT)])
    return {"metadata": {"name": "other"}, "spec": spec}


def service_cases() -> Iterator[Case]:
    yield from _plain()
    yield from _ports()
    yield from _addresses()
    yield from _types()
    yield from _affinity_and_policies()
    yield from _allocation()
    yield from _changes()
    yield from _type_changes()
    yield from _statuses()


def _plain() -> Iterator[Case]:
    yield service("the least there is")
    yield service("without a port", ports=[])
    yield Case(says="without a spec", plural="services", body={"metadata": {"name": "web"}})
    yield service("with a selector", selector={"app": "web"})
    yield service("with a broken selector key", selector={"a b": "c"})
    yield service("with a broken selector value", selector={"a": "!"})
    yield service("with an empty selector", selector={})
    yield service(
        "with topology annotations that agree",
        annotations={
            "service.kubernetes.io/topology-aware-hints": "auto",
            "service.kubernetes.io/topology-mode": "auto",
        },
    )
    yield service(
        "with topology annotations that differ",
        annotations={
            "service.kubernetes.io/topology-aware-hints": "auto",
            "service.kubernetes.io/topology-mode": "other",
        },
    )
    for name in ("1st", "Web", "a.b", "a" * 63, "a" * 64, "-a", "a_b"):
        body = {"metadata": {"name": name}, "spec": {"ports": [dict(PORT)]}}
        yield Case(says=f"named {name}", plural="services", body=body)


def _ports() -> Iterator[Case]:
    yield service("with two ports of which one has no name", ports=[PORT, {"port": 81}])
    two = [{"port": 80, "name": "a"}, {"port": 81, "name": "b"}]
    yield service("with two named ports", ports=two)
    yield service("with one name twice", ports=[{**two[0]}, {**two[1], "name": "a"}])
    yield service("with one number twice", ports=[{**two[0]}, {**two[1], "port": 80}])
    udp = {"port": 80, "name": "c", "protocol": "UDP"}
    yield service("with one number in two protocols", ports=[two[0], udp])
    yield service(
        "with all protocols", ports=[two[0], udp, {**udp, "name": "d", "protocol": "SCTP"}]
    )
    yield service("with an unknown protocol", ports=[{"port": 80, "protocol": "HTTP"}])
    for number in (0, -1, 65535, 65536):
        yield service(f"with port {number}", ports=[{"port": number, "targetPort": 1}])
    yield service("with port 0 and no target", ports=[{"port": 0}])
    for name in ("Upper", "under_score", "a" * 64, "dot.ted", "-dash"):
        yield service(f"with a port named {name}", ports=[{"port": 80, "name": name}])
    for target in (0, 8080, 65536, "", "http", "HTTP", "a--b", "-a", "123", "a" * 16):
        yield service(f"with target {target!r}", ports=[{"port": 80, "targetPort": target}])
    for protocol in ("kubernetes.io/h2c", "http", "bad protocol", "/x"):
        yield service(f"with {protocol!r}", ports=[{"port": 80, "appProtocol": protocol}])
    yield service("with a node port it cannot have", ports=[{"port": 80, "nodePort": 30001}])
    twice = [
        {"port": 80, "name": "a", "nodePort": 30011},
        {"port": 81, "name": "b", "nodePort": 30011},
    ]
    yield service("with one node port twice and no use for it", ports=twice)


def _addresses() -> Iterator[Case]:
    yield service("headless", clusterIP="None")
    yield service("headless with a selector", clusterIP="None", selector={"a": "b"})
    yield service("headless without ports", clusterIP="None", ports=[])
    yield service("headless in a list only", clusterIPs=["None"])
    yield service("headless and not", clusterIP="None", clusterIPs=["None", "10.0.0.9"])
    yield service("with an address in the range", clusterIP="10.0.44.1")
    yield really("with an address outside", clusterIP="192.168.0.1")
    yield service("with an address of another family", clusterIP="fd00::1")
    yield service("with no address at all", clusterIP="web")
    yield service("with leading zeros", clusterIP="10.0.044.1")
    yield service("with a mapped address", clusterIP="::ffff:10.0.0.9")
    yield service("with an address in a list only", clusterIPs=["10.0.44.1"])
    yield service("with two that differ", clusterIP="10.0.44.1", clusterIPs=["10.0.44.2"])
    yield service(
        "with two of a family", clusterIP="10.0.44.1", clusterIPs=["10.0.44.1", "10.0.44.2"]
    )
    yield service(
        "with two of two families", clusterIP="10.0.44.1", clusterIPs=["10.0.44.1", "fd00::1"]
    )
    three = ["10.0.44.1", "fd00::1", "10.0.44.2"]
    yield service("with three", clusterIP="10.0.44.1", clusterIPs=three)
    for families in (["IPv4"], ["IPv6"], ["IPv4", "IPv6"], ["IPv4", "IPv4"], ["IPX"]):
        yield service(f"of families {'+'.join(families)}", ipFamilies=families)
        yield service(f"headless, of {'+'.join(families)}", clusterIP="None", ipFamilies=families)
    for policy in ("SingleStack", "PreferDualStack", "RequireDualStack", "Any"):
        yield service(f"by policy {policy}", ipFamilyPolicy=policy)
        yield service(f"headless, by {policy}", clusterIP="None", ipFamilyPolicy=policy)
    yield service("of a family unlike its address", clusterIP="10.0.44.1", ipFamilies=["IPv6"])
    yield service(
        "single by policy and not by families",
        ipFamilyPolicy="SingleStack",
        ipFamilies=["IPv4", "IPv6"],
    )
    nowhere = str(IPv4Address(0))
    for address in ("1.2.3.4", "127.0.0.1", nowhere, "169.254.1.1", "224.0.0.9", "x", "01.2.3.4"):
        yield service(f"with external address {address}", externalIPs=[address])


def _types() -> Iterator[Case]:
    yield service("of an unknown type", type="Other")
    yield service("external without a name", type="ExternalName")
    yield service("external", type="ExternalName", externalName="example.com", ports=[])
    yield service("external with a dot", type="ExternalName", externalName="example.com.")
    yield service("external with a bad name", type="ExternalName", externalName="ex ample")
    yield service(
        "external with an address", type="ExternalName", externalName="x.y", clusterIP="10.0.44.1"
    )
    yield service(
        "external but headless", type="ExternalName", externalName="x.y", clusterIP="None"
    )
    yield service(
        "external with families",
        type="ExternalName",
        externalName="x.y",
        ipFamilies=["IPv4"],
        ipFamilyPolicy="SingleStack",
    )
    yield service(
        "external with addresses", type="ExternalName", externalName="x.y", externalIPs=["1.2.3.4"]
    )
    yield service("plain with an external name", externalName="x.y")
    yield service("on node ports", type="NodePort")
    yield service("on node ports, headless", type="NodePort", clusterIP="None")
    yield service("balanced", type="LoadBalancer")
    yield service("balanced, headless", type="LoadBalancer", clusterIP="None")
    yield service(
        "balanced without node ports", type="LoadBalancer", allocateLoadBalancerNodePorts=False
    )
    yield service("plain, and says no to node ports", allocateLoadBalancerNodePorts=False)
    yield service("balanced by a class", type="LoadBalancer", loadBalancerClass="example.com/x")
    yield service("balanced by a bad class", type="LoadBalancer", loadBalancerClass="a b")
    yield service("plain with a class", loadBalancerClass="example.com/x")
    for ranges in (["10.0.0.0/8"], ["10.0.0.1/8"], [" 10.0.0.0/8 "], ["x"], ["010.0.0.0/8"]):
        yield service(
            f"balanced for {ranges}", type="LoadBalancer", loadBalancerSourceRanges=ranges
        )
    yield service("plain for ranges", loadBalancerSourceRanges=["10.0.0.0/8"])
    key = "service.beta.kubernetes.io/load-balancer-source-ranges"
    for value in ("10.0.0.0/8, 11.0.0.0/8", "x", ""):
        yield service(
            f"balanced, annotated for {value!r}", type="LoadBalancer", annotations={key: value}
        )
    yield service("plain, annotated for ranges", annotations={key: "10.0.0.0/8"})


def _affinity_and_policies() -> Iterator[Case]:
    for affinity in ("None", "ClientIP", "Other"):
        yield service(f"with affinity {affinity}", sessionAffinity=affinity)
    for seconds in (0, 1, 86400, 86401):
        config = {"clientIP": {"timeoutSeconds": seconds}}
        yield service(
            f"with affinity for {seconds} s",
            sessionAffinity="ClientIP",
            sessionAffinityConfig=config,
        )
    yield service(
        "with affinity and half a configuration",
        sessionAffinity="ClientIP",
        sessionAffinityConfig={},
    )
    yield service(
        "with a configuration of no affinity",
        sessionAffinityConfig={"clientIP": {"timeoutSeconds": 5}},
    )
    yield service("with affinity, headless", sessionAffinity="ClientIP", clusterIP="None")
    for policy in ("Cluster", "Local", "Other"):
        yield service(f"with internal policy {policy}", internalTrafficPolicy=policy)
        yield service(f"with external policy {policy}", externalTrafficPolicy=policy)
        yield service(
            f"on node ports with external policy {policy}",
            type="NodePort",
            externalTrafficPolicy=policy,
        )
        yield service(
            f"balanced with external policy {policy}",
            type="LoadBalancer",
            externalTrafficPolicy=policy,
        )
    yield service("with a health check port for nothing", healthCheckNodePort=30001)
    for choice in ("PreferClose", "PreferSameZone", "PreferSameNode", "Other"):
        yield service(f"distributed {choice}", trafficDistribution=choice)
    yield service("reachable by publishing early", publishNotReadyAddresses=True)


def _allocation() -> Iterator[Case]:
    taken = other(type="NodePort", clusterIP="10.0.44.7", ports=[{"port": 80, "nodePort": 30123}])
    yield really("with an address that is taken", beside=(taken,), clusterIP="10.0.44.7")
    yield really(
        "with a node port that is taken",
        beside=(taken,),
        type="NodePort",
        ports=[{"port": 80, "nodePort": 30123}],
    )
    yield really(
        "with a health check port that is taken",
        beside=(taken,),
        type="LoadBalancer",
        externalTrafficPolicy="Local",
        healthCheckNodePort=30123,
    )
    yield really(
        "with a node port beside another's",
        beside=(taken,),
        type="NodePort",
        ports=[{"port": 80, "nodePort": 30124}],
    )
    yield really("with the network's own address", clusterIP="10.0.0.0")
    yield really("with the last address", clusterIP="10.0.255.255")
    yield really("with the address of the server", clusterIP="10.0.0.1")
    for port in (1, 29999, 30000, 32767, 32768):
        yield really(
            f"on node port {port}", type="NodePort", ports=[{"port": 80, "nodePort": port}]
        )
    yield really(
        "with one node port for two protocols",
        type="NodePort",
        ports=[
            {"port": 53, "name": "a", "nodePort": 30053},
            {"port": 53, "name": "b", "protocol": "UDP", "nodePort": 30053},
        ],
    )
    yield really(
        "with a node port for one of two protocols",
        type="NodePort",
        ports=[
            {"port": 53, "name": "a"},
            {"port": 53, "name": "b", "protocol": "UDP", "nodePort": 30054},
        ],
    )
    yield really(
        "with one node port for two numbers",
        type="NodePort",
        ports=[
            {"port": 53, "name": "a", "nodePort": 30055},
            {"port": 54, "name": "b", "nodePort": 30055},
        ],
    )
    yield really(
        "balanced with a health check port of its choice",
        type="LoadBalancer",
        externalTrafficPolicy="Local",
        healthCheckNodePort=30056,
    )
    yield really(
        "balanced with a health check port out of range",
        type="LoadBalancer",
        externalTrafficPolicy="Local",
        healthCheckNodePort=80,
    )
    yield really(
        "balanced with one port for both",
        type="LoadBalancer",
        externalTrafficPolicy="Local",
        healthCheckNodePort=30057,
        ports=[{"port": 80, "nodePort": 30057}],
    )


def _changes() -> Iterator[Case]:
    mine: Object = {"clusterIP": "10.0.44.9"}
    yield changed("to nothing else", mine, {})
    yield changed("without its address", mine, {"clusterIP": None, "clusterIPs": None})
    yield changed("without the first address", mine, {"clusterIP": None})
    yield changed("without the list of addresses", mine, {"clusterIPs": None})
    yield changed("to another address", mine, {"clusterIP": "10.0.44.10"})
    yield changed("to another list", mine, {"clusterIPs": ["10.0.44.10"]})
    yield changed(
        "to another address in both",
        mine,
        {"clusterIP": "10.0.44.10", "clusterIPs": ["10.0.44.10"]},
    )
    yield changed("to headless", mine, {"clusterIP": "None", "clusterIPs": ["None"]})
    yield changed("to one more address", mine, {"clusterIPs": ["10.0.44.9", "fd00::9"]})
    yield changed("to another family", mine, {"ipFamilies": ["IPv6"]})
    yield changed("to two families", mine, {"ipFamilies": ["IPv4", "IPv6"]})
    yield changed("without families", mine, {"ipFamilies": None, "ipFamilyPolicy": None})
    yield changed("to a preference for two", mine, {"ipFamilyPolicy": "PreferDualStack"})
    yield changed("to a need for two", mine, {"ipFamilyPolicy": "RequireDualStack"})
    headless: Object = {"clusterIP": "None"}
    yield changed("headless to one family", headless, {"ipFamilyPolicy": "SingleStack"})
    yield changed("headless to fewer families", headless, {"ipFamilies": ["IPv4"]})
    yield changed(
        "headless to an address", headless, {"clusterIP": "10.0.44.9", "clusterIPs": ["10.0.44.9"]}
    )
    yield changed(
        "headless without a word of it", headless, {"clusterIP": None, "clusterIPs": None}
    )
    yield changed("to other ports", mine, {"ports": [{"port": 81}]})
    yield changed("to no ports", mine, {"ports": []})
    yield changed("to another selector", mine, {"selector": {"a": "b"}})
    yield changed("to affinity", mine, {"sessionAffinity": "ClientIP"})


def _type_changes() -> Iterator[Case]:
    plain: Object = {"clusterIP": "10.0.44.9"}
    node: Object = {**plain, "type": "NodePort", "ports": [{"port": 80, "nodePort": 30201}]}
    balanced: Object = {**node, "type": "LoadBalancer", "loadBalancerClass": "example.com/x"}
    local: Object = {**balanced, "externalTrafficPolicy": "Local", "healthCheckNodePort": 30202}
    external: Object = {"type": "ExternalName", "externalName": "x.y"}
    yield changed("plain to node ports", plain, {"type": "NodePort"})
    yield changed("plain to external", plain, external)
    yield changed(
        "plain to external, keeping the address", plain, {**external, "clusterIP": "10.0.44.10"}
    )
    yield changed("external to plain", external, {"type": "ClusterIP", "externalName": None})
    yield changed(
        "external to plain, headless", external, {"type": "ClusterIP", "clusterIP": "None"}
    )
    yield changed(
        "external to plain by address", external, {"type": "ClusterIP", "clusterIP": "10.0.44.9"}
    )
    yield changed("node ports to plain", node, {"type": "ClusterIP"})
    yield changed(
        "node ports to plain with another port",
        node,
        {"type": "ClusterIP", "ports": [{"port": 80, "nodePort": 30203}]},
    )
    yield changed("node ports to balanced", node, {"type": "LoadBalancer"})
    yield changed("node ports to external", node, external)
    yield changed("node ports without their numbers", node, {"ports": [{"port": 80}]})
    yield changed("node ports to other numbers", node, {"ports": [{"port": 80, "nodePort": 30204}]})
    yield changed(
        "node ports to one more",
        node,
        {"ports": [{"port": 80, "name": "a", "nodePort": 30201}, {"port": 81, "name": "b"}]},
    )
    yield changed("balanced to plain", balanced, {"type": "ClusterIP"})
    yield changed("balanced to node ports", balanced, {"type": "NodePort"})
    yield changed("balanced by another class", balanced, {"loadBalancerClass": "example.com/y"})
    yield changed("balanced by no class", balanced, {"loadBalancerClass": None})
    yield changed("balanced to external", balanced, external)
    yield changed("balanced and local to plain", local, {"type": "ClusterIP"})
    yield changed("balanced and local to everywhere", local, {"externalTrafficPolicy": "Cluster"})
    yield changed("local without its health check port", local, {"healthCheckNodePort": None})
    yield changed("local with another health check port", local, {"healthCheckNodePort": 30205})
    yield changed(
        "balanced to plain, still without node ports",
        {**plain, "type": "LoadBalancer", "allocateLoadBalancerNodePorts": False},
        {"type": "ClusterIP"},
    )
    yield changed(
        "plain with addresses to none", {**plain, "externalIPs": ["1.2.3.4"]}, {"externalIPs": None}
    )


def _statuses() -> Iterator[Case]:
    balanced: Object = {"clusterIP": "10.0.44.9", "type": "LoadBalancer"}

    def points(*ingress: Object) -> Object:
        return {"loadBalancer": {"ingress": list(ingress)}}

    for says, point in (
        ("an address", {"ip": "1.2.3.4"}),
        ("a proxied address", {"ip": "1.2.3.4", "ipMode": "Proxy"}),
        ("an address in an unknown mode", {"ip": "1.2.3.4", "ipMode": "Other"}),
        ("no address", {"ip": "x"}),
        ("a hostname", {"hostname": "example.com"}),
        ("a hostname with a mode", {"hostname": "example.com", "ipMode": "VIP"}),
        ("a hostname that is an address", {"hostname": "1.2.3.4"}),
        ("a bad hostname", {"hostname": "a b"}),
    ):
        yield changed(f"reported at {says}", balanced, points(point), subresource="status")
    yield changed("plain, reported", {}, points({"ip": "1.2.3.4"}), subresource="status")
