package builtin

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// duration reads a Go duration that may have days, weeks and years, too.
func duration(s string) (time.Duration, error) {
	if !strings.ContainsAny(s, "dwy") {
		return time.ParseDuration(s)
	}
	hours, ok := inHours(s)
	if !ok {
		return 0, fmt.Errorf("time: invalid duration %q", s)
	}
	d, err := time.ParseDuration(hours)
	if err != nil {
		message, _, _ := strings.Cut(err.Error(), strconv.Quote(hours))
		return 0, fmt.Errorf("%s%q", message, s)
	}
	return d, nil
}

// inHours writes days, weeks and years as hours.
func inHours(s string) (string, bool) {
	var out strings.Builder
	if s[0] == '-' || s[0] == '+' {
		out.WriteByte(s[0])
		s = s[1:]
	}
	if s == "" {
		return "", false
	}
	for s != "" {
		rest := strings.TrimLeft(s, "0123456789.")
		number := s[:len(s)-len(rest)]
		unit := unitOf(rest)
		if number == "" || unit == "" {
			return "", false
		}
		s = rest[len(unit):]
		factor := 24.0
		switch unit {
		case "d":
		case "w":
			factor *= 7
		case "y":
			factor *= 365
		default:
			out.WriteString(number + unit)
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return "", false
		}
		out.WriteString(strconv.FormatFloat(n*factor, 'f', -1, 64) + "h")
	}
	return out.String(), true
}

// unitOf returns the unit that a text begins with.
func unitOf(s string) string {
	for _, unit := range [...]string{"ms", "us", "µs", "ns"} {
		if strings.HasPrefix(s, unit) {
			return unit
		}
	}
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		return s[:1]
	}
	return ""
}
