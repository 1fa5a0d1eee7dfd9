package load

import (
	"fmt"
	"path/filepath"
	"strings"

	"gate/scopes"
)

// feeds reads where bundles come from. What the addresses are worth is for
// whoever fetches to say.
func (r *layerReader) feeds() {
	list, _ := r.value["sync"].([]any)
	seen := map[string]bool{}
	for i, v := range list {
		m, ok := v.(map[string]any)
		if !ok {
			continue // the schema says so
		}
		pointer := below("/sync", fmt.Sprint(i))
		text := func(key string) string {
			s, _ := m[key].(string)
			return s
		}
		f := scopes.Feed{
			Name: text("name"), URL: text("url"), Keys: text("keys"), Pin: text("pin"), Channel: text("channel"),
			TokenFile: text("token_file"), CertFile: text("cert_file"), KeyFile: text("key_file"), CAFile: text("ca_file"),
		}
		for _, key := range []string{"token_file", "cert_file", "key_file", "ca_file"} {
			if file := text(key); file != "" && !filepath.IsAbs(file) {
				r.bad(below(pointer, key), "sync: %s: %s must be an absolute path", f.Name, key)
			}
		}
		switch {
		case seen[f.Name]:
			r.bad(pointer, "sync: %s is there twice", f.Name)
		case (f.CertFile == "") != (f.KeyFile == ""):
			r.bad(pointer, "sync: %s: cert_file and key_file go together", f.Name)
		case f.Channel == "" && strings.Contains(f.URL, scopes.DigestMark):
			r.bad(below(pointer, "url"), "sync: %s: %s in url wants a channel, which says what it is", f.Name, scopes.DigestMark)
		}
		seen[f.Name] = true
		r.layer.Sync = append(r.layer.Sync, f)
		r.at("sync."+f.Name, pointer)
	}
}
