package sign

import (
	"path"
	"strings"

	"gate/internal/secret"
	"gate/internal/wordlist"
)

// lists are words that patterns name, in the order of the names.
var lists = []wordlist.Named[string]{
	{Name: "ACT", Value: " send read call copy include forward execute run upload add pass invoke append attach fetch open collect transmit post email share write exfiltrate "},
	{Name: "ALL", Value: " full entire complete whole all previous verbatim prior current recent earlier "},
	{Name: "CALL", Value: " call calls calling invoke invokes invoking use uses using run runs running execute executes executing trigger "},
	{Name: "GET", Value: " read open cat load fetch retrieve extract collect get access list look check find grab obtain dump scan "},
	{Name: "GIVE", Value: " pass provide include send supply attach put paste append forward transmit share submit insert place embed add copy give write encode "},
	{Name: "MUST", Value: " must always shall should required mandatory need needs important "},
	{Name: "NOT", Value: " not dont never without avoid cannot cant no wont neither nor refrain "},
	{Name: "PAST", Value: " history context log logs transcript messages so contents content "},
	{Name: "PERSON", Value: " user users human humans person people anyone anybody them him her operator customer developer "},
	{Name: "RULES", Value: " instructions instruction rules prompts prompt guidelines guardrails restrictions directives policies safety "},
	{Name: "SECRETL", Value: " silently secretly quietly covertly discreetly invisibly stealthily "},
	{Name: "TALK", Value: " conversation chat dialogue dialog discussion "},
	{Name: "TELL", Value: " mention tell inform notify show reveal disclose alert say display report explain warn ask expose acknowledge discuss describe let "},
}

func listed(name string) string { return wordlist.Find(lists, name) }

// tags mark what follows as an order to the model. Other tags, such as <example>, only
// give a text its form.
const tags = `<important> <system> <system-reminder> <secret> <instruction> <instructions> <hidden> <admin> <override> <critical> <assistant> <sidenote> <|im_start|> <|system|> [system] [inst] <<sys>>`

// patterns are what sentences say, by the kind of sign. A part of a row is a word,
// alternatives, a list or, as "..", up to four words.
var patterns = []wordlist.Named[string]{
	{Name: instruction, Value: `ignore|disregard|forget|override|bypass .. previous|prior|above|earlier|other|your|all .. RULES
your|the new|real|true|actual task|goal|instructions|objective|mission is|are
you are now
new instructions
before|when|whenever|after|while CALL .. this|any|other tool|tools|function|server .. you MUST
before|prior .. CALL|to .. this|any|other tool|tools|function|server .. GET|GIVE|ACT .. file|files|contents|content|key|keys
MUST .. before|prior .. do|doing|else|anything|answering|responding
for|in|on|at|before|after|with every|each|any|all message|response|request|reply|answer|prompt|conversation|turn .. MUST|call|include|use
MUST .. every|each|all message|response|request|reply|answer|prompt|turn
otherwise .. tool|system|server|it .. fail|crash|break|not
the tool will not work otherwise
this tool has|takes priority|precedence over
pretend to|that|you
act as if|though
do not refuse
`},
	{Name: concealment, Value: `do|must|should|to|please|and|but|also|you|without|never not TELL .. PERSON
dont|never|avoid|refrain TELL|telling|mentioning|informing|notifying|showing|revealing|asking .. PERSON
do not TELL .. this|that|it step|steps|tool|sidenote|parameter|instruction|instructions|call
dont|never mention|reveal|disclose .. this|that|step|sidenote|instruction|instructions
without telling|informing|notifying|mentioning|asking|alerting|showing .. PERSON
without .. PERSON knowing|noticing|consent|confirmation|permission|approval|awareness|being
without .. knowledge|consent|confirmation|permission|approval of the PERSON
SECRETL .. ACT
ACT .. secretly|covertly|stealthily
keep .. secret|hidden|confidential from
hide .. .. from .. PERSON
PERSON must|should|will|does|need|needs not .. know|see|notice|told|aware|learn
PERSON .. not .. be .. told|informed|shown|aware
not .. aware of this
`},
	{Name: conversation, Value: `GIVE .. ALL .. TALK|conversation|chat
GIVE .. TALK history|context|log|transcript|summary
GIVE .. system prompt
GIVE .. system message
GIVE .. ALL .. context
GIVE .. ALL messages
GIVE .. chain of thought
GIVE .. your reasoning|instructions
GIVE .. everything .. PERSON said|wrote|asked
ALL TALK history|context|log|transcript|so
the|your|this|our system prompt
ALL context window
ALL .. messages .. this conversation|chat|session
TALK so far
list of all .. tools .. available|you
`},
	{Name: otherTool, Value: `instead of|using any|all|other|another|the|built-in|native|default .. tool|tools|server|servers
do|must|should not CALL .. any|other|another|built-in|native .. tool|tools|server|servers
dont|never CALL .. any|other|another|built-in|native .. tool|tools|server|servers
any|all other tool|tools|server|servers must|should|are|is
before|after CALL any other tool|tools
CALL any|all other tool|tools
replaces|replace|overrides|override|supersedes .. other|built-in|native|all tool|tools|server|servers
other mcp server|servers
`},
}

