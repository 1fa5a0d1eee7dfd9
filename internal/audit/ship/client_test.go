package ship_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gate/internal/audit/ship"
)

// TestClient trusts the authority that it was given and no other, and shows its
// certificate to a server that wants one.
func TestClient(t *testing.T) {
	dir := t.TempDir()
	cert := clientCert(t, filepath.Join(dir, "client.pem"))
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(dir, "ca.pem")
	save(t, ca, &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for _, test := range []struct{ ca, cert, want string }{
		{ca, filepath.Join(dir, "client.pem"), ""},
		{ca, "", "certificate required"},
		{"", filepath.Join(dir, "client.pem"), "unknown authority"},
	} {
		client, err := ship.Client(test.ca, test.cert, "")
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Get(server.URL)
		if err == nil {
			res.Body.Close()
		}
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v", test, err)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if token, err := ship.Token(file("token", " s3cret\nmore")); token != "s3cret" || err != nil {
		t.Errorf("%q, %v", token, err)
	}
	for _, path := range []string{file("empty", "\n"), file("odd", "a b"), dir, filepath.Join(dir, "none"), file("large", strings.Repeat("x", 2<<20))} {
		if token, err := ship.Token(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %q, %v", path, token, err)
		}
	}
	if _, err := ship.Client(file("ca", "no"), "", ""); err == nil {
		t.Error("no certificate, and no error")
	}
	if _, err := ship.Client("", file("cert", "no"), ""); err == nil {
		t.Error("no certificate, and no error")
	}
}

// clientCert writes a certificate and its key into one file.
func clientCert(t *testing.T, path string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	save(t, path, &pem.Block{Type: "CERTIFICATE", Bytes: der}, &pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func save(t *testing.T, path string, blocks ...*pem.Block) {
	t.Helper()
	var data []byte
	for _, b := range blocks {
		data = append(data, pem.EncodeToMemory(b)...)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
