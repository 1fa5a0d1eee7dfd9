package sync

// WithFaults has every step of a store ask at: an error ends the process there,
// as it were.
func WithFaults(s Store, at func(step string) error) Store {
	s.at = at
	return s
}
