package tell

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"gate/cmd/internal/document"
	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/explain"
	"gate/internal/strictjson"
)

// names says which variable of a rule stands for which place of the input.
type names map[string]string

// spell writes a place as the rule would: effect.area for facts.effects[0].area.
func (n names) spell(place string) string {
	best := ""
	for p := range n {
		if strings.HasPrefix(place, p) && len(p) > len(best) && len(place) > len(p) && strings.ContainsRune(".[", rune(place[len(p)])) {
			best = p
		}
	}
	if best == "" {
		return place
	}
	return n[best] + place[len(best):]
}

const (
	mostValues  = 4 // values of one condition
	mostHelpers = 2 // definitions of helpers of one condition

	mostPolicies = 20 // of one list
)

// conditions shows the conditions of a definition with the values that made
// them true, or the first one not.
func (t *telling) conditions(d *explain.Definition, indent string, known names) {
	known = maps.Clone(known)
	for i := range d.Conditions {
		c := &d.Conditions[i]
		for _, v := range c.Values {
			if v.Path != "" && isName(v.Text) && known[v.Path] == "" {
				known[v.Path] = v.Text
			}
		}
		line := indent + screen.Short(strictjson.Visible(c.Text), screen.LineWidth)
		if !c.Met {
			line = t.Effect(hook.Deny, line) + t.Faint("  <- not true ("+strictjson.Visible(path.Base(c.Pos))+")")
		}
		t.printf("%s\n", line)
		t.values(c, indent+"  ", known)
		t.helpers(c, indent+"  ", known)
	}
	if d.Left > 0 {
		t.printf("%s%s\n", indent, t.Faint("("+screen.Counted(d.Left, "condition")+" after that)"))
	}
}

func isName(s string) bool { return s != "" && !strings.ContainsAny(s, ".[( \"") }

// values shows what the parts of a condition stood for.
func (t *telling) values(c *explain.Condition, indent string, known names) {
	var list []string
	add := func(v explain.Value) {
		if line := said(c, v, known); line != "" && !t.told[line] {
			t.told[line] = true
			list = append(list, line)
		}
	}
	for _, v := range c.Values {
		add(v)
	}
	for i := range c.Helpers {
		if c.Helpers[i].Library {
			eachFact(&c.Helpers[i], add)
		}
	}
	if len(list) > mostValues {
		list = append(list[:mostValues], "…")
	}
	if len(list) > 0 {
		t.printf("%s%s\n", indent, t.Faint(strings.Join(list, ", ")))
	}
}

// eachFact yields what the library's helpers read of facts: what they are
// called with is in the condition itself.
func eachFact(d *explain.Definition, yield func(explain.Value)) {
	for _, c := range d.Conditions {
		for _, v := range c.Values {
			if v.Path != "" && !isName(v.Text) {
				v.Text = ""
				yield(v)
			}
		}
		for i := range c.Helpers {
			eachFact(&c.Helpers[i], yield)
		}
	}
}

// said is one value as a person reads it, "" if it is no news.
func said(c *explain.Condition, v explain.Value, known names) string {
	name := v.Text
	if v.Path != "" && !isName(v.Text) && !strings.HasPrefix(v.Text, "input.") {
		name = known.spell(v.Path)
	}
	if c.Met && (strings.HasSuffix(v.Text, ".id") || strings.HasSuffix(v.Text, ".command")) {
		return "" // which command it is, the marks show
	}
	switch value := v.Value.(type) {
	case map[string]any:
		if isName(v.Text) && known[v.Path] == v.Text && strings.HasPrefix(c.Text, "some ") {
			return name + " is " + element(v.Path, value)
		}
		if v.Path != "" || isName(v.Text) {
			return ""
		}
	default:
		if literal := string(strictjson.Append(nil, document.Value(value))); c.Met && !c.Negated && !v.Absent &&
			(strings.Contains(c.Text, "== "+literal) || isName(name) && known[""] == name) {
			return ""
		}
	}
	if v.Absent && !c.Met && strings.HasSuffix(c.Text, ":= "+v.Text) {
		return "" // that is what is not true
	}
	if v.Absent {
		return strictjson.Visible(name) + " is not defined"
	}
	return strictjson.Visible(name) + " = " + inShort(v.Value)
}

// element says which fact a variable stands for.
func element(place string, v map[string]any) string {
	kind, _ := v["kind"].(string)
	switch {
	case strings.HasPrefix(place, "facts.effects["):
		return "the effect " + strictjson.Visible(kind)
	case strings.HasPrefix(place, "facts.unknown["):
		return "the unknown " + strictjson.Visible(kind)
	case strings.Contains(place, "].words["):
		if v["value"] == nil {
			return "an unknown word"
		}
		return "the word " + inShort(v["value"])
	case strings.HasPrefix(place, "facts.shell.commands[") && strings.HasSuffix(place, "]"):
		program, _ := v["program"].(string)
		return "the command " + strictjson.Visible(cmp.Or(program, "that is not known"))
	case place != "":
		return strictjson.Visible(place)
	}
	return inShort(v)
}

// helpers shows the definitions of the policy's own helpers that made a
// condition come out as it did.
func (t *telling) helpers(c *explain.Condition, indent string, known names) {
	var own []*explain.Definition
	for i := range c.Helpers {
		if h := &c.Helpers[i]; !h.Library && len(h.Conditions) > 0 {
			own = append(own, h)
		}
	}
	slices.SortStableFunc(own, func(a, b *explain.Definition) int { return cmp.Compare(progress(b), progress(a)) })
	for i, h := range own {
		if c.Met && c.Negated {
			t.lacks(h, indent+strictjson.Visible(h.Rule)+": ", known)
			return
		}
		if i == 1 && c.Met {
			return // one suffices
		}
		if i == mostHelpers {
			t.printf("%s%s\n", indent, t.Faint("(and "+screen.Counted(len(own)-i, "other definition")+" of "+strictjson.Visible(h.Rule)+")"))
			break
		}
		t.printf("%s%s\n", indent, t.Faint(strictjson.Visible(h.Rule)+" ("+strictjson.Visible(path.Base(h.Pos))+"):"))
		t.conditions(h, indent+"  ", known)
	}
}

// progress is how far a definition got.
func progress(d *explain.Definition) int {
	n := 0
	for _, c := range d.Conditions {
		if c.Met {
			n++
		}
	}
	return n
}
