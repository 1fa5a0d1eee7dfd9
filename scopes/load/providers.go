package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"

	"gate/scopes"
)

// providers reads who may be asked to judge.
func (r *layerReader) providers() {
	m, ok := r.value["providers"].(map[string]any)
	if !ok {
		return
	}
	r.layer.Providers = map[string]scopes.Provider{}
	for _, name := range r.sorted(m, "/providers") {
		pointer := below("/providers", name)
		entry, _ := m[name].(map[string]any)
		p := scopes.Provider{}
		p.Type, _ = entry["type"].(string)
		p.URL, _ = entry["url"].(string)
		p.Model, _ = entry["model"].(string)
		p.KeyEnv, _ = entry["key_env"].(string)
		if n, ok := entry["max_tokens"].(json.Number); ok {
			f, _ := n.Float64()
			p.MaxTokens = int(f)
		}
		if err := checkAddress(p); err != nil {
			r.bad(below(pointer, "url"), "providers: %s: %w", name, err)
		}
		r.layer.Providers[name] = p
		r.at("providers."+name, pointer)
	}
}

// checkAddress reports an address that calls must not be sent to: one that is
// none, or where everybody on the way could read the key.
func checkAddress(p scopes.Provider) error {
	if p.URL == "" {
		return nil
	}
	u, err := url.Parse(p.URL)
	switch {
	case err != nil:
		return errors.New("url is no address")
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "":
		return errors.New("url must begin with https:// or http:// and name a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("url must hold no name, password, query or fragment; key_env names the variable with the key")
	case u.Scheme == "http" && p.KeyEnv != "" && !loopback(u.Hostname()):
		return fmt.Errorf("the key would go to %s readable for all on the way; use https://", u.Hostname())
	}
	return nil
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// judges reads who judges by default, and how long a verdict is kept.
func (r *layerReader) judges() {
	m, ok := r.value["judges"].(map[string]any)
	if !ok {
		return
	}
	j := &scopes.Judges{}
	j.Provider, _ = m["provider"].(string)
	if v, ok := m["keep"]; ok {
		j.KeepSet = true
		if n, _ := v.(json.Number); n != "0" && v != "0" {
			var err error
			if j.Keep, err = duration(v, scopes.MaxKeep); err != nil {
				r.bad("/judges/keep", "judges: keep %w; or 0, which keeps none", err)
			}
		}
	}
	r.layer.Judges = j
	r.at("judges.provider", "/judges/provider")
	r.at("judges.keep", "/judges/keep")
}
