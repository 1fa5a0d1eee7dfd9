package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/scopes"
)

// A grant says which policies may call a builtin. Larger ones hold what smaller
// ones hold.
type grant uint8

const (
	grantNone    grant = iota // nobody: it cannot be made safe
	grantAll                  // policies of every authority
	grantManaged              // managed policies and the embedded library
)

// grantOf returns what the policies of a source are granted.
func grantOf(s *scopes.Source) grant {
	if s.Authority == hook.Managed || s.Library {
		return grantManaged
	}
	return grantAll
}

// A builtinClass is a group of OPA's builtins that are granted alike, for one
// reason.
type builtinClass struct {
	grant grant
	why   string
	names string // separated by white space
}

// builtinClasses classifies every builtin of OPA 1.22. A
// builtin that is not here does not compile for anybody; a test fails when OPA
// has one, so that an upgrade cannot grant something by itself.
//
// Below managed it is an allowlist of functions that reach nothing outside the
// query, have one answer for one event, and whose result is bounded by their
// operands or by guard.go.
var builtinClasses = []builtinClass{
	{grantAll, "operators: compare, unify, test membership", `
		eq equal assign neq lt lte gt gte internal.member_2 internal.member_3`},
	{grantAll, "arithmetic; numbers are bounded by guard.go", `
		plus minus mul div rem round ceil floor abs`},
	{grantAll, "aggregates over a collection that is there already", `
		count sum product max min sort`},
	{grantAll, "sets and arrays made of their operands; large ones are bounded by guard.go", `
		and or union intersection array.concat array.flatten array.slice array.reverse`},
	{grantAll, "tests and conversions of one value", `
		is_number is_string is_boolean is_array is_set is_object is_null type_name to_number format_int`},
	{grantAll, "strings; growth is bounded by guard.go", `
		concat contains endswith indexof indexof_n lower replace split startswith strings.any_prefix_match
		strings.any_suffix_match strings.count strings.replace_n strings.reverse strings.split_n substring
		trim trim_left trim_prefix trim_right trim_space trim_suffix upper sprintf internal.template_string`},
	{grantManaged, "a template language with loops of its own, which nothing cancels", `
		strings.render_template`},
	{grantAll, "regular expressions of RE2, whose time is linear in text and pattern, and globs made into such", `
		regex.match regex.is_valid regex.split regex.find_n regex.find_all_string_submatch_n regex.replace
		regex.template_match glob.match glob.quote_meta`},
	{grantManaged, "builds the intersection of two automata, exponential in the patterns, and cannot be cancelled", `
		regex.globs_match`},
	{grantAll, "objects made of their operands", `
		json.filter json.remove json.patch object.subset object.union object.union_n object.remove
		object.filter object.get object.keys`},
	{grantAll, "encodings; the result is a small multiple of the operand", `
		json.marshal json.marshal_with_options json.unmarshal json.is_valid base64.encode base64.decode
		base64.is_valid base64url.encode base64url.encode_no_pad base64url.decode hex.encode hex.decode
		urlquery.encode urlquery.decode urlquery.encode_object urlquery.decode_object uri.parse uri.is_valid`},
	{grantManaged, "YAML aliases multiply: a short text becomes a huge value in one step that cannot be cancelled", `
		yaml.marshal yaml.unmarshal yaml.is_valid`},
	{grantAll, "bits of whole numbers, never more than the operands have", `
		bits.and bits.or bits.xor bits.negate bits.rsh`},
	{grantManaged, "a shift by 1e12 allocates 125 GB in one step", `
		bits.lsh`},
	{grantManaged, "makes as many elements as a number says, so a small policy is no small work", `
		numbers.range numbers.range_step`},
	{grantAll, "units, versions and identifiers, read from a string", `
		units.parse units.parse_bytes uuid.parse semver.is_valid semver.compare`},
	{grantNone, "random: the same event would have several answers and no replay; hash input.session_id to sample", `
		rand.intn uuid.rfc4122`},
	{grantAll, "the clock is the event's one timestamp", `
		time.now_ns`},
	{grantAll, "calculates with times", `
		time.parse_ns time.parse_rfc3339_ns time.parse_duration_ns time.date time.clock time.weekday
		time.add_date time.diff`},
	{grantAll, "writes a time; the layout is a constant of the policy, growth is bounded by guard.go", `
		time.format`},
	{grantAll, "digests, linear in the operand", `
		crypto.md5 crypto.sha1 crypto.sha256 crypto.hmac.md5 crypto.hmac.sha1 crypto.hmac.sha256
		crypto.hmac.sha512 crypto.hmac.equal`},
	{grantManaged, "public-key work on keys of any size, not cancellable, and of no use to a policy without secrets", `
		crypto.x509.parse_certificates crypto.x509.parse_and_verify_certificates
		crypto.x509.parse_and_verify_certificates_with_options crypto.x509.parse_certificate_request
		crypto.x509.parse_keypair crypto.x509.parse_rsa_private_key crypto.parse_private_keys
		io.jwt.verify_rs256 io.jwt.verify_rs384 io.jwt.verify_rs512 io.jwt.verify_ps256 io.jwt.verify_ps384
		io.jwt.verify_ps512 io.jwt.verify_es256 io.jwt.verify_es384 io.jwt.verify_es512 io.jwt.verify_eddsa
		io.jwt.verify_hs256 io.jwt.verify_hs384 io.jwt.verify_hs512 io.jwt.decode_verify
		io.jwt.encode_sign_raw io.jwt.encode_sign providers.aws.sign_req`},
	{grantAll, "takes a token apart without a key", `
		io.jwt.decode`},
	{grantAll, "visits what is there already; cancelled between two steps", `
		walk graph.reachable`},
	{grantManaged, "lists all paths of a graph, exponential in its size, and cannot be cancelled", `
		graph.reachable_paths`},
	{grantAll, "addresses and networks, compared pairwise", `
		net.cidr_contains net.cidr_intersects net.cidr_is_valid net.cidr_contains_matches net.cidr_merge`},
	{grantManaged, "2^32 addresses of one short string; cancellable, so time and memory end it", `
		net.cidr_expand`},
	{grantManaged, "asks the network", `
		net.lookup_ip_addr http.send`},
	{grantAll, "below managed its schema is a constant that refers to nothing outside and not to itself: see schema.go", `
		json.match_schema`},
	{grantManaged, "a schema's $ref can open files and recurse for ever; guards.go refuses the first", `
		json.verify_schema`},
	{grantManaged, "parses and expands a language whose documents can multiply", `
		graphql.parse graphql.parse_and_verify graphql.parse_query graphql.parse_schema graphql.is_valid
		graphql.schema_is_valid`},
	{grantManaged, "parses policy text of any size", `
		rego.parse_module`},
	{grantAll, "the policy's own METADATA, put in by the compiler", `
		rego.metadata.chain rego.metadata.rule`},
	{grantNone, "environment and configuration of the process; gate gives none, so a policy that asks would always find nothing", `
		opa.runtime`},
	{grantNone, "writes to a trace that nobody reads here; use print in tests", `
		trace`},
	{grantAll, "erased by the compiler with its arguments; gate test shows it", `
		print`},
	{grantNone, "what OPA's own tests are made of", `
		internal.print internal.test_case`},
	{grantNone, "deprecated: Rego v1 does not compile them", `
		set_diff net.cidr_overlap cast_array cast_set cast_string cast_boolean cast_null cast_object re_match
		all any`},
}

