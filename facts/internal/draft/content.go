package draft

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"

	"gate/facts/internal/bash"
	"gate/facts/internal/flow"
	"gate/facts/internal/peer"
	"gate/facts/internal/world"
	"gate/hook"
	"gate/internal/origin"
	"gate/internal/wordlist"
)

// Written notes what a file holds that the line writes.
func (d *Draft) Written(name string, content flow.Stream) {
	if d.Files == nil {
		d.Files = map[string]flow.Stream{}
	}
	d.Files[name] = content
}

// Piece notes text that goes into a file of which the rest is not known.
func (d *Draft) Piece(name, text string) {
	if d.Pieces == nil {
		d.Pieces = map[string]string{}
	}
	d.Pieces[name] += text + "\n"
}

// Adds notes text in what a command prints, of which the rest is not known.
func (d *Draft) Adds(id int, text string) {
	if d.Added == nil {
		d.Added = map[int]string{}
	}
	d.Added[id] += text
}

// Texts yields the files that the event writes, with what is known of their text.
func (d *Draft) Texts() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, name := range slices.Sorted(maps.Keys(d.Files)) {
			if text := d.Files[name].Text; text != nil && !yield(name, *text) {
				return
			}
		}
		for _, name := range slices.Sorted(maps.Keys(d.Pieces)) {
			if !yield(name, d.Pieces[name]) {
				return
			}
		}
	}
}

// Wrote are the texts that the event writes into files, as far as they are known.
func (d *Draft) Wrote() (list []origin.Text) {
	for name, text := range d.Texts() {
		list = append(list, origin.Text{Path: name, Text: text})
	}
	return list
}

// OutputTo judges a file that is written, and remembers what it now holds.
func (d *Draft) OutputTo(at Where, id int, target flow.Word, how string, content flow.Stream) {
	if v := target.Value(); v != nil && (*v == "" || bash.IsDescriptor(*v) && target.Span == nil && how == "fd") {
		return
	}
	d.UsePath(at, id, target, Access{Kind: "write", How: how, Content: content})
	d.Remember(at, target, content, how == "append")
	d.PeerFile(id, target, content)
}

// PeerFile judges bash's /dev/tcp/HOST/PORT: a shell on it is handed out, what
// other programs write goes there.
func (d *Draft) PeerFile(id int, target flow.Word, content flow.Stream) {
	host, ok := d.Connection(target)
	if !ok {
		return
	}
	name := ""
	if id > 0 && id <= len(d.Facts.Shell.Commands) {
		name = flow.Text(d.Facts.Shell.Commands[id-1].Program)
	}
	if wordlist.Has(" sh bash dash zsh ksh fish ash ", name) {
		d.Effect(id, &hook.ExecShell{How: "reverse", Host: new(host)})
		return
	}
	private, metadata := peer.Reach(host)
	d.Host(hook.Host{Command: id, Host: flow.Known(host), Access: "send"})
	send := &hook.NetSend{Host: flow.Known(host), Source: "stdin", Secret: flow.Known(content.Secret()), Private: private, Metadata: metadata}
	d.Carry(send, content.Origins())
	d.Effect(id, send)
}

// Connection returns the host that bash's /dev/tcp/HOST/PORT names.
func (d *Draft) Connection(f flow.Word) (host string, ok bool) {
	text := f.Prefix()
	if !strings.HasPrefix(text, "/dev/tcp/") && !strings.HasPrefix(text, "/dev/udp/") {
		return "", false
	}
	host, _, _ = strings.Cut(strings.SplitN(text, "/", 4)[3], "/")
	return host, true
}

// Feed has run called with what is written to a file that is a pipe.
func (d *Draft) Feed(name string, run func(flow.Stream)) {
	if d.Fed == nil {
		d.Fed = map[string]func(flow.Stream){}
	}
	d.Fed[name] = run
}

// Remember notes the content of a file that the line writes.
func (d *Draft) Remember(at Where, target flow.Word, content flow.Stream, add bool) {
	for _, p := range d.Absolute(at, target) {
		if p.Path == "" {
			continue
		}
		if run := d.Fed[p.Path]; run != nil {
			d.Fed[p.Path] = nil // what runs may write to it, too
			run(content)
			d.Fed[p.Path] = run
			continue
		}
		if text := d.Added[content.From]; text != "" && content.Text == nil {
			d.Piece(p.Path, text)
		}
		if add {
			if old, ok := d.Files[p.Path]; ok {
				content = flow.Concat(old, content)
			} else {
				before := d.before(p.Path)
				if content.Taint.Secret == "" && before.Secret != "" {
					content.Taint.Secret, content.Taint.From = before.Secret, before.From
				}
				if !content.Taint.Remote && before.Host != "" && !strings.HasSuffix(before.Path, "/") {
					content.Taint.Remote, content.Taint.Host = true, strings.TrimPrefix(before.Host, unknownHost)
					content.Taint.From = cmp.Or(content.Taint.From, before.From)
				}
				if content.Text != nil {
					if d.Piece(p.Path, *content.Text); content.Taint == (flow.Taint{}) {
						continue // the rest of the file is as unknown as before
					}
				}
				content.Text, content.Form = nil, nil
			}
		}
		content.Some = true
		d.Written(p.Path, content)
	}
}

// FileStream is what reading a file gives: what this line wrote, a secret, or
// nothing that is known.
func (d *Draft) FileStream(at Where, f flow.Word) flow.Stream {
	out := flow.Stream{Some: true, Taint: f.Taint()}
	targets := d.Absolute(at, f)
	if len(targets) == 1 && !targets[0].Glob && !targets[0].Contents {
		out.File = targets[0].Path
	}
	for _, p := range targets {
		if st, ok := d.Files[p.Path]; ok {
			st.Taint = st.Taint.In(p.Path)
			return st
		}
		what, _ := d.Secret(p.Path)
		if what = cmp.Or(what, d.before(p.Path).Secret); what != "" {
			out.Taint.Secret, out.Taint.From = what, p.Path
		}
		if host, ok := d.fetched(p.Path); ok && !out.Taint.Remote {
			out.Taint.Remote, out.Taint.Host, out.Taint.From = true, host, p.Path
		}
		if p.foreign() {
			out.Taint.Path = p.Path
		}
		out.Endless = out.Endless || world.Endless(p.Path)
	}
	return out
}

// foreign reports a file that is neither the project's nor a temporary one, nor a
// device, nor one by which the system describes itself.
func (t Target) foreign() bool {
	switch t.Area {
	case "system", "home", "user", "root":
	default:
		return false
	}
	for _, dir := range []string{"/dev/", "/proc/", "/sys/", "/usr/"} {
		if strings.HasPrefix(t.Path, dir) {
			return false
		}
	}
	return t.Path != ""
}

// edited forgets what the line has written to a file that a program changes then.
func (d *Draft) edited(at Where, name flow.Word) {
	for _, t := range d.Absolute(at, name) {
		if st, ok := d.Files[t.Path]; ok {
			st.Text, st.Form = nil, nil
			d.Written(t.Path, st)
		}
	}
}

// link remembers a symbolic link that the line makes, and judges what it
// points to: a link to a protected file is a way to write it.
func (d *Draft) link(at Where, name flow.Word, a Access) {
	for _, l := range a.Links {
		from, to := d.Absolute(at, name), d.Absolute(at, l)
		if len(from) == 1 && len(to) == 1 && from[0].Path != "" && to[0].Path != "" && from[0].Path != to[0].Path {
			if d.Links == nil {
				d.Links = map[string]string{}
			}
			d.Links[from[0].Path] = to[0].Path
		}
	}
}
