package setting

// A Feed is where a machine's bundle comes from. Only the machine's own managed
// files name one. Nothing of it is looked at when a call is judged.
type Feed struct {
	Name string // of the bundle
	// URL is a path, or an address: https, http, oci. With a channel, [DigestMark]
	// stands for the digest of the release that the machine is to have.
	URL  string
	Keys string // a directory or an address with the successors of the key set, as 2.json, 3.json …; "": none are fetched
	Pin  string // the digest of a bundle without metadata.gate; ""
	// Channel is the path or the address of the signed channel file that says
	// which release the machine is to have; "": the one that URL has.
	Channel string

	// Absolute paths, or "".
	TokenFile, CertFile, KeyFile, CAFile string
}

// DigestMark stands in [Feed.URL] for 64 hexadecimal digits.
const DigestMark = "{digest}"

// weighFeeds takes in where bundles come from. Of one name the first counts.
func (s *Settings) weighFeeds(layers []*Layer) {
	for _, l := range layers {
		for _, f := range l.Sync {
			if s.Feed(f.Name) == nil {
				s.Sync = append(s.Sync, f)
			}
		}
	}
}

// Feed returns where the bundle of a name comes from, nil if nothing says so.
func (s *Settings) Feed(name string) *Feed {
	for i := range s.Sync {
		if s.Sync[i].Name == name {
			return &s.Sync[i]
		}
	}
	return nil
}
