package acs

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"gate/internal/strictjson"
)

// MaxBody is the largest request that is read, in bytes.
const MaxBody = 1 << 20

// Version is the one version of the standard that gate speaks.
const Version = "0.1.0"

// Codes of errors: those of JSON-RPC, and the standard's own.
const (
	CodeParse          = -32700
	CodeRequest        = -32600
	CodeMethod         = -32601
	CodeParams         = -32602
	CodeInternal       = -32603
	CodeSessionRefused = -32000
	CodeVersion        = -32001
	CodeProvenance     = -32002
	CodeNotNegotiated  = -32003
	CodeSignature      = -32004
	CodeReplay         = -32005
	CodeSkew           = -32006
	CodeChain          = -32007
)

// codeNames are the standard's names of its codes.
func codeNames() map[int]string {
	return map[int]string{
		CodeParse: "PARSE_ERROR", CodeRequest: "INVALID_REQUEST", CodeMethod: "METHOD_NOT_FOUND", CodeParams: "INVALID_PARAMS", CodeInternal: "INTERNAL_ERROR",
		CodeSessionRefused: "SESSION_REFUSED", CodeVersion: "UNSUPPORTED_VERSION", CodeProvenance: "PROVENANCE_REQUIRED",
		CodeNotNegotiated: "CAPABILITY_NOT_NEGOTIATED", CodeSignature: "SIGNATURE_INVALID", CodeReplay: "REPLAY_DETECTED",
		CodeSkew: "TIMESTAMP_OUT_OF_WINDOW", CodeChain: "CHAIN_MISMATCH",
	}
}

// CodeName is the standard's name of an error's code, "" of one that it does not know.
func CodeName(code int) string { return codeNames()[code] }

// A refusal is an error that answers a request in the place of a decision.
type refusal struct {
	code int
	why  string
	data map[string]any // beside reason and message
}

func refuse(code int, why string) *refusal { return &refusal{code: code, why: why} }

// A request is one envelope, as far as it could be read.
type request struct {
	doc      map[string]any // the whole envelope
	id       any            // nil where it could not be read
	method   string
	params   map[string]any
	metadata map[string]any
	payload  map[string]any
	session  string
	agent    string
	unique   string // its request_id
	nonce    string
	time     time.Time

	key    *Key   // that the signature names, once it is verified
	secret []byte // the key of the session
}

// readRequest reads the outer object. Beside a refusal it returns a request with the id,
// if there was one.
func readRequest(body []byte) (*request, *refusal) {
	r := &request{}
	if len(body) > MaxBody {
		return r, refuse(CodeRequest, "the request is too large")
	}
	tree, err := strictjson.Decode(body, strictjson.Limits{Bytes: MaxBody})
	if err != nil {
		return r, refuse(CodeParse, "the request is not JSON as it is read here: "+err.Error())
	}
	doc, ok := tree.(map[string]any)
	if !ok {
		return r, refuse(CodeRequest, "one request is wanted, and no batch")
	}
	r.doc = doc
	switch id := doc["id"].(type) {
	case string, json.Number:
		r.id = id
	default:
		return r, refuse(CodeRequest, "id: a string or a number is wanted")
	}
	for name := range doc {
		if !slices.Contains([]string{"jsonrpc", "method", "id", "params"}, name) {
			return r, refuse(CodeRequest, "the request has a member that none has: "+strictjson.Quoted(name))
		}
	}
	if r.method, ok = doc["method"].(string); !ok || !methodName().MatchString(r.method) {
		return r, refuse(CodeRequest, "method: a name of the standard is wanted")
	}
	if doc["jsonrpc"] != "2.0" {
		return r, refuse(CodeRequest, `jsonrpc: "2.0" is wanted`)
	}
	if r.params, ok = doc["params"].(map[string]any); !ok {
		return r, refuse(CodeRequest, "params: an object is wanted")
	}
	r.metadata, _ = r.params["metadata"].(map[string]any)
	r.payload, _ = r.params["payload"].(map[string]any)
	r.session, _ = r.metadata["session_id"].(string)
	r.agent, _ = r.metadata["agent_id"].(string)
	r.unique, _ = r.params["request_id"].(string)
	return r, nil
}

var (
	methodName = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(steps/|protocols/|agbom/|trace/|system/|handshake/|wrapped:)[ -~]{1,200}$`)
	})
	versionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{1,6}\.\d{1,6}\.\d{1,6}$`) })
	uuidName    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	})
)

// check holds an authenticated envelope against what every one has.
func (r *request) check() *refusal {
	version, _ := r.params["acs_version"].(string)
	stamp, _ := r.params["timestamp"].(string)
	var err error
	r.time, err = time.Parse(time.RFC3339, stamp)
	switch {
	case !versionName().MatchString(version):
		return refuse(CodeRequest, "acs_version: a version such as 0.1.0 is wanted")
	case !uuidName().MatchString(r.unique):
		return refuse(CodeRequest, "request_id: a UUID is wanted")
	case err != nil:
		return refuse(CodeRequest, "timestamp: a date and time of RFC 3339 is wanted")
	case r.metadata == nil:
		return refuse(CodeRequest, "metadata: an object is wanted")
	case r.agent == "" || len(r.agent) > maxName:
		return refuse(CodeRequest, "metadata.agent_id: a text is wanted")
	case !uuidName().MatchString(r.session):
		return refuse(CodeRequest, "metadata.session_id: a UUID is wanted")
	case r.payload == nil:
		return refuse(CodeRequest, "payload: an object is wanted")
	}
	if err := r.checkTexts(); err != nil {
		return refuse(CodeRequest, err.Error())
	}
	// UUIDs are the same in both cases of letters.
	r.unique = strings.ToLower(r.unique)
	if !sameMajor(version) && r.method != hello {
		return refuse(CodeRequest, "acs_version: version "+Version+" is spoken here")
	}
	return nil
}

// maxName bounds names that are kept.
const maxName = 512

// checkTexts looks at the members that may be missing.
func (r *request) checkTexts() error {
	if v, given := r.params["nonce"]; given {
		var ok bool
		if r.nonce, ok = v.(string); !ok || len(r.nonce) < 16 || len(r.nonce) > 64 {
			return errors.New("nonce: a text of 16 to 64 bytes is wanted")
		}
	}
	for _, name := range []string{"turn_id", "parent_turn_id", "agent_name", "platform", "platform_version"} {
		if v, given := r.metadata[name]; given && v != nil {
			if text, ok := v.(string); !ok || len(text) > maxName {
				return errors.New("metadata." + name + ": a short text is wanted")
			}
		}
	}
	for _, name := range []string{"session_state", "user_context"} {
		if v, given := r.metadata[name]; given && v != nil {
			if _, ok := v.(map[string]any); !ok {
				return errors.New("metadata." + name + ": an object is wanted")
			}
		}
	}
	return nil
}

// turn is the turn that the step belongs to, "" outside of any.
func (r *request) turn() string {
	turn, _ := r.metadata["turn_id"].(string)
	return turn
}

// sameMajor reports a version of the line that gate speaks.
func sameMajor(version string) bool {
	major, _, _ := strings.Cut(version, ".")
	ours, _, _ := strings.Cut(Version, ".")
	return versionName().MatchString(version) && major == ours
}
