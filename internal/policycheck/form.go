package policycheck

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"gate/facts"
	"gate/hook"
)

// unlike returns what the texts of v look like if all of them look like
// something, and word like none of them; else nil.
func (v value) unlike(word string) *form {
	var out *form
	for _, s := range v {
		switch {
		case s.any() || s.kinds&text != 0 && s.form == nil:
			return nil
		case s.kinds&text == 0:
		case s.form.pattern.MatchString(word) != s.form.not:
			return nil
		default:
			out = s.form
		}
	}
	return out
}

// begins checks startswith(left, right): a beginning that no text of the field
// has.
func (c *checker) begins(s *scope, left, right *ast.Term) {
	prefix, ok := right.Value.(ast.String)
	if !ok || prefix == "" {
		return
	}
	v := c.eval(s, left)
	c.wholeNames(s, left, string(prefix))
	if f := v.unlike(string(prefix)); f != nil && v.unlike(string(prefix)+"x") != nil {
		c.report(s, right.Location, Error, "value", fmt.Sprintf("%s never begins with %q", shown(left), string(prefix)), f.is)
	}
}

// program warns of the name of a wrapper, such as sudo, in the place of a
// program: it is the program of a command only where it runs nothing. Beside
// others that are programs it is one of them, such as ssh-agent.
func (c *checker) program(s *scope, at *ast.Term, v value, word string, listed []*ast.Term) {
	if len(v) != 1 || v[0].name != "program" || v[0].form == nil || s.unit.mentions("via") {
		return
	}
	if strings.ContainsAny(word, " \t") {
		c.report(s, at.Location, Error, "value", fmt.Sprintf("a program is never %q: it is one word", word),
			"compare words, such as data.gate.lib.begins(command, [\"git\", \"push\"])")
		return
	}
	for _, t := range listed {
		if name, ok := t.Value.(ast.String); ok && !c.vanishes(string(name)) {
			return
		}
	}
	if c.vanishes(word) {
		c.report(s, at.Location, Warning, "value", fmt.Sprintf("%s is the program only where it runs nothing; a program that it runs has it in via", word),
			fmt.Sprintf("write: some command in input.facts.shell.commands; %q in command.via", word))
	}
}

// vanishes reports whether a program that runs another one is then no command
// of its own. It asks the facts of lines that use it.
func (c *checker) vanishes(program string) bool {
	if strings.Trim(program, wordCharacters+".+") != "" || program == "" {
		return false
	}
	if c.wrappers == nil {
		c.wrappers = map[string]bool{}
	}
	known, done := c.wrappers[program]
	if !done {
		reader := facts.New(facts.World{})
		for _, line := range []string{" true", " 1 true", " x true"} {
			ev := hook.Event{Agent: "generic", Name: hook.PreToolUse, Fields: map[string]any{
				"hook_event_name": string(hook.PreToolUse), "tool_name": "Bash", "tool_input": map[string]any{"command": program + line},
			}}
			known = known || wraps(reader.Of(&ev), program)
		}
		c.wrappers[program] = known
	}
	return known
}

// wraps reports whether facts have a command that runs through a program, and
// none that is it.
func wraps(f *hook.Facts, program string) bool {
	found := false
	if f.Shell == nil {
		return false
	}
	for _, command := range f.Shell.Commands {
		if command.Program == nil || *command.Program == program {
			return false
		}
		for _, via := range command.Via {
			found = found || via == program
		}
	}
	return found
}

// mentions reports whether a package reads a field, whatever of.
func (u *unit) mentions(field string) bool {
	if u.read == nil {
		u.read = map[string]bool{}
		ast.WalkTerms(u.module, func(t *ast.Term) bool {
			if ref, ok := t.Value.(ast.Ref); ok {
				for _, part := range ref[1:] {
					if name, ok := part.Value.(ast.String); ok {
						u.read[string(name)] = true
					}
				}
			}
			return false
		})
	}
	return u.read[field]
}

// given checks the constants that a function of the library compares with
// facts: the kind of effects, the program of commands, the value of is and
// could_be.
func (c *checker) given(s *scope, u *unit, name string, args []*ast.Term) {
	if !u.lib || c.pass != reporting {
		return
	}
	facts := value{c.schema.facts}
	switch {
	case name == "effects" && len(args) == 1:
		kinds := facts.field("effects").elements().field("kind")
		c.equals(s, ast.VarTerm("effect.kind"), kinds, args[0])
	case name == "commands" && len(args) == 1:
		programs := facts.field("shell").field("commands").elements().field("program")
		c.equals(s, fieldTerm(ast.VarTerm("command"), "program"), programs, args[0])
	case name == "matches" && len(args) == 3:
		c.pattern(s, args[2])
	case (name == "is" || name == "could_be") && len(args) == 3:
		for _, key := range keysOf(args[1]) {
			field, v := fieldTerm(args[0], key), c.eval(s, args[0]).field(key)
			if v.kinds()&array == 0 {
				c.equals(s, field, v, args[2])
			} else {
				c.against(s, field, v.elements().and(v.narrow(text)), args[2])
			}
		}
	}
}

// against checks an argument that is compared with what a field may be.
func (c *checker) against(s *scope, field *ast.Term, v value, arg *ast.Term) {
	if w := c.eval(s, arg); len(v) > 0 && len(w) > 0 {
		c.possible(s, field, v, arg, w, nil)
	}
}

// equals checks an argument that a field has to equal, and not to hold.
func (c *checker) equals(s *scope, field *ast.Term, v value, arg *ast.Term) {
	c.against(s, field, v, arg)
	if w := c.eval(s, arg); len(v) > 0 && len(w) > 0 {
		field.Location = arg.Location
		c.mismatch(s, field, v, arg, w)
	}
}

func fieldTerm(thing *ast.Term, key string) *ast.Term {
	if ref, ok := thing.Value.(ast.Ref); ok {
		return ast.NewTerm(ref.Append(ast.StringTerm(key)))
	}
	return ast.NewTerm(ast.Ref{thing, ast.StringTerm(key)})
}