// memory are names of parameters that ask for what was said, whatever they are described as.
const memory = " conversationhistory chathistory fullconversation conversationcontext chatcontext entirecontext fullcontext messagehistory previousmessages conversationlog chatlog chainofthought sidenote conversationtranscript allmessages usermessages modelcontext contextwindow "

// files are names of parameters that ask for a file's contents.
const files = " filecontents filecontent filescontent sourcecode filedata fullfile documentcontents "

// handles are words of tools whose work is with contents, in what they say of themselves.
const handles = "file document content code source text writ read edit upload attach image save markdown note page blob data parse convert format analy lint compile translat summar"

// keeps are the words of a secret. "token" alone is also a part of a text, and "key" anything.
const keeps = " password passwords passphrase passphrases passcode credentials credential secrets secret apikey apikeys otp cvv cvc ssn keychain mnemonic "

// secretPairs are secrets of two words.
var secretPairs = []wordlist.Named[string]{{Value: `api|access|private|ssh|secret|signing|encryption|license|gpg|pgp key|keys
access|auth|session|bearer|refresh|security|api|login|authentication|github|oauth token|tokens
seed|recovery phrase|phrases|code|codes
credit card|cards
card number
one-time|verification|authentication|2fa|mfa code|codes|password
session|browser cookie|cookies
social security
environment variables
pin code
`}}

// personal are single words that ask a person for a secret by themselves.
const personal = " pin token tokens "

// secretWords are the words of a text that name a secret; demand says that a word which
// asks for it must stand before it. What is forbidden is not asked for.
func (l *look) secretWords(text string, demand bool) string {
	for _, s := range sentences(text) {
		for at := range s.words {
			if w := l.keeping(s.words[at:]); w != "" && !denied(s.words[:at]) && (!demand || wordlist.HasAny(listed("GIVE")+" enter type confirm need your ", s.words[:at])) {
				return w
			}
		}
		if !demand && len(s.words) == 1 && wordlist.Has(personal, s.words[0]) {
			return s.words[0]
		}
	}
	return ""
}

// keeping is the name of a secret that words begin with.
func (l *look) keeping(words []string) string {
	if wordlist.Has(keeps, words[0]) {
		return words[0]
	}
	for _, p := range l.pairs[words[0]] {
		if matches(p.parts, words) {
			return strings.Join(words[:len(p.parts)], " ")
		}
	}
	return ""
}

// denied reports words that forbid what comes after them.
func denied(before []string) bool { return wordlist.HasAny(listed("NOT"), before) }

// keptFor are words after the name of a secret that make it something about one, such as the
// reset of a password.
const keptFor = " reset resets policy policies name names id ids path paths version versions metadata scanning alert alerts manager managers rotation expiry expiration limit provider providers engine engines scope scopes strength rules "

// Words of a sentence in which a thing says that it stores a secret: the verbs, what may stand
// between them and the secret, and what may not stand anywhere, since the secret is somebody's
// or goes into the call then.
const (
	stores    = " write add put insert copy encode share place "
	anyOf     = " a an new one or more multiple several existing named encrypted static dynamic generic kv key-value value of "
	somebodys = " your yours users user my me their his her customers "
	into      = " parameter parameters param argument arguments field fields note notes sidenote input prompt request requests body message messages header headers url query comment comments response answer output context call calls tool here below "
	urges     = " have please first before after when whenever want also then sure "
)

// wantsSecret reports a sentence that has the model read a file with secrets, or hand on
// one that the person has.
func (l *look) wantsSecret(field string, s sentence) bool {
	stored := -1 // the verb of what stores a secret: the rest says where
	for at, w := range s.words {
		if denied(s.words[:at]) {
			return false
		}
		before := s.words[:at]
		asks := wordlist.HasAny(listed("GIVE"), before) || wordlist.HasAny(listed("GET"), before)
		if asks && l.secretFile(w) {
			return true
		}
		gives := -1
		for i, b := range before {
			if wordlist.Has(listed("GIVE"), b) {
				gives = i
			}
		}
		if gives < 0 || gives == stored || at-gives > 6 {
			continue
		}
		kept := l.keeping(s.words[at:])
		if kept == "" {
			continue
		}
		after := s.words[at+len(strings.Fields(kept)):]
		switch {
		case len(after) > 0 && wordlist.Has(keptFor, after[0]):
		case storesSecret(field, s.words, gives, at, after):
			stored = gives
		default:
			return true
		}
	}
	return false
}

