"""The table of the functions of CEL expressions, with parameter and result types."""

from typing import Final

FUNCTIONS: Final = """
add: .quantity_add(kubernetes.Quantity, kubernetes.Quantity) kubernetes.Quantity;
    .quantity_add_int(kubernetes.Quantity, int) kubernetes.Quantity
allowed: .decision_allowed(kubernetes.authorization.Decision) bool
asApproximateFloat: .quantity_get_float(kubernetes.Quantity) double
asInteger: .quantity_get_int(kubernetes.Quantity) int
bool: bool_to_bool(bool) bool; string_to_bool(string) bool
bytes: bytes_to_bytes(bytes) bytes; string_to_bytes(string) bytes
cel.@mapInsert: @mapInsert_map_key_value(map(K, V), K, V) map(K,V);
    @mapInsert_map_map(map(K, V), map(K, V)) map(K,V)
charAt: .string_char_at_int(string, int) string
check:
    .pathcheck_check(kubernetes.authorization.PathCheck, string)
    kubernetes.authorization.Decision;
    .resourcecheck_check(kubernetes.authorization.ResourceCheck, string)
    kubernetes.authorization.Decision
cidr: string_to_cidr(string) net.CIDR
compareTo: .quantity_compare_to(kubernetes.Quantity, kubernetes.Quantity) int;
    .semver_compare_to(kubernetes.Semver, kubernetes.Semver) int
contains: .contains_string(string, string) bool
containsCIDR: .cidr_contains_cidr_string(net.CIDR, string) bool;
    .cidr_contains_cidr(net.CIDR, net.CIDR) bool
containsIP: .cidr_contains_ip_string(net.CIDR, string) bool;
    .cidr_contains_ip_ip(net.CIDR, net.IP) bool
distinct: .list_distinct(list(T)) list(T)
double: double_to_double(double) double; int64_to_double(int) double;
    string_to_double(string) double; uint64_to_double(uint) double
duration: duration_to_duration(duration) duration; int64_to_duration(int) duration;
    string_to_duration(string) duration
dyn: to_dyn(A) dyn
endsWith: .ends_with_string(string, string) bool
error: .decision_error(kubernetes.authorization.Decision) string
errored: .decision_errored(kubernetes.authorization.Decision) bool
family: .ip_family(net.IP) int
fieldSelector:
    .authorizer_fieldselector(kubernetes.authorization.ResourceCheck, string)
    kubernetes.authorization.ResourceCheck
find: .string_find_string(string, string) string
findAll: .string_find_all_string(string, string) list(string);
    .string_find_all_string_int(string, string, int) list(string)
first: .list_first(list(V)) optional_type(V)
flatten: .list_flatten(list(list(T))) list(T); .list_flatten_int(list(dyn), int) list(dyn)
format: .string_format(string, list(dyn)) string
format.byte: format.byte() kubernetes.NamedFormat
format.date: format.date() kubernetes.NamedFormat
format.datetime: format.datetime() kubernetes.NamedFormat
format.dns1035Label: format.dns1035Label() kubernetes.NamedFormat
format.dns1035LabelPrefix: format.dns1035LabelPrefix() kubernetes.NamedFormat
format.dns1123Label: format.dns1123Label() kubernetes.NamedFormat
format.dns1123LabelPrefix: format.dns1123LabelPrefix() kubernetes.NamedFormat
format.dns1123Subdomain: format.dns1123Subdomain() kubernetes.NamedFormat
format.dns1123SubdomainPrefix: format.dns1123SubdomainPrefix() kubernetes.NamedFormat
format.labelValue: format.labelValue() kubernetes.NamedFormat
format.named: format-named(string) optional_type(kubernetes.NamedFormat)
format.qualifiedName: format.qualifiedName() kubernetes.NamedFormat
format.uri: format.uri() kubernetes.NamedFormat
format.uuid: format.uuid() kubernetes.NamedFormat
getDate: .timestamp_to_day_of_month_1_based(timestamp) int;
    .timestamp_to_day_of_month_1_based_with_tz(timestamp, string) int
getDayOfMonth: .timestamp_to_day_of_month(timestamp) int;
    .timestamp_to_day_of_month_with_tz(timestamp, string) int
getDayOfWeek: .timestamp_to_day_of_week(timestamp) int;
    .timestamp_to_day_of_week_with_tz(timestamp, string) int
getDayOfYear: .timestamp_to_day_of_year(timestamp) int;
    .timestamp_to_day_of_year_with_tz(timestamp, string) int
getEscapedPath: .url_get_escaped_path(kubernetes.URL) string
getFullYear: .timestamp_to_year(timestamp) int; .timestamp_to_year_with_tz(timestamp, string) int
getHost: .url_get_host(kubernetes.URL) string
getHostname: .url_get_hostname(kubernetes.URL) string
getHours: .timestamp_to_hours(timestamp) int; .timestamp_to_hours_with_tz(timestamp, string) int;
    .duration_to_hours(duration) int
getMilliseconds: .timestamp_to_milliseconds(timestamp) int;
    .timestamp_to_milliseconds_with_tz(timestamp, string) int;
    .duration_to_milliseconds(duration) int
getMinutes: .timestamp_to_minutes(timestamp) int;
    .timestamp_to_minutes_with_tz(timestamp, string) int; .duration_to_minutes(duration) int
getMonth: .timestamp_to_month(timestamp) int; .timestamp_to_month_with_tz(timestamp, string) int
getPort: .url_get_port(kubernetes.URL) string
getQuery: .url_get_query(kubernetes.URL) map(string,list(string))
getScheme: .url_get_scheme(kubernetes.URL) string
getSeconds: .timestamp_to_seconds(timestamp) int; .timestamp_to_seconds_tz(timestamp, string) int;
    .duration_to_seconds(duration) int
group:
    .authorizer_group(kubernetes.authorization.Authorizer, string)
    kubernetes.authorization.GroupCheck
hasValue: .optional_hasValue(optional_type(V)) bool
indexOf: .list_a_index_of_int(list(A), A) int; .string_index_of_string(string, string) int;
    .string_index_of_string_int(string, string, int) int
int: int64_to_int64(int) int; double_to_int64(double) int; duration_to_int64(duration) int;
    string_to_int64(string) int; timestamp_to_int64(timestamp) int; uint64_to_int64(uint) int
ip: string_to_ip(string) net.IP; .cidr_ip(net.CIDR) net.IP
ip.isCanonical: ip_is_canonical(string) bool
isCIDR: is_cidr(string) bool
isGlobalUnicast: .ip_is_global_unicast(net.IP) bool
isGreaterThan: .quantity_is_greater_than(kubernetes.Quantity, kubernetes.Quantity) bool;
    .semver_is_greater_than(kubernetes.Semver, kubernetes.Semver) bool
isIP: is_ip(string) bool
isInteger: .quantity_is_integer(kubernetes.Quantity) bool
isLessThan: .quantity_is_less_than(kubernetes.Quantity, kubernetes.Quantity) bool;
    .semver_is_less_than(kubernetes.Semver, kubernetes.Semver) bool
isLinkLocalMulticast: .ip_is_link_local_multicast(net.IP) bool
isLinkLocalUnicast: .ip_is_link_local_unicast(net.IP) bool
isLoopback: .ip_is_loopback(net.IP) bool
isQuantity: is_quantity_string(string) bool
isSemver: is_semver_string(string) bool; is_semver_string_bool(string, bool) bool
isSorted: .list_int_is_sorted_bool(list(int)) bool; .list_uint_is_sorted_bool(list(uint)) bool;
    .list_double_is_sorted_bool(list(double)) bool; .list_bool_is_sorted_bool(list(bool)) bool;
    .list_duration_is_sorted_bool(list(duration)) bool;
    .list_timestamp_is_sorted_bool(list(timestamp)) bool;
    .list_string_is_sorted_bool(list(string)) bool; .list_bytes_is_sorted_bool(list(bytes)) bool
isURL: is_url_string(string) bool
isUnspecified: .ip_is_unspecified(net.IP) bool
join: .list_join(list(string)) string; .list_join_string(list(string), string) string
labelSelector:
    .authorizer_labelselector(kubernetes.authorization.ResourceCheck, string)
    kubernetes.authorization.ResourceCheck
last: .list_last(list(V)) optional_type(V)
lastIndexOf: .list_a_last_index_of_int(list(A), A) int;
    .string_last_index_of_string(string, string) int;
    .string_last_index_of_string_int(string, string, int) int
lists.range: lists_range(int) list(int)
lowerAscii: .string_lower_ascii(string) string
major: .semver_major(kubernetes.Semver) int
masked: .cidr_masked(net.CIDR) net.CIDR
matches: matches(string, string) bool; .matches_string(string, string) bool
max: .list_int_max_int(list(int)) int; .list_uint_max_uint(list(uint)) uint;
    .list_double_max_double(list(double)) double; .list_bool_max_bool(list(bool)) bool;
    .list_duration_max_duration(list(duration)) duration;
    .list_timestamp_max_timestamp(list(timestamp)) timestamp;
    .list_string_max_string(list(string)) string; .list_bytes_max_bytes(list(bytes)) bytes
min: .list_int_min_int(list(int)) int; .list_uint_min_uint(list(uint)) uint;
    .list_double_min_double(list(double)) double; .list_bool_min_bool(list(bool)) bool;
    .list_duration_min_duration(list(duration)) duration;
    .list_timestamp_min_timestamp(list(timestamp)) timestamp;
    .list_string_min_string(list(string)) string; .list_bytes_min_bytes(list(bytes)) bytes
minor: .semver_minor(kubernetes.Semver) int
name:
    .resourcecheck_name(kubernetes.authorization.ResourceCheck, string)
    kubernetes.authorization.ResourceCheck
namespace:
    .resourcecheck_namespace(kubernetes.authorization.ResourceCheck, string)
    kubernetes.authorization.ResourceCheck
optional.none: optional_none() optional_type(V)
optional.of: optional_of(V) optional_type(V)
optional.ofNonZeroValue: optional_ofNonZeroValue(V) optional_type(V)
optional.unwrap: optional_unwrap(list(optional_type(V))) list(V)
or: .optional_or_optional(optional_type(V), optional_type(V)) optional_type(V)
orValue: .optional_orValue_value(optional_type(V), V) V
patch: .semver_patch(kubernetes.Semver) int
path:
    .authorizer_path(kubernetes.authorization.Authorizer, string)
    kubernetes.authorization.PathCheck
prefixLength: .cidr_prefix_length(net.CIDR) int
quantity: string_to_quantity(string) kubernetes.Quantity
reason: .decision_reason(kubernetes.authorization.Decision) string
replace: .string_replace_string_string(string, string, string) string;
    .string_replace_string_string_int(string, string, string, int) string
resource:
    .groupcheck_resource(kubernetes.authorization.GroupCheck, string)
    kubernetes.authorization.ResourceCheck
reverse: .list_reverse(list(T)) list(T)
semver: string_to_semver(string) kubernetes.Semver;
    string_bool_to_semver(string, bool) kubernetes.Semver
serviceAccount:
    .authorizer_serviceaccount(kubernetes.authorization.Authorizer, string, string)
    kubernetes.authorization.Authorizer
sets.contains: list_sets_contains_list(list(T), list(T)) bool
sets.equivalent: list_sets_equivalent_list(list(T), list(T)) bool
sets.intersects: list_sets_intersects_list(list(T), list(T)) bool
sign: quantity_sign(kubernetes.Quantity) int
size: size_bytes(bytes) int; .bytes_size(bytes) int; size_list(list(A)) int;
    .list_size(list(A)) int; size_map(map(A, B)) int; .map_size(map(A, B)) int;
    size_string(string) int; .string_size(string) int
slice: .list_slice(list(T), int, int) list(T)
sort: .list_int_sort(list(int)) list(int); .list_uint_sort(list(uint)) list(uint);
    .list_double_sort(list(double)) list(double); .list_bool_sort(list(bool)) list(bool);
    .list_google.protobuf.Duration_sort(list(duration)) list(duration);
    .list_google.protobuf.Timestamp_sort(list(timestamp)) list(timestamp);
    .list_string_sort(list(string)) list(string); .list_bytes_sort(list(bytes)) list(bytes)
split: .string_split_string(string, string) list(string);
    .string_split_string_int(string, string, int) list(string)
startsWith: .starts_with_string(string, string) bool
string: string_to_string(string) string; bool_to_string(bool) string;
    bytes_to_string(bytes) string; double_to_string(double) string;
    duration_to_string(duration) string; int64_to_string(int) string;
    timestamp_to_string(timestamp) string; uint64_to_string(uint) string;
    ip_to_string(net.IP) string; cidr_to_string(net.CIDR) string
strings.quote: strings_quote(string) string
sub: .quantity_sub(kubernetes.Quantity, kubernetes.Quantity) kubernetes.Quantity;
    .quantity_sub_int(kubernetes.Quantity, int) kubernetes.Quantity
subresource:
    .resourcecheck_subresource(kubernetes.authorization.ResourceCheck, string)
    kubernetes.authorization.ResourceCheck
substring: .string_substring_int(string, int) string;
    .string_substring_int_int(string, int, int) string
sum: .list_int_sum_int(list(int)) int; .list_uint_sum_uint(list(uint)) uint;
    .list_double_sum_double(list(double)) double;
    .list_duration_sum_duration(list(duration)) duration
timestamp: timestamp_to_timestamp(timestamp) timestamp; int64_to_timestamp(int) timestamp;
    string_to_timestamp(string) timestamp
trim: .string_trim(string) string
type: type(A) type(A)
uint: uint64_to_uint64(uint) uint; double_to_uint64(double) uint; int64_to_uint64(int) uint;
    string_to_uint64(string) uint
unwrapOpt: .optional_unwrapOpt(list(optional_type(V))) list(V)
upperAscii: .string_upper_ascii(string) string
url: string_to_url(string) kubernetes.URL
validate: .format-validate(kubernetes.NamedFormat, string) optional_type(list(string))
value: .optional_value(optional_type(V)) V
"""
