package code

import (
	"cmp"
	"regexp"
	"strings"
	"sync"

	"gate/internal/wordlist"
)

// sendsEnvironment reports statements of any language that send the whole environment, or
// all values of a file of settings: as [Lineage] does it, by the names that take them over.
// One variable of it is no such thing, since programs send those to the services that gave
// them out.
func sendsEnvironment(texts []string) bool {
	list := make([]assignment, len(texts))
	for i, text := range texts {
		if found := pickedEnvironment().FindStringSubmatch(text); found != nil {
			text = cmp.Or(found[1], "env") + " = process.env"
		}
		list[i] = assignmentOf(text)
	}
	whole, net := map[string]bool{}, map[string]bool{}
	for range 3 { // a name may be used above its own assignment
		for i := range list {
			s := &list[i]
			if !s.picks && s.from.takes(whole) {
				take(whole, s.names)
			}
			if s.body.text != "" && s.body.takes(whole) {
				take(whole, s.member)
			}
			if s.connects {
				take(net, s.names)
			}
		}
	}
	for i := range list {
		s := &list[i]
		if !s.connects && s.has&(lookupMark|outMark) == 0 {
			continue
		}
		rest := s.text
		if strings.Contains(rest, "env") && !strings.Contains(rest, "stringify(") && (startsProgram(rest) || s.connects && wordsOf(rest)&sendWord == 0 || !strings.Contains(rest, "://")) {
			rest = handedToProcess().ReplaceAllString(rest, "")
		}
		has, connects := s.has, s.connects
		if len(rest) != len(s.text) {
			has, connects = marksOf(rest), connecting(rest)
		}
		if connects || has&lookupMark != 0 || has&outMark != 0 && holds(rest, net) {
			if expression := environmentIn(rest); expression.takes(whole) {
				return true
			}
		}
	}
	return false
}

// An assignment is a statement, and what of it concerns the environment and depends on no
// other one.
type assignment struct {
	text, names string
	has         marks
	connects    bool // makes a request or a connection
	picks       bool // binds single variables, or is about the environment's own name
	from        environment

	// for (const k of …) o[k] = process.env[k]
	member string
	body   environment
}

func assignmentOf(text string) assignment {
	s := assignment{text: text, has: marksOf(text), connects: connecting(text)}
	names, from := takesOver(text)
	s.names, s.from = names, environmentIn(from)
	s.picks = strings.HasPrefix(strings.TrimLeft(strings.TrimLeft(names, " constlevar"), " "), "{") && !strings.Contains(names, "...") || marksOf(names)&tableMark != 0
	if i := strings.LastIndex(from, ")"); i >= 0 && strings.Contains(text, "for") {
		member, body := takesOver(from[i+1:])
		s.member, s.body = member, environmentIn(body)
	}
	return s
}

// environmentMarks are how languages name the environment, so that most texts are passed
// over; lookupMarks how they look up the name of a host.
const (
	environmentMarks = "process.env|environ|ENV|sys.env|etEnv|/getenv|get env|get ::env|envPairs|os:env|getenv|get_env|Environ|environment|env.toObject|env::vars|loadEnv|otenv|Bun.env|_SERVER|} = process|:process'|:process\"|'process'|\"process\"|getReport("
	environmentNames = "process.env|os.environ|ENV"
	lookupMarks      = "dns.resolve|dns.lookup|dns.promises|dns').|dns\").|dnsPromises.|resolve4(|resolveTxt(|gethostbyname(|getaddrinfo(|LookupHost(|LookupTXT(|Resolve-DnsName|toSocketAddrs|lookup_host(|getHostByName(|GetHostEntry(|GetHostAddresses(|InetAddress.getByName(|InetAddress.getAllByName(|getaddr(|Socket.gethostbyname|Addrinfo.|inet.getaddr|:inet.gethostbyname|dns_get_record(|nslookup |dig +|Resolver("
)

