package audit

import "strings"

// mark stands where a secret was.
const mark = "[redacted]"

// Redact returns s without what looks like a secret: tokens of known shapes,
// private keys, passwords in addresses, and values whose name says what they
// are (password=…, --token …, "apiKey": "…", Authorization: …). A reference to
// a variable such as $TOKEN stays. It is a help, not a promise: a secret that
// looks like any other word remains. Redacting twice changes nothing more.
func Redact(s string) string { return masked(s, find(s)) }

// A place is a part of a text, in bytes.
type place struct{ from, to int }

// find returns the places of s that Redact takes out, in order.
func find(s string) []place {
	if !suspicious(s) {
		return nil
	}
	r := redactor{in: s}
	for r.at < len(s) {
		r.step()
	}
	return r.found
}

// masked puts the mark in the places of s, which are in order.
func masked(s string, places []place) string {
	if len(places) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, p := range places {
		b.WriteString(s[at:p.from])
		b.WriteString(mark)
		at = p.to
	}
	b.WriteString(s[at:])
	return b.String()
}

// suspicious is a quick look for anything that the redactor acts on.
func suspicious(s string) bool { return strings.ContainsAny(s, ":=-_.AaEeBbSsUu") }

// A redactor goes through a text once, from left to right.
type redactor struct {
	in    string
	at    int
	found []place
}

// How far one look goes, so that the time for a text stays in proportion to its
// length whatever stands in it.
const (
	maxName = 128  // the name of a value
	maxBody = 128  // what tells a token from a word
	maxHead = 1024 // the first part of a web token
)

func ahead(s string, most int) string { return s[:min(len(s), most)] }

// step goes over what begins at the current place.
func (r *redactor) step() {
	rest := r.in[r.at:]
	begins := r.at == 0 || !isWord(r.in[r.at-1])
	switch {
	case strings.HasPrefix(rest, "-----BEGIN "):
		if n := privateKey(rest); n > 0 {
			r.take(0, n)
			return
		}
	case strings.HasPrefix(rest, "://"):
		if from, to := password(rest); to > from {
			r.take(from, to)
			return
		}
	case strings.HasPrefix(rest, mark):
		r.at += len(mark)
		return
	}
	if !begins || !isWord(rest[0]) {
		r.at++
		return
	}
	if keep, n := token(rest); n > 0 {
		r.take(keep, n)
		return
	}
	key := run(ahead(rest, maxName), isKey)
	from, to := value(rest, key, r.dashes())
	if to > from {
		r.take(from, to)
		return
	}
	r.at += run(rest, isWord)
}

// dashes counts the dashes directly before the current place, two at most.
func (r *redactor) dashes() int {
	n := 0
	for n < 2 && n < r.at && r.in[r.at-1-n] == '-' {
		n++
	}
	return n
}

// take finds a secret between two places of what lies ahead, and goes behind it.
func (r *redactor) take(from, to int) {
	r.found = append(r.found, place{r.at + from, r.at + to})
	r.at += to
}

// A shape is a kind of token: a prefix, and how much of the token's alphabet
// follows at least.
type shape struct {
	prefix string
	least  int
}

// shapes are tokens that their issuers made recognisable.
var shapes = [...]shape{
	{"AKIA", 12}, {"ASIA", 12}, {"ABIA", 12}, {"ACCA", 12}, // AWS
	{"AGE-SECRET-KEY-1", 20},
	{"AIza", 30}, {"ya29.", 20}, {"GOCSPX-", 20}, // Google
	{"ATATT3", 20}, {"ATCTT3", 20}, {"ATBB", 20}, // Atlassian
	{"CCIPAT_", 20}, {"EAACEdEose0cBA", 10}, {"EZAK", 40}, {"EZTK", 40},
	{"PMAK-", 20}, {"SG.", 20}, {"SK", 32},
	{"dapi", 32}, {"dckr_pat_", 20}, {"doo_v1_", 20}, {"dop_v1_", 20}, {"dor_v1_", 20}, {"dp.pt.", 20}, {"dp.st.", 20},
	{"fig", 40}, {"figd_", 20}, {"fio-u-", 20},
	{"ghp_", 16}, {"gho_", 16}, {"ghu_", 16}, {"ghs_", 16}, {"ghr_", 16}, {"github_pat_", 16}, // GitHub
	{"glpat-", 16}, {"gldt-", 16}, {"glrt-", 16}, {"glptt-", 16}, {"glcbt-", 16}, {"glsoat-", 16}, // GitLab
	{"glc_", 20}, {"glsa_", 20}, {"gsk_", 20},
	{"hf_", 20}, {"hvb.", 20}, {"hvs.", 20}, {"hvr.", 20}, // Hugging Face, Vault
	{"lin_api_", 20}, {"lip_", 32}, {"mg-api-", 20}, {"mfp_", 20},
	{"npm_", 20}, {"nvapi-", 20}, {"ops_ey", 20}, {"oy2", 43},
	{"pcsk_", 20}, {"perm:", 20}, {"phc_", 20}, {"phx_", 20}, {"pplx-", 20}, {"pscale_", 20}, {"pul-", 20}, {"pypi-", 20},
	{"r8_", 20}, {"rdme_", 20}, {"rk_live_", 10}, {"rk_test_", 10}, {"rubygems_", 20},
	{"sbp_", 20}, {"secret_", 32}, {"shpat_", 16}, {"shpca_", 16}, {"shppa_", 16}, {"shpss_", 16}, {"sgp_", 20},
	{"sk-ant-", 10}, {"sk-proj-", 10}, {"sk-or-", 10}, {"sk-", 20}, {"sk_live_", 10}, {"sk_test_", 10},
	{"sl.", 40}, {"sntrys_", 20}, {"sntryu_", 20}, {"sq0atp-", 16}, {"sq0csp-", 16},
	{"tskey-", 12}, {"vercel_", 20}, {"whsec_", 16}, {"xai-", 20},
	{"xapp-", 12}, {"xoxa-", 10}, {"xoxb-", 10}, {"xoxe-", 10}, {"xoxe.xoxp-", 10}, {"xoxo-", 10}, {"xoxp-", 10}, {"xoxr-", 10}, {"xoxs-", 10},
	{"xkeysib-", 20},
}

