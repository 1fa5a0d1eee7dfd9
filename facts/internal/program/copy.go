package program

import (
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/facts/internal/draft"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/facts/internal/world"
	"gate/hook"
)

// dd names its files as if= and of=.
func (u *use) dd() {
	in := u.Stdin
	in.Endless = u.unending(in)
	for _, f := range u.rest {
		name, value, ok := f.Cut("=")
		switch {
		case ok && name == "if":
			held := u.content(value)
			in = flow.Stream{Some: held.Taint != (flow.Taint{}), Taint: held.Taint, From: u.ID, Endless: u.unending(held)}
			u.reads = append(u.reads, value)
			u.touch(value, draft.Access{Kind: "read", Shown: true})
		case ok && name == "of":
			u.touch(value, draft.Access{Kind: "write", How: "overwrite", Content: in})
			if in.Some {
				u.remember(value, in, false)
			}
		}
	}
}

// rsync copies to or from a peer, and --delete empties what the source lacks.
func (u *use) rsync() {
	if len(u.rest) == 0 {
		return
	}
	last := len(u.rest) - 1
	for i, f := range u.rest {
		remote, ok := remotePath(f)
		switch {
		case ok && i == last && u.has("dry-run"):
			u.peer("host", flow.Literal(remote))
		case ok && i == last:
			u.sendFiles(u.rest[:last], remote)
		case ok:
			u.peer("host", flow.Literal(remote))
		case i == last && u.syncs():
			u.touch(f, draft.Access{Kind: "delete", How: "sync", Recursive: true})
		case i == last && last > 0:
			for _, from := range u.rest[:last] {
				to := f
				if !strings.HasSuffix(from.Text(), "/") { // else what is in it
					to = u.destination(from, f)
				}
				u.touch(to, draft.Access{Kind: "write", How: "overwrite", Recursive: true})
				st := u.content(from)
				if remote, ok := remotePath(from); ok {
					st = flow.Stream{Some: true, Taint: flow.Taint{Remote: true, Host: peer.Parse(remote, false).Host}, From: u.ID}
				}
				u.remember(to, st, false)
				u.copiesBelow(from, f)
			}
		default:
			u.touch(f, draft.Access{Kind: "read", Recursive: true})
		}
	}
	if u.has("remove-source-files") {
		for _, f := range u.rest[:last] {
			u.touch(f, draft.Access{Kind: "delete", How: "move"})
		}
	}
}

// newKey judges a key of ssh-keygen. Where one lies already it asks, and an answer on
// its input has it write over that one.
func (u *use) newKey() {
	f, named := u.opt("f")
	for _, other := range []string{"y", "l", "p", "e", "i", "B", "F", "R", "H", "c", "Y"} {
		named = named && !u.has(other)
	}
	if named && u.Stdin.Some {
		u.touch(f, draft.Access{Kind: "write", How: "overwrite"})
	}
}

func (u *use) syncs() bool {
	for name := range u.opts {
		if strings.HasPrefix(name, "delete") || name == "del" {
			return !u.has("dry-run")
		}
	}
	return false
}

// remotePath recognises host:path and URLs; a drive letter is no host.
func remotePath(f flow.Word) (string, bool) {
	text := f.Prefix()
	if backend, ok := strings.CutPrefix(text, ":"); ok { // rclone's, made on the line: :sftp,host=H,user=U:path
		name, dir, ok := strings.Cut(backend, ":")
		if _, options, given := strings.Cut(name, ",host="); given {
			name, _, _ = strings.Cut(options, ",")
		}
		return name + ":" + dir, ok && name != ""
	}
	i := strings.IndexByte(text, ':')
	if i <= 1 || strings.ContainsAny(text[:i], "/") {
		return "", false
	}
	return text, true
}

func (u *use) sendFiles(files []flow.Word, to string) {
	p := peer.Parse(to, false)
	u.Host(hook.Host{Command: u.ID, Host: flow.Known(p.Host), Access: "send"})
	for _, f := range files {
		if _, ok := remotePath(f); ok {
			continue
		}
		if isInput(f) { // aws s3 cp - s3://bucket/name
			u.send(p, "stdin", nil, u.Stdin.Origins())
			continue
		}
		u.touch(f, draft.Access{Kind: "read", Recursive: u.recurse})
		for _, t := range u.targets(f) {
			u.sendFile(p, t)
		}
	}
}

