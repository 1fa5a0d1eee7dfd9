// Package outgoing holds the rules for data that leaves the machine: the addresses and
// headers that gate sends events to, and the way in which parts of an event go into a
// tool's arguments. The loader checks hooks and settings by it; the sender checks once
// more.
//
// It sends nothing. Start with [CheckAddress].
package outgoing

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// CheckAddress reports why nothing can be sent to an address of a webhook or of
// an MCP server. It must be https, or http on this machine: what is sent is the
// whole event.
func CheckAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("is no address") // without it: it may hold a secret
	case u.Scheme != "https" && (u.Scheme != "http" || !isLocal(u.Hostname())):
		return errors.New("must begin with https://, or with http:// and this machine's own name")
	case u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Opaque != "":
		return errors.New("must have a host, and neither a user nor a fragment")
	case strings.ContainsFunc(address, isControl):
		return errors.New("holds a control character")
	}
	return nil
}

func isLocal(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

func isControl(r rune) bool { return r < 0x20 || r == 0x7f }

var (
	headerName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") })
	variable    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{[^}]*\}?`) })
	plainName   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
	headersOwn  = []string{"Accept", "Accept-Encoding", "Content-Type", "User-Agent", "Webhook-Id"}
	headersWire = []string{
		"Connection", "Content-Encoding", "Content-Length", "Expect", "Host", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
	}
)

// CheckHeader reports what is wrong with a header that goes to a webhook or an
// MCP server: its name, or a variable in its value that env does not name.
func CheckHeader(name, value string, env []string) error {
	is := func(own string) bool { return strings.EqualFold(own, name) }
	lower := strings.ToLower(name)
	switch {
	case !headerName().MatchString(name):
		return errors.New("is no name of a header")
	case slices.ContainsFunc(headersOwn, is), strings.HasPrefix(lower, "mcp-"):
		return errors.New("is a header that gate sets")
	case slices.ContainsFunc(headersWire, is), strings.HasPrefix(lower, "proxy-"):
		return errors.New("is a header of the connection")
	}
	_, err := FillHeader(value, env, func(string) (string, bool) { return "", true })
	return err
}

// FillHeader puts variables in the place of each ${NAME} of a header's value.
// Only those count that env names; each must be there, and hold no control
// character. Errors never show a value.
func FillHeader(value string, env []string, lookup func(name string) (string, bool)) (string, error) {
	if strings.ContainsFunc(value, isControl) {
		return "", errors.New("holds a control character")
	}
	var errs []error
	filled := variable().ReplaceAllStringFunc(value, func(ref string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}")
		v, ok := "", false
		switch {
		case !strings.HasSuffix(ref, "}") || !plainName().MatchString(name):
			errs = append(errs, fmt.Errorf("%q is no variable; write ${NAME}", ref))
		case !slices.Contains(env, name):
			errs = append(errs, fmt.Errorf("env does not name the variable %s", name))
		default:
			if v, ok = lookup(name); !ok {
				errs = append(errs, fmt.Errorf("the environment has no %s", name))
			} else if strings.ContainsFunc(v, isControl) {
				errs = append(errs, fmt.Errorf("the variable %s holds a control character, such as the end of a line", name))
			}
		}
		return v
	})
	return filled, errors.Join(errs...)
}
