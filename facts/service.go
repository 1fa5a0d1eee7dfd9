package facts

// remoteShell runs the words after the host on another machine.
func (u *use) remoteShell() {
	if len(u.rest) > 0 {
		u.peer("host", u.rest[0])
	}
}

// netcat connects or listens; with -e it hands out a shell.
func (u *use) netcat() {
	shell := u.has("exec") || u.has("sh-exec")
	if shell {
		how := "reverse"
		if u.has("listen") {
			how = "bind"
		}
		var host any
		if len(u.rest) > 0 {
			host = textOrNil(u.rest[0])
		}
		u.effect("exec.shell", u.id, map[string]any{"how": how, "host": host})
	}
	if u.has("listen") {
		u.effect("net.listen", u.id, map[string]any{"port": nil, "shell": shell})
		return
	}
	if len(u.rest) > 0 && !u.has("zero") {
		u.peer("host", u.rest[0])
		if u.stdin.some && u.stdin.from > 0 || u.call.input != nil {
			p := peer{}
			if v := u.rest[0].value(); v != nil {
				p = parsePeer(*v, false)
			}
			u.send(p, "stdin", nil, u.stdin.taint.secret)
		}
		u.call.out.taint.remote = true
		u.call.out.taint.host = u.rest[0].text()
	}
}

func (u *use) redis() {
	var words []string
	for _, f := range u.rest {
		words = append(words, f.text())
	}
	if st, ok := inspectRedis(words); ok {
		u.effect("database", u.id, map[string]any{"tool": u.name, "verb": st.verb, "access": st.access, "where": st.where, "object": orNil(st.object), "local": false})
	}
}

func (u *use) mongo() {
	for _, f := range u.opts["eval"] {
		for _, st := range inspectMongo(f.text()) {
			u.effect("database", u.id, map[string]any{"tool": u.name, "verb": st.verb, "access": st.access, "where": st.where, "object": orNil(st.object), "local": false})
		}
	}
	if u.stdin.text != nil {
		for _, st := range inspectMongo(*u.stdin.text) {
			u.effect("database", u.id, map[string]any{"tool": u.name, "verb": st.verb, "access": st.access, "where": st.where, "object": orNil(st.object), "local": false})
		}
	}
}

// sqlStdin judges statements that come through a pipe or heredoc.
func (u *use) sqlStdin() {
	if u.stdin.text != nil {
		u.sql(literalField(*u.stdin.text))
	}
}

// crontab installs a table from a file or its input.
func (u *use) crontab() {
	switch {
	case u.has("l"):
	case u.has("r"):
		u.effect("persistence", u.id, map[string]any{"path": nil, "what": "cron", "verb": "delete"})
	case u.has("e") || len(u.rest) > 0 || u.stdin.some:
		u.effect("persistence", u.id, map[string]any{"path": nil, "what": "cron", "verb": "write"})
	}
}
