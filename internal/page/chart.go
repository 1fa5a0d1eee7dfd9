package page

import "gate/internal/page/look"

// A chart is the plots of a table of figures, and the table.
type chart struct {
	By    string
	Plots []look.Plot
	Rows  []any
}

// mostDrawn is how many groups a plot has; the table has all.
const mostDrawn = 31

// plotsOf draws the counts and the times of a table.
func plotsOf(rows any, by string) chart {
	c := chart{By: by, Rows: look.List(rows)}
	if len(c.Rows) == 0 {
		return c
	}
	drawn := c.Rows[:min(len(c.Rows), mostDrawn)]
	if by == "day" { // the newest days
		drawn = c.Rows[max(0, len(c.Rows)-mostDrawn):]
	}
	c.Plots = []look.Plot{
		look.Draw("Calls by "+by, "calls", drawn, [][2]string{{"all calls", "calls"}, {"asked about", "asked"}, {"denied", "denied"}}, 1),
		look.Draw("What a decision took by "+by, "ms", drawn, [][2]string{{"p50", "p50_us"}, {"p90", "p90_us"}, {"p99", "p99_us"}}, 1000),
	}
	return c
}