// wholeEnvironment finds expressions that stand for all of the environment. What follows
// one in its last group tells whether only a part is taken.
var wholeEnvironment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\bprocess\.env\b|\bBun\.env\b|\bos\.environb?\b|\bENV\b|\$_ENV\b|\$_SERVER\b|%ENV\b|\benviron\b)([\w.\[?]*)` +
		`|\b(?:env\.toObject|os\.Environ|env::vars(?:_os)?|System\.getenv|System\.get_env|getenv|GetEnvironmentVariables|get_environment_variables|dotenv_values|Sys\.getenv)\(\s*\)` +
		`|\b(?:sys\.env|Unix\.environment|getEnvironment|envPairs\(\)|environment\.toAA\(\)|Platform\.environment|getEnvMap|os:env\(\)|Sys\.environ\(\)|\(System/getenv\)|\barray get (?:::)?env\b)([\w.\[?]*)|%\*ENV\b` +
		`|\bprocessInfo\.environment\b([\w.\[?]*)` +
		`|\breport\.getReport\(\s*\)` +
		`|\bdotenv_values\(|\b[dD]otenv\w*\W{1,4}(?:config|parse|load)\(` +
		`|\bloadEnv\((?:[^()]|\(\))*,\s*(?:''|""|\[\s*(?:[^\]]*,\s*)?(?:''|"")[^\]]*\])\s*\)`)
})

// pickedEnvironment finds what takes the environment out of the process: { pid, env: e } = process,
// import { env } from "node:process".
var pickedEnvironment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{(?:[^{}]*[\s,])?env(?:\s*(?::|\bas\b)\s*(\w+))?\s*(?:,[^{}]*)?\}\s*(?:=\s*(?:globalThis\.)?process\s*$|(?:=\s*require\(|from)\s*["'](?:node:)?process["'])`)
})

// handedToProcess finds the environment that another program is started with.
var handedToProcess = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\benv\s*[:=]\s*(?:\{[^}]*\}|dict\([^)]*\)?\)?|[\w.]+(?:\(\))?(?:\s*\|\s*\{[^}]*\})?)|\{\s*env\s*[,}]|,\s*env\s*[,}]|\.envs\([^)]*\)`)
})

// wholly are methods that keep all of a table.
const wholly = " copy items values to_h to_a to_json to_hash map filter entries reduce toString inspect select each forEach iter collect mkString toMap toSeq toList map_join join pairs each_pair items map to_json foldLeft forEach "

// connecting reports a statement that makes a request or a connection.
func connecting(s string) bool {
	does := wordsOf(s)
	return does&(sendWord|socketWord|pushWord) != 0 || requests(s, does)
}

// An environment is a text that may take all of the environment.
type environment struct {
	text string
	rest []string // what follows each expression that stands for it
}

// environmentIn finds the expressions of a text that stand for the environment.
func environmentIn(text string) environment {
	e := environment{text: text}
	if marksOf(text)&environmentMark == 0 {
		return e
	}
	for _, found := range wholeEnvironment().FindAllStringSubmatchIndex(text, -1) {
		rest := text[found[1]:]
		for _, group := range [3]int{2, 4, 6} {
			if found[group] >= 0 {
				rest = text[found[group]:]
			}
		}
		if !strings.HasSuffix(text[:found[0]], "typeof ") {
			e.rest = append(e.rest, rest)
		}
	}
	return e
}

// takes reports that the text takes all of the environment, or a name of it.
func (e *environment) takes(whole map[string]bool) bool {
	for _, rest := range e.rest {
		if keepsWhole(rest, whole) {
			return true
		}
	}
	s := e.text
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
		index, _, _ := strings.Cut(after[1:min(len(after), maxName)], "]")
		return whole[strings.TrimSpace(index)]
	case strings.HasPrefix(after, "=="), strings.HasPrefix(after, "?"):
		return false
	}
	return strings.IndexByte(`=:/-'"{`, after[0]) < 0
}

// LooksUp reports a text that looks up names of hosts.
func LooksUp(text string) bool { return marksOf(text)&lookupMark != 0 }
