package consent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/hook"
	"gate/internal/consent"
)

var (
	digestA = "sha256:" + strings.Repeat("a", 64)
	digestB = "sha256:" + strings.Repeat("b", 64)
)

// origin is a project directory that exists.
func (k *desk) origin() consent.Origin {
	k.t.Helper()
	o, err := consent.OriginOf(hook.Project, k.t.TempDir())
	k.must(err)
	return o
}

func TestTrust(t *testing.T) {
	k := newDesk(t)
	o := k.origin()
	if err := k.store.CheckTrust(o, digestA); err != consent.NeverTrusted {
		t.Errorf("before: %v", err)
	}
	if _, err := os.Lstat(k.store.Dir); err == nil {
		t.Error("checking made a directory")
	}
	if err := k.store.Trust(nil, o, digestA); err != consent.NoTerminal {
		t.Errorf("nobody: %v", err)
	}
	k.must(k.store.Trust(k.witness(), o, digestA))
	k.must(k.store.CheckTrust(o, digestA))
	if err := k.store.CheckTrust(o, digestB); err != consent.Changed {
		t.Errorf("changed: %v", err)
	}
	for _, other := range []consent.Origin{
		{Authority: hook.Local, Dir: o.Dir}, {Authority: hook.PluginAuthor, Dir: o.Dir}, {Authority: hook.Project, Dir: o.Dir + "x"},
		{Authority: hook.Project, Dir: filepath.Join(o.Dir, "x")},
	} {
		if err := k.store.CheckTrust(other, digestA); err != consent.NeverTrusted {
			t.Errorf("%v: %v", other, err)
		}
	}
	all, err := k.store.Trusts()
	if err != nil || len(all) != 1 || all[0] != (consent.Trust{Origin: o, Digest: digestA, By: "ada", At: noon}) {
		t.Errorf("list: %v, %v", all, err)
	}
	k.must(k.store.Trust(k.witness(), o, digestB))
	if k.store.CheckTrust(o, digestA) != consent.Changed || k.store.CheckTrust(o, digestB) != nil {
		t.Error("trusting anew does not replace")
	}
	k.must(k.store.Distrust(o))
	k.must(k.store.Distrust(o))
	if err := k.store.CheckTrust(o, digestB); err != consent.NeverTrusted {
		t.Errorf("after: %v", err)
	}
}

func TestTrustRefuses(t *testing.T) {
	k := newDesk(t)
	o := k.origin()
	for _, row := range []struct {
		o      consent.Origin
		digest string
		want   string
	}{
		{consent.Origin{}, digestA, "authority invalid(0)"},
		{consent.Origin{Authority: hook.Managed, Dir: o.Dir}, digestA, "need no trust"},
		{consent.Origin{Authority: hook.User, Dir: o.Dir}, digestA, "need no trust"},
		{consent.Origin{Authority: hook.Project, Dir: "site"}, digestA, "not a clean absolute path"},
		{consent.Origin{Authority: hook.Project, Dir: o.Dir + "/"}, digestA, "not a clean absolute path"},
		{consent.Origin{Authority: hook.Project, Dir: o.Dir + "/../x"}, digestA, "not a clean absolute path"},
		{o, "", "not a digest"},
		{o, strings.ToUpper(digestA), "not a digest"},
		{o, digestA[:70], "not a digest"},
		{o, "md5:" + digestA, "not a digest"},
		{consent.Origin{Authority: hook.Project, Dir: filepath.Dir(k.store.Dir)}, digestA, "lies inside"},
		{consent.Origin{Authority: hook.Project, Dir: k.store.Dir}, digestA, "lies inside"},
		{consent.Origin{Authority: hook.PluginAuthor, Dir: "/"}, digestA, "lies inside"},
	} {
		for name, err := range map[string]error{
			"Trust": k.store.Trust(k.witness(), row.o, row.digest), "CheckTrust": k.store.CheckTrust(row.o, row.digest),
		} {
			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("%s(%v, %s): %v, want %q", name, row.o, row.digest, err, row.want)
			}
		}
	}
}

// A link that is turned to another directory is another place.
func TestOrigin(t *testing.T) {
	dir := t.TempDir()
	one, two, link := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "link")
	for _, d := range []string{one, two} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func() consent.Origin {
		o, err := consent.OriginOf(hook.PluginAuthor, link)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	os.Symlink(one, link)
	first := at()
	os.Remove(link)
	os.Symlink(two, link)
	if at() == first {
		t.Error("a turned link is the same origin")
	}
	os.Remove(two)
	if _, err := consent.OriginOf(hook.PluginAuthor, link); err == nil {
		t.Error("a link that leads nowhere")
	}
	if _, err := consent.OriginOf(hook.PluginAuthor, "one"); err == nil {
		t.Error("a relative directory")
	}
}

// A record under another source's name, and what is not gate's.
func TestTrustMoved(t *testing.T) {
	k := newDesk(t)
	one, two := k.origin(), k.origin()
	k.must(k.store.Trust(k.witness(), one, digestA))
	first := k.path("trust")
	k.must(k.store.Trust(k.witness(), two, digestA))
	files, _ := filepath.Glob(filepath.Join(k.store.Dir, "trust", "*"))
	for _, f := range files {
		if f != first {
			k.must(os.Rename(first, f))
		}
	}
	for _, o := range []consent.Origin{one, two} {
		if k.store.CheckTrust(o, digestA) == nil {
			t.Errorf("%v is trusted by a renamed file", o)
		}
	}
	k.must(os.WriteFile(filepath.Join(k.store.Dir, "trust", "notes"), nil, 0o600))
	all, err := k.store.Trusts()
	if len(all) != 0 || err == nil || !strings.Contains(err.Error(), "renamed") || !strings.Contains(err.Error(), "notes: it is not gate's") {
		t.Errorf("list: %v, %v", all, err)
	}
}
