package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestRecipes(t *testing.T) {
	r, s := sample(t, "v1.2")
	mac := s
	mac.Platform = Platform{"darwin", "arm64"}
	windows := s
	windows.Platform.OS = "windows"
	all := []Staged{s, mac, windows}
	if _, err := recipes(t.Context(), r, all); err == nil || !strings.Contains(err.Error(), "archives are made before") {
		t.Errorf("without archives: %v", err)
	}
	if _, err := archives(t.Context(), r, all); err != nil {
		t.Fatal(err)
	}
	made, err := recipes(t.Context(), r, all)
	if want := []string{"homebrew/gate.rb", "nix/flake.nix"}; err != nil || !slices.Equal(made, want) {
		t.Fatalf("made %q, want %q: %v", made, want, err)
	}
	for _, name := range made {
		data, err := os.ReadFile(filepath.Join(r.Out, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{"linux-amd64", "darwin-arm64"} {
			archive := "gate-v1.2-" + p + ".tar.gz"
			packed, err := os.ReadFile(filepath.Join(r.Out, archive))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{home + "/releases/v1.2/" + archive, fmt.Sprintf(`"%x"`, sha256.Sum256(packed))} {
				if !strings.Contains(string(data), want) {
					t.Errorf("%s does not say %s:\n%s", name, want, data)
				}
			}
		}
		if strings.Contains(string(data), "windows") || strings.Contains(string(data), "{{") {
			t.Errorf("%s has too much:\n%s", name, data)
		}
	}
}

func TestFeature(t *testing.T) {
	r, s := sample(t, "v1.2-3-gabc1234")
	arm := s
	arm.Platform.Arch = "arm64"
	made, err := feature(t.Context(), r, []Staged{s, arm})
	if err != nil || len(made) != 1 {
		t.Fatalf("made %q: %v", made, err)
	}
	data, err := os.ReadFile(filepath.Join(r.Out, made[0]))
	if err != nil {
		t.Fatal(err)
	}
	list, content := unpackTar(t, data)
	want := sorted(`
0644 devcontainer-feature.json
0755 install.sh
0755 linux-amd64/gate
0755 linux-amd64/gate-hook
0755 linux-amd64/gate-run
0755 linux-amd64/gate-server
0755 linux-arm64/gate
0755 linux-arm64/gate-hook
0755 linux-arm64/gate-run
0755 linux-arm64/gate-server
0644 licences/example.com/a@v1.0.0/LICENSE`)
	if sorted(list) != want {
		t.Errorf("the feature has\n%s\nwant\n%s", sorted(list), want)
	}
	var about struct{ ID, Version, Name string }
	if err := json.Unmarshal(content["devcontainer-feature.json"], &about); err != nil || about.ID != "gate" || about.Version != "1.2.0+3.gabc1234" {
		t.Errorf("the feature is %+v: %v\n%s", about, err, content["devcontainer-feature.json"])
	}
}
