package page

import (
	"fmt"
	"math"
	"strings"

	"gate/internal/strictjson"
)

// How large a plot is, in pixels of a screen.
const (
	plotHigh  = 220
	plotLeft  = 60
	plotTop   = 20
	plotLow   = 190 // where the axis is
	plotWide  = 860
	plotBar   = 160 // a group of bars is not wider
	mostDrawn = 31  // groups of a plot; the table has all
)

// A chart is the plots of a table of figures, and the table.
type chart struct {
	By    string
	Plots []plot
	Rows  []any
}

// A plot has bars in groups.
type plot struct {
	Title, Unit                      string
	Width, Height, Left, Right, Base float64
	Series                           []series
	Ticks                            []tick
	Bars                             []bar
	Labels                           []plotLabel
}

type series struct {
	Name, Class, key string
}

type tick struct {
	X1, X2, Y, TextX, TextY float64
	Text                    string
}

type bar struct {
	X, Y, W, H   float64
	Class, Title string
}

type plotLabel struct {
	X, Y         float64
	Text, Anchor string
}

// plotsOf draws the counts and the times of a table.
func plotsOf(rows any, by string) chart {
	c := chart{By: by, Rows: list(rows)}
	if len(c.Rows) == 0 {
		return c
	}
	drawn := c.Rows[:min(len(c.Rows), mostDrawn)]
	if by == "day" { // the newest days
		drawn = c.Rows[max(0, len(c.Rows)-mostDrawn):]
	}
	c.Plots = []plot{
		plotOf("Calls by "+by, "calls", drawn, []series{{"all calls", "s1", "calls"}, {"asked about", "s2", "asked"}, {"denied", "s3", "denied"}}, 1),
		plotOf("What a decision took by "+by, "ms", drawn, []series{{"p50", "s1", "p50_us"}, {"p90", "s2", "p90_us"}, {"p99", "s3", "p99_us"}}, 1000),
	}
	return c
}

// plotOf draws some series of each row, in a unit that is so many of the row's.
func plotOf(title, unit string, rows []any, all []series, per float64) plot {
	p := plot{Title: title, Unit: unit, Width: plotWide, Height: plotHigh, Left: plotLeft, Right: plotWide - 10, Base: plotLow, Series: all}
	most := 0.0
	for _, r := range rows {
		for _, s := range all {
			most = max(most, number(document(r)[s.key])/per)
		}
	}
	step := niceStep(most)
	top := step * max(1, math.Ceil(most/step))
	y := func(v float64) float64 { return round(plotLow - v/top*(plotLow-plotTop)) }
	for v := 0.0; v <= top+step/2; v += step {
		p.Ticks = append(p.Ticks, tick{X1: plotLeft, X2: p.Right, Y: y(v), TextX: plotLeft - 8, TextY: y(v) + 4, Text: fmt.Sprintf("%.4g", v)})
	}
	wide := min((p.Right-p.Left)/float64(len(rows)), plotBar)
	one := wide * 0.8 / float64(len(all))
	every := int(math.Ceil(56 / wide)) // labels must not touch
	for i, r := range rows {
		m := document(r)
		name := strictjson.OneLine(text(m["name"]))
		left := p.Left + float64(i)*wide + wide*0.1
		for j, s := range all {
			v := number(m[s.key]) / per
			high := plotLow - y(v)
			p.Bars = append(p.Bars, bar{round(left + float64(j)*one), y(v), round(max(one-1, 1)), round(high), s.Class, fmt.Sprintf("%s, %s: %.4g %s", name, s.Name, v, unit)})
		}
		if i%every == 0 {
			p.Labels = append(p.Labels, plotLabel{round(left + wide*0.4), plotLow + 16, labelOf(name, int(wide*float64(every)/7.6)), "middle"})
		}
	}
	return p
}

// labelOf shortens a name to what has room below its bars: a day loses its year, a
// policy its beginning.
func labelOf(name string, room int) string {
	if len(name) == len("2006-01-02") && name[4] == '-' && name[7] == '-' {
		return name[5:]
	}
	r := []rune(strings.TrimPrefix(name, "gate."))
	room = max(room, 6)
	if len(r) > room {
		return "…" + strings.TrimLeft(string(r[len(r)-room+1:]), ".")
	}
	return string(r)
}

// niceStep is the distance of lines that people read easily: about five to the top.
func niceStep(most float64) float64 {
	if most <= 0 {
		return 1
	}
	rough := most / 5
	unit := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, n := range []float64{1, 2, 5, 10} {
		if rough <= n*unit {
			return n * unit
		}
	}
	return 10 * unit
}
