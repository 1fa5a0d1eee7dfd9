package facts_test

import (
	"testing"

	"gate/facts"
)

// TestSecretBelowHome holds that places below the home directory are found
// wherever that is, in any case, and nowhere else.
func TestSecretBelowHome(t *testing.T) {
	for _, row := range []struct{ home, path, want string }{
		{"/home/dev", "/home/dev/.aws/credentials", "cloud credentials"},
		{"/home/Dev", "/Home/dev/.AWS/credentials", "cloud credentials"},
		{"/home/dev/", "/home/dev/.aws/credentials", "cloud credentials"},
		{"/home/dev", "/home/*/.aws/cred*", "cloud credentials"},
		{"/home/dev", "/home/dev/.gnupg/x/y", "GnuPG keys"},
		{"/home/dev", "/home/dev/.gnupg/gpg.conf", ""},
		{"/home/dev", "/home/other/.aws/credentials", ""},
		{"/home/dev", "/home/dev/src/home/dev/.aws/credentials", ""},
		{"/home/dev", "/home", ""},
		{"/", "/.aws/credentials", "cloud credentials"},
		{"/", "/srv/.aws/credentials", ""},
		{"", "/.aws/credentials", ""},
		{"", "/srv/.ssh/id_rsa", "private key"},
	} {
		if got := facts.New(facts.World{Home: row.home}).Secret(row.path); got != row.want {
			t.Errorf("home %q: %s is %q, want %q", row.home, row.path, got, row.want)
		}
	}
}
