package load

import (
	"strings"

	"gate/internal/setting"
)

// feeds checks where bundles come from. What the addresses are worth is for
// whoever fetches to say.
func (r *layerReader) feeds() {
	seen := map[string]bool{}
	for i, f := range r.layer.Sync {
		pointer := element("/sync", i)
		switch {
		case f.Name == "":
			continue // the schema says so
		case seen[f.Name]:
			r.bad(pointer, "sync: %s is there twice", f.Name)
		case (f.CertFile == "") != (f.KeyFile == ""):
			r.bad(pointer, "sync: %s: cert_file and key_file go together", f.Name)
		case f.Channel == "" && strings.Contains(f.URL, setting.DigestMark):
			r.bad(below(pointer, "url"), "sync: %s: %s in url wants a channel, which says what it is", f.Name, setting.DigestMark)
		}
		seen[f.Name] = true
	}
}
