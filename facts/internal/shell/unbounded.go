package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"gate/hook"
	"gate/internal/wordlist"
)

// quick are commands that take no time worth speaking of: a loop of nothing but them
// and of background commands starts those as fast as the machine can.
const quick = " : true false test [ [[ let local declare echo printf export set unset "

// writers are commands whose output a loop without an end adds to a file for ever.
const writers = " echo printf cat dd head yes cp "

// unbounded judges a loop that never ends: one that starts commands without waiting
// for any, and one that does nothing but write.
func (w *Shell) unbounded(cond, do []*syntax.Stmt) {
	forks, waits, fills := false, false, false
	for _, list := range [][]*syntax.Stmt{cond, do} {
		for _, st := range list {
			syntax.Walk(st, func(n syntax.Node) bool {
				switch n := n.(type) {
				case *syntax.Stmt:
					if n.Background {
						forks = true
						return false
					}
					for _, r := range n.Redirs {
						fills = fills || r.Op == syntax.AppOut && r.Word.Lit() != "/dev/null"
					}
				case *syntax.CallExpr:
					if len(n.Args) == 0 {
						break
					}
					name := n.Args[0].Lit()
					fills = fills || name == "dd"
					switch {
					case name == "sleep" && len(n.Args) > 1 && n.Args[1].Lit() == "0", wordlist.Has(quick, name):
					case !wordlist.Has(writers, name):
						waits = true
					}
				case *syntax.FuncDecl:
					return false
				}
				return true
			})
		}
	}
	switch {
	case waits:
	case forks:
		w.Effect(0, &hook.Process{Verb: "fork bomb", All: true})
	case fills:
		w.Effect(0, &hook.Disk{Verb: "fill"})
	}
}

// always reports a condition that holds for ever: true, :, [ 1 ], sleep 0.
func always(cond []*syntax.Stmt, until bool) bool {
	if len(cond) != 1 || cond[0].Negated {
		return false
	}
	call, ok := cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		_, arithmetic := cond[0].Cmd.(*syntax.ArithmCmd)
		return arithmetic && !until
	}
	switch name := call.Args[0].Lit(); {
	case until:
		return name == "false"
	case name == "[", name == "test":
		return len(call.Args) < 4 && len(call.Args) > 1 && call.Args[1].Lit() != "" && call.Args[1].Lit()[0] != '-'
	case name == "sleep":
		return len(call.Args) == 2 && call.Args[1].Lit() == "0"
	default:
		return name == ":" || name == "true"
	}
}

// maxCycle bounds how many functions are looked at for one that calls another that
// calls it.
const maxCycle = 16

// bomb reports a function that starts itself more often than it ends, by itself or by
// functions that it calls.
func (s *state) bomb(name string) bool {
	seen := map[string]bool{}
	calls, forks := 0, false
	var follow func(string) bool // whether it leads back to name
	follow = func(from string) bool {
		body := s.funcs[from]
		if body == nil || seen[from] || len(seen) == maxCycle {
			return false
		}
		seen[from] = true
		back, starts := false, false
		syntax.Walk(body, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				if len(n.Args) == 0 {
					break
				}
				if to := n.Args[0].Lit(); to == name || s.funcs[to] != nil && (follow(to) || seen[to]) {
					back = true
					calls++
				}
			case *syntax.Stmt:
				starts = starts || n.Background
			case *syntax.BinaryCmd:
				starts = starts || n.Op == syntax.Pipe
			}
			return true
		})
		forks = forks || back && starts
		return back
	}
	return follow(name) && forks && calls > 1
}
