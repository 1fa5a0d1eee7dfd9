package secret_test

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"gate/internal/secret"
)

// TestRedact reads testdata/redact.txt: a line, and below it what is left of it.
// The tokens there are made up; @ stands for nothing and keeps scanners of
// repositories from taking them for real ones.
func TestRedact(t *testing.T) {
	f, err := os.Open("testdata/redact.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plain := strings.NewReplacer("@", "", "＠", "@", "⏎", "\n")
	in := bufio.NewScanner(f)
	lines := 0
	for in.Scan() {
		line := in.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if !in.Scan() {
			t.Fatalf("%q: nothing below it", line)
		}
		line = plain.Replace(line)
		want := plain.Replace(in.Text())
		lines++
		got := secret.Redact(line)
		if got != want {
			t.Errorf("Redact(%q)\n got %q\nwant %q", line, got, want)
		}
		if again := secret.Redact(got); again != got {
			t.Errorf("Redact twice: %q, then %q", got, again)
		}
	}
	if lines < 55 {
		t.Errorf("only %d lines read", lines)
	}
}

// FuzzRedact looks for text that redaction makes longer than its marks explain,
// breaks, or that changes when it is redacted again; and for places where a
// known token survives.
func FuzzRedact(f *testing.F) {
	for _, s := range []string{
		"", "password=hunter2", "https://user:pw@host/x", "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
		"Authorization: Bearer abcdef0123456789", `{"apiKey": "x\"y"}`, "a -u me:secret b", "token token token",
	} {
		f.Add(s)
	}
	token := "ghp" + "_0123456789abcdefABCDEF0123456789abcd"
	f.Fuzz(func(t *testing.T, s string) {
		got := secret.Redact(s)
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("Redact(%q) = %q is not valid UTF-8", s, got)
		}
		if again := secret.Redact(got); again != got {
			t.Errorf("Redact(%q) = %q, and again %q", s, got, again)
		}
		if len(got) > len(s)+len(secret.Mark)*(1+len(s)/3) {
			t.Errorf("Redact(%q) has %d bytes", s, len(got))
		}
		for _, around := range []string{s + " " + token, token + " " + s, s + "\n" + token + "\n" + s} {
			if strings.Contains(secret.Redact(around), token) {
				t.Errorf("Redact(%q) keeps the token", around)
			}
		}
	})
}

// BenchmarkRedact takes texts that invite a redactor to look far ahead, again
// and again: the time a byte must not grow with the length.
func BenchmarkRedact(b *testing.B) {
	for _, part := range []string{"a-", "sk-", "eyJ-", "://a:", "token ", "-----BEGIN PRIVATE KEY", "password=\"", "a b c "} {
		text := strings.Repeat(part, 1<<20/len(part))
		b.Run(strings.TrimSpace(part), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				secret.Redact(text)
			}
		})
	}
}
