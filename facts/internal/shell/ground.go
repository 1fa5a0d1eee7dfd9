package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"gate/facts/internal/bash"
	"gate/hook"
	"gate/internal/wordlist"
)

// ground says what a line has beside plain commands and which variables it gives a value.
// It goes by the text alone, and by what it knows: a part of the language that stands
// nowhere here is a form. Programs that set variables are commands, and policies see them
// there. The rest of a Ground is [draft.Draft.Ground]'s.
func ground(text string) *hook.Ground {
	if len(text) > maxLine || bash.TooDeep(text) {
		return nil
	}
	f, _, err := bash.Parse(text)
	if err != nil {
		return nil
	}
	g := &hook.Ground{Assigns: []string{}, Forms: []string{}}
	syntax.Walk(f, func(n syntax.Node) bool {
		if n != nil {
			if form := formOf(n, g); form != "" {
				g.Forms = append(g.Forms, form)
			}
		}
		return true
	})
	slices.Sort(g.Assigns)
	slices.Sort(g.Forms)
	g.Assigns, g.Forms = slices.Compact(g.Assigns), slices.Compact(g.Forms)
	return g
}

// formOf names what a node is if it is more than part of a plain command, a pipe, a list,
// a condition or a loop over words; "" for those. It notes the variables that they set.
func formOf(n syntax.Node, g *hook.Ground) string {
	switch n := n.(type) {
	case *syntax.CallExpr:
		return callForm(n)
	case *syntax.File, *syntax.Comment, *syntax.BinaryCmd, *syntax.Block, *syntax.Subshell, *syntax.IfClause,
		*syntax.Word, *syntax.SglQuoted:
		return ""
	case *syntax.Lit:
		return literalForm(n.Value)
	case *syntax.Stmt:
		if n.Coprocess || n.Background || n.Disown {
			return "background"
		}
		return ""
	case *syntax.DblQuoted:
		if n.Dollar {
			return "translation"
		}
		return ""
	case *syntax.CmdSubst:
		if n.TempFile || n.ReplyVar {
			return "substitution"
		}
		return ""
	case *syntax.Redirect:
		if n.N != nil && strings.Trim(n.N.Value, "0123456789") != "" {
			return "descriptor"
		}
		return ""
	case *syntax.Assign:
		g.Assigns = append(g.Assigns, assigned(n))
		if n.Append || n.Naked || n.Index != nil || n.Array != nil || n.Name == nil {
			return "assignment"
		}
		return ""
	case *syntax.ForClause:
		if n.Select {
			return "select"
		}
		return ""
	case *syntax.WordIter:
		g.Assigns = append(g.Assigns, n.Name.Value)
		return ""
	case *syntax.ParamExp:
		return paramForm(n)
	}
	return nodeName(n)
}

// callForm names a command that has the shell run another one, with an option for how.
func callForm(n *syntax.CallExpr) string {
	if len(n.Args) > 1 && wordlist.Has(" exec command builtin nocorrect noglob ", n.Args[0].Lit()) && !plainWord(n.Args[1].Lit()) {
		return "option of the shell"
	}
	return ""
}

func plainWord(text string) bool { return text != "" && text[0] != '-' && text[0] != '+' }

// literalForm tells the forms that other shells than bash find in a plain word: zsh looks
// =NAME up in PATH, and takes a bracket behind a tilde for a directory of its own.
func literalForm(text string) string {
	if strings.HasPrefix(text, "=") && text != "=" && text != "==" || strings.Contains(text, "~[") {
		return "word of zsh"
	}
	return ""
}

// paramForm names an expansion that does more than put a variable's value in place.
func paramForm(n *syntax.ParamExp) string {
	if n.Param == nil || n.Excl || n.Length || n.Width || n.Index != nil || n.Slice != nil || n.Repl != nil || n.Exp != nil || n.Names != 0 {
		return "expansion"
	}
	return ""
}

// assigned is the variable of an assignment, * for one without a name.
func assigned(n *syntax.Assign) string {
	if n.Name == nil {
		return "*"
	}
	return n.Name.Value
}

// nodeName names a part of the language for people.
func nodeName(n syntax.Node) string {
	switch n.(type) {
	case *syntax.FuncDecl:
		return "function"
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.BinaryArithm, *syntax.UnaryArithm, *syntax.ParenArithm, *syntax.CStyleLoop:
		return "arithmetic"
	case *syntax.DeclClause:
		return "declaration"
	case *syntax.WhileClause:
		return "loop"
	case *syntax.CaseClause, *syntax.CaseItem:
		return "case"
	case *syntax.TestClause, *syntax.BinaryTest, *syntax.UnaryTest, *syntax.ParenTest:
		return "test"
	case *syntax.ProcSubst:
		return "process substitution"
	case *syntax.ExtGlob:
		return "extended pattern"
	case *syntax.ArrayExpr, *syntax.ArrayElem:
		return "array"
	case *syntax.CoprocClause:
		return "coprocess"
	case *syntax.TimeClause:
		return "time"
	}
	return "other"
}
