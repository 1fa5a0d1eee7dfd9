package fetch_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	registries "github.com/google/go-containerregistry/pkg/registry"
	"github.com/open-policy-agent/opa/v1/download"
	"github.com/open-policy-agent/opa/v1/keys"
	"github.com/open-policy-agent/opa/v1/plugins/rest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/registry/remote"

	"gate/bundles"
	"gate/internal/source"
	"gate/internal/source/fetch"
)

// startRegistry starts a real registry and notes what it is asked.
func startRegistry(t *testing.T, over func(http.Handler) http.HandlerFunc) (host string) {
	var h http.Handler = registries.New(registries.Logger(log.New(io.Discard, "", 0)))
	if over != nil {
		h = over(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// policies is a bundle that OPA can read.
func policies(t *testing.T) []byte {
	t.Helper()
	archive, err := bundles.Pack(fstest.MapFS{
		".manifest":      {Data: []byte(`{"roots": ["company"], "metadata": {"gate": {"name": "company", "version": 7}}}`)},
		"company/a.rego": {Data: []byte("package company\n\nanswer := 42\n")},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// TestRegistry pushes and fetches, moves the tag, and has OPA read the same
// artifact.
func TestRegistry(t *testing.T) {
	host := startRegistry(t, nil)
	o := source.Options{URL: "oci://" + host + "/acme/company:stable", Name: "company"}
	push := func(archive, envelope []byte) string {
		t.Helper()
		d, err := (fetch.Client{}).Push(context.Background(), o, archive, envelope)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	archive, envelope := policies(t), []byte(`{"signed": {}}`)
	first := push(archive, envelope)
	if again := push(archive, envelope); again != first {
		t.Errorf("pushed again it is %s, it was %s", again, first)
	}
	from := open(t, o)
	f := fetched(t, from, "")
	if !bytes.Equal(f.Archive, archive) || !bytes.Equal(f.Envelope, envelope) || f.Tag != first {
		t.Errorf("%d bytes, %s, %s", len(f.Archive), f.Envelope, f.Tag)
	}
	if same := fetched(t, from, f.Tag); !same.Unchanged {
		t.Error("nothing new was fetched again")
	}
	opaReads(t, host, "acme/company:stable")

	push([]byte("another"), nil)
	if moved := fetched(t, from, f.Tag); string(moved.Archive) != "another" || moved.Envelope != nil {
		t.Errorf("the tag moved: %+v", moved)
	}
	pinned := open(t, source.Options{URL: "oci://" + host + "/acme/company@" + first})
	if f := fetched(t, pinned, ""); !bytes.Equal(f.Archive, archive) {
		t.Errorf("by its digest: %d bytes", len(f.Archive))
	}
}

// opaReads has OPA's own downloader fetch an artifact, with the version of
// OPA in go.mod.
func opaReads(t *testing.T, host, reference string) {
	t.Helper()
	client, err := rest.New(fmt.Appendf(nil, `{"name": "r", "url": "http://%s", "type": "oci"}`, host), map[string]*keys.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var got download.Update
	config := download.Config{}
	if err := config.ValidateAndInjectDefaults(); err != nil {
		t.Fatal(err)
	}
	d := download.NewOCI(config, client, host+"/"+reference, t.TempDir()).WithCallback(func(_ context.Context, u download.Update) error {
		got = u
		return u.Error
	})
	if err := d.Trigger(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got.Error != nil || got.Bundle == nil || len(got.Bundle.Modules) != 1 || got.Bundle.Manifest.Metadata["gate"] == nil {
		t.Errorf("OPA reads %+v", got)
	}
}

// TestOtherArtifacts are what oras and conftest push.
func TestOtherArtifacts(t *testing.T) {
	host := startRegistry(t, nil)
	archive := policies(t)
	type layer struct{ kind, title string }
	for name, c := range map[string]struct {
		layers []layer
		want   string // "": it is taken
	}{
		"oras, as OPA's documentation says": {[]layer{{ocispec.MediaTypeImageLayerGzip, "bundle.tar.gz"}}, ""},
		"oras without types":                {[]layer{{"application/vnd.oci.image.layer.v1.tar", "bundle.tar.gz"}}, ""},
		"oras with an envelope":             {[]layer{{"application/gzip", "b.tar.gz"}, {"application/json", "b.tar.gz.gate.json"}}, ""},
		"oras with a page beside it":        {[]layer{{ocispec.MediaTypeImageLayerGzip, ""}, {"text/markdown", "README.md"}}, ""},
		"conftest": {[]layer{
			{"application/vnd.cncf.openpolicyagent.policy.layer.v1+rego", "policy/a.rego"},
			{"application/vnd.cncf.openpolicyagent.data.layer.v1+json", "data.json"},
		}, "holds no bundle"},
		"two bundles": {[]layer{{ocispec.MediaTypeImageLayerGzip, "a"}, {ocispec.MediaTypeImageLayerGzip, "b"}}, "several bundles"},
		"nothing":     {nil, "holds no bundle"},
	} {
		t.Run(name, func(t *testing.T) {
			repository, err := remote.NewRepository(fmt.Sprintf("%s/other/a%d", host, len(name)))
			if err != nil {
				t.Fatal(err)
			}
			repository.PlainHTTP = true
			ctx := context.Background()
			var pack oras.PackManifestOptions
			for i, l := range c.layers {
				data := archive
				if i > 0 {
					data = fmt.Appendf(nil, "layer %d", i)
				}
				d := content.NewDescriptorFromBytes(l.kind, data)
				if err := repository.Push(ctx, d, bytes.NewReader(data)); err != nil {
					t.Fatal(err)
				}
				d.Annotations = map[string]string{ocispec.AnnotationTitle: l.title}
				pack.Layers = append(pack.Layers, d)
			}
			d, err := oras.PackManifest(ctx, repository, oras.PackManifestVersion1_1, "application/vnd.test", pack)
			if err == nil {
				err = repository.Tag(ctx, d, "v1")
			}
			if err != nil {
				t.Fatal(err)
			}
			f, err := open(t, source.Options{URL: "oci://" + repository.Reference.Registry + "/" + repository.Reference.Repository + ":v1"}).Fetch(ctx, "")
			switch {
			case c.want == "" && (err != nil || !bytes.Equal(f.Archive, archive)):
				t.Errorf("%d bytes, %v", len(f.Archive), err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestRegistryRefuses has a registry lie.
func TestRegistryRefuses(t *testing.T) {
	answer := http.Handler(nil)
	host := startRegistry(t, func(real http.Handler) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if answer != nil {
				answer.ServeHTTP(w, r)
				return
			}
			real.ServeHTTP(w, r)
		}
	})
	o := source.Options{URL: "oci://" + host + "/acme/company:v1", Name: "company"}
	if _, err := (fetch.Client{}).Push(context.Background(), o, policies(t), nil); err != nil {
		t.Fatal(err)
	}
	real := startRegistry(t, nil)
	secret := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(secret, []byte("me:secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stolen []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, r.Method+" "+r.Header.Get("Authorization"))
	}))
	defer thief.Close()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a page":        {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Please sign in") }, ""},
		"nothing there": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, "404"},
		"forbidden":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, "403"},
		"another registry": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+real+r.URL.Path, http.StatusTemporaryRedirect)
		}, "sends us on to"},
		"tokens from others": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm=%q,service="x"`, thief.URL+"/token"))
			w.WriteHeader(401)
		}, "password sent to"},
	} {
		answer = c.answer
		withToken := o
		withToken.TokenFile = secret
		_, err := open(t, withToken).Fetch(context.Background(), "")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if len(stolen) > 0 {
		t.Errorf("another host got %q", stolen)
	}
}
