package load_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"gate/hook"
	"gate/internal/load"
)

// TestApprovals refuses settings about people elsewhere that lead nowhere, or to whoever
// listens on the way.
func TestApprovals(t *testing.T) {
	const begin = `{"approvals": {"enabled": true, "minutes": 5, "keyRequired": false, `
	const ana = `"approvers": ["ana ssh-ed25519 AAAA"], `
	for more, want := range map[string]string{
		ana + `"poll": "https://a.example/x"`:                                               "",
		ana + `"poll": "http://127.0.0.1:8/x"`:                                              "",
		ana + `"wait": "0", "when": "absent"`:                                               "",
		`"poll": "https://a.example/x"`:                                                     "need approvers: nobody could answer",
		ana + `"poll": "http://a.example/x"`:                                                "approvals.poll must begin with https://",
		ana + `"poll_token_file": "/t"`:                                                     "no poll that it belongs to",
		ana + `"wait": "2m"`:                                                                "wait",
		ana + `"when": "never"`:                                                             "when",
		`"deliver": [{"form": "slack", "url": "https://a.example"}]`:                        "need approvers: nobody could answer",
		ana + `"deliver": [{"form": "slack", "url": "https://a.example"}]`:                  "",
		ana + `"deliver": [{"form": "slack", "url": "http://a.example"}]`:                   "url must begin with https://",
		ana + `"deliver": [{"form": "ntfy"}]`:                                               "url is missing",
		ana + `"deliver": [{"form": "pigeon", "url": "https://a.example"}]`:                 "form",
		ana + `"deliver": [{"form": "webhook", "url": "https://a.example", "to": ["a@b"]}]`: "go with mail only",
		ana + `"deliver": [{"form": "mail"}]`:                                               "mail needs to",
		ana + `"deliver": [{"form": "mail", "to": ["ana@acme.example"]}]`:                   "",
		ana + `"deliver": [{"form": "mail", "to": ["-oQ/tmp@acme.example"]}]`:               "no address of e-mail",
		ana + `"deliver": [{"form": "mail", "to": ["a@b\\nBcc: x@y"]}]`:                     "no address of e-mail",
		ana + `"deliver": [{"form": "mail", "to": ["a@b,c@d"]}]`:                            "no address of e-mail",
		ana + `"deliver": [{"form": "mail", "to": ["a@b"], "url": "https://a.example"}]`:    "neither url nor token_file",
		ana + `"deliver": [{"form": "mail", "to": ["a@b"], "program": "sendmail"}]`:         "must be an absolute path",
	} {
		c := load.Settings(fstest.MapFS{"settings.json": {Data: []byte(begin + more + "}}")}}, "etc", hook.User)
		told := describeSettings(c)
		if bad := c.Source != nil; bad != (want != "") || !strings.Contains(told, want) {
			t.Errorf("%s: want %q:\n%s", more, want, told)
		}
	}
}
