package program

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
	"gate/hook"
	"gate/internal/secret"
	"gate/internal/wordlist"
)

// output returns what the program writes to standard output.
func (u *use) output() flow.Stream {
	out := u.answer(u.Out)
	out.Some = true
	in := u.taken()
	switch u.row.Output {
	case "echo":
		out.Text, out.Taint = flow.Echo(u.Given()), out.Taint.Merge(flow.Join(u.rest).Taint())
		if !flow.Countable(u.Given()) { // names that a pattern stands for
			out.Text, out.Files = nil, u.rest
		}
	case "printf":
		f := flow.Printf(u.Given())
		out.Text, out.Taint = f.Value(), out.Taint.Merge(flow.Join(u.rest).Taint())
		if given := u.Given(); len(given) > 0 && !flow.Countable(given[1:]) {
			out.Text, out.Files = nil, given[1:]
		}
	case "copy":
		out, out.More = u.relisted(in, out), in.More
		out.Text, out.Taint = u.copied(in.Text), out.Taint.Merge(in.Taint)
		if u.name == "cat" && len(u.opts) == 0 {
			out.Form, out.File = in.Form, in.File
		}
	case "filter", "encode":
		out.More = in.More
		if len(u.reads) == 0 && out.Under == nil {
			out = u.relisted(in, out)
		}
		out.Taint = out.Taint.Merge(in.Taint)
		if u.has("quiet") || u.has("count") || u.keeps(out.Taint.Secret) || out.Taint.Secret == "environment" && u.narrows() {
			out.Spared, out.Taint.Secret = out.Taint.Secret != "", ""
		}
		if u.name == "rev" {
			out.Text = reversed(in.Text)
		}
		if wordlist.Has(" sort gsort uniq tac ", u.name) || u.has("invert-match") {
			out.File = in.File // most of its lines
		}
		if out.Taint.Secret == flow.Outputs && wordlist.Has(" jq gojq jaq yq gyq gron dasel ", u.name) && len(u.rest) > 0 && picksOutput(u.rest[0].Text()) {
			out.Taint.Secret = "" // one output is an address, most likely
		}
		if out.Taint.Secret == flow.Outputs && wordlist.Has(" grep egrep fgrep rg ag ", u.name) && len(u.rest) > 0 && picksName(u.rest[0].Text()) {
			out.Taint.Secret = ""
		}
		if u.name == "envsubst" || u.name == "gomplate" {
			out.Taint = out.Taint.Merge(u.sourced())
		}
	case "decode":
		out = u.decode(in, out)
	case "fetch":
		out.Taint.Remote = true
		if h := u.lastHost(); h != nil {
			out.Taint.Host, out.Taint.URL = flow.Text(h.Host), flow.Text(h.URL)
		}
	case "environment":
		if u.name == "printenv" && len(u.rest) > 0 {
			break // those that are named; its effects say which are secret
		}
		out.Taint.Secret = "environment"
	case "secret":
		if out.Taint.Secret == "" {
			out.Taint.Secret = "secret"
		}
	}
	if u.tellsOutputs() {
		out.Taint = out.Taint.Merge(flow.Taint{Secret: flow.Outputs})
	}
	if u.dumps() {
		out.Taint.Secret = cmp.Or(out.Taint.Secret, flow.Dump)
	}
	out.Taint.Encoded = out.Taint.Encoded || in.Some && (u.row.Output == "encode" || u.row.Output == "decode" && u.name != "uudecode" && !u.has("decode"))
	out = u.processNumbers(out)
	out.Endless = u.unending(in)
	if (u.name == "wc" || u.name == "gwc") && !u.has("files0-from") {
		out.Spared = in.Taint.Secret != ""
	}
	return out
}

// taken is what the program reads: the files that it names, one after the other, or
// its input.
func (u *use) taken() flow.Stream {
	if len(u.reads) == 0 {
		return u.Stdin
	}
	var in flow.Stream
	if !slices.ContainsFunc(u.reads, isInput) && slices.ContainsFunc(u.rest, isInput) { // cat a -
		in = u.Stdin
	}
	for _, f := range u.reads {
		if isInput(f) {
			in = flow.Concat(in, u.Stdin)
			continue
		}
		in = flow.Concat(in, u.content(f))
	}
	return in
}

// relisted hands on the file names that come in. A program that picks some of
// everything in a directory leaves it unknown which.
func (u *use) relisted(in, out flow.Stream) flow.Stream {
	out.Under, out.Files = in.Under, in.Files
	switch {
	case wordlist.Has(" cat tac sort tee nl shuf gsort ", u.name), u.has("invert-match"): // they keep every line, or all but some
		out.Whole = in.Whole
	default:
		out.Files = slices.DeleteFunc(slices.Clone(in.Files), func(f flow.Word) bool { return strings.HasSuffix(f.Text(), "/*") })
	}
	return out
}