// A Builtin is one builtin of OPA and what gate thinks of it.
type Builtin struct {
	Name    string
	Managed bool   // managed policies may call it
	Others  bool   // policies of every authority may call it
	Why     string // one clause
}

// Builtins lists all classified builtins by name.
func Builtins() []Builtin {
	var list []Builtin
	for _, c := range builtinClasses {
		for _, name := range strings.Fields(c.names) {
			list = append(list, Builtin{Name: name, Managed: c.grant != grantNone, Others: c.grant == grantAll, Why: c.why})
		}
	}
	slices.SortFunc(list, func(a, b Builtin) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// capabilities returns what OPA may compile for a grant. No host is allowed for
// schemas that refer to others: an empty list is none, a nil one would be all.
func capabilities(g grant) *ast.Capabilities {
	caps := ast.CapabilitiesForThisVersion(ast.CapabilitiesRegoVersion(ast.RegoV1))
	granted := grantedBuiltins(g)
	caps.Builtins = slices.DeleteFunc(caps.Builtins, func(b *ast.Builtin) bool { return !granted[b.Name] })
	caps.AllowNet = []string{}
	return caps
}

// grantedBuiltins holds the names of the builtins that a grant allows.
func grantedBuiltins(g grant) map[string]bool {
	granted := map[string]bool{}
	for _, c := range builtinClasses {
		if c.grant == grantAll || c.grant == grantManaged && g == grantManaged {
			for name := range strings.FieldsSeq(c.names) {
				granted[name] = true
			}
		}
	}
	return granted
}
