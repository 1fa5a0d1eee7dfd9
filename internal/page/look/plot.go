package look

import (
	"fmt"
	"math"
	"strings"

	"gate/internal/strictjson"
)

// How large a plot is, in pixels of a screen.
const (
	plotHigh = 220
	plotLeft = 60
	plotTop  = 20
	plotLow  = 190 // where the axis is
	plotWide = 860
	plotBar  = 160 // a group of bars is not wider
)

// A Plot has bars in groups. The template "plot" shows it; a table beside it must have the
// numbers.
type Plot struct {
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

// Draw draws some bars of each row, three at most, in a unit that is so many of the
// row's. A row has a "name"; a bar has a name, and the key of its number in a row.
func Draw(title, unit string, rows []any, bars [][2]string, per float64) Plot {
	var all []series
	for i, b := range bars {
		all = append(all, series{Name: b[0], Class: fmt.Sprint("s", i+1), key: b[1]})
	}
	p := Plot{Title: title, Unit: unit, Width: plotWide, Height: plotHigh, Left: plotLeft, Right: plotWide - 10, Base: plotLow, Series: all}
	most := 0.0
	for _, r := range rows {
		for _, s := range all {
			most = max(most, Number(Object(r)[s.key])/per)
		}
	}
	step := niceStep(most)
	top := step * max(1, math.Ceil(most/step))
	y := func(v float64) float64 { return Round(plotLow - v/top*(plotLow-plotTop)) }
	for v := 0.0; v <= top+step/2; v += step {
		p.Ticks = append(p.Ticks, tick{X1: plotLeft, X2: p.Right, Y: y(v), TextX: plotLeft - 8, TextY: y(v) + 4, Text: round(v)})
	}
	wide := min((p.Right-p.Left)/float64(len(rows)), plotBar)
	one := wide * 0.8 / float64(len(all))
	every := int(math.Ceil(56 / wide)) // labels must not touch
	for i, r := range rows {
		m := Object(r)
		name := strictjson.OneLine(Text(m["name"]))
		left := p.Left + float64(i)*wide + wide*0.1
		for j, s := range all {
			v := Number(m[s.key]) / per
			high := plotLow - y(v)
			p.Bars = append(p.Bars, bar{Round(left + float64(j)*one), y(v), Round(max(one-1, 1)), Round(high), s.Class, fmt.Sprintf("%s, %s: %s %s", name, s.Name, exact(v), unit)})
		}
		if i%every == 0 {
			p.Labels = append(p.Labels, plotLabel{Round(left + wide*0.4), plotLow + 16, labelOf(name, int(wide*float64(every)/7.6)), "middle"})
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

// Round keeps drawings short.
func Round(f float64) float64 { return math.Round(f*10) / 10 }

// round is a number beside a line, which has little room.
func round(v float64) string {
	for _, unit := range []struct {
		of   float64
		word string
	}{{1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if v >= 10*unit.of || v >= unit.of && unit.of > 1e3 {
			return fmt.Sprintf("%.4g", v/unit.of) + unit.word
		}
	}
	return fmt.Sprintf("%.4g", v)
}

// exact is a number of a bar: a count as it is.
func exact(v float64) string {
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
