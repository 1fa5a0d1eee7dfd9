package load

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"

	"gate/internal/setting"
)

// providers checks who may be asked to judge.
func (r *layerReader) providers() {
	for _, name := range slices.Sorted(maps.Keys(r.layer.Providers)) {
		if err := checkAddress(r.layer.Providers[name]); err != nil {
			r.bad(below(below("/providers", name), "url"), "providers: %s: %w", name, err)
		}
	}
}

// checkAddress reports an address that calls must not be sent to: one that is
// none, or where everybody on the way could read the key.
func checkAddress(p setting.Provider) error {
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
