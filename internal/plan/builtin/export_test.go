package builtin

// Names lists the builtins that are here, in order.
func Names() []string {
	names := make([]string, len(builtins))
	for i, e := range builtins {
		names[i] = e.name
	}
	return names
}
