package flow

// Known is a text that is known unless it is "".
func Known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Text is the text of a Known one, "" for one that is not known.
func Text(known *string) string {
	if known == nil {
		return ""
	}
	return *known
}
