package draft

import (
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/wordlist"
)

// MaybePath judges a word of which nobody says what becomes of it, such as one of a
// program without a row: it may be a path that matters. option is the one before the
// word, "" for none; its name may tell.
func (d *Draft) MaybePath(at Where, id int, option string, f flow.Word) {
	if at.Windows {
		f = windows(f)
	}
	edits := Edits(option)
	if strings.HasPrefix(f.Prefix(), "-") {
		name, value, ok := f.Cut("=")
		if !ok {
			return
		}
		option, f, edits = name, value, false
	}
	f = namedFile(f)
	text := f.Prefix()
	if !strings.Contains(text, "/") && !strings.HasPrefix(text, ".") && !strings.HasPrefix(text, "id_") && !keyOption(option) ||
		strings.Contains(text, "://") || strings.ContainsAny(text, " \n") {
		return
	}
	targets := d.Absolute(at, f)
	if (edits || Writes(option)) && slices.ContainsFunc(targets, d.matters) {
		d.UsePath(at, id, f, Access{Kind: "write", How: "overwrite"})
		return
	}
	for _, t := range targets {
		if t.Path == "" {
			continue
		}
		if what, grade := d.Secret(t.Path); what != "" {
			keeps := (grade == "key" && keyOption(option) || grade == "config" && settingsOption(option, what)) && world.Below(t.Path, d.World.Project)
			d.Effect(id, &hook.SecretRead{Path: new(t.Path), What: what, Grade: grade, Shown: !keeps})
		}
		d.touch(id, t, f, Access{Kind: "list", remote: at.Remote})
	}
}

// namedFile is the file in a word that names one behind a mark: @FILE, label:@FILE,
// text:/FILE.
func namedFile(f flow.Word) flow.Word {
	text := f.Prefix()
	at := strings.IndexByte(text, '@')
	colon := strings.IndexByte(text, ':')
	switch {
	case at == 0, at > 0 && at == colon+1:
		return f.From(at + 1)
	case colon > 1 && strings.Trim(text[:colon], "abcdefghijklmnopqrstuvwxyz") == "" && len(text) > colon+1 && (text[colon+1] == '/' && !strings.HasPrefix(text[colon:], "://") || text[colon+1] == '~'):
		return f.From(colon + 1)
	}
	return f
}

// matters reports a file that starts programs or guards the agent.
func (d *Draft) matters(t Target) bool {
	if t.Path == "" {
		return false
	}
	for _, kind := range []string{world.Self, "startup"} {
		if _, ok := d.World.Find(kind, t.Path); ok {
			return true
		}
	}
	return false
}

// keyOption reports an option whose value is a key or a certificate that the program
// uses itself, to sign or to serve: --ssl-keyfile, -cert.
func keyOption(option string) bool {
	return option != "" && wordlist.Within(strings.ToLower(option), "key cert pem ssl tls identity")
}

// settingsOption reports an option behind which a program takes variables, or the
// password of a store, that it uses itself: --env-file, --dart-define-from-file.
func settingsOption(option, what string) bool {
	option = strings.TrimLeft(option, "-")
	return what == "environment file" && (strings.Contains(option, "env") || strings.HasSuffix(option, "define-from-file")) ||
		what == "credentials file" && wordlist.Has(" var-file vars-file vault-pass-file vault-password-file ", option)
}

// writing are the names of options behind which programs write, without dashes.
const writing = " o O output out out-file outfile output-file outputfile output-dir output-directory outdir out-dir dest destination pack-destination " +
	"log logfile log-file log-to report report-file save-to trace-file "

// editing are the names of options that have programs change what they are given.
const editing = " write fix in-place inplace set update overwrite save "

// Writes reports an option after which a file is written.
func Writes(option string) bool {
	name := strings.TrimLeft(option, "-")
	return name != "" && (wordlist.Has(writing, name) || len(name) > 1 && wordlist.Has(writing, strings.ToLower(name)))
}

// Edits reports an option that has a program change the files that it is given.
func Edits(option string) bool {
	name, ok := strings.CutPrefix(option, "--")
	return ok && wordlist.Has(editing, name)
}
