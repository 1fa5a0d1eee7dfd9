package program

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/internal/wordlist"
)

// patchText judges the patch that apply_patch gets as a word or as its input:
// agents take such a command of a shell for a call of their own tool.
func (u *use) patchText() {
	texts := u.rest
	if len(texts) == 0 && u.Stdin.Some {
		if u.Stdin.Text == nil {
			u.unknown("code", "a patch that comes from a pipe", nil)
			return
		}
		texts = []flow.Word{flow.Literal(*u.Stdin.Text)}
	}
	for _, f := range texts {
		text := f.Value()
		if text == nil {
			u.unknown("code", "a patch that only shows when it runs", nil)
			continue
		}
		u.Patch(*u.at(), u.ID, *text)
	}
}

// diff judges the patches that patch, git apply and git am get, as files, as their
// input or written on the line. One that cannot be read writes files of the directory
// whose names are not known.
func (u *use) diff() {
	for _, name := range [...]string{"dry-run", "check", "stat", "numstat", "summary", "abort", "skip", "quit", "continue"} {
		if u.has(name) {
			return
		}
	}
	texts, strip := u.rest, 1
	if u.name != "git" {
		texts, strip = u.opts["input"], -1
		if len(u.rest) > 1 {
			texts = u.rest[1:2]
		}
	}
	if f, ok := u.opt("strip"); ok {
		strip, _ = f.Number()
	} else if f, ok := u.opt("p"); ok {
		strip, _ = f.Number()
	}
	if len(texts) == 0 {
		texts = []flow.Word{flow.Literal("-")}
	}
	below, _ := u.opt("directory")
	if u.name != "git" {
		below = flow.Word{}
	}
	for _, f := range texts {
		text := u.textOf(f)
		if isInput(f) {
			text = u.Stdin.Text
		}
		if text == nil || !u.Diff(*u.at(), u.ID, draft.Diff{Text: *text, Strip: strip, Below: below.Text()}) {
			if below.Empty() {
				u.unpacksHere()
			} else {
				u.unpacks(below)
			}
		}
	}
}

// unpacks judges a directory into which many files are put whose names are not known.
func (u *use) unpacks(dir flow.Word) {
	u.touch(dir, draft.Access{Kind: "write", How: "create", Recursive: true})
	archive, t := u.archive()
	if t.Secret == "" {
		return
	}
	if u.unpacksParts(archive, dir) {
		return
	}
	member, _ := u.Files[archive]
	from := cmp.Or(member.Taint.From, u.Left(archive).From)
	if from == "" {
		u.Spreads(*u.at(), dir, t)
		return
	}
	u.unpacksMember(dir, from, t)
}

// unpacksParts notes each file of an archive of several with an origin.
func (u *use) unpacksParts(archive string, dir flow.Word) bool {
	if archive == "" {
		return false
	}
	parts := u.PartsOf(archive)
	for _, p := range parts {
		u.unpacksMember(dir, p.Below, p.Taint.In(archive))
	}
	return len(parts) > 0
}

// unpacksMember notes a file of an archive. It has the name there that it was packed by:
// seen from some directory above.
func (u *use) unpacksMember(dir flow.Word, from string, t flow.Taint) {
	for rest := strings.TrimPrefix(from, "/"); rest != ""; {
		u.remember(within(dir, flow.Literal(rest)), flow.Stream{Some: true, Taint: t, From: u.ID}, false)
		_, rest, _ = strings.Cut(rest, "/")
	}
}

// archive is the file that the program takes apart, "" for its input, and what that holds.
func (u *use) archive() (name string, t flow.Taint) {
	file, named := u.opt("file")
	if !named && len(u.rest) > 0 && u.row.Special == "unpack" {
		file, named = u.rest[0], true
	}
	if !named || isInput(file) {
		return "", u.Stdin.Taint
	}
	for _, p := range u.Absolute(u.start, file) {
		if t = u.Holds(p.Path); t.Secret != "" {
			return p.Path, t
		}
	}
	return "", t
}

// unpacksHere is unpacks for the directory that the program is in. Elsewhere than on
// this machine that is nobody's here.
func (u *use) unpacksHere() {
	if !u.at().Remote {
		u.unpacks(flow.Literal("."))
	}
}

