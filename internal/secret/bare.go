package secret

import "strings"

// Limits of a text that [Bare] judges. Files of settings are small.
const (
	maxBareText  = 16 << 10
	maxBareLine  = 256
	maxBareLines = 200
)

// Bare reports that a text of settings, such as an .env file, demonstrably has no
// secret. Each line must be one of a few kinds: a directive of direnv, a remark of common
// words, a name without a value, or a setting whose name says that its value is none and
// whose value is a truth, a small number, some words, an address on this machine, or a host.
// Whatever it does not know is in doubt, and so is the text.
func Bare(text string) bool {
	if len(text) > maxBareText || strings.Count(text, "\n") > maxBareLines {
		return false
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if len(line) > maxBareLine || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) || !bareLine(strings.Trim(line, " ")) {
			return false
		}
	}
	return true
}

func bareLine(line string) bool {
	if line == "" {
		return true
	}
	if rest, ok := strings.CutPrefix(line, "#"); ok {
		return onlyOf(strings.Trim(rest, "# -"), remarkWords)
	}
	line = strings.TrimPrefix(line, "export ")
	name, value, ok := strings.Cut(line, "=")
	if !ok {
		return bareDirective(line)
	}
	if !allOf(name, upperCase+decimals+"_") || name == "" || strings.Contains(value, "=") {
		return false
	}
	if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	return value == "" || !promising(name, value) && (among(truths, strings.ToLower(value)) || describes(name) && bareValue(value))
}

const (
	upperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
	decimals  = "0123456789"
	truths    = " true false yes no on off "
)

// among reports a word of a list that has a blank before and behind each.
func among(list, w string) bool {
	return !strings.Contains(w, " ") && strings.Contains(list, " "+w+" ")
}

func allOf(s, signs string) bool { return strings.Trim(s, signs) == "" }

// remarkWords are all that a remark may consist of: any other word can be a password.
const remarkWords = " a an and api app are backend base build by cache ci client config configuration container containers database db debug default defaults dev development docker " +
	"environment feature features file flag flags for from frontend general host hosts http https in is it level local locally log logging mail main mode name not of on only optional or " +
	"port ports postgres prod production queue react redis required server service services set setting settings staging test testing tests the this to url urls use used variables vite web with worker "

func onlyOf(s, words string) bool {
	for w := range strings.FieldsSeq(strings.ToLower(s)) {
		if !among(words, strings.Trim(w, ".,:;()")) {
			return false
		}
	}
	return true
}

// bareDirectives are lines of .envrc files that set nothing, with the words behind them.
const bareDirectives = " use_flake use_nix dotenv dotenv_if_exists source_up source_up_if_exists strict_env " // alone

// bareDirective judges a line without an equals sign.
func bareDirective(line string) bool {
	verb, rest, more := strings.Cut(line, " ")
	if !more {
		return among(bareDirectives, verb)
	}
	switch verb {
	case "use":
		return among(" flake nix node ", rest)
	case "layout":
		return among(" node python python3 ruby go poetry php pipenv ", rest)
	case "dotenv", "dotenv_if_exists", "source_env", "source_env_if_exists":
		return among(" .env .env.local .envrc.local .envrc.private ", rest)
	case "PATH_add":
		return among(" bin ./bin node_modules/.bin vendor/bin scripts ", rest)
	case "watch_file":
		return onlyOf(rest, " flake.nix flake.lock shell.nix .tool-versions package.json ")
	}
	return false
}

// promisingParts are parts of names under which files of settings keep secrets, more
// than [Name] knows: here a doubt keeps the file a secret.
const promisingParts = "pass pwd psw psk pin key auth cred secret token salt sign cookie session login jwt cert priv licen seed mnemonic phrase hook dsn bearer vault otp " +
	"hash code senha clave kenn wort mdp contras parol geheim nonce hmac crypt pepper sid sas pat "

// promising reports a name whose value may be a secret. One such as DATABASE_URL only
// promises an address, and the login in it is judged.
func promising(name, value string) bool {
	if Name(name) != None && !(strings.HasSuffix(name, "_URL") && strings.Contains(value, "://")) {
		return true
	}
	name = strings.ToLower(name)
	for part := range strings.FieldsSeq(promisingParts) {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// described are last words of names that say of what kind a value is.
const described = " PORT HOST HOSTNAME ENV ENVIRONMENT MODE LEVEL DEBUG VERBOSE TITLE NAME URL URI BASE ENDPOINT ORIGIN REGION LOCALE LANG LANGUAGE TZ TIMEZONE VERSION FORMAT DRIVER " +
	"CONNECTION CHANNEL STORE TIMEOUT TTL SIZE LIMIT COUNT WORKERS THREADS DB DATABASE THEME BETA ENABLED DISABLED RETRIES INTERVAL CONCURRENCY TYPE ADDR ADDRESS "

func describes(name string) bool {
	return among(described, name[strings.LastIndexByte(name, '_')+1:])
}

// bareValue judges a value that its name describes.
func bareValue(v string) bool {
	if scheme, rest, ok := strings.Cut(v, "://"); ok {
		return bareAddress(scheme, rest)
	}
	if host, port, ok := strings.Cut(v, ":"); ok {
		return (host == "" || bareHost(host)) && allOf(port, decimals) && len(port) <= 5
	}
	if allOf(v, decimals) {
		return len(v) <= 6
	}
	return v == "127.0.0.1" || v == "0.0.0.0" || bareWords(v)
}

// bareWords reports up to four words that are names of things, and no random text.
func bareWords(v string) bool {
	n := 0
	for w := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune(" -_./", r) }) {
		number := allOf(w, decimals) && len(w) <= 2
		if n++; n > 4 || len(w) > 12 || !number && !allOf(w, upperCase) && !(allOf(w[:1], upperCase+lowerCase) && allOf(w[1:], lowerCase)) {
			return false
		}
	}
	return n > 0
}

// bareAddress judges what stands behind the scheme of an address: a host without a login
// and with a short path, or a service on this machine with the login that images have.
func bareAddress(scheme, rest string) bool {
	authority, path, _ := strings.Cut(rest, "/")
	login, host, ok := cutLast(authority, "@")
	if !ok {
		login, host = "", authority
	}
	host, port, _ := strings.Cut(host, ":")
	if !among(" http https ws wss postgres postgresql mysql redis amqp mongodb ", scheme) || !bareHost(host) || !allOf(port, decimals) || len(port) > 5 {
		return false
	}
	user, password, hasPassword := strings.Cut(login, ":")
	local := host == "127.0.0.1" || host == "0.0.0.0" || !strings.Contains(host, ".")
	if ok && (!local || !hasPassword || user != password || !among(" app dev root postgres test user guest mysql admin ", user)) {
		return false
	}
	if among(" postgres postgresql mysql mongodb ", scheme) {
		return path == "" || local && bareWords(path)
	}
	for part := range strings.SplitSeq(path, "/") {
		if !among(" api v1 v2 v3 graphql rest docs health 0 1 ", part) && part != "" {
			return false
		}
	}
	return true
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// bareHost reports the name of a host of which each label is a word.
func bareHost(host string) bool {
	if host == "127.0.0.1" || host == "0.0.0.0" {
		return true
	}
	for label := range strings.SplitSeq(host, ".") {
		if !bareWords(label) || strings.ContainsAny(label, "_/ ") || len(label) > 20 {
			return false
		}
	}
	return true
}
