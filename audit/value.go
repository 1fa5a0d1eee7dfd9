package audit

import (
	"slices"
	"strings"
)

// secretNames are the words by which a name says that its value is a secret,
// in lower case and without separators.
var secretNames = []string{
	"password", "passwd", "passphrase", "passwort", "secret", "token", "apikey", "accesskey", "privatekey",
	"authkey", "signingkey", "encryptionkey", "masterkey", "accountkey", "sharedkey", "credential", "authorization",
	"sessionkey", "sessionid", "cookie", "bearer", "webhookurl", "connectionstring", "pgpass", "sshpass",
}

// plainNames hold one of the words above and are no secrets.
var plainNames = []string{
	"maxtokens", "tokencount", "tokentype", "tokenizer", "tokenize", "tokens", "secretname", "secretref", "secretsmanager",
	"passwordfile", "tokenfile", "passwordless", "tokenurl", "tokenendpoint", "cookiejar", "cookiefile",
}

// isSecretName reports whether a key, option or variable names a secret.
func isSecretName(key string) bool {
	var b [64]byte
	n := 0
	for i := range len(key) {
		c := key[i]
		if c == '_' || c == '-' || c == '.' {
			continue
		}
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if n == len(b) {
			copy(b[:], b[1:]) // the end of a name says what it is
			n--
		}
		b[n] = c
		n++
	}
	name := string(b[:n])
	return promises(name) && !slices.ContainsFunc(plainNames, func(plain string) bool { return strings.HasSuffix(name, plain) })
}

// promises reports whether a name has a word of a secret's name in it.
func promises(name string) bool {
	if strings.HasSuffix(name, "pwd") {
		return name != "pwd" && name != "oldpwd" // working directories
	}
	if name == "pass" || strings.HasSuffix(name, "dbpass") || strings.HasSuffix(name, "userpass") {
		return true
	}
	return slices.ContainsFunc(secretNames, func(word string) bool { return strings.Contains(name, word) })
}

// value returns where the value of the secret stands whose name is the first
// key bytes of s, behind a number of dashes; from == to if there is none.
func value(s string, key, dashes int) (from, to int) {
	name := s[:key]
	switch {
	case dashes == 0 && (strings.EqualFold(name, "bearer") || strings.EqualFold(name, "basic")):
		return scheme(s, key)
	case dashes == 0 && name == "sshpass":
		return sshpass(s, key)
	case dashes == 1 && name == "u", dashes == 2 && name == "user":
		return login(s, key)
	}
	at := key + run(s[key:], func(c byte) bool { return c == '"' || c == '\'' || c == '\\' })
	if at == len(s) || !isBlank(s[at]) && s[at] != '=' && s[at] != ':' || !isSecretName(name) {
		return 0, 0
	}
	blanks := run(s[at:], isBlank)
	at += blanks
	separated := false
	switch {
	case at < len(s) && (s[at] == '=' || s[at] == ':') && !strings.HasPrefix(s[at:], "://"):
		at++
		at += run(s[at:], func(c byte) bool { return c == '=' || c == '>' })
		at += run(s[at:], isBlank)
		separated = true
	case blanks == 0:
		return 0, 0
	}
	from, to = word(s, at)
	if w := s[from:to]; isScheme(w) {
		if next, end := word(s, to+run(s[to:], isBlank)); end > next {
			from, to = next, end
		}
	}
	w := s[from:to]
	if harmless(w) || !separated && (w[0] == '-' || dashes == 0 && !looksSecret(w)) {
		return 0, 0
	}
	return from, to
}

func isScheme(w string) bool {
	for _, scheme := range []string{"bearer", "basic", "token", "digest", "apikey"} {
		if strings.EqualFold(w, scheme) {
			return true
		}
	}
	return false
}

// sshpass finds the password in "sshpass -p password".
func sshpass(s string, key int) (from, to int) {
	at := key + run(s[key:], isBlank)
	if at == key || !strings.HasPrefix(s[at:], "-p") {
		return 0, 0
	}
	at += len("-p")
	from, to = word(s, at+run(s[at:], isBlank))
	if harmless(s[from:to]) {
		return 0, 0
	}
	return from, to
}

// login finds the password in the "user:password" of curl and its likes.
func login(s string, key int) (from, to int) {
	at := key + run(s[key:], func(c byte) bool { return c == ' ' || c == '=' })
	from, to = word(s, at)
	colon := strings.IndexByte(s[from:to], ':')
	if at == key || colon < 0 || harmless(s[from+colon+1:to]) {
		return 0, 0
	}
	return from + colon + 1, to
}

// scheme finds the credential after "Bearer" or "Basic".
func scheme(s string, key int) (from, to int) {
	blanks := run(s[key:], isBlank)
	if blanks == 0 {
		return 0, 0
	}
	from, to = word(s, key+blanks)
	if to-from < 12 || !mixed(s[from:to]) || harmless(s[from:to]) {
		return 0, 0
	}
	return from, to
}

// looksSecret tells a value from the next word of a sentence, where nothing but
// a blank stands before either of them.
func looksSecret(w string) bool { return len(w) >= 8 && mixed(w) }

// word returns the extent of a value that begins at from: up to the closing
// quote, else up to something that ends a word.
func word(s string, from int) (int, int) {
	for from < len(s) && s[from] == '\\' { // a quote in a string within a string
		from++
	}
	if from < len(s) && (s[from] == '"' || s[from] == '\'') {
		quote := s[from]
		from++
		for i := from; i < len(s); i++ {
			if s[i] == quote || s[i] == '\n' {
				if i > from && s[i-1] == '\\' {
					return from, i - 1
				}
				return from, i
			}
		}
		return from, len(s)
	}
	return from, from + run(s[from:], func(c byte) bool { return !strings.ContainsRune(" \t\r\n\"'`;,&|<>(){}\\", rune(c)) })
}

// harmless reports a value that gives nothing away: none, a reference to a
// variable, or one that is redacted already.
func harmless(w string) bool {
	if len(w) < 3 || strings.HasPrefix(w, mark) || strings.HasPrefix(mark, w) {
		return true
	}
	if w[0] != '$' {
		return false
	}
	name := strings.TrimSuffix(strings.TrimPrefix(w[1:], "{"), "}")
	return name == "" || run(name, isWord) == len(name)
}

// run returns how many bytes at the beginning of s belong to a class.
func run(s string, class func(byte) bool) int {
	n := 0
	for n < len(s) && class(s[n]) {
		n++
	}
	return n
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

func isKey(c byte) bool { return isWord(c) || c == '-' || c == '.' }

func isToken(c byte) bool {
	switch c {
	case '-', '.', '+', '/', '=', '~', ':':
		return true
	}
	return isWord(c)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