// isInput reports the words that stand for standard input.
func isInput(f flow.Word) bool {
	return f.Literal() && (f.Text() == "-" || flow.IsStdin(f.Text()))
}

// copied is what a program that copies its input lets through: head and tail
// only a part of it.
func (u *use) copied(text *string) *string {
	if text == nil || u.name != "head" && u.name != "ghead" && u.name != "tail" && u.name != "gtail" {
		return text
	}
	unit, n, sign := "lines", "10", ""
	for _, name := range []string{"lines", "bytes"} {
		if f, ok := u.opt(name); ok {
			unit, n = name, f.Text()
		}
	}
	for name := range u.opts { // head -1
		if bash.IsNumber(name) {
			unit, n = "lines", name
		}
	}
	if n != "" && (n[0] == '+' || n[0] == '-') {
		sign, n = n[:1], n[1:]
	}
	count, err := strconv.Atoi(n)
	head := strings.HasSuffix(u.name, "head")
	if err != nil || len(u.reads) > 1 || sign == "+" && head {
		return nil
	}
	pieces := strings.SplitAfter(*text, "\n")
	if unit == "bytes" {
		pieces = strings.Split(*text, "")
	} else if pieces[len(pieces)-1] == "" {
		pieces = pieces[:len(pieces)-1]
	}
	count = min(count, len(pieces))
	switch {
	case head && sign == "-":
		pieces = pieces[:len(pieces)-count]
	case head:
		pieces = pieces[:count]
	case sign == "+":
		pieces = pieces[max(0, count-1):]
	default:
		pieces = pieces[len(pieces)-count:]
	}
	return new(strings.Join(pieces, ""))
}

// reversed turns the characters of each line round, as rev does.
func reversed(text *string) *string {
	if text == nil || !utf8.ValidString(*text) {
		return nil
	}
	lines := strings.Split(*text, "\n")
	for i, line := range lines {
		runes := []rune(line)
		slices.Reverse(runes)
		lines[i] = string(runes)
	}
	return new(strings.Join(lines, "\n"))
}

// narrows reports a search whose pattern picks out variables that hold no
// secret: env | grep NODE.
func (u *use) narrows() bool {
	patterns := append(append([]flow.Word(nil), u.opts["regexp"]...), u.opts["expression"]...)
	if len(patterns) == 0 && len(u.rest) > 0 {
		patterns = u.rest[:1]
	}
	for _, p := range patterns {
		v := p.Value()
		if v == nil || u.has("v") || u.has("invert-match") || secret.Variable(*v) || picksSecrets(*v, u.has("i") || u.has("ignore-case")) {
			return false
		}
		for _, word := range []string{"pass", "pwd", "key", "auth", "cred", "aws", "secret", "token"} {
			if strings.Contains(strings.ToLower(*v), word) {
				return false
			}
		}
	}
	return len(patterns) > 0
}

// picksSecrets reports a pattern that lets one of the well-known variables with secrets through; one that is none in
// Go's syntax may.
func picksSecrets(pattern string, fold bool) bool {
	flags := "(?m)"
	if fold {
		flags = "(?mi)"
	}
	re, err := regexp.Compile(flags + strings.ReplaceAll(pattern, `\|`, "|")) // in grep's own syntax that is no literal bar
	return err != nil || re.MatchString(secret.Known())
}

func (u *use) lastHost() *hook.Host {
	for i := len(u.Facts.Hosts) - 1; i >= 0; i-- {
		if h := &u.Facts.Hosts[i]; h.Command == u.ID {
			return h
		}
	}
	return nil
}

// sourced is the file of secrets whose variables the line has taken over: a program that
// puts variables into a text may put those.
func (u *use) sourced() (t flow.Taint) {
	for _, e := range u.Facts.Effects {
		if read, ok := e.Is.(*hook.SecretRead); ok && !read.Shown && e.Command > 0 && e.Command < u.ID && wordlist.Has(" . source ", flow.Text(u.Commands()[e.Command-1].Program)) {
			t = flow.Taint{Secret: flow.FilledTemplate, From: flow.Text(read.Path)}
		}
	}
	return t
}

// picksOutput reports a filter of jq that picks outputs or attributes by names which
// promise no secret. Without a name all of them pass.
func picksOutput(filter string) bool {
	if strings.Contains(filter, "select(") {
		filter = chosenBy().ReplaceAllString(filter, "$1")
	}
	if branches := branchesOf(filter); len(branches) > 1 { // each has to pick
		return !slices.ContainsFunc(branches, func(b string) bool { return strings.Contains(b, ".") && !picksOutput(b) })
	}
	picks := false
	for _, found := range member().FindAllStringSubmatch(filter, -1) {
		switch name := found[1]; {
		case secret.Promises(name) || wordlist.Has(" result secret key_pem pem hex b64 bcrypt_hash ", name):
			return false
		case !wordlist.Has(" value values outputs root_module child_modules resources instances attributes to_entries ", name):
			picks = true
		}
	}
	return picks
}

