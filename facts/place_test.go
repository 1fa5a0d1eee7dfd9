package facts_test

import (
	"io/fs"
	"testing"

	"gate/facts"
)

// TestSecretBelowHome holds that places below the home directory are found
// wherever that is, in any case, and below the homes of other accounts.
func TestSecretBelowHome(t *testing.T) {
	for _, row := range []struct{ home, path, want string }{
		{"/home/dev", "/home/dev/.aws/credentials", "cloud credentials"},
		{"/home/Dev", "/Home/dev/.AWS/credentials", "cloud credentials"},
		{"/home/dev/", "/home/dev/.aws/credentials", "cloud credentials"},
		{"/home/dev", "/home/*/.aws/cred*", "cloud credentials"},
		{"/home/dev", "/home/dev/.gnupg/x/y", "GnuPG keys"},
		{"/home/dev", "/home/dev/.gnupg/gpg.conf", ""},
		{"/home/dev", "/home/other/.aws/credentials", "cloud credentials"},
		{"/home/dev", "/root/.aws/credentials", "cloud credentials"},
		{"/Users/dev", "/Users/other/.netrc", "login credentials"},
		{"/home/dev", "/srv/other/.aws/credentials", ""},
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

// A present world says which files are there.
type present struct{ files }

func (p present) Lstat(name string) (fs.FileInfo, error) {
	if _, ok := p.files[name]; !ok {
		return nil, fs.ErrNotExist
	}
	return nil, nil
}

// TestSecretOfAKind holds that a pattern for a kind of files names the places
// that are known by their kind, and those by name that are there.
func TestSecretOfAKind(t *testing.T) {
	there := present{files{"/home/dev/project/config/credentials.json": "{}"}}
	for _, row := range []struct {
		path, absent, present string
	}{
		{"/home/dev/project/config/*.json", "", "credentials file"},
		{"/home/dev/project/config/*.js*", "", "credentials file"},
		{"/home/dev/project/other/*.json", "", ""},
		{"/home/dev/project/*/*.json", "", ""},
		{"/home/dev/project/config/*", "", ""},
		{"/home/dev/project/config/*.yml", "", ""},
		{"/home/dev/project/config/c*.json", "cloud credentials", "cloud credentials"},
		{"/home/dev/project/config/*.pem", "private key", "private key"},
		{"/home/dev/project/config/*.p*", "private key", "private key"},
		{"/home/dev/project/*.tfstate", "credentials file", "credentials file"},
		{"/home/dev/project/ansible/vault_pass.txt", "credentials file", "credentials file"},
		{"/home/dev/project/ansible/vault_pass.py", "", ""},
		{"/home/dev/project/keys/flash_encryption_key.bin", "private key", "private key"},
		{"/home/dev/project/build/app.bin", "", ""},
		{"/home/dev/project/.env*", "environment file", "environment file"},
		{"/home/dev/.aws/cred*", "cloud credentials", "cloud credentials"},
	} {
		if got := facts.New(facts.World{Home: "/home/dev"}).Secret(row.path); got != row.absent {
			t.Errorf("%s is %q where nothing is, want %q", row.path, got, row.absent)
		}
		if got := facts.New(facts.World{Home: "/home/dev", Files: there}).Secret(row.path); got != row.present {
			t.Errorf("%s is %q, want %q", row.path, got, row.present)
		}
	}
}
