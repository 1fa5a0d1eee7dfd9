package look

import "time"

// OutcomeClass says how an outcome or an effect looks; its word stands beside it.
func OutcomeClass(word string) string {
	switch word {
	case "deny", "denied", "reject":
		return "deny"
	case "ask", "asked", "approved":
		return "ask"
	case "changed", "modify_input":
		return "changed"
	}
	return "pass"
}

// OutcomeSign stands before the word, so that colour is not the only sign.
func OutcomeSign(word string) string {
	switch word {
	case "approved":
		return "✓"
	case "changed", "modify_input":
		return "↻"
	}
	return map[string]string{"deny": "✗", "ask": "?", "pass": "✓"}[OutcomeClass(word)]
}

func severityClass(word string) string {
	if word == "error" || word == "warning" {
		return word
	}
	return "notice-word"
}

func severitySign(word string) string {
	return map[string]string{"error": "✗", "warning": "!", "notice-word": "i"}[severityClass(word)]
}

// shortTime is a time of today as a time, another with its day.
func shortTime(v any, now time.Time) string {
	at, err := time.Parse(time.RFC3339Nano, Text(v))
	if err != nil {
		return Text(v)
	}
	at = at.Local()
	if now = now.Local(); at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format(time.TimeOnly)
	}
	return at.Format("2006-01-02 15:04")
}
