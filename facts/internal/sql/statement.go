package sql

import (
	"slices"
	"strings"

	"gate/internal/wordlist"
)

// simple reads a statement by its first word.
func (t tokens) simple(verb string) Statement {
	s := Statement{Verb: verb, Access: "write"}
	switch {
	case slices.Contains([]string{"select", "values", "table"}, verb):
		return t.query(verb)
	case verb == "drop":
		kind, at := t.kind(1)
		return Statement{Verb: "drop " + kind, Access: "delete", Object: t.name(at)}
	case verb == "truncate":
		return Statement{Verb: verb, Access: "delete", Object: t.name(t.skip(1, "table", "only", "if", "exists"))}
	case verb == "delete":
		return Statement{Verb: verb, Access: "delete", Object: t.name(t.skip(1, "from", "only", "low_priority", "quick", "ignore")), Where: t.limited()}
	case verb == "update":
		s.Object, s.Where = t.name(t.skip(1, "only", "low_priority", "ignore", "or", "rollback", "abort", "replace", "fail")), t.limited()
	case slices.Contains([]string{"insert", "replace", "merge", "upsert"}, verb):
		s.Object, s.Where = t.name(t.skip(1, "into", "or", "ignore", "replace", "overwrite", "table", "low_priority", "delayed", "rollback", "abort", "fail")), true
	case verb == "alter", verb == "create":
		kind, at := t.kind(1)
		if t.find("superuser") > 0 && (kind == "user" || kind == "role") {
			s.Verb = "superuser"
		}
		if s.Object = t.name(at); kind == "system" {
			s.Object = ""
		}
		if i := t.find("delete"); verb == "alter" && (t.find("drop") > 0 || i > 0 && t.word(i-1) != "on") {
			s.Access = "delete" // as ClickHouse deletes rows
		}
		if verb == "alter" && t.find("disable") > 0 && t.find("security") > t.find("disable") {
			s.Verb = "disable row security"
		}
		if t.find("c", "plpythonu", "plpython3u", "plperlu", "plsh", "soname") > 0 && t.find("function") > 0 {
			s.Verb = "load extension"
		}
	case verb == "copy":
		return t.copy()
	case slices.Contains([]string{"attach", "load", "install"}, verb):
		return t.load(verb)
	case slices.Contains([]string{"purge", "reset"}, verb):
		s.Access = "delete"
	case slices.Contains([]string{"grant", "revoke"}, verb):
		if i := t.find("on"); i > 0 {
			s.Object = t.name(i + 1)
			if verb == "grant" && t.word(1) == "all" && t.at(i+1).is("*") {
				s.Verb = "superuser" // of every database: ON *.*
			}
		}
		if to := t.find("to"); verb == "grant" && to > 0 && slices.Contains([]string{"public", "anon", "guest", "everyone"}, t.word(to+1)) {
			s.Verb = "grant to everybody"
		}
	case wordlist.Has(" kill shutdown rename call comment refresh restore backup import flush lock cluster optimize repair security reassign ", verb):
		s.Object = t.name(t.skip(1, "table", "tables", "database", "role", "view", "materialized"))
	case verb == "set":
		if t.word(1) != "global" && t.word(1) != "persist" && !strings.HasPrefix(t.word(1), "@@global") {
			s.Access = "read"
		}
	case verb == "vacuum":
		if i := t.find("retain"); i > 0 && t.at(i+1).text == "0" { // Delta Lake: the files of all older versions
			s.Verb, s.Access = "drop history", "delete"
		} else if i := t.find("into"); i > 0 {
			s.Object = t.firstText(i)
		} else {
			s.Access = "read"
		}
	case slices.Contains([]string{"system", "source"}, verb):
		return Statement{Verb: map[string]string{"system": "shell", "source": "source"}[verb], Access: "write", Object: t.rest()}
	case wordlist.Has(" begin start commit rollback end savepoint release show describe desc use pragma analyze analyse reindex check checksum help declare fetch close open deallocate discard listen unlisten notify print go status detach unlock handler connect perform raise exception loop for while elsif elseif when case assert null quit exit abort xa tables list summarize if else return ", verb):
		s.Access = "read"
	}
	return s
}

