package builtin

import (
	"errors"
	"math"
	"math/big"
	"time"

	"gate/internal/plan/value"
)

func timeNow(ctx *Context, _ []value.Value) (value.Value, error) {
	return value.Int(ctx.Now), nil
}

// layouts are those that have a name.
var layouts = [...]struct{ name, layout string }{
	{"ANSIC", time.ANSIC},
	{"UnixDate", time.UnixDate},
	{"RubyDate", time.RubyDate},
	{"RFC822", time.RFC822},
	{"RFC822Z", time.RFC822Z},
	{"RFC850", time.RFC850},
	{"RFC1123", time.RFC1123},
	{"RFC1123Z", time.RFC1123Z},
	{"RFC3339", time.RFC3339},
	{"RFC3339Nano", time.RFC3339Nano},
}

// layoutOf returns the layout that a name stands for, or the text itself.
func layoutOf(name string) string {
	for i := range layouts {
		if layouts[i].name == name {
			return layouts[i].layout
		}
	}
	return name
}

// nanoseconds returns a time as policies have it, which ends in the year 2262.
func nanoseconds(t time.Time) (value.Value, error) {
	if t.Before(time.Unix(0, math.MinInt64)) || t.After(time.Unix(0, math.MaxInt64)) {
		return nil, errors.New("time outside of valid range")
	}
	return value.Int(t.UnixNano()), nil
}

func timeParse(_ *Context, args []value.Value) (value.Value, error) {
	var layout, s string
	if err := texts(args, &layout, &s); err != nil {
		return nil, err
	}
	return parseTime(layoutOf(layout), s)
}

func timeParseRFC3339(_ *Context, args []value.Value) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	return parseTime(time.RFC3339, s)
}

func parseTime(layout, s string) (value.Value, error) {
	t, err := time.Parse(layout, s)
	if err != nil {
		return nil, err
	}
	return nanoseconds(t)
}

func timeParseDuration(_ *Context, args []value.Value) (value.Value, error) {
	s, err := text(args, 0)
	if err != nil {
		return nil, err
	}
	d, err := duration(s)
	if err != nil {
		return nil, err
	}
	return value.Int(d), nil
}

// timeOf reads a time: nanoseconds, or an array of them, a zone and a layout.
func timeOf(ctx *Context, args []value.Value, i int) (t time.Time, layout string, err error) {
	parts := []value.Value{args[i]}
	if a, ok := args[i].(*value.Array); ok && a.Len() > 0 {
		parts = a.Elems()
	} else if !value.IsNumber(args[i]) {
		return t, "", Operand(1, args[i], "either number (ns) or [number (ns), string (tz)]")
	}
	n, err := numberOf(parts[0], 1)
	if err != nil {
		return t, "", err
	}
	zone := time.UTC
	if len(parts) > 1 {
		name, err := textOf(parts[1], 1)
		if err != nil {
			return t, "", err
		}
		if zone, err = location(ctx, name); err != nil {
			return t, "", err
		}
	}
	if len(parts) > 2 {
		if layout, err = textOf(parts[2], 1); err != nil {
			return t, "", err
		}
	}
	if err := boundDigits(n); err != nil {
		return t, "", err
	}
	ns, accuracy := value.BigFloat(n).Int64()
	if accuracy != big.Exact {
		return t, "", errors.New("timestamp too big")
	}
	return time.Unix(0, ns).In(zone), layout, nil
}

// location finds a time zone by its name, among those of the machine. OPA brings
// all of them with it, so programs that link OPA have them here, too: a call that
// fails elsewhere is for these.
func location(ctx *Context, name string) (*time.Location, error) {
	switch name {
	case "", "UTC":
		return time.UTC, nil
	case "Local":
		return time.Local, nil
	}
	zone, err := ctx.Cached("zone", name, func() (any, error) { return time.LoadLocation(name) })
	if err != nil {
		return nil, err
	}
	return zone.(*time.Location), nil
}

func timeFormat(ctx *Context, args []value.Value) (value.Value, error) {
	t, layout, err := timeOf(ctx, args, 0)
	if err != nil {
		return nil, err
	}
	if layout == "" {
		layout = time.RFC3339Nano
	}
	if len(layout) > MaxLayout {
		return nil, errors.New("a layout longer than 1000 bytes")
	}
	return value.String(t.Format(layoutOf(layout))), nil
}

func ints(numbers ...int) value.Value {
	elems := make([]value.Value, len(numbers))
	for i, n := range numbers {
		elems[i] = value.Int(n)
	}
	return value.NewArray(elems...)
}

// ofTime makes a builtin of what is read off a time.
func ofTime(ctx *Context, args []value.Value, read func(time.Time) value.Value) (value.Value, error) {
	t, _, err := timeOf(ctx, args, 0)
	if err != nil {
		return nil, err
	}
	return read(t), nil
}

func timeDate(ctx *Context, args []value.Value) (value.Value, error) {
	return ofTime(ctx, args, func(t time.Time) value.Value { return ints(t.Year(), int(t.Month()), t.Day()) })
}

func timeClock(ctx *Context, args []value.Value) (value.Value, error) {
	return ofTime(ctx, args, func(t time.Time) value.Value { return ints(t.Clock()) })
}

func timeWeekday(ctx *Context, args []value.Value) (value.Value, error) {
	return ofTime(ctx, args, func(t time.Time) value.Value { return value.String(t.Weekday().String()) })
}

func timeAddDate(ctx *Context, args []value.Value) (value.Value, error) {
	t, _, err := timeOf(ctx, args, 0)
	if err != nil {
		return nil, err
	}
	var by [3]int // years, months, days
	for i := range by {
		if by[i], err = integer(args, i+1); err != nil {
			return nil, err
		}
	}
	return nanoseconds(t.AddDate(by[0], by[1], by[2]))
}

// timeDiff returns years, months, days, hours, minutes and seconds between two
// times, in the zone of the first.
func timeDiff(ctx *Context, args []value.Value) (value.Value, error) {
	from, _, err := timeOf(ctx, args, 0)
	if err != nil {
		return nil, err
	}
	to, _, err := timeOf(ctx, args, 1)
	if err != nil {
		return nil, err
	}
	to = to.In(from.Location())
	if from.After(to) {
		from, to = to, from
	}
	// Borrowed from the left, as in written subtraction. A month has as many
	// days as that of the earlier time.
	month := time.Date(from.Year(), from.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	parts := []struct{ a, b, whole int }{
		{to.Year(), from.Year(), 0},
		{int(to.Month()), int(from.Month()), 12},
		{to.Day(), from.Day(), month},
		{to.Hour(), from.Hour(), 24},
		{to.Minute(), from.Minute(), 60},
		{to.Second(), from.Second(), 60},
	}
	diff := make([]int, len(parts))
	for i := len(parts) - 1; i >= 0; i-- {
		diff[i] += parts[i].a - parts[i].b
		if i > 0 && diff[i] < 0 {
			diff[i] += parts[i].whole
			diff[i-1]--
		}
	}
	return ints(diff...), nil
}
