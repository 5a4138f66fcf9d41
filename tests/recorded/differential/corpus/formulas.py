"""CEL expressions, each of which computes a text from a sample: all functions."""

from tests.recorded.differential.corpus.definitions import NUMBER, a_list, an_object
from tests.recorded.differential.scenario import Json

_TEXT: Json = {"type": "string", "maxLength": 40}

SCHEMA = an_object(
    {
        "text": _TEXT,
        "words": a_list(_TEXT, maxItems=5),
        "numbers": a_list(NUMBER, maxItems=5),
        "ratios": a_list({"type": "number"}, maxItems=5),
        "map": {"type": "object", "maxProperties": 5, "additionalProperties": _TEXT},
        "inner": an_object({"a": NUMBER, "b": NUMBER}),
        "port": {"x-kubernetes-int-or-string": True, "maxLength": 10},
        "date": {"type": "string", "format": "date"},
        "moment": {"type": "string", "format": "date-time"},
        "long": {"type": "string", "format": "duration"},
        "bytes": {"type": "string", "format": "byte", "maxLength": 20},
        "address": _TEXT,
        "block": _TEXT,
        "url": _TEXT,
        "amount": _TEXT,
        "version": _TEXT,
        "set": a_list(_TEXT, maxItems=5, **{"x-kubernetes-list-type": "set"}),
        "keyed": a_list(
            an_object({"name": _TEXT, "n": NUMBER}, required=["name"]),
            maxItems=5,
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
        ),
    }
)

SAMPLE: Json = {
    "text": " Hello, World ",
    "words": ["b", "a", "c"],
    "numbers": [3, 1, 2],
    "ratios": [1.5, 2],
    "map": {"k": "v"},
    "inner": {"a": 7},
    "port": "80%",
    "date": "2024-02-29",
    "moment": "2024-02-29T12:34:56.789+02:00",
    "long": "1h30m",
    "bytes": "aGVsbG8=",
    "address": "10.0.0.1",
    "block": "10.0.0.0/8",
    "url": "https://user@example.com:80/a%20b?x=1",
    "amount": "1500m",
    "version": "1.2.3-rc.1",
    "set": ["x", "y"],
    "keyed": [{"name": "a", "n": 1}, {"name": "b", "n": 2}],
}


def _shown(*expressions: str) -> str:
    """A format expression with each value; a concatenation would exceed the cost limit."""
    places = " ".join("%s" for _ in expressions)
    return f"'{places}'.format([{', '.join(expressions)}])"


