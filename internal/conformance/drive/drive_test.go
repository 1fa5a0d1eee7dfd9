package drive

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"gate/internal/conformance"
)

// testClient builds the client of the tests and describes it.
func testClient(t *testing.T, fault string) *Kit {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the kit's hooks are programs of sh")
	}
	data, err := os.ReadFile("testdata/client.json")
	if err != nil {
		t.Fatal(err)
	}
	h, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	k := &Kit{Host: h, Command: []string{built(t)}, Path: os.Getenv("PATH")}
	if fault != "" {
		k.Command = append(k.Command, "--fault", fault)
	}
	return k
}

func built(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "client")
	if text, err := exec.Command("go", "build", "-o", program, "./testdata/client").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return program
}

// TestHonest: a client that does what a host must holds all vectors.
func TestHonest(t *testing.T) {
	k := testClient(t, "")
	list, err := k.Try(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(Vectors()) {
		t.Errorf("%d results of %d vectors", len(list), len(Vectors()))
	}
	for _, r := range list {
		if r.Outcome != conformance.Held {
			t.Errorf("%s %s: %s; %s", r.ID, r.Outcome, r.Why, r.How)
		}
	}
}

// TestFaults: a client that does one thing wrong is noticed, by the vector of that name.
func TestFaults(t *testing.T) {
	k := testClient(t, "")
	for _, v := range Vectors() {
		t.Run(v[0], func(t *testing.T) {
			t.Parallel()
			wrong := Kit{Host: k.Host, Path: k.Path, Command: []string{k.Command[0], "--fault", v[0]}, Only: []string{v[0]}}
			list, err := wrong.Try(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if len(list) != 1 || list[0].Outcome != conformance.Differs {
				t.Errorf("not noticed: %+v", list)
			}
		})
	}
}

// TestClosed: where calls do not run without an answer, nothing says that a hook stopped them.
func TestClosed(t *testing.T) {
	k := testClient(t, "")
	k.Mode = "timid"
	list, err := k.Try(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var held []string
	for _, r := range list {
		if r.Outcome == conformance.Held {
			held = append(held, r.ID)
		}
	}
	if want := []string{"allow", "ask-yes", "ask-no"}; !slices.Equal(held, want) {
		t.Errorf("held: %v, want %v", held, want)
	}
}

// TestNothingThere: a client that does not start, or says nothing, passes nothing.
func TestNothingThere(t *testing.T) {
	k := testClient(t, "")
	k.Command = []string{filepath.Join(t.TempDir(), "none")}
	if _, err := k.Try(context.Background()); err == nil || !strings.Contains(err.Error(), "does not start") {
		t.Errorf("a client that is not there: %v", err)
	}
	k.Command = []string{"/bin/sh", "-c", "exit 0"}
	list, err := k.Try(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if r.Outcome == conformance.Held {
			t.Errorf("%s holds for a client that does nothing", r.ID)
		}
	}
}

func TestVersion(t *testing.T) {
	k := testClient(t, "")
	if got, err := k.Version(context.Background()); err != nil || got != "1.2.3" {
		t.Errorf("the version is %q, %v", got, err)
	}
}

// TestDescriptions: those of the package can be read, and their modes are known.
func TestDescriptions(t *testing.T) {
	for _, name := range Clients() {
		h, err := Client(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if h.Agent != name {
			t.Errorf("%s describes %s", name, h.Agent)
		}
	}
	for text, want := range map[string]string{
		`{`:                        "ends too early",
		`{"agent":"a","agents":1}`: "unknown field",
		`{"agent":"a"}`:            "the description has no",
	} {
		if _, err := Read([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
