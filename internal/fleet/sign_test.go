package fleet_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"gate/internal/fleet"
)

const machine = "0123456789abcdef0123456789abcdef"

// key is the private key of the seed 00 01 02 … 1f.
func key() ed25519.PrivateKey {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = byte(i)
	}
	return ed25519.NewKeyFromSeed(seed)
}

var noon = time.Date(2026, 11, 28, 12, 0, 0, 999, time.FixedZone("", 3600))

// TestVector holds the bytes of the protocol: another program must make the same.
func TestVector(t *testing.T) {
	h := http.Header{}
	fleet.Sign(h, key(), machine, http.MethodPost, fleet.LogsPath, []byte("body"), noon)
	for name, want := range map[string]string{
		"Gate-Machine":   machine,
		"Gate-Time":      "2026-11-28T11:00:00Z",
		"Gate-Signature": "wNs+NX9Ciyp6guf/B6tKb9gLq1Owd3nKrPUYDtbkP1Bk4e3gRcXuCQa0zRYRKODwNAndaxCkyRxU/sfEclCbBQ==",
	} {
		if got := h.Get(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestCheck refuses whatever differs from what was signed.
func TestCheck(t *testing.T) {
	body := []byte("\x1f\x8b body")
	sign := func() http.Header {
		h := http.Header{}
		fleet.Sign(h, key(), machine, http.MethodPost, fleet.LogsPath, body, noon)
		return h
	}
	public := key().Public().(ed25519.PublicKey)
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	for name, test := range map[string]struct {
		change       func(h http.Header)
		key          ed25519.PublicKey
		method, path string
		body         string
		want         string
	}{
		"as signed":         {want: ""},
		"another key":       {key: other, want: "the signature is not"},
		"no key":            {key: ed25519.PublicKey{}, want: "the signature is not"},
		"another method":    {method: http.MethodPut, want: "the signature is not"},
		"another path":      {path: fleet.StatusPath, want: "the signature is not"},
		"another body":      {body: "x", want: "the signature is not"},
		"another machine":   {change: func(h http.Header) { h.Set("Gate-Machine", strings.Repeat("a", 32)) }, want: "the signature is not"},
		"another time":      {change: func(h http.Header) { h.Set("Gate-Time", "2026-11-28T11:00:01Z") }, want: "the signature is not"},
		"no machine":        {change: func(h http.Header) { h.Del("Gate-Machine") }, want: "Gate-Machine once"},
		"two machines":      {change: func(h http.Header) { h.Add("Gate-Machine", machine) }, want: "has it 2 times"},
		"a path as machine": {change: func(h http.Header) { h.Set("Gate-Machine", "../../../../../../../../../../xyz") }, want: "32 hexadecimal digits"},
		"no time":           {change: func(h http.Header) { h.Set("Gate-Time", "yesterday") }, want: "a time such as"},
		"no base64":         {change: func(h http.Header) { h.Set("Gate-Signature", "!") }, want: "64 bytes in base64"},
		"a short signature": {change: func(h http.Header) { h.Set("Gate-Signature", "AAAA") }, want: "64 bytes in base64"},
		"another spelling": {change: func(h http.Header) {
			h.Set("Gate-Signature", h.Get("Gate-Signature")[:10]+"\n"+h.Get("Gate-Signature")[10:])
		}, want: "64 bytes in base64"},
	} {
		t.Run(name, func(t *testing.T) {
			h := sign()
			if test.change != nil {
				test.change(h)
			}
			if test.key == nil {
				test.key = public
			}
			if test.method == "" {
				test.method = http.MethodPost
			}
			if test.path == "" {
				test.path = fleet.LogsPath
			}
			if test.body == "" {
				test.body = string(body)
			}
			s, err := fleet.SignedBy(h)
			if err == nil {
				err = s.Check(test.key, test.method, test.path, []byte(test.body))
			}
			if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if strings.HasPrefix(test.want, "the signature") && !errors.Is(err, fleet.ErrSignature) {
				t.Error(err)
			}
			if err == nil && !s.Time.Equal(noon.Truncate(time.Second)) {
				t.Error(s.Time)
			}
		})
	}
}
