package code

import (
	"regexp"
	"strings"
	"sync"

	"gate/internal/wordlist"
)

// sendsEnvironment reports statements of any language that send the whole environment, or
// all values of a file of settings: as [Lineage] does it, by the names that take them over.
// One variable of it is no such thing, since programs send those to the services that gave
// them out.
func sendsEnvironment(list []string) bool {
	whole, net := map[string]bool{}, map[string]bool{}
	for range 3 { // a name may be used above its own assignment
		for _, s := range list {
			names, from := takesOver(s)
			if picks := strings.HasPrefix(strings.TrimLeft(strings.TrimLeft(names, " constlevar"), " "), "{") && !strings.Contains(names, "..."); !picks && ofEnvironment(from, whole) && !marked(names, environmentNames) {
				take(whole, names)
			}
			if i := strings.LastIndex(from, ")"); i >= 0 && strings.Contains(s, "for") { // for (const k of …) o[k] = process.env[k]
				if names, from := takesOver(from[i+1:]); ofEnvironment(from, whole) {
					take(whole, names)
				}
			}
			if connects(s) {
				take(net, names)
			}
		}
	}
	for _, s := range list {
		if !connects(s) && !marked(s, lookupMarks) && !marked(s, outMarks) {
			continue
		}
		s = handedToProcess().ReplaceAllString(s, "")
		if ofEnvironment(s, whole) && (connects(s) || marked(s, lookupMarks) || marked(s, outMarks) && holds(s, net)) {
			return true
		}
	}
	return false
}

// connects reports a statement that makes a request or a connection.
func connects(s string) bool {
	return sends(s, true) || calls(s, socketWords) || calls(s, " WebSocket EventSource stream_context_create curl_setopt_array ")
}

// environmentMarks are how languages name the environment, so that most texts are passed
// over; lookupMarks how they look up the name of a host.
const (
	environmentMarks = "process.env|environ|ENV|getenv|get_env|Environ|environment|env.toObject|env::vars|loadEnv|otenv|Bun.env|_SERVER"
	environmentNames = "process.env|os.environ|ENV"
	lookupMarks      = "dns.resolve|dns.lookup|dns.promises|dns').|dns\").|dnsPromises.|resolve4(|resolveTxt(|gethostbyname(|getaddrinfo(|LookupHost(|LookupTXT(|Resolve-DnsName|toSocketAddrs|lookup_host("
)

// wholeEnvironment finds expressions that stand for all of the environment. What follows
// one in its last group tells whether only a part is taken.
var wholeEnvironment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\bprocess\.env\b|\bBun\.env\b|\bos\.environb?\b|\bENV\b|\$_ENV\b|\$_SERVER\b|%ENV\b|\benviron\b)([\w.\[?]*)` +
		`|\b(?:env\.toObject|os\.Environ|env::vars(?:_os)?|System\.getenv|System\.get_env|getenv|GetEnvironmentVariables|get_environment_variables|dotenv_values|Sys\.getenv)\(\s*\)` +
		`|\bprocessInfo\.environment\b([\w.\[?]*)` +
		`|\bdotenv_values\(|\b[dD]otenv\w*\W{1,4}(?:config|parse|load)\(` +
		`|\bloadEnv\((?:[^()]|\(\))*,\s*(?:''|""|\[\s*(?:[^\]]*,\s*)?(?:''|"")[^\]]*\])\s*\)`)
})

// handedToProcess finds the environment that another program is started with.
var handedToProcess = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\benv\s*[:=]\s*(?:\{[^}]*\}|dict\([^)]*\)?\)?|[\w.]+(?:\(\))?(?:\s*\|\s*\{[^}]*\})?)|\{\s*env\s*[,}]|,\s*env\s*[,}]|\.envs\([^)]*\)`)
})

// wholly are methods that keep all of a table.
const wholly = " copy items values to_h to_a to_json to_hash map filter entries reduce toString inspect select each forEach iter collect "

// ofEnvironment reports a text that takes all of the environment, or a name of it.
func ofEnvironment(s string, whole map[string]bool) bool {
	if marked(s, environmentMarks) {
		for _, found := range wholeEnvironment().FindAllStringSubmatchIndex(s, -1) {
			rest := s[found[1]:]
			for _, group := range [2]int{2, 4} {
				if found[group] >= 0 {
					rest = s[found[group]:]
				}
			}
			if keepsWhole(rest, whole) && !strings.HasSuffix(s[:found[0]], "typeof ") {
				return true
			}
		}
	}
	for i := 0; len(whole) > 0 && i < len(s); {
		n := i
		for n < len(s) && nameByte(s[n]) {
			n++
		}
		if n == i {
			i++
			continue
		}
		if whole[s[i:n]] && keepsWhole(s[n:], whole) && !isPart(s[:i]) {
			return true
		}
		i = n
	}
	return false
}

func nameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// isPart reports what stands before a name that is a member, a part of a path or a text of
// its own.
func isPart(before string) bool {
	return before != "" && strings.IndexByte(`./-'"`, before[len(before)-1]) >= 0 && !strings.HasSuffix(before, "...")
}

// keepsWhole reports by what follows a table that all of it is taken, and not one entry. An
// index that comes of the table's own keys goes through all.
func keepsWhole(after string, whole map[string]bool) bool {
	switch after = strings.TrimLeft(after, " "); {
	case after == "":
		return true
	case strings.HasPrefix(after, "."):
		n := 1
		for n < len(after) && nameByte(after[n]) {
			n++
		}
		return n == 1 || wordlist.Has(wholly, after[1:n])
	case after[0] == '[':
		index, _, _ := strings.Cut(after[1:], "]")
		return whole[strings.TrimSpace(index)]
	case strings.HasPrefix(after, "=="), strings.HasPrefix(after, "?"):
		return false
	}
	return strings.IndexByte(`=:/-'"{`, after[0]) < 0
}
