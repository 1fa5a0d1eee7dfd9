package places

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestSelf compares what gate finds with what package os/user says.
func TestSelf(t *testing.T) {
	u, want := user.LookupId(strconv.Itoa(os.Getuid()))
	who, err := Self()
	if (err == nil) != (want == nil) || err == nil && who != (Account{u.Username, u.HomeDir}) {
		t.Errorf("%+v, %v, but %+v, %v", who, err, u, want)
	}
}

// TestSelfUnlisted: an account may be in no file and nowhere else.
func TestSelfUnlisted(t *testing.T) {
	if who, err := lookup("4294967295"); err == nil {
		t.Errorf("%+v", who)
	}
}

func TestListed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const line = "dev:x:7:7::/home/dev:/bin/sh\n"
	many := strings.Repeat("other:x:8:8::/home/other:/bin/sh\n", 2000)
	for name, test := range map[string]struct {
		file string
		ok   bool
		err  error
	}{
		"one":     {file: write("one", line), ok: true},
		"last":    {file: write("last", many+line), ok: true},
		"not":     {file: write("not", many)},
		"empty":   {file: write("empty", "")},
		"missing": {file: filepath.Join(dir, "missing"), err: os.ErrNotExist},
		"endless": {file: "/dev/zero", err: errTooLarge},
	} {
		who, ok, err := listed(test.file, "7")
		if ok != test.ok || !errors.Is(err, test.err) || ok && who != (Account{"dev", "/home/dev"}) {
			t.Errorf("%s: %+v, %v, %v", name, who, ok, err)
		}
	}
}

// TestOutput: a program of the system may fail, hang and say too much; what it
// says may be read only when it has ended well, or found nothing.
func TestOutput(t *testing.T) {
	t.Setenv("SECRET", "told")
	for script, want := range map[string]string{
		"echo dev:x:7; exit 0":           "dev:x:7\n",
		"exit 2":                         "",
		"echo half; exit 1":              "error",
		"kill -9 $$":                     "error",
		"printf %s \"$SECRET$HOME\"":     "",
		"exec /bin/sleep 3600":           "error",
		"/bin/sleep 3600 & echo; exit 0": "error",
	} {
		most := time.Minute
		if strings.Contains(script, "sleep") {
			most = 50 * time.Millisecond
		}
		data, err := output(most, "/bin/sh", "-c", script)
		if got := string(data); err != nil && want != "error" || err == nil && got != want {
			t.Errorf("%s: %q, %v", script, got, err)
		}
	}
	if _, err := output(time.Minute, filepath.Join(t.TempDir(), "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestAccountIn(t *testing.T) {
	const file = "# c:x:7:7::/c:\n\nroot:x:0:0:root:/root:/bin/bash\n+nis:x:7:7::/nis:\n-nis:x:7:7::/nis:\n:x:7:7::/nameless:\n" +
		"short:x:7:7::/short\nodd:x:7:many::/odd:/bin/sh\n07:x:07:7::/07:\n  dev:x:7:7:A Dev,,,:/home/dev:/bin/sh:more\nlater:x:7:7::/later:\nlast:x:8:8::/home/last:"
	for uid, want := range map[string]Account{
		"0": {"root", "/root"}, "7": {"dev", "/home/dev"}, "8": {"last", "/home/last"}, "9": {}, "": {},
	} {
		if who, ok := accountIn([]byte(file), uid); who != want || ok != (want != Account{}) {
			t.Errorf("%s: %+v, %v", uid, who, ok)
		}
	}
}
