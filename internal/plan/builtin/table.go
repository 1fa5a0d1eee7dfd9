package builtin

import (
	"cmp"
	"slices"
)

// Lookup returns the builtin of a name, nil if it is not here.
func Lookup(name string) Func {
	i, found := slices.BinarySearchFunc(builtins[:], name, func(e entry, name string) int { return cmp.Compare(e.name, name) })
	if !found {
		return nil
	}
	return builtins[i].call
}

type entry struct {
	name string
	call Func
}

// builtins are in the order of their names. It is an array of functions and no
// map, so that the linker lays it out and a start costs nothing.
//
// What is missing stays with OPA: what asks the network, the process or chance;
// YAML, GraphQL, JSON Schema, keys and certificates, whose libraries cost a
// start more than a decision; templates of text/template and regex.globs_match,
// which nothing can end; and what policies about tool calls do not need, such as
// graphs, units, bits and keyed digests.
var builtins = [...]entry{
	{"abs", abs},
	{"and", and},
	{"array.concat", arrayConcat},
	{"array.flatten", arrayFlatten},
	{"array.reverse", arrayReverse},
	{"array.slice", arraySlice},
	{"base64.decode", base64Decode},
	{"base64.encode", base64Encode},
	{"base64.is_valid", base64IsValid},
	{"base64url.decode", base64urlDecode},
	{"base64url.encode", base64urlEncode},
	{"base64url.encode_no_pad", base64urlEncodeNoPad},
	{"ceil", ceil},
	{"concat", concat},
	{"contains", contains},
	{"count", count},
	{"crypto.md5", cryptoMD5},
	{"crypto.sha1", cryptoSHA1},
	{"crypto.sha256", cryptoSHA256},
	{"div", divide},
	{"endswith", endsWith},
	{"equal", equal},
	{"floor", floor},
	{"format_int", formatInt},
	{"glob.match", globMatch},
	{"glob.quote_meta", globQuoteMeta},
	{"gt", greater},
	{"gte", greaterEqual},
	{"indexof", indexOf},
	{"indexof_n", indexOfN},
	{"internal.member_2", hasMember},
	{"internal.member_3", hasMemberAt},
	{"internal.print", nothing},
	{"internal.template_string", templateString},
	{"internal.test_case", nothing},
	{"intersection", intersection},
	{"is_array", isArray},
	{"is_boolean", isBoolean},
	{"is_null", isNull},
	{"is_number", isNumber},
	{"is_object", isObject},
	{"is_set", isSet},
	{"is_string", isString},
	{"json.filter", jsonFilter},
	{"json.is_valid", jsonIsValid},
	{"json.marshal", jsonMarshal},
	{"json.marshal_with_options", jsonMarshalWithOptions},
	{"json.patch", jsonPatch},
	{"json.remove", jsonRemove},
	{"json.unmarshal", jsonUnmarshal},
	{"lower", lower},
	{"lt", less},
	{"lte", lessEqual},
	{"max", maximum},
	{"min", minimum},
	{"minus", minus},
	{"mul", times},
	{"neq", notEqual},
	{"net.cidr_contains", cidrContains},
	{"net.cidr_contains_matches", cidrContainsMatches},
	{"net.cidr_intersects", cidrIntersects},
	{"net.cidr_is_valid", cidrIsValid},
	{"numbers.range", numbersRange},
	{"numbers.range_step", numbersRangeStep},
	{"object.filter", objectFilter},
	{"object.get", objectGet},
	{"object.keys", objectKeys},
	{"object.remove", objectRemove},
	{"object.subset", objectSubset},
	{"object.union", objectUnion},
	{"or", or},
	{"plus", plus},
	{"product", product},
	{"regex.find_all_string_submatch_n", regexFindSubmatches},
	{"regex.find_n", regexFind},
	{"regex.is_valid", regexIsValid},
	{"regex.match", regexMatch},
	{"regex.replace", regexReplace},
	{"regex.split", regexSplit},
	{"regex.template_match", templateMatch},
	{"rem", remainder},
	{"replace", replace},
	{"round", round},
	{"semver.compare", semverCompare},
	{"sort", sorted},
	{"split", split},
	{"sprintf", sprintf},
	{"startswith", startsWith},
	{"strings.any_prefix_match", anyPrefixMatch},
	{"strings.any_suffix_match", anySuffixMatch},
	{"strings.count", stringsCount},
	{"strings.replace_n", replaceN},
	{"strings.reverse", stringsReverse},
	{"strings.split_n", splitN},
	{"substring", substring},
	{"sum", sum},
	{"time.add_date", timeAddDate},
	{"time.clock", timeClock},
	{"time.date", timeDate},
	{"time.diff", timeDiff},
	{"time.format", timeFormat},
	{"time.now_ns", timeNow},
	{"time.parse_duration_ns", timeParseDuration},
	{"time.parse_ns", timeParse},
	{"time.parse_rfc3339_ns", timeParseRFC3339},
	{"time.weekday", timeWeekday},
	{"to_number", toNumber},
	{"trace", trace},
	{"trim", trim},
	{"trim_left", trimLeft},
	{"trim_prefix", trimPrefix},
	{"trim_right", trimRight},
	{"trim_space", trimSpace},
	{"trim_suffix", trimSuffix},
	{"type_name", typeName},
	{"union", union},
	{"upper", upper},
	{"uri.is_valid", uriIsValid},
	{"uri.parse", uriParse},
	{"walk", walk},
}