FORMULAS = (
    # Strings
    _shown("self.text.trim()", "self.text.upperAscii()", "self.text.lowerAscii()"),
    _shown("self.text.trim().charAt(1)", "self.text.indexOf('o')", "self.text.lastIndexOf('o')"),
    _shown("self.text.indexOf('o', 7)", "self.text.lastIndexOf('o', 7)"),
    _shown("self.text.replace('l', 'L')", "self.text.replace('l', 'L', 1)"),
    _shown("self.text.split(',')", "self.text.split(',').map(x, x.trim())", "'a,b'.split(',', 1)"),
    _shown("self.text.trim().substring(7)", "self.text.trim().substring(0, 5)"),
    "strings.quote(self.text)",
    "'%s has %d and %.2f'.format([self.text.trim(), self.numbers[0], self.ratios[0]])",
    _shown("self.words", "self.map", "self.numbers", "self.ratios"),
    "'%x %X %o %b %e'.format([255, 'a', 8, 5, 1234.5])",
    _shown("self.text.contains('World')", "self.text.startsWith(' ')", "self.text.endsWith('d')"),
    _shown("self.text.matches('^\\\\s*[A-Z][a-z]+, W')", "self.text.find('[A-Z]\\\\w+')"),
    _shown("self.text.findAll('[A-Z]\\\\w+')", "self.text.findAll('o', 1)"),
    _shown("self.text.findAll('l*')", "self.text.find('(?U)H.+l')", "'äöü'.findAll('.')"),
    _shown("'%.300f'.format([self.ratios[0]])"),
    "self.words.join('-')",
    "self.text.trim().charAt(99)",
    "self.text.trim().substring(5, 2)",
    # Lists and sets
    _shown("self.numbers.sum()", "self.numbers.min()", "self.numbers.max()"),
    _shown("self.numbers.isSorted()", "self.words.indexOf('c')", "self.words.lastIndexOf('z')"),
    _shown("self.words.sort()", "self.keyed.sortBy(x, -x.n).map(x, x.name)"),
    _shown("self.words.reverse()", "self.words.slice(1, 3)", "(self.words + ['a']).distinct()"),
    _shown("[self.words, ['z']].flatten()", "lists.range(4)"),
    _shown("self.words.first().value()", "self.words.last().value()"),
    _shown("sets.contains(self.words, ['a'])", "sets.intersects(self.words, ['z'])"),
    _shown("sets.equivalent(self.words, ['c', 'b', 'a'])", "self.set + ['y', 'z']"),
    _shown("self.set == ['y', 'x']", "self.words == ['a', 'b', 'c']"),
    _shown("(self.keyed + self.keyed).map(x, x.name)", "self.ratios.sum()", "self.ratios.max()"),
    _shown("self.words.filter(x, x > 'a').map(x, x + x)", "self.words.map(x, x > 'a', x)"),
    _shown("self.words.exists_one(x, x == 'a')", "self.words.all(x, x.size() == 1)"),
    _shown("self.words.transformList(i, x, x + '!')", "self.words.transformMap(i, x, x + '!')"),
    _shown("self.numbers.all(i, x, i < x)", "self.map.exists(k, v, v == 'v')"),
    _shown("self.map.transformMapEntry(k, v, {v: k})", "self.numbers.existsOne(i, x, i == x)"),
    _shown("[].min()"),
    "self.words[5]",
    _shown("self.words.slice(2, 9)"),
    _shown("'a' in self.words", "'k' in self.map", "7 in [1, 7]"),
    # Optional values
    _shown("self.?inner.b.orValue(5)", "self.?inner.a.orValue(5)"),
    _shown("self.?map['z'].orValue('none')", "self.map[?'k'].value()"),
    _shown("self.?inner.?a.optMap(x, x + 1).orValue(0)"),
    _shown("self.?inner.?b.hasValue()", "optional.ofNonZeroValue('').hasValue()"),
    _shown("['a', ?self.?text].size()", "optional.of(1).or(optional.none()).value()"),
    _shown("self.inner.b"),
    _shown("self.?inner.b.value()"),
    # Numbers, conversions and types
    _shown("7 / 2", "7 % 4", "-7 / 2", "7.0 / 2.0", "7u - 2u", "2.5 * 2.0"),
    _shown("int('12') + int(3.9)", "double('1e3')", "uint(5)", "bool('true')", "b'abc'", "1e21"),
    _shown("string(1e21)", "string(0.00001)", "string(123456789.0)", "string(5u)"),
    _shown("9223372036854775807 + self.inner.a"),
    _shown("1 / (self.inner.a - 7)"),
    _shown("int(self.text)"),
    _shown("double('0x1p-2')", "double('1_0')", "double('-inf')"),
    _shown("type(self.port) == string", "type(self.inner.a) == int", "type(self.words)"),
    "type(self.port) == int ? 'number' : self.port.replace('%', '')",
    _shown("self.port + 1"),
    _shown("self.port == 80", "self.inner.a == 7", "self.inner.a < 7.5", "self.ratios[1] == 2.0"),
    # Time
    _shown("self.date", "self.date.getDayOfYear()", "self.date.getDayOfMonth()"),
    _shown("self.moment", "self.moment.getHours()", "self.moment.getHours('+02:00')"),
    _shown("self.moment.getMilliseconds()", "self.moment.getDayOfWeek()", "self.moment.getMonth()"),
    _shown("self.moment.getDate('America/New_York')", "self.moment.getFullYear()"),
    _shown("self.long", "self.long.getMinutes()", "self.long > duration('1h')", "[self.long]"),
    _shown("self.moment + self.long", "self.moment - timestamp('2024-02-29T00:00:00Z')"),
    _shown("timestamp('2024-01-01T00:00:00Z') < self.moment", "int(self.moment)"),
    _shown("string(self.bytes)", "self.bytes.size()", "self.bytes == b'hello'"),
    # Addresses
    _shown("ip(self.address).family()", "isIP(self.block)", "isIP(self.address)"),
    _shown("ip(self.address).isGlobalUnicast()", "ip('::1').isLoopback()"),
    _shown("ip.isCanonical('2001:DB8::1')", "string(ip('2001:DB8::1'))"),
    _shown("ip('169.254.0.1').isLinkLocalUnicast()", "ip('224.0.0.1').isLinkLocalMulticast()"),
    _shown("cidr(self.block).containsIP(self.address)", "cidr(self.block).prefixLength()"),
    _shown("cidr(self.block).containsCIDR('10.1.0.0/16')", "string(cidr('10.1.2.3/8').masked())"),
    _shown("string(cidr('10.1.2.3/8').ip())", "isCIDR('10.0.0.0')", "isCIDR(self.block)"),
    "string(ip(self.block))",
    "string(cidr(self.address))",
    _shown("url(self.url).getHost()", "url(self.url).getHostname()", "url(self.url).getPort()"),
    _shown(
        "url(self.url).getScheme()", "url(self.url).getEscapedPath()", "url(self.url).getQuery()"
    ),
    _shown("isURL(self.url)", "isURL('../a')"),
    "url('../a').getHost()",
    _shown("isURL('http://[::1%25eth0]:8080/x')", "isURL('http://[9')", "isURL('http://a[::1]/')"),
    # Quantities and versions
    _shown("quantity(self.amount).isGreaterThan(quantity('1'))", "isQuantity('1Gi')"),
    _shown("quantity('1Gi').asInteger()", "quantity(self.amount).asApproximateFloat()"),
    _shown("quantity('1').add(quantity('2')).sub(1).asInteger()"),
    _shown("quantity('1Ki').compareTo(quantity('1024'))", "sign(quantity('-1'))"),
    _shown("quantity(self.amount).isInteger()", "quantity('1k') == quantity('1000')"),
    _shown("quantity(self.amount).asInteger()"),
    _shown("quantity('many').isInteger()"),
    _shown("semver(self.version).major()", "semver(self.version).patch()"),
    _shown("semver(self.version).isLessThan(semver('1.2.3'))", "isSemver('1.0')"),
    _shown("semver('v1.2', true).minor()", "isSemver('v1', true)"),
    _shown("semver('1.2').minor()"),
    # Formats
    _shown("format.dns1123Label().validate(self.text).orValue(['fine'])"),
    _shown("format.dns1035Label().validate('1a').orValue(['fine'])"),
    _shown("format.dns1123Subdomain().validate('a.b').orValue(['fine'])"),
    _shown("format.dns1123LabelPrefix().validate('a-').orValue(['fine'])"),
    _shown("format.labelValue().validate(self.text).orValue(['fine'])"),
    _shown("format.qualifiedName().validate('a/b/c').orValue(['fine'])"),
    _shown("format.uri().validate('a').orValue(['fine'])"),
    _shown("format.uuid().validate('a').orValue(['fine'])"),
    _shown("format.byte().validate('%').orValue(['fine'])"),
    _shown("format.date().validate('2024-13-01').orValue(['fine'])"),
    _shown("format.datetime().validate('2024-01-01T00:00:00Z').orValue(['fine'])"),
    _shown("format.named('uri').hasValue()", "format.named('other').hasValue()"),
)
