package moment

import "strings"

// TraceParent returns the trace context of a caller as W3C's header traceparent has it
// (https://www.w3.org/TR/trace-context/), "" for a text that is none. It has a version, the
// ids of a trace and of the caller's span, and flags, in hexadecimal digits of lower case.
func TraceParent(text string) string {
	const length = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if len(text) < length || text[:2] == "ff" || len(text) > length && (text[:2] == "00" || text[length] != '-') {
		return ""
	}
	text = text[:length] // a later version may say more
	for i, r := range text {
		dash := i == 2 || i == 35 || i == 52
		if dash != (r == '-') || !dash && !strings.ContainsRune("0123456789abcdef", r) {
			return ""
		}
	}
	if strings.Trim(text[3:35], "0") == "" || strings.Trim(text[36:52], "0") == "" {
		return ""
	}
	return text
}