// scp is a copy in which either side may be elsewhere.
func (u *use) scp() {
	if len(u.rest) < 2 {
		return
	}
	last := len(u.rest) - 1
	if remote, ok := remotePath(u.rest[last]); ok {
		u.sendFiles(u.rest[:last], remote)
		return
	}
	for _, f := range u.rest[:last] {
		if remote, ok := remotePath(f); !ok {
			u.touch(f, draft.Access{Kind: "read"})
			u.arrivesAll(f, u.rest[last])
		} else {
			u.peer("host", flow.Literal(remote))
			u.remember(u.destination(f, u.rest[last]), flow.Stream{Some: true, Taint: u.heldThere(f, peer.Parse(remote, false).Host), From: u.ID}, false)
		}
	}
	for _, f := range u.rest[:last] {
		u.touch(u.destination(f, u.rest[last]), draft.Access{Kind: "write", How: "overwrite"})
	}
}

// heldThere is what a file of another machine holds, by its name there.
func (u *use) heldThere(f flow.Word, host string) flow.Taint {
	t := flow.Taint{Remote: true, Host: host}
	_, name, _ := f.Cut(":")
	if strings.HasPrefix(name.Prefix(), "/") {
		for _, there := range u.targets(name) {
			t.Secret, _ = u.Secret(there.Path)
		}
	}
	return t
}

// tee writes its input to files and passes it on.
func (u *use) tee() {
	how := "overwrite"
	if u.has("append") {
		how = "append"
	}
	for _, f := range u.rest {
		u.writes(f, how, u.Stdin)
	}
	u.reads = nil
}

// targetLast puts the directory of cp -t DIR where cp has it without -t.
func (u *use) targetLast() {
	const option = "target-directory"
	for _, dir := range u.opts[option] {
		u.rest, u.intoDirectory = append(u.rest, dir), true
	}
	delete(u.opts, option)
	u.args = slices.DeleteFunc(u.args, func(a argument) bool { return a.option != nil && a.option.Name == option })
}

// linkHere gives ln -s TARGET, with nothing behind it, the directory that the link
// goes to.
func (u *use) linkHere() {
	if (u.name == "ln" || u.name == "gln") && len(u.rest) == 1 {
		u.rest, u.intoDirectory = append(u.rest, flow.Literal(".")), true
	}
}

// destinations are the files that a program writes for one of its words: for
// the target of a copy, what each source becomes.
func (u *use) destinations(f flow.Word) []flow.Word {
	roles, last := u.rolesInForce(), len(u.rest)-1
	if u.row.Special != "copy" || last < 1 || roles[len(roles)-1].Many || !f.Same(u.rest[last]) {
		return []flow.Word{f}
	}
	var out []flow.Word
	for _, from := range u.rest[:last] {
		if to := u.destination(from, f); !slices.ContainsFunc(out, to.Same) {
			out = append(out, to)
		}
	}
	return out
}

// copiesGuarded reports a copy of what guards or steers agents, and nothing else.
func (u *use) copiesGuarded() bool {
	if u.row.Special != "copy" || len(u.rest) != 2 {
		return false
	}
	for _, t := range u.targets(u.rest[0]) {
		_, ok := u.World.Find(world.Self, t.Path)
		return t.Followed != "temp" && (ok || draft.AgentDirectory(t.Path) != "")
	}
	return false
}

// destination is what a source becomes when it is copied to a file, or into a
// directory, where it keeps its name. What goes to the root is judged by that.
func (u *use) destination(from, to flow.Word) flow.Word {
	if strings.Trim(to.Text(), "/") == "" {
		return to
	}
	text := strings.TrimRight(from.Text(), "/")
	base := from.From(max(strings.LastIndexByte(text, '/'), strings.LastIndexByte(text, ':')) + 1)
	if name := strings.Trim(base.Text(), "/"); !from.Literal() || name == "" || name == "." || name == ".." || !u.leadsInto(to) {
		return to
	}
	parts := append(to.Parts[:len(to.Parts):len(to.Parts)], flow.Part{Text: "/", Quoted: true})
	return flow.Word{Parts: append(parts, base.Parts...), Span: to.Span}
}

