package world

import "testing"

// TestInProject holds that a home is no project, whichever way the root of the project
// comes to be one.
func TestInProject(t *testing.T) {
	for _, c := range []struct {
		home, project, path string
		want                bool
	}{
		{"/home/dev", "/home/dev/app", "/home/dev/app/a.go", true},
		{"/home/dev", "/home/dev/app", "/home/dev/app/.github/workflows/ci.yml", true},
		{"/home/dev", "/home/dev/app", "/home/dev/app", true},
		{"/home/dev", "/home/dev/app", "/home/dev/application/a.go", false},
		{"/home/dev", "/home/dev", "/home/dev", false},
		{"/home/dev", "/home/dev", "/home/dev/notes.txt", false},
		{"/home/dev", "/home/dev", "/home/dev/.config/x/y", false},
		{"/home/dev", "/home/dev", "/home/dev/src/.git/config", false},
		{"/home/dev", "/home/dev", "/home/dev/src/a.go", true},
		{"/home/dev", "/home", "/home/dev/notes.txt", false},
		{"/home/dev", "/home", "/home/dev/src/a.go", true},
		{"/home/dev", "/home", "/home/eve/src/a.go", false},
		{"/home/dev", "/", "/etc/nginx/nginx.conf", false},
		{"/home/dev", "/", "/home/dev/.ssh/config", false},
		{"", "/", "/etc/nginx/nginx.conf", false},
		{"", "/", "/workspace/app/a.go", true},
		{"/root", "/workspace", "/workspace/a.go", true},
	} {
		if got := (World{Home: c.home, Project: c.project}).InProject(c.path); got != c.want {
			t.Errorf("%s in %s, home %q: got %t", c.path, c.project, c.home, got)
		}
	}
}

// TestHomeInTemp holds that what lies in a home below a directory for temporary files
// is a person's.
func TestHomeInTemp(t *testing.T) {
	w := World{Home: "/tmp/h", Project: "/tmp/h/app"}
	for p, want := range map[string]string{
		"/tmp/h": "home", "/tmp/h/notes.txt": "user", "/tmp/h/.bashrc": "user", "/tmp/h/app/a.go": "project", "/tmp/x": "temp", "/tmp/hh/x": "temp",
		"/tmp/h/.cache/x": "cache", "/tmp/h/tmp": "user", "/tmp/h/tmp/x.sh": "temp", "/tmp/h/tmpl/x": "user",
	} {
		if got := w.Area(p); got != want {
			t.Errorf("%s: got %s, want %s", p, got, want)
		}
	}
	if got := (World{Home: "/tmp"}).Area("/tmp/x"); got != "temp" {
		t.Errorf("/tmp as the home: got %s", got)
	}
}
