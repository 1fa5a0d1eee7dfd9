package tell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/strictjson"
)

// Columns are the widths of the columns of a list of decisions.
type Columns struct{ tool, call int }

// widest are the columns at most, and where it is not known what is to come.
var widest = Columns{tool: 24, call: 60}

// ColumnsOf makes room for what is in the list, and for more if more may come.
func ColumnsOf(list []audit.Record, more bool) Columns {
	wide := Columns{tool: 10}
	for i := range list {
		wide.tool = max(wide.tool, min(widest.tool, utf8.RuneCountInString(strictjson.OneLine(toolOf(&list[i])))))
		wide.call = max(wide.call, min(widest.call, utf8.RuneCountInString(strictjson.OneLine(callOf(&list[i])))))
	}
	if more {
		wide.call = widest.call
	}
	return wide
}

// toolOf is the tool, or the event where there is none.
func toolOf(r *audit.Record) string {
	if r.Sync != nil {
		return "gate sync"
	}
	return cmp.Or(r.Tool, string(r.Event))
}

// callOf is what was asked for, in one line.
func callOf(r *audit.Record) string {
	if r.Call != "" || r.Kept == nil {
		return r.Call
	}
	const most = 300 // bytes; a column shows less
	text := wholeCall(r)
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}

// Line is one decision in one line.
func (wide Columns) Line(s screen.Page, r *audit.Record) string {
	line := fmt.Sprintf("%s  %-6s  %s  %s  %s", s.Faint(r.Time.Local().Format("2006-01-02 15:04:05")), strictjson.OneLine(r.ID),
		s.Effect(r.Effect, fmt.Sprintf("%-5s", r.Effect)), screen.Column(toolOf(r), wide.tool), screen.Column(callOf(r), wide.call))
	return strings.TrimRight(line+"  "+s.Name(strings.Join(objectors(r), ", ")), " ")
}

// objectors are the policies that a decision is due to, and those that changed
// the call.
func objectors(r *audit.Record) []string {
	var out []string
	add := func(id, word string) {
		if id = strictjson.OneLine(id + word); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	for _, why := range r.Reasons {
		if why.Effect == r.Effect && r.Effect != hook.Pass {
			add(why.ID, "")
		}
	}
	for _, id := range r.Changed {
		add(id, " (changed it)")
	}
	for _, why := range r.Warned {
		add(why.ID, " (warned)")
	}
	if len(r.Faults) > 0 {
		out = append(out, screen.Counted(len(r.Faults), "fault"))
	}
	return out
}
