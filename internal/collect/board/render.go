package board

import (
	"cmp"
	"html/template"
	"net/url"
	"strings"

	"gate/internal/page/look"
)

// functions are what the templates of this page can call.
func functions() template.FuncMap {
	return template.FuncMap{
		"count": count, "percent": percent, "days": func() []int { return []int{7, usualDays, 30, mostDays} },
		"kindOf": func(v any) kind { return kindOf(look.Text(v)) }, "kindTitle": func(k kind) string { return k.title }, "kindSeverity": func(k kind) string { return k.severity }, "kindTodo": func(k kind) string { return k.todo },
		"release": func(r any) string {
			m := look.Object(r)
			return releaseName(look.Text(m["bundle"]), look.Text(m["revision"]), m["trial"] == true)
		},
		"bar": barOf, "calls": callsOf, "held": heldOf, "would": wouldOf, "waits": waitsOf, "faultPlots": faultsOf, "machineDays": machineOf,
		"turn": withQuery, "typed": typed, "who": whoOf, "some": func(n any) bool { return look.Number(n) > 0 }, "gtOne": func(n any) bool { return look.Number(n) > 1 },
		"agree": func(n any, one, more string) string {
			if look.Number(n) == 1 {
				return one
			}
			return more
		},
	}
}

// mostDrawn is how many groups other than days a plot has; the table has all.
const mostDrawn = 16

func drawn(rows any, by string) []any {
	list := look.List(rows)
	if by == "day" {
		return list
	}
	return list[:min(len(list), mostDrawn)]
}

func callsOf(rows any, by string) look.Plot {
	return look.Draw("Calls by "+by, "calls", drawn(rows, by), [][2]string{{"all calls", "calls"}, {"asked about", "asked"}, {"denied", "denied"}}, 1)
}

func heldOf(rows any, by string) look.Plot {
	return look.Draw("Asked about and denied by "+by, "calls", drawn(rows, by), [][2]string{{"approved", "approved"}, {"asked about", "asked"}, {"denied", "denied"}}, 1)
}

func wouldOf(rows any, by string) look.Plot {
	return look.Draw("Would have been held back by "+by, "calls", drawn(rows, by), [][2]string{{"would have been held back", "would"}}, 1)
}

func waitsOf(rows any, kind, title string) look.Plot {
	return look.Draw(title, "ms", look.List(rows), [][2]string{{"p50", kind + "_p50_us"}, {"p90", kind + "_p90_us"}, {"p99", kind + "_p99_us"}}, 1000)
}

func faultsOf(rows any) look.Plot {
	return look.Draw("Decisions with a fault by day", "decisions", look.List(rows), [][2]string{{"faults", "faults"}}, 1)
}

func machineOf(rows any) look.Plot {
	return look.Draw("Calls by day", "calls", look.List(rows), [][2]string{{"all calls", "calls"}, {"asked about", "asked"}, {"denied", "denied"}}, 1)
}

// A part is a piece of a bar that shows shares of a whole.
type part struct {
	X, W, TextX        float64
	Class, Title, Text string
}

const barWide = 600

// barOf draws the releases of a bundle as shares of one bar.
func barOf(bundle any) []part {
	b := look.Object(bundle)
	whole := look.Number(b["machines"])
	x := 0.0
	var out []part
	for i, v := range look.List(b["releases"]) {
		r := look.Object(v)
		w := look.Round(barWide * look.Number(r["machines"]) / max(whole, 1))
		p := part{X: x, W: max(w-1, 0.5), TextX: x + 6, Class: []string{"r1", "r2", "r3"}[min(i, 2)], Title: look.Text(r["revision"]) + ": " + count(r["machines"]) + " machines, " + percent(r["machines"], whole)}
		if w > 90 {
			p.Text = look.Text(r["revision"]) + " · " + percent(r["machines"], whole)
		}
		out = append(out, p)
		x = look.Round(x + w)
	}
	return out
}

// typed are the bundles of releases whose names can be typed in a command as they are.
// Machines name them, and people copy commands: others are not in one.
func typed(releases any) []string {
	var out []string
	for _, v := range look.List(releases) {
		name := look.Text(look.Object(v)["bundle"])
		odd := func(r rune) bool {
			return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-')
		}
		if name != "" && name[0] != '-' && !strings.ContainsFunc(name, odd) {
			out = append(out, name)
		}
	}
	return out
}

// withQuery is the address of a view with the query that it is looked at with, and one
// parameter of it changed; "" takes the parameter away.
func withQuery(view string, q url.Values, name string, value any) string {
	out := url.Values{}
	for key, values := range q {
		if key != name && len(values) > 0 && values[0] != "" {
			out.Set(key, values[0])
		}
	}
	if text := look.OneLine(value); text != "" {
		out.Set(name, text)
	}
	if len(out) == 0 {
		return look.Address(view, "")
	}
	return look.Address(view, "") + "?" + out.Encode()
}

// whoOf is how people know a machine: its host's name.
func whoOf(v any) string {
	m := look.Object(v)
	return cmp.Or(look.Text(m["host"]), look.Text(m["machine"]), look.Text(m["log"]))
}
