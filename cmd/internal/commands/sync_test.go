package commands

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	registries "github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"

	"gate/bundles"
	"gate/internal/sealed"
)

// startServer serves a directory of the script, or is a registry, or takes decision
// logs below /logs, and puts its address into a variable; with "holding" it speaks
// OPA's bundle API with long polling:
// serve VARIABLE directory|registry|collector [holding]
func startServer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: serve variable directory|registry|collector [holding]")
	}
	handler := http.FileServer(http.Dir(ts.MkAbs(args[1])))
	switch args[len(args)-1] {
	case "holding":
		handler = holding(ts.MkAbs(args[1]))
	case "registry":
		handler = registries.New(registries.Logger(log.New(io.Discard, "", 0)))
	case "collector":
		mux := http.NewServeMux()
		mux.HandleFunc("POST /logs", func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
		handler = mux
	}
	s := httptest.NewServer(handler)
	ts.Defer(s.Close)
	ts.Setenv(args[0], strings.TrimPrefix(s.URL, "http://"))
}

// holding serves a directory as OPA's bundle API wants it, and holds requests for
// what has not changed until it has.
func holding(dir string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for {
			data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(r.URL.Path)))
			tag := strconv.Quote(sealed.Digest(data))
			switch known := r.Header.Get("If-None-Match") == tag; {
			case err != nil:
				http.NotFound(w, r)
				return
			case !known:
				w.Header().Set("ETag", tag)
				w.Header().Set("Content-Type", "application/vnd.openpolicyagent.bundles")
				w.Write(data)
				return
			case !strings.Contains(r.Header.Get("Prefer"), "wait="):
				w.WriteHeader(http.StatusNotModified)
				return
			}
			select {
			case <-r.Context().Done():
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
}

// startTLS serves a directory to clients with a certificate of its authority,
// writes certificates for both sides and puts the address into a variable:
// serve-tls VARIABLE directory certificates
func startTLS(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: serve-tls variable directory certificates")
	}
	pool := x509.NewCertPool()
	pool.AddCert(newCertificate(ts, filepath.Join(args[2], "client")))
	newCertificate(ts, filepath.Join(args[2], "stranger"))
	s := httptest.NewUnstartedServer(http.FileServer(http.Dir(ts.MkAbs(args[1]))))
	s.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	ts.Defer(s.Close)
	save(ts, filepath.Join(args[2], "ca.pem"), "CERTIFICATE", s.Certificate().Raw)
	ts.Setenv(args[0], strings.TrimPrefix(s.URL, "https://"))
}

// newCertificate writes NAME.pem, a certificate that vouches for itself, and its
// key NAME-key.pem.
func newCertificate(ts *testscript.TestScript, name string) *x509.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	ts.Check(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	save(ts, name+".pem", "CERTIFICATE", der)
	save(ts, name+"-key.pem", "PRIVATE KEY", secret)
	cert, err := x509.ParseCertificate(der)
	ts.Check(err)
	return cert
}

func save(ts *testscript.TestScript, name, kind string, data []byte) {
	ts.Check(os.WriteFile(ts.MkAbs(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600))
}

// pausing makes the waiting of a gate one that scripts end: it says in a
// directory that it waits for the nth time, and goes on when it is told to.
func pausing(dir string) func(context.Context, time.Duration) error {
	n := 0
	return func(ctx context.Context, d time.Duration) error {
		n++
		paused := filepath.Join(dir, fmt.Sprintf("paused-%d", n))
		if err := os.WriteFile(paused+".part", []byte(d.String()), 0o600); err != nil {
			return err
		}
		if err := os.Rename(paused+".part", paused); err != nil { // whole as soon as it is there
			return err
		}
		return appears(ctx, filepath.Join(dir, fmt.Sprintf("go-%d", n)))
	}
}

// appears waits for a file.
func appears(ctx context.Context, name string) error {
	for {
		if _, err := os.Stat(name); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// pauses waits until a gate in the background waits for the nth time, after it
// was told to end the time before, or ended that by itself: pauses n [unasked]
func pauses(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: pauses n [unasked]")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	dir := ts.Getenv("TEST_PAUSES")
	if n > 1 && len(args) == 1 {
		ts.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("go-%d", n-1)), nil, 0o600))
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a test that hangs helps nobody
	defer cancel()
	ts.Check(appears(ctx, filepath.Join(dir, fmt.Sprintf("paused-%d", n))))
}

// publish copies an archive and its envelope to where {digest} in an address
// finds them, and puts its digest into variables, V1HEX without the algorithm:
// publish V1 archive directory
func publish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: publish variable archive directory")
	}
	archive := ts.ReadFile(args[1])
	digest := sealed.Digest([]byte(archive))
	ts.Setenv(args[0], digest)
	ts.Setenv(args[0]+"HEX", strings.TrimPrefix(digest, "sha256:"))
	at := filepath.Join(ts.MkAbs(args[2]), strings.TrimPrefix(digest, "sha256:")+".tar.gz")
	if envelope, err := os.ReadFile(ts.MkAbs(args[1] + envelopeSuffix)); err == nil {
		ts.Check(os.WriteFile(at+envelopeSuffix, envelope, 0o600))
	}
	ts.Check(os.WriteFile(at, []byte(archive), 0o600))
}

// pack packs a directory as other tools do, which look at no policy in it.
func pack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: pack directory archive")
	}
	archive, err := bundles.Pack(os.DirFS(ts.MkAbs(args[0])), nil)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), archive, 0o600))
}