// query reads a select: it may still write a file or load code.
func (t tokens) query(verb string) Statement {
	s := Statement{Verb: verb, Access: "read", Where: true}
	if i := t.find("from"); i >= 0 {
		s.Object = t.name(i + 1)
		s.Where = t.limited()
	}
	for i := range t {
		switch w := t.word(i); w {
		case "outfile", "dumpfile":
			return Statement{Verb: "select into " + w, Access: "write", Object: t.firstText(i)}
		case "load_extension":
			return Statement{Verb: "load extension", Access: "write", Object: t.firstText(i)}
		case "sys_exec", "sys_eval", "xp_cmdshell":
			return Statement{Verb: "shell", Access: "write", Object: t.firstText(i)}
		case "load_file", "pg_read_file", "pg_read_binary_file", "readfile", "pg_ls_dir", "lo_import":
			if s.Verb != "read file" {
				s.Verb, s.Object = "read file", t.firstText(i)
			}
		case "lo_export", "writefile", "pg_file_write":
			return Statement{Verb: "write file", Access: "write", Object: t.firstText(i)}
		case "pg_terminate_backend", "pg_cancel_backend", "pg_reload_conf", "pg_rotate_logfile", "setval", "pg_drop_replication_slot", "drop_chunks", "dblink_exec":
			if t.at(i + 1).is("(") {
				s.Verb, s.Access = w, "write"
			}
		case "into":
			if s.Access == "read" && i > 0 && !t.at(i+1).is("@") && !strings.HasPrefix(t.word(i+1), "@") && t.at(i+1).kind != textToken {
				s.Verb, s.Access, s.Object = "select into", "write", t.name(i+1)
			}
		}
	}
	return s
}

// copy reads PostgreSQL's copy, which may run a program.
func (t tokens) copy() Statement {
	s := Statement{Verb: "copy", Access: "write", Object: t.name(1)}
	if i := t.find("program"); i > 0 {
		return Statement{Verb: "copy program", Access: "write", Object: t.firstText(i)}
	}
	if i := t.find("to"); i > 0 {
		s.Object = t.firstText(i)
		switch w := t.word(i + 1); {
		case w == "stdout":
			s.Access, s.Object = "read", t.name(1)
		case t.at(i+1).kind == textToken:
			s.Verb = "write file"
		}
	}
	return s
}

// load reads what brings in files or code.
func (t tokens) load(verb string) Statement {
	switch {
	case verb == "attach":
		return Statement{Verb: "attach", Access: "write", Object: t.firstText(0)}
	case verb == "load" && (t.word(1) == "data" || t.word(1) == "xml"):
		return Statement{Verb: "load data", Access: "write", Object: t.firstText(1)}
	}
	s := Statement{Verb: "load extension", Access: "write", Object: t.firstText(0)}
	if s.Object == "" {
		s.Object = t.name(1)
	}
	return s
}

// limited reports whether a condition or a limit narrows the statement.
func (t tokens) limited() bool {
	depth := 0
	for i := range t {
		switch {
		case t[i].is("("):
			depth++
		case t[i].is(")"):
			depth--
		case depth == 0 && t[i].kind == wordToken && (t[i].text == "limit" || t[i].text == "top" && i == 1):
			return true
		case depth == 0 && t[i].kind == wordToken && t[i].text == "where":
			return !t[i+1:].always()
		}
	}
	return false
}

// always reports whether a condition holds for every row: it names no column,
// compares something with itself, or offers an alternative that does.
func (t tokens) always() bool {
	columns, start := false, 0
	for i := 0; i <= len(t); i++ {
		w := t.word(i)
		if i < len(t) && w != "or" && w != "order" && w != "returning" && w != "limit" {
			columns = columns || t[i].kind == nameToken || t[i].kind == wordToken && !strings.Contains(" true not and false is null ", " "+w+" ")
			continue
		}
		part := t[start:i]
		if w := part.word(len(part) - 1); len(part) > 0 && (!columns && w != "false" && w != "null" || len(part) == 3 && part[1].is("=") && part[0] == part[2]) {
			return true
		}
		if i < len(t) && w != "or" {
			return false
		}
		columns, start = false, i+1
	}
	return false
}
