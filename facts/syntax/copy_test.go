package syntax_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "mvdan.cc/sh/v3/syntax" // go.mod requires what is compared with
)

var update = flag.Bool("update", false, "take the files over from the module")

// TestCopy holds that the files are those of the module.
func TestCopy(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "mvdan.cc/sh/v3").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(out))
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	from := map[string]string{"LICENSE": filepath.Join(dir, "LICENSE")}
	for _, name := range files {
		if name != "doc.go" && !strings.HasSuffix(name, "_test.go") {
			from[name] = filepath.Join(dir, "syntax", name)
		}
	}
	if from["parser.go"] == "" {
		t.Error("there is no parser")
	}
	for name, file := range from {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Errorf("the module has no such file any more: %v", err)
			continue
		}
		if *update {
			err = os.WriteFile(name, want, 0o644)
		}
		if got, rerr := os.ReadFile(name); err != nil || rerr != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not that of the module: %v, %v; go test ./facts/syntax -update takes it over", name, err, rerr)
		}
	}
}
