package places

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAccounts looks for accounts in the system's file, in a directory service that lists
// its own, and where logins are.
func TestAccounts(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("passwd", `root:x:0:0::/root:/bin/sh
ann:x:1001:1002::/home/ann:/bin/sh
# a comment
+nis:x:7:7::/home/nis:/bin/sh
also:x:1001:7::/home/also:/bin/sh
nohome:x:8:8:::/bin/sh
slash:x:9:9::/:/bin/sh
relative:x:10:10::home:/bin/sh
huge:x:4294967295:1::/home/huge:/bin/sh
minus:x:-5:1::/home/minus:/bin/sh
word:x:1x:1::/home/word:/bin/sh
many:x:11:11::/home/many:/bin/sh:more
short:x:12:12::/home/short
:x:13:13::/home/none:/bin/sh

bob:x:5:6::/srv/../home/bob/:/usr/sbin/nologin
`, 0o600)
	write("getent", `#!/bin/sh
case "$*" in
passwd) echo ann:x:1001:1:other:/elsewhere:/bin/sh; echo cat:x:70000:70000::/net/cat:/bin/sh ;;
"passwd 80000") echo dan:x:80000:80001::/net/dan:/bin/sh ;;
*) exit 2 ;;
esac
`, 0o700)
	for _, name := range []string{"0", "5", "80000", "90000", "x"} {
		if err := os.MkdirAll(at("run/"+name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	said := func(d databases) string {
		list, err := accounts(d)
		var out []string
		for _, n := range list {
			out = append(out, fmt.Sprintf("%s %d %d %s", n.Name, n.UID, n.GID, n.Home))
		}
		if err != nil {
			out = append(out, strings.ReplaceAll(err.Error(), dir+"/", ""))
		}
		return strings.Join(out, "\n")
	}
	const files = "bob 5 6 /home/bob\nann 1001 1002 /home/ann"
	d := databases{at("passwd"), []string{at("missing"), at("getent")}, at("run")}
	if got := said(d); got != files+"\ncat 70000 70000 /net/cat\ndan 80000 80001 /net/dan" {
		t.Error(got)
	}
	if got := said(databases{at("passwd"), []string{at("missing")}, at("nowhere")}); got != files {
		t.Error(got)
	}
	write("broken", "#!/bin/sh\nexit 7\n", 0o700)
	if got := said(databases{at("passwd"), []string{at("broken")}, at("nowhere")}); !strings.HasPrefix(got, files+"\n") || !strings.HasSuffix(got, "broken: exit status 7") {
		t.Error(got)
	}
	if got := said(databases{at("nothing"), nil, at("nowhere")}); got != "nothing: no such file or directory" {
		t.Error(got)
	}
}
