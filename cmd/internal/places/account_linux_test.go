package places

import (
	"os"
	"os/user"
	"strconv"
	"testing"
)

// TestListed compares what is read directly with what package os/user says.
func TestListed(t *testing.T) {
	u, err := user.LookupId(strconv.Itoa(os.Getuid()))
	who, ok := listed()
	if ok && (err != nil || who != account{u.Username, u.HomeDir}) {
		t.Errorf("%+v, but %+v, %v", who, u, err)
	}
}

func TestAccountIn(t *testing.T) {
	const file = "# c:x:7:7::/c:\n\nroot:x:0:0:root:/root:/bin/bash\n+nis:x:7:7::/nis:\n-nis:x:7:7::/nis:\n:x:7:7::/nameless:\n" +
		"short:x:7:7::/short\nodd:x:7:many::/odd:/bin/sh\n07:x:07:7::/07:\n  dev:x:7:7:A Dev,,,:/home/dev:/bin/sh:more\nlater:x:7:7::/later:\nlast:x:8:8::/home/last:"
	for uid, want := range map[string]account{
		"0": {"root", "/root"}, "7": {"dev", "/home/dev"}, "8": {"last", "/home/last"}, "9": {}, "": {},
	} {
		if who, ok := accountIn([]byte(file), uid); who != want || ok != (want != account{}) {
			t.Errorf("%s: %+v, %v", uid, who, ok)
		}
	}
}
