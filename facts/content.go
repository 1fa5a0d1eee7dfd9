package facts

import (
	"gate/facts/bash"
	"gate/facts/flow"
	"gate/facts/peer"
	"gate/hook"
	"strings"
)

// written notes what a file holds that the line writes.
func (w *draft) written(name string, content flow.Stream) {
	if w.files == nil {
		w.files = map[string]flow.Stream{}
	}
	w.files[name] = content
}

// outputTo judges a file that is written, and remembers what it now holds.
func (w *draft) outputTo(at where, id int, target flow.Word, how string, content flow.Stream) {
	if v := target.Value(); v != nil && (*v == "" || bash.IsDescriptor(*v) && target.Span == nil && how == "fd") {
		return
	}
	w.usePath(at, id, target, access{kind: "write", how: how, content: content})
	w.remember(at, target, content, how == "append")
	w.peerFile(id, target, content)
}

// peerFile judges bash's /dev/tcp/HOST/PORT: a shell on it is handed out, what
// other programs write goes there.
func (w *draft) peerFile(id int, target flow.Word, content flow.Stream) {
	for _, host := range w.connections(target) {
		name := ""
		if id > 0 && id <= len(w.facts.Shell.Commands) {
			name = flow.Text(w.facts.Shell.Commands[id-1].Program)
		}
		switch name {
		case "sh", "bash", "dash", "zsh", "ksh", "exec", "fish", "ash":
			w.effect(id, &hook.ExecShell{How: "reverse", Host: new(host)})
			continue
		}
		private, metadata := peer.Reach(host)
		w.facts.Hosts = append(w.facts.Hosts, hook.Host{Command: id, Host: flow.Known(host), Access: "send"})
		w.effect(id, &hook.NetSend{Host: flow.Known(host), Source: "stdin", Secret: flow.Known(content.Secret()), Private: private, Metadata: metadata})
	}
}

// connections lists hosts that bash's /dev/tcp/HOST/PORT names.
func (w *draft) connections(f flow.Word) []string {
	var hosts []string
	text := f.Prefix()
	if strings.HasPrefix(text, "/dev/tcp/") || strings.HasPrefix(text, "/dev/udp/") {
		host, _, _ := strings.Cut(strings.SplitN(text, "/", 4)[3], "/")
		hosts = append(hosts, host)
	}
	return hosts
}

// remember notes the content of a file that the line writes.
func (w *draft) remember(at where, target flow.Word, content flow.Stream, add bool) {
	for _, p := range w.absolute(at, target) {
		if p.path == "" {
			continue
		}
		if add {
			if old, ok := w.files[p.path]; ok {
				content = flow.Concat(old, content)
			} else {
				content.Text, content.Form = nil, nil
			}
		}
		content.Some = true
		w.written(p.path, content)
	}
}

// fileStream is what reading a file gives: what this line wrote, a secret, or
// nothing that is known.
func (w *draft) fileStream(at where, f flow.Word) flow.Stream {
	out := flow.Stream{Some: true, Taint: f.Taint()}
	for _, p := range w.absolute(at, f) {
		if st, ok := w.files[p.path]; ok {
			return st
		}
		if what, _ := w.secret(p.path); what != "" {
			out.Taint.Secret = what
		}
	}
	return out
}

// edited forgets what the line has written to a file that a program changes then.
func (w *draft) edited(at where, name flow.Word) {
	for _, t := range w.absolute(at, name) {
		if st, ok := w.files[t.path]; ok {
			st.Text, st.Form = nil, nil
			w.written(t.path, st)
		}
	}
}

// link remembers a symbolic link that the line makes, and judges what it
// points to: a link to a protected file is a way to write it.
func (w *draft) link(at where, name flow.Word, a access) {
	for _, l := range a.links {
		from, to := w.absolute(at, name), w.absolute(at, l)
		if len(from) == 1 && len(to) == 1 && from[0].path != "" && to[0].path != "" && from[0].path != to[0].path {
			if w.links == nil {
				w.links = map[string]string{}
			}
			w.links[from[0].path] = to[0].path
		}
	}
}