// storesSecret reports that a thing says of itself that it puts secrets where they are kept:
// write a secret to Vault. That is no request: it names nobody's secret, and no place in the
// call.
func storesSecret(field string, words []string, verb, at int, after []string) bool {
	if field != "description" && !strings.HasSuffix(field, "title") || !wordlist.Has(stores, words[verb]) {
		return false
	}
	for _, w := range words[verb+1 : at] {
		if !wordlist.Has(anyOf, w) {
			return false
		}
	}
	before := words[:verb]
	if len(before) > 0 && !wordlist.Has(" to or and can ", before[len(before)-1]) || wordlist.HasAny(listed("MUST")+urges, before) {
		return false
	}
	return !wordlist.HasAny(somebodys+into, before) && !wordlist.HasAny(somebodys+into, after)
}

// secretFile reports a word that is the path of a file or directory with secrets.
func (l *look) secretFile(w string) bool {
	if !strings.ContainsAny(w, "./\\") && !strings.HasPrefix(w, "id_") {
		return false
	}
	w = strings.ReplaceAll(w, "\\", "/")
	base := path.Base(w)
	if wordlist.Has(" mcp.json claude_desktop_config.json .claude.json mcp_config.json mcp_settings.json .bash_history .zsh_history ", base) {
		return true
	}
	for dir := range strings.FieldsSeq(secret.Directories) {
		if strings.HasSuffix(strings.TrimSuffix(w, "/"), "/"+dir) || strings.TrimSuffix(w, "/") == dir {
			return true
		}
	}
	if rest, ok := strings.CutPrefix(w, "~/"); ok {
		w = l.World.Home + "/" + rest
	} else if rest, ok := strings.CutPrefix(w, "$home/"); ok {
		w = l.World.Home + "/" + rest
	} else if w[0] != '/' {
		w = l.World.Dir + "/" + w
	}
	_, known := l.World.Find("secret.", path.Clean(w))
	return known
}

// callsOthers reports a sentence that says when to call a tool which the server does not list
// itself.
func (l *look) callsOthers(s sentence) bool {
	calls := -1
	for at, w := range s.words {
		switch {
		case wordlist.Has(listed("CALL"), w):
			calls = at
		case wordlist.Has(" instead before after when whenever rather ", w):
			calls = at
		case calls >= 0 && at-calls <= 4 && l.isTool(w, s.words, at):
			return true
		}
	}
	return false
}

// isTool reports a word that names a tool of somebody else: it is written as names of tools
// are, a word such as "tool" stands beside it, and the server has none of that name.
func (l *look) isTool(w string, words []string, at int) bool {
	if strings.HasPrefix(w, "mcp__") {
		return !l.ours(w[strings.LastIndex(w, "__")+2:])
	}
	if strings.ContainsAny(w, "/.:@=") || !strings.Contains(strings.Trim(w, "_"), "_") && !strings.Contains(strings.Trim(w, "-"), "-") {
		return false
	}
	kinds := " tool tools function mcp server "
	beside := at+1 < len(words) && wordlist.Has(kinds, words[at+1]) || at > 0 && wordlist.Has(kinds, words[at-1])
	return beside && !l.ours(w)
}

// ours reports a name that the server lists, or that begins as several of its names do.
func (l *look) ours(name string) bool {
	name = letters(name)
	if l.own[name] || strings.Contains(l.about, name) && l.Of == "server" {
		return true
	}
	for own := range l.own {
		if own != "" && (strings.HasSuffix(own, name) || strings.HasSuffix(name, own)) {
			return true
		}
	}
	return false
}

// parameter looks at a parameter by its name, and by what is said of it.
func (l *look) parameter(field, name string, v any) {
	plain := letters(name)
	body, _ := v.(map[string]any)
	said, _ := body["description"].(string)
	lower := strings.ToLower(said)
	switch {
	case wordlist.Has(memory, plain):
		l.add(conversation, field, name)
	case plain == "systemprompt" && (said == "" || strings.Contains(lower, "your ") || strings.Contains(lower, "current")):
		l.add(conversation, field, name)
	case !l.handles() && (wordlist.Has(files, plain) || wantsContents(said)):
		l.add(contents, field, name)
	}
}

// handles reports a thing that says of itself that it works with contents.
func (l *look) handles() bool {
	for w := range strings.FieldsSeq(handles) {
		if strings.Contains(l.about, w) {
			return true
		}
	}
	return false
}

// wantsContents reports a description that asks for what is in files.
func wantsContents(said string) bool {
	of := partsOf("content|contents|text|body of .. file|files|repository|project")
	for _, s := range sentences(said) {
		for at := range s.words {
			if matches(of, s.words[at:]) {
				return true
			}
		}
	}
	return false
}
