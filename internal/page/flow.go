package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gate/internal/page/look"
	"gate/internal/strictjson"
)

// mostArcs is how many flows of a session are drawn.
const mostArcs = 40

// Where the drawing of flows has what.
const (
	flowRow  = 44 // pixels from a step to the next
	flowX    = 150
	flowWide = 860
)

// A drawing of flows has the steps that data came from or went to on a line of time,
// and an arc for each flow.
type drawing struct {
	Width, Height, X, TextX, Bottom float64
	Steps                           []flowStep
	Arcs                            []arc
	Left                            int // flows that are not drawn
}

type flowStep struct {
	Y, YText, YLabel        float64
	Time, Sign, Word, Label string
	Class                   string
	id                      string
	at                      string
}

type arc struct {
	From, To string // decisions; From is "" where the log does not have it

	FromText, ToText string // their calls, as in the drawing
	What             string
	Text             string // the arc in a sentence
	Class            string
	Path             string
	Head             string
}

// flowsOf draws the flows of a session, nil where there are none.
func flowsOf(doc Document) *drawing {
	links := look.List(doc["links"])
	if len(links) == 0 {
		return nil
	}
	d := &drawing{Width: flowWide, X: flowX, TextX: flowX + 16, Left: max(0, len(links)-mostArcs)}
	links = links[:len(links)-d.Left]
	for _, v := range links {
		for _, end := range []string{"from", "to"} {
			d.step(look.Object(look.Object(v)[end]))
		}
	}
	slices.SortStableFunc(d.Steps, func(a, b flowStep) int { return cmp.Compare(a.at, b.at) })
	y := map[string]float64{}
	for i := range d.Steps {
		s := &d.Steps[i]
		s.Y = 30 + float64(i)*flowRow
		s.YText, s.YLabel = s.Y-4, s.Y+12
		y[s.id] = s.Y
	}
	d.Bottom = 30 + float64(len(d.Steps)-1)*flowRow + 20
	d.Height = d.Bottom + 10
	for _, v := range links {
		d.arc(look.Object(v), y)
	}
	return d
}

// step adds an end of a flow, once.
func (d *drawing) step(end Document) {
	id := look.Text(end["id"])
	if id == "" || slices.ContainsFunc(d.Steps, func(s flowStep) bool { return s.id == id }) {
		return
	}
	label := callOf(end)
	at := look.Text(end["time"])
	clock := at
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		clock, at = t.Local().Format(time.TimeOnly), t.UTC().Format("2006-01-02T15:04:05.000000000")
	}
	effect := look.Text(end["effect"])
	d.Steps = append(d.Steps, flowStep{id: id, at: at, Time: clock, Sign: look.OutcomeSign(effect), Word: effect, Label: label, Class: look.OutcomeClass(effect)})
}

// callOf is the call of an end of a flow, as long as there is room beside the line.
func callOf(end Document) string {
	const most = 84 // characters
	label := []rune(strictjson.OneLine(look.Text(end["text"])))
	if len(label) > most {
		label = append(label[:most-1], '…')
	}
	return string(label)
}

// arc adds the flow from one step to another.
func (d *drawing) arc(link Document, y map[string]float64) {
	from, to := look.Text(look.Object(link["from"])["id"]), look.Text(look.Object(link["to"])["id"])
	a := arc{From: from, To: to, FromText: callOf(look.Object(link["from"])), ToText: callOf(look.Object(link["to"])), Class: look.Text(link["origin"])}
	var words []string
	for _, w := range []string{look.Text(link["origin"]), look.Text(link["what"]), look.Text(link["path"]), look.Text(link["host"])} {
		if w != "" {
			words = append(words, strictjson.OneLine(w))
		}
	}
	a.What = strings.Join(words, ", ")
	switch look.Text(link["how"]) {
	case "seen":
		a.What += ", which the agent saw"
	case "sequence":
		a.What += ", by the order of calls alone"
	}
	a.Text = fmt.Sprintf("%s to %s: %s", cmp.Or(from, "before the log"), to, a.What)
	end := y[to]
	begin, known := y[from]
	if !known {
		begin = 10
	}
	bow := min(120, 24+(end-begin)/3)
	a.Path = fmt.Sprintf("M%v %v C%v %v %v %v %v %v", flowX-7.0, look.Round(begin), look.Round(flowX-bow), look.Round(begin), look.Round(flowX-bow), look.Round(end), flowX-14.0, look.Round(end))
	a.Head = fmt.Sprintf("M%v %v l-8 -5 v10 z", flowX-7.0, look.Round(end))
	d.Arcs = append(d.Arcs, a)
}