// unpack judges a program that takes an archive apart: into the directory that an
// option names, or here. Members that are named are files there.
func (u *use) unpack() {
	members := u.rest
	switch u.name {
	case "ar", "gar", "unrar", "rar":
		if len(members) < 2 || !strings.Contains(members[0].Text(), "x") && members[0].Text() != "e" {
			return
		}
		members = members[2:]
	case "pax":
		if !u.has("r") || u.has("w") {
			return
		}
		members = nil
	case "tarfile":
		if u.has("extract") && len(members) == 0 {
			u.unpacksHere()
		}
		return
	case "zipinfo", "funzip", "lsar":
		return
	default:
		if len(members) == 0 || slices.ContainsFunc([]string{"l", "t", "p", "c", "v", "Z", "z", "so", "ls", "lls", "stat", "cat"}, u.has) {
			return
		}
		members = members[1:]
	}
	dir := flow.Literal(".")
	for _, name := range []string{"d", "o", "dest", "output-directory", "output"} {
		if f, ok := u.opt(name); ok && !f.Empty() {
			dir = f
		}
	}
	switch {
	case len(members) == 0 && dir.Literal() && dir.Text() == ".":
		u.unpacksHere()
	case len(members) == 0:
		u.unpacks(dir)
	}
	for _, f := range members {
		u.touch(within(dir, f), draft.Access{Kind: "write", How: "overwrite"})
	}
}

// within is a file in a directory.
func within(dir, file flow.Word) flow.Word {
	if dir.Literal() && dir.Text() == "." || strings.HasPrefix(file.Prefix(), "/") {
		return file
	}
	parts := append(dir.Parts[:len(dir.Parts):len(dir.Parts)], flow.Part{Text: "/", Quoted: true})
	return flow.Word{Parts: append(parts, file.Parts...)}
}

// downloads judges the files that a program names after what it fetches: curl -O, wget
// and aria2c without a name for the output.
func (u *use) downloads() {
	for _, list := range u.opts["input-file"] { // a line that is no address is shown
		u.maybePath(list)
	}
	dir := flow.Literal(".")
	for _, name := range []string{"output-dir", "directory-prefix", "dir"} {
		if f, ok := u.opt(name); ok {
			dir = f
		}
	}
	switch {
	case u.name == "aria2c" && u.has("output"):
		f, _ := u.opt("output")
		u.touch(within(dir, f), draft.Access{Kind: "write", How: "overwrite"})
		return
	case strings.HasPrefix(u.name, "wget"), u.name == "aria2c", u.name == "axel":
		if u.has("output") || u.has("spider") {
			return
		}
	case !u.has("remote-name") && !u.has("remote-name-all"):
		return
	}
	if strings.HasPrefix(u.name, "wget") && u.has("directory-prefix") && !u.savesByName(dir) {
		u.unpacks(dir) // files of names that nobody knows
	}
	st := flow.Stream{Some: true, From: u.ID, Taint: flow.Taint{Remote: true}}
	if h := u.lastHost(); h != nil {
		st.Taint.Host, st.Taint.URL = flow.Text(h.Host), flow.Text(h.URL)
	}
	for _, f := range append(slices.Clone(u.rest), u.opts["url"]...) {
		name, _, _ := strings.Cut(f.Text(), "?")
		_, name, _ = strings.Cut(name, "://")
		if name = path.Base(name); !f.Literal() || !strings.Contains(f.Text(), "/") || u.has("J") || u.has("content-disposition") {
			u.unpacks(dir)
			continue
		}
		to := within(dir, flow.Literal(name))
		u.touch(to, draft.Access{Kind: "write", How: "overwrite", Content: st})
		u.remember(to, st, false)
	}
}

// plainDownload are options of wget beside which it saves each file by the name in its address.
const plainDownload = " directory-prefix quiet q continue c nc no-clobber nv no-verbose show-progress progress tries timeout user-agent header no-check-certificate S v "

// savesByName reports that wget saves each file in one known directory, by a name that
// stands in its address.
func (u *use) savesByName(dir flow.Word) bool {
	for name := range u.opts {
		if !wordlist.Has(plainDownload, name) {
			return false
		}
	}
	return dir.Literal() && len(u.opts["directory-prefix"]) == 1 && len(u.rest) > 0 && !slices.ContainsFunc(u.rest, func(f flow.Word) bool {
		_, at, ok := strings.Cut(f.Text(), "://")
		return !f.Literal() || !ok || !strings.Contains(at, "/") || strings.HasSuffix(at, "/") || strings.ContainsAny(at, "%?#*;[\\") || !strings.HasPrefix(f.Text(), "http")
	})
}

// gitTakes judges the verbs of git that bring files of other commits here.
func (u *use) gitTakes() {
	if len(u.verbs) == 0 {
		return
	}
	switch u.verbs[0] {
	case "pull", "merge", "cherry-pick", "revert":
	case "stash":
		if len(u.verbs) < 2 || !wordlist.Has(" pop apply branch ", u.verbs[1]) {
			return
		}
	case "checkout", "reset", "rebase": // in the project they throw away, or rewrite
		if u.inProject() || u.verbs[0] != "rebase" && !u.has("force") && !u.has("hard") {
			return
		}
	default:
		return
	}
	if slices.ContainsFunc(u.targets(flow.Literal(".")), func(t draft.Target) bool { return wordlist.Has(" system home root ", t.Area) }) {
		return // a repository that lies there is somebody's own
	}
	u.unpacksHere()
}
