package ship

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"gate/internal/hostfs"
)

// timeout bounds one request.
const timeout = 30 * time.Second

// maxPEM is the largest file of certificates, or of a token, in bytes.
const maxPEM = 1 << 20

// stay follows no redirection: the log goes where settings say.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Client returns a client for a [Shipper]. ca is a file with the certificates of
// who may have signed the server's, "" for those that the system trusts; cert
// and key are files with a certificate of this machine and its key, "" for
// none. A key of "" stands in cert.
func Client(ca, cert, key string) (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		data, err := readFile(ca)
		if err != nil {
			return nil, err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("%s: no certificate in PEM", ca)
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	if cert != "" {
		if key == "" {
			key = cert
		}
		certPEM, err := readFile(cert)
		if err != nil {
			return nil, err
		}
		keyPEM, err := readFile(key)
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(certPEM, keyPEM)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", cert, err)
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return &http.Client{Transport: transport, Timeout: timeout, CheckRedirect: stay}, nil
}

// Token reads a bearer token from a file: its first line. "" is no file, and no
// token.
func Token(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	data, err := readFile(file)
	if err != nil {
		return "", err
	}
	token, _, _ := strings.Cut(string(data), "\n")
	token = strings.TrimSpace(token)
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s: no token in it", file)
	}
	return token, nil
}

// readFile reads a small file, never waiting for what only poses as one.
func readFile(path string) ([]byte, error) {
	data, err := hostfs.Files{}.ReadFile(filepath.ToSlash(path), maxPEM)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, hostfs.Reason(err))
	}
	return data, nil
}
