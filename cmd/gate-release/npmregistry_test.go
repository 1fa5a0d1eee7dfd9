package main

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// An npmRegistry speaks as much of a registry's protocol as installing needs: a document
// for each package, and its tarballs.
type npmRegistry struct {
	url string

	mu       sync.Mutex
	packages map[string]*npmPackage
	tarballs map[string][]byte // by path
}

// An npmPackage is a registry's document.
type npmPackage struct {
	Name     string                    `json:"name"`
	Tags     map[string]string         `json:"dist-tags"`
	Versions map[string]map[string]any `json:"versions"`
}

// newNPMRegistry listens on loopback until the test ends.
func newNPMRegistry(t *testing.T) *npmRegistry {
	reg := &npmRegistry{packages: make(map[string]*npmPackage), tarballs: make(map[string][]byte)}
	server := httptest.NewServer(reg)
	t.Cleanup(server.Close)
	reg.url = server.URL
	return reg
}

// publish adds packages of a release. The last of a name is its latest.
func (reg *npmRegistry) publish(t *testing.T, r *Release, made []string) {
	t.Helper()
	reg.mu.Lock()
	defer reg.mu.Unlock()
	for _, file := range made {
		var manifest map[string]any
		if err := json.Unmarshal(npmUnpacked(t, r, file)["package/package.json"].data, &manifest); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(r.Out, file))
		if err != nil {
			t.Fatal(err)
		}
		name, version := manifest["name"].(string), manifest["version"].(string)
		at := "/" + name + "/-/" + path.Base(file)
		sum := sha512.Sum512(data)
		manifest["dist"] = map[string]any{"tarball": reg.url + at, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		reg.tarballs[at] = data
		if reg.packages[name] == nil {
			reg.packages[name] = &npmPackage{name, make(map[string]string), make(map[string]map[string]any)}
		}
		reg.packages[name].Versions[version] = manifest
		reg.packages[name].Tags["latest"] = version
	}
}

func (reg *npmRegistry) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	if data, ok := reg.tarballs[q.URL.Path]; ok {
		_, _ = w.Write(data)
		return
	}
	p, ok := reg.packages[strings.TrimPrefix(q.URL.Path, "/")]
	if !ok {
		http.Error(w, "{}", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(p)
}
