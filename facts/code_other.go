package facts

import "strings"

// otherLanguage stands for every language without rules of its own. Its text
// is not parsed: it is plain when it names nothing that could reach out of the
// program, as in println(1 + 1), and else not known.
func otherLanguage() *codeLanguage {
	return &codeLanguage{name: "other", table: func() codeTable { return nil }, inspect: inspectOther}
}

// hasRules reports whether there are rules for programs in a language.
func hasRules(language string) bool {
	l := codeLanguageOf(language)
	return l != nil && l.name != "other"
}

func inspectOther(r *codeRun, text string) {
	if len(text) > maxCodeFold {
		r.suspect("program text is too long")
		return
	}
	for _, s := range reaching {
		if strings.Contains(text, s) {
			r.suspect("names " + strings.TrimSpace(s) + " in a language that gate has no rules for")
			return
		}
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	for _, w := range words {
		if hasWord(reachingWords, w) {
			r.suspect("names " + w + " in a language that gate has no rules for")
			return
		}
		for _, s := range reachingParts {
			if strings.Contains(w, s) {
				r.suspect("names " + w + " in a language that gate has no rules for")
				return
			}
		}
	}
}

// What reaches out of a program, in the many languages there are: marks, whole
// words, and parts of words.
var reaching = []string{"`", "#!", "\\x", "\\u", "%x", "qx"}

const reachingWords = " rm mv cp dd sh bash zsh cmd run env net unix dos sys ffi port cd chmod chown kill spit slurp chr chars char_code intern apply pipe read get put post fork "

var reachingParts = []string{
	"system", "exec", "shell", "spawn", "process", "popen", "command", "subprocess", "run_", "runtime", "startinfo",
	"delete", "remove", "unlink", "rename", "trash", "rmdir", "rmtree", "write", "append", "truncate", "open", "file", "chmod",
	"http", "url", "socket", "tcp", "udp", "network", "curl", "wget", "download", "upload", "fetch", "request", "send", "mail", "connect", "listen",
	"getenv", "environ", "secret", "token", "passw", "credential", "homedir", "user_home",
	"eval", "compile", "decode", "base64", "unhex", "fromhex", "reflect", "forname", "getclass", "getmethod", "invoke", "loader", "dlopen", "ccall", "foreign", "native", "unsafe", "syscall", "load", "require", "include", "macro",
}