// leadsInto reports that a copy to a path ends in the directory there.
func (u *use) leadsInto(to flow.Word) bool {
	if u.has("no-target-directory") {
		return false
	}
	text := to.Text()
	if u.intoDirectory || len(u.rest) > 2 || strings.HasSuffix(text, "/") || text == "." || text == ".." || strings.HasSuffix(text, "/.") || strings.HasSuffix(text, "/..") {
		return true
	}
	targets := u.targets(to)
	return len(targets) == 1 && (targets[0].Path == u.World.Home || u.World.IsDirectory(targets[0].Path))
}

// copies remembers what cp, mv, ln and install put where, so that a file that
// is copied and then run is followed.
func (u *use) copies() {
	if len(u.rest) < 2 {
		return
	}
	from, to := u.rest[:len(u.rest)-1], u.rest[len(u.rest)-1]
	for _, f := range from {
		u.renames(f, u.destination(f, to))
		u.handsOn(f, u.destination(f, to))
		u.copiesBelow(f, to)
		st := u.content(f)
		st.Text = u.textOf(f)
		if st.Text != nil || st.Taint != (flow.Taint{}) {
			u.remember(u.destination(f, to), st, false)
		}
	}
}

// renames remembers that a program of the machine gets another name: cp /bin/rm x.
func (u *use) renames(from, to flow.Word) {
	for _, f := range u.targets(from) {
		base := path.Base(f.Path)
		if _, ok := u.programs.rows.Lookup(base); !ok || !strings.HasSuffix(path.Dir(f.Path), "bin") {
			continue
		}
		for _, t := range u.targets(to) {
			if u.Renamed == nil {
				u.Renamed = map[string]string{}
			}
			u.Renamed[t.Path] = base
		}
	}
}

var errNoScript = errors.New("no text that a shell reads")

func (u *use) scriptText(f flow.Word) (string, error) {
	for _, t := range u.targets(f) {
		if t.Path != "" {
			text, err := u.World.Read(t.Path, maxScript)
			if err == nil && !utf8.ValidString(text) {
				err = errNoScript // a program of the machine, whose text no shell reads
			}
			return text, err
		}
	}
	return "", errNoScript
}

// tar tells archives from members.
func (u *use) tar() {
	rest := u.rest
	archive, named := u.opt("file")
	switch {
	case u.has("create") || u.has("append") || u.has("update"):
		toFile := named && archive.Text() != "-"
		if toFile {
			u.Draft.UsePath(u.start, u.ID, archive, draft.Access{Kind: "write", How: "overwrite"})
		}
		var members []*draft.Source
		for _, f := range slices.Concat(rest, u.namesGiven("files-from")) {
			if u.has("remove-files") {
				u.touch(f, draft.Access{Kind: "delete", How: "move", Recursive: true})
			}
			u.touch(f, draft.Access{Kind: "read", Recursive: true, Shown: toFile})
			members = append(members, u.packedFrom(f)...)
		}
		if !toFile {
			if len(rest) == 1 && strings.Trim(rest[0].Text(), "./") == "" { // all of a directory, for who reads it
				for _, t := range u.targets(rest[0]) {
					u.Out.Taint.Path = t.Path
				}
			}
			for _, m := range members {
				u.Out.Taint = u.Out.Taint.Merge(flow.Taint{Secret: m.Taint.Secret, From: m.Path, Coarse: m.Taint.Coarse})
			}
			break
		}
		for _, t := range u.Absolute(u.start, archive) {
			if t.Path != "" {
				u.receives(t.Path, members, u.has("create"))
			}
		}
	case u.has("extract"):
		if named {
			u.Draft.UsePath(u.start, u.ID, archive, draft.Access{Kind: "use"})
		}
		switch { // where it is by now
		case u.has("directory"):
			u.unpacks(flow.Literal("."))
		case len(rest) == 0:
			u.unpacksHere()
		}
		for _, f := range rest { // members, seen from where they are unpacked
			u.touch(f, draft.Access{Kind: "write", How: "overwrite"})
		}
		if u.has("absolute-names") && len(rest) == 0 {
			u.unknown("path", "an archive that names its own paths", nil)
			u.effect(&hook.FSWrite{Place: hook.Place{Area: "unknown", CouldBe: []string{"system", "home"}}, How: "overwrite", Recursive: true})
		}
	}
}
