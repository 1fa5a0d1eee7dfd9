package sync_test

import (
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"gate/bundles"
	"gate/internal/sealed"
	"gate/internal/sync"
)

var (
	digest = "sha256:" + strings.Repeat("ab", 32)
	active = sync.Active{Name: "company", Version: 7, Digest: digest, Dir: sync.Place("company", 7, digest), Files: digest}
)

func TestCurrentReadsWhatItWrote(t *testing.T) {
	want := sync.Current{Bundles: []sync.Active{active, {Name: "team", Digest: digest, Dir: "team/0-1", Files: digest}}}
	for _, trials := range [][]sync.Active{nil, {active}} {
		want.Trials = trials
		got, err := sync.ParseCurrent(want.Encode())
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, %v", got, err)
		}
		if older := strings.Contains(string(want.Encode()), `"schema": 1`); older != (trials == nil) {
			t.Errorf("whether an older gate can read it: %t\n%s", older, want.Encode())
		}
	}
	old := strings.Replace(string(sync.Current{Bundles: []sync.Active{active}}.Encode()), `"name"`, `"record": true, "name"`, 1)
	if got, err := sync.ParseCurrent([]byte(old)); err != nil || len(got.Bundles) > 0 || !reflect.DeepEqual(got.Trials, []sync.Active{active}) {
		t.Errorf("a trial of an older gate: %+v, %v", got, err)
	}
}

func TestCurrentRefuses(t *testing.T) {
	good := string(sync.Current{Bundles: []sync.Active{active}}.Encode())
	for _, c := range []struct{ old, new, want string }{
		{`"schema": 1`, `"schema": 3`, "schema"},
		{`"name": "company"`, `"name": "../x"`, "name"},
		{`company/7-`, `../7-`, "dir"},
		{`company/7-`, `other/7-`, "dir"},
		{`"version": 7`, `"version": -7`, "version"},
		{`"files": "sha256:`, `"files": "md5:`, "files"},
		{`"version": 7`, `"versio": 7`, "versio"},
		{`"version": 7`, `"version": 7, "Version": 8`, "look alike"},
		{good, "", ""},
		{good, good[:len(good)/2], ""},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Fatalf("%q is not in the file", c.old)
		}
		if _, err := sync.ParseCurrent([]byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s instead of %s: %v", c.new, c.old, err)
		}
	}
	twice := sync.Current{Bundles: []sync.Active{active, active}}
	if _, err := sync.ParseCurrent(twice.Encode()); err == nil || !strings.Contains(err.Error(), "twice") {
		t.Errorf("a bundle twice: %v", err)
	}
}

// TestOpenIsWhatWasVerified changes the files in every way that somebody could.
func TestOpenIsWhatWasVerified(t *testing.T) {
	files := func() fstest.MapFS {
		return fstest.MapFS{"a.rego": {Data: []byte("package a\n")}, ".manifest": {Data: []byte("{}")}, "b/data.json": {Data: []byte("{}")}}
	}
	_, sum, err := sealed.Snapshot(files(), bundles.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	a := active
	a.Files = sum
	open := func(m fstest.MapFS) error {
		dir := fstest.MapFS{}
		for name, f := range m {
			dir[a.Dir+"/files/"+name] = f
		}
		_, err := a.Open(dir)
		return err
	}
	if err := open(files()); err != nil {
		t.Errorf("the files as they were: %v", err)
	}
	for name, change := range map[string]func(fstest.MapFS){
		"a byte":        func(m fstest.MapFS) { m["a.rego"] = &fstest.MapFile{Data: []byte("package b\n")} },
		"one gone":      func(m fstest.MapFS) { delete(m, "b/data.json") },
		"one more":      func(m fstest.MapFS) { m["c.rego"] = m["a.rego"] },
		"a hidden one":  func(m fstest.MapFS) { m[".x/y"] = m["a.rego"] },
		"moved":         func(m fstest.MapFS) { m["b/a.rego"] = m["a.rego"]; delete(m, "a.rego") },
		"no manifest":   func(m fstest.MapFS) { delete(m, ".manifest") },
		"all gone":      func(m fstest.MapFS) { clear(m) },
		"bytes shifted": func(m fstest.MapFS) { m["a.rego"].Data, m[".manifest"].Data = m[".manifest"].Data, m["a.rego"].Data },
	} {
		m := files()
		change(m)
		if err := open(m); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestSyncedReadsWhatItWrote(t *testing.T) {
	want := sync.Synced{"company": {At: time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC), Version: 7}, "team": {At: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}}
	got, err := sync.ParseSynced(want.Encode())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := sync.ParseSynced([]byte(`{"schema": 1, "bundles": {}, "versions": {"company": 1}}`)); err == nil {
		t.Error("a version of a bundle that was never synced")
	}
	if _, err := sync.ParseSynced([]byte(`{"schema": 1, "bundles": {"company": "yesterday"}}`)); err == nil {
		t.Error("a time that is none was taken")
	}
}

func FuzzParseCurrent(f *testing.F) {
	f.Add(sync.Current{Bundles: []sync.Active{active}}.Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := sync.ParseCurrent(data)
		if err != nil {
			return
		}
		again, err := sync.ParseCurrent(c.Encode())
		if err != nil || !reflect.DeepEqual(again.Bundles, c.Bundles) {
			t.Errorf("%s: read again it is %+v, %v", data, again, err)
		}
	})
}

func FuzzParseSynced(f *testing.F) {
	f.Add([]byte(`{"schema": 1, "bundles": {"company": "2026-11-21T08:00:00Z"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := sync.ParseSynced(data)
		if err != nil {
			return
		}
		again, err := sync.ParseSynced(s.Encode())
		if err != nil || len(again) != len(s) {
			t.Errorf("%s: read again it is %v, %v", data, again, err)
		}
		for name, at := range s {
			if d := again[name].At.Sub(at.At); !sealed.IsName(name) || d.Abs() > time.Second || again[name].Version != at.Version {
				t.Errorf("%s: %q was %v, is %v", data, name, at, again[name])
			}
		}
	})
}
