package load

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/hook"
	"gate/internal/verdict"
)

// A module is a parsed file.
type module struct {
	file
	*ast.Module
	pkg string // without the leading "data."
	pos string // file:line of the package
}

// parse parses a file. Rego v1 only. A panic of the parser is an error.
func parse(f file) (m *ast.Module, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it cannot be parsed: %v", p)
		}
	}()
	return ast.ParseModuleWithOpts(f.name, f.text, ast.ParserOptions{
		ProcessAnnotation: true,
		RegoVersion:       ast.RegoV1,
	})
}

// parseAll parses files, on all processors: the parser takes most of the time
// that a directory of policies costs, and no file needs another one for that.
// The outcomes have the order of the files.
func (l *loader) parseAll(files []file) []parsed {
	list := make([]parsed, len(files))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(files)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				list[i] = l.kept.parse(files[i])
			}
		})
	}
	workers.Wait()
	return list
}

// A parsed holds the outcome of [parse].
type parsed struct {
	tree *ast.Module
	err  error
}

// module takes over what was parsed of a file.
func (l *loader) module(f file, p parsed) (module, bool) {
	if p.err != nil {
		l.parseErrors(f, p.err)
		return module{}, false
	}
	return module{
		file:   f,
		Module: p.tree,
		pkg:    strings.TrimPrefix(p.tree.Package.Path.String(), "data."),
		pos:    fmt.Sprintf("%s:%d", f.name, p.tree.Package.Location.Row),
	}, true
}

func (l *loader) parseErrors(f file, err error) {
	var list ast.Errors
	var one *ast.Error
	if errors.As(err, &one) {
		list = ast.Errors{one}
	} else if !errors.As(err, &list) {
		l.fault("%s: %w", f.name, err)
		return
	}
	lines := strings.Split(f.text, "\n")
	said := map[int]string{}
	for _, e := range list {
		row := 0
		if e.Location != nil {
			row = e.Location.Row
		}
		if first := said[row]; first != "" && strings.HasPrefix(e.Message, first) {
			continue // OPA says the same again at more length
		}
		said[row] = e.Message
		hint := ""
		if row > 0 && row <= len(lines) {
			hint = oldSyntax(lines[row-1])
		}
		l.fault("%s:%d: %s%s", f.name, max(row, 1), syntaxMistake(e.Message, f.text), hint)
	}
}

// syntaxMistake is what OPA says about a file, in words for those who wrote it.
func syntaxMistake(message, text string) string {
	// "token: x" looks like a secret, which messages must not show.
	message = strings.Replace(message, " token: ", " token, ", 1)
	switch {
	case message == "package expected":
		return "the file does not begin with its package, such as: package acme.deploy"
	case strings.HasPrefix(message, "unexpected eof token") && strings.Count(text, "{") > strings.Count(text, "}"):
		return message + "; a } is missing"
	case yamlLine().MatchString(message): // counted within the comment
		return "METADATA is no YAML: " + yamlMistake(yamlLine().ReplaceAllString(message, ""), uncommented(text))
	}
	return message
}

// uncommented is what a file's comments say.
func uncommented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if comment, ok := strings.CutPrefix(line, "#"); ok {
			b.WriteString(comment)
		}
	}
	return b.String()
}

// oldSyntax recognises the rules of Rego v0.
func oldSyntax(line string) string {
	if name, _, found := strings.Cut(strings.TrimSpace(line), " {"); found && slices.Contains(rules, name) {
		return fmt.Sprintf("; write: %s contains … if {", name)
	}
	name, rest, found := strings.Cut(strings.TrimSpace(line), "[")
	member, body, closed := strings.Cut(rest, "]")
	if !found || !closed || !slices.Contains(rules, name) || !strings.Contains(body, "{") {
		return ""
	}
	return fmt.Sprintf("; write: %s contains %s if {", name, member)
}

// policy checks a module and returns the hook that it defines, nil for a
// helper module.
func (l *loader) policy(m module) *hook.Hook {
	before := len(l.src.Faults)
	defined := l.checkRules(m)
	meta, where := l.metadata(m)
	switch {
	case meta == nil && len(defined) == 0:
		return nil
	case meta == nil:
		if len(l.src.Faults) == before {
			l.fault("%s: it defines %s but says nowhere when it applies: "+
				"add METADATA with custom.gate.events directly above package", m.pos, strings.Join(defined, ", "))
		}
		return nil
	case len(defined) == 0 && len(l.src.Faults) == before && where.keys["schema"] == nil:
		l.fault("%s: custom.gate, but none of the rules %s", m.pos, strings.Join(rules, " "))
	}
	h := &hook.Hook{
		ID: m.pkg, Kind: hook.Rego, Title: meta.Title, Description: strings.TrimSpace(meta.Description),
		Scope: l.src.Scope, Authority: l.src.Authority, Library: l.src.Library, Source: l.src.Name,
		File: m.name, Line: m.Package.Location.Row, Consults: slices.Contains(defined, "consult"), Session: slices.Contains(defined, "remember"),
	}
	l.custom(h, where)
	if slices.Contains(defined, "modify") && len(h.Events) > 0 && !slices.ContainsFunc(h.Events, rewritable) {
		l.fault("%s: modify, but nothing can be rewritten on %s", m.pos, h.Events[0])
	}
	if slices.Contains(defined, "confine") && len(h.Events) > 0 && !slices.Contains(h.Events, hook.PreToolUse) {
		l.fault("%s: confine, but a call can be confined on PreToolUse only, and not on %s", m.pos, h.Events[0])
	}
	l.checkParams(m, h)
	if len(defined) == 0 && verdict.InputSchema(h) == nil {
		return nil // what is wrong with it is said
	}
	return h
}

func rewritable(n hook.Name) bool { return n.Rewrites() != "" }

// metadata finds the annotations with custom.gate. They stand directly above
// the package, because they hold for all of its rules.
func (l *loader) metadata(m module) (*ast.Annotations, section) {
	var found *ast.Annotations
	var where section
	for _, a := range m.Annotations {
		s := newSection(m, a)
		value, ok := a.Custom["gate"]
		if !ok {
			for k := range a.Custom {
				if near(k, "gate") || strings.EqualFold(k, "gate") {
					l.fault("%s: unknown key custom.%s; write custom.gate", s.pos(k), k)
				}
			}
			continue
		}
		switch {
		case a.Scope != "package":
			l.fault("%s: custom.gate belongs into the METADATA directly above package, for it holds for all rules of the file",
				s.pos("gate"))
		case found != nil:
			l.fault("%s: a second custom.gate", s.pos("gate"))
		default:
			var isMap bool
			if s.keys, isMap = value.(map[string]any); !isMap {
				l.fault("%s: custom.gate must be a mapping with events", s.pos("gate"))
				continue
			}
			found, where = a, s
			l.besideGate(a, s)
		}
	}
	return found, where
}

// besideGate reports keys of custom.gate that stand beside it, where nobody reads
// them.
func (l *loader) besideGate(a *ast.Annotations, s section) {
	for _, key := range metadataKeys {
		if _, ok := a.Custom[key]; ok {
			l.fault("%s: custom.%s stands beside gate, where it does nothing; indent it below gate", s.pos(key), key)
		}
	}
}