// leastToken is the length of the shortest token of any kind.
const leastToken = 15

// token returns the length of the token that s begins with, and how much of it
// may stay to say what it was. Words of a token's length that are made of
// letters only are names, not tokens.
func token(s string) (keep, length int) {
	if run(ahead(s, leastToken), isToken) < leastToken {
		return 0, 0
	}
	if strings.HasPrefix(s, "eyJ") { // a JSON web token, or its likes
		head := ahead(s, maxHead)
		if n := run(head, isToken); n >= 24 && strings.IndexByte(head[:n], '.') > 0 {
			return 3, run(s, isToken)
		}
	}
	if n := botToken(s); n > 0 {
		return 0, n
	}
	if n := dotted(s); n > 0 {
		return 0, n
	}
	for i := range shapes {
		sh := &shapes[i]
		if s[0] != sh.prefix[0] || !strings.HasPrefix(s, sh.prefix) {
			continue
		}
		body := ahead(s[len(sh.prefix):], maxBody)
		body = body[:run(body, isToken)]
		if len(body) >= sh.least && mixed(body) {
			return len(sh.prefix), run(s, isToken)
		}
	}
	return 0, 0
}

// botToken returns the length of a Telegram token: a number, a colon, and 35
// characters that begin with AA.
func botToken(s string) int {
	n := run(ahead(s, 12), func(c byte) bool { return c >= '0' && c <= '9' })
	if n < 8 || !strings.HasPrefix(s[n:], ":AA") {
		return 0
	}
	if body := run(ahead(s[n+1:], maxBody), isToken); body >= 33 {
		return n + 1 + body
	}
	return 0
}

// dotted returns the length of a token of three parts: Discord's, and
// Terraform's with atlasv1 in the middle.
func dotted(s string) int {
	head := ahead(s, maxBody)
	head = head[:run(head, isToken)]
	first, rest, _ := strings.Cut(head, ".")
	second, third, found := strings.Cut(rest, ".")
	switch {
	case !found || !mixed(first) || !mixed(third):
	case len(first) == 14 && second == "atlasv1" && len(third) >= 40,
		len(first) >= 23 && len(first) <= 28 && strings.IndexByte("MNO", s[0]) >= 0 && len(second) == 6 && len(third) >= 27:
		return run(s, isToken)
	}
	return 0
}

// mixed reports that a text has a digit or letters of both cases, as random
// ones of some length have.
func mixed(s string) bool {
	var digit, upper, lower bool
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digit = true
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= 'a' && c <= 'z':
			lower = true
		}
	}
	return digit || upper && lower
}

// privateKey returns the length of the key block at the beginning of s; one
// without an end reaches to the end of the text.
func privateKey(s string) int {
	const dashes = "-----"
	head := strings.Index(s[len(dashes):], dashes)
	if head < 0 {
		return 0
	}
	head += 2 * len(dashes)
	if !strings.Contains(s[:head], "PRIVATE KEY") {
		return 0
	}
	foot := strings.Index(s[head:], "-----END ")
	if foot < 0 {
		return len(s)
	}
	end := head + foot + len("-----END ")
	if tail := strings.Index(s[end:], dashes); tail >= 0 {
		return end + tail + len(dashes)
	}
	return len(s)
}

// password returns where the password stands in an address whose "://" s
// begins with.
func password(s string) (from, to int) {
	authority := s[3:]
	if i := strings.IndexAny(authority, "/?# \t\r\n\"'`<>\\"); i >= 0 {
		authority = authority[:i]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return 0, 0
	}
	colon := strings.IndexByte(authority[:at], ':')
	from, to = 3+colon+1, 3+at
	if colon < 0 { // a token in the place of the user
		from = 3
		if at < 20 || !mixed(authority[:at]) {
			return 0, 0
		}
	}
	if from == to || harmless(s[from:to]) {
		return 0, 0
	}
	return from, to
}
