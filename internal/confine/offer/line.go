package offer

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// own names the part of a line that must happen in the agent's own shell, and would be
// lost in a confined one; "" for none. dir is where the line starts. A line that nobody
// can parse is confined as a whole: only its changes of the shell are lost then.
func own(line, dir string) string {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return ""
	}
	return ownOf(f.Stmts, dir)
}

// ownOf looks at statements that run in the shell itself. Those of subshells, pipes and
// the background have shells of their own.
func ownOf(list []*syntax.Stmt, dir string) string {
	for _, s := range list {
		if s.Background || s.Coprocess {
			continue
		}
		if what := ownCommand(s.Cmd, dir); what != "" {
			return what
		}
	}
	return ""
}

func ownCommand(cmd syntax.Command, dir string) string {
	var parts [][]*syntax.Stmt
	switch cmd := cmd.(type) {
	case *syntax.CallExpr:
		return ownCall(cmd.Args, dir)
	case *syntax.FuncDecl:
		return "the function " + cmd.Name.Value
	case *syntax.DeclClause:
		if cmd.Variant.Value == "export" {
			return "export"
		}
	case *syntax.Block:
		parts = append(parts, cmd.Stmts)
	case *syntax.IfClause:
		for ; cmd != nil; cmd = cmd.Else {
			parts = append(parts, cmd.Cond, cmd.Then)
		}
	case *syntax.WhileClause:
		parts = append(parts, cmd.Cond, cmd.Do)
	case *syntax.ForClause:
		parts = append(parts, cmd.Do)
	case *syntax.CaseClause:
		for _, item := range cmd.Items {
			parts = append(parts, item.Stmts)
		}
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			parts = append(parts, []*syntax.Stmt{cmd.Stmt})
		}
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt || cmd.Op == syntax.OrStmt {
			parts = append(parts, []*syntax.Stmt{cmd.X}, []*syntax.Stmt{cmd.Y})
		}
	}
	for _, list := range parts {
		if what := ownOf(list, dir); what != "" {
			return what
		}
	}
	return ""
}

// ownCall looks at a command that is a program or a builtin.
func ownCall(args []*syntax.Word, dir string) string {
	for len(args) > 0 && (literal(args[0]) == "builtin" || literal(args[0]) == "command") {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	switch name := literal(args[0]); name {
	case "cd":
		if len(args) == 2 && literal(args[1]) != "" && stays(literal(args[1]), dir) {
			return "" // it is there already
		}
		return name
	case "pushd", "popd", "source", ".", "alias", "unalias", "eval":
		return name
	}
	return ""
}

// stays reports a directory that is the one where the line starts.
func stays(to, dir string) bool {
	if strings.HasPrefix(to, "-") {
		return false
	}
	if !path.IsAbs(to) {
		to = path.Join(dir, to)
	}
	return path.Clean(to) == path.Clean(dir)
}

// literal is the text of a word without its quotes, "" where it is not written out.
func literal(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(part.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return ""
				}
				b.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return b.String()
}