// branchesOf are the parts of a filter of jq that put out something of their own.
func branchesOf(filter string) (list []string) {
	depth, from := 0, 0
	for i, r := range filter {
		switch r {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, filter[from:i])
				from = i + 1
			}
		}
	}
	return append(list, filter[from:])
}

// chosenBy finds what resources are chosen by, which is not what a filter puts out of them.
var chosenBy = lazy(`(\bselect\(\s*)\.(?:type|name|address|mode|module|index|provider_name)\b`)

// picksName reports a search for lines with a name which promises no secret.
func picksName(pattern string) bool {
	return settingName().MatchString(pattern) && !secret.Promises(strings.Trim(pattern, `"':= `)) && !settingSecret().MatchString(strings.Trim(pattern, `"':= `))
}

var settingName = lazy(`^["']?[A-Za-z][\w.-]+["']?\s*[:=]?$`)

// member finds a name in a filter of jq, and a type of resources that it selects.
var member = lazy(`(?:\.\[?["']?|==\s*["'])([A-Za-z_]\w*)`)

// tellsOutputs reports a program that prints all that was made of infrastructure, or how a
// service is set up, also what it keeps from the eyes of people: passwords and keys.
func (u *use) tellsOutputs() bool {
	switch u.name {
	case "terraform", "tofu", "opentofu", "tf", "terragrunt":
		return len(u.verbs) > 0 && u.has("json") && (u.verbs[0] == "show" || u.verbs[0] == "output" && len(u.rest) == 0)
	case "pulumi":
		return u.has("show-secrets") || len(u.verbs) > 1 && u.verbs[0] == "stack" && u.verbs[1] == "export"
	case "docker", "podman", "nerdctl": // a format picks
		inspects := len(u.verbs) > 0 && u.verbs[len(u.verbs)-1] == "inspect" && (len(u.verbs) == 1 || u.verbs[0] == "container")
		return inspects && !u.has("format") && !u.has("f") || len(u.verbs) > 1 && u.verbs[0] == "compose" && u.printsSettings()
	case "docker-compose", "podman-compose":
		return u.printsSettings()
	}
	line := strings.Join(u.verbs, " ") + " " + flow.Join(u.rest).Prefix()
	for row := range strings.Lines(settingsRows) {
		names, verbs, _ := strings.Cut(strings.TrimSuffix(row, "\n"), " | ")
		if wordlist.Has(" "+names+" ", u.name) {
			for verb := range strings.SplitSeq(verbs, ", ") {
				if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " "), verb); ok && (rest == "" || rest[0] == ' ') {
					return true
				}
			}
		}
	}
	return false
}

// printsSettings reports a call of docker compose that prints the file with its variables.
func (u *use) printsSettings() bool {
	return len(u.verbs) > 0 && wordlist.Has(" config convert ", u.verbs[len(u.verbs)-1]) &&
		!slices.ContainsFunc([]string{"hash", "quiet", "services", "volumes", "images", "profiles", "environment", "no-interpolate"}, u.has)
}

// dumps reports a program that copies rows out of a database, to its output or to the file
// that an option names.
func (u *use) dumps() bool {
	switch u.name {
	case "pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump", "mongodump":
		for _, option := range [...]string{"schema-only", "no-data", "roles-only", "globals-only", "help", "version"} {
			if u.has(option) {
				return false
			}
		}
	case "sqlite3", "duckdb", "psql", "mysql", "mariadb":
		if u.name == "sqlite3" && slices.ContainsFunc(u.rest, func(f flow.Word) bool { return strings.HasPrefix(f.Text(), ".dump") }) {
			return true
		}
		return u.selectsPeople()
	default:
		return false
	}
	for _, option := range [...]string{"file", "result-file", "archive"} {
		if f, ok := u.opt(option); ok {
			u.remember(f, flow.Stream{Some: true, Taint: flow.Taint{Secret: flow.Dump}, From: u.ID}, false)
		}
	}
	return true
}

// settingsRows are programs, and the verbs by which they print the settings of a service with
// the values of its variables.
const settingsRows = `netlify ntl | env:list, env:get
cf | env
eb | printenv
aws awslocal | lambda get-function, lambda get-function-configuration, ecs describe-task-definition, elasticbeanstalk describe-configuration-settings, amplify get-app
helm | get values, get all, get manifest
fly flyctl | config env
systemctl | show-environment
`
