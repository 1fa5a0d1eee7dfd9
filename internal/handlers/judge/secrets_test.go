package judge_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gate/engine/models"
	"gate/hook"
	"gate/internal/handlers/judge"
)

func jsonOf(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// secrets are texts with a secret in them, by the part that nobody may see.
// They are put together so that no scanner takes this file for a leak.
var secrets = map[string]string{
	"AbCdEf0123456789GhIj":    "AWS AKIA" + "AbCdEf0123456789GhIj",
	"aB3dE5fG7hI9jK1lM3nO5p":  "curl -H 'Authorization: Bearer aB3dE5fG7hI9jK1lM3nO5p' https://api.example",
	"ghTok1234567890abcdEFGH": "git clone https://x:ghp_" + "ghTok1234567890abcdEFGH@github.example/a",
	"patTok1234567890abcdEFG": "github_pat_" + "patTok1234567890abcdEFG",
	"glTok1234567890abcdEF":   "GITLAB=glpat-" + "glTok1234567890abcdEF",
	"slTok-1234567890-abcdEF": "xoxb-" + "slTok-1234567890-abcdEF",
	"antTok1234567890abcdEFG": "sk-ant-" + "antTok1234567890abcdEFG",
	"projTok1234567890abcdEF": "sk-proj-" + "projTok1234567890abcdEF",
	"liveTok1234567890abcdEF": "sk_live_" + "liveTok1234567890abcdEF",
	"npmTok1234567890abcdEFGHIJ": "//registry.example/:_authToken=npm_" +
		"npmTok1234567890abcdEFGHIJ",
	"hfTok1234567890abcdEFGHIJ": "hf_" + "hfTok1234567890abcdEFGHIJ",
	"vaultTok1234567890abcdEFG": "hvs." + "vaultTok1234567890abcdEFG",
	"correct-horse-battery":     "password=correct-horse-battery",
	"dbPassw0rd!x":              "postgres://app:dbPassw0rd!x@db.example/shop",
	"hunter2hunter2":            "mysql --password hunter2hunter2",
	"apikeyvalue998877":         `{"apiKey": "apikeyvalue998877"}`,
	"clientsecretvalue5544":     "CLIENT_SECRET=clientsecretvalue5544 ./run",
	"MIIEvQIBADANBgkqhkiG9w0":   "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nabc\n-----END PRIVATE KEY-----",
	"eyJzdWIiOiIxMjM0NTY3ODkw":  "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkw" + "IiwibmFtZSI6IkpvaG4ifQ.sig1234567890sig",
	"u5erPassw0rd99":            "curl -u admin:u5erPassw0rd99 https://x.example",
	"cookieSession0123456789":   "Cookie: session=cookieSession0123456789",
	"GOOGabcdefghijklmnopqrstuvwxyz12345": "AIza" +
		"GOOGabcdefghijklmnopqrstuvwxyz12345",
}

// TestSecrets plants secrets in the call, the conversation and the files: no
// request has one, neither to judge nor to investigate.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	var transcript strings.Builder
	var read []use
	input := map[string]any{"command": "deploy", "env": map[string]any{"DB_PASSWORD": "nestedPassw0rd"}, "list": []any{}}
	n := 0
	for _, text := range secrets {
		n++
		input[fmt.Sprintf("k%d", n)] = "echo " + text
		input["command"] = input["command"].(string) + "\n" + text
		input["list"] = append(input["list"].([]any), text)
		for _, m := range []any{
			map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "use " + text}},
			map[string]any{"type": "assistant", "message": map[string]any{"role": "assistant", "content": []any{
				map[string]any{"type": "text", "text": text},
				map[string]any{"type": "tool_use", "name": "Bash", "input": map[string]any{"command": text, "password": "nestedPassw0rd"}},
			}}},
			map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{
				map[string]any{"type": "tool_result", "content": text}, map[string]any{"type": "tool_result", "content": []any{map[string]any{"type": "text", "text": text}}},
			}}},
		} {
			transcript.Write(append(jsonOf(m), '\n'))
		}
		write(t, dir, fmt.Sprintf("f%d.txt", n), "before\n"+text+"\nafter")
		write(t, dir, fmt.Sprintf("f%d.env", n), text)
		read = append(read, use{"Read", fmt.Sprintf(`{"path": "f%d.txt"}`, n)})
	}
	write(t, dir, ".env", "PLAIN=envFilePlainValue")
	write(t, dir, "sub/.ENV.local", "PLAIN=envFilePlainValue")
	write(t, dir, "id_rsa", "envFilePlainValue")
	if err := os.Symlink(".env", filepath.Join(dir, "innocent.txt")); err != nil {
		t.Skip(err)
	}
	read = append(read, use{"Read", `{"path": ".env"}`}, use{"Read", `{"path": "sub/.ENV.local"}`}, use{"Read", `{"path": "innocent.txt"}`},
		use{"Grep", `{"pattern": "."}`}, use{"Grep", `{"pattern": "PLAIN", "path": ".env"}`}, use{"Read", `{"path": "id_rsa"}`})
	path := write(t, t.TempDir(), "t.jsonl", transcript.String())
	ev := bash("")
	ev.Fields["tool_input"], ev.Fields["transcript_path"], ev.Fields["prompt"] = input, path, "mine is "+secrets["correct-horse-battery"]
	for _, api := range apis {
		s := newServer(t, func(tn *turn) answer {
			if at := tn.earlier() * 8; len(tn.tools) > 0 && at < len(read) {
				return answer{uses: read[at:min(at+8, len(read))]}
			}
			return answer{text: `{"ok": true}`}
		})
		j := judge.New(judge.Options{
			Models:   models.Connect,
			Settings: asking(t, s, api).Settings, Getenv: getenv,
			Secret: hidden,
		})
		q := judge.Question{Prompt: "Safe?", Authority: hook.User, Event: ev, Transcript: true, Project: dir}
		if _, fault := j.Ask(t.Context(), q); fault != nil {
			t.Fatal(fault)
		}
		if _, fault := j.Investigate(t.Context(), q); fault != nil {
			t.Fatal(fault)
		}
		turns := s.asked()
		if len(turns) < 4 || !strings.Contains(turns[len(turns)-1].raw, "before") || !strings.Contains(turns[0].raw, "[redacted]") || !strings.Contains(turns[0].raw, "uses Bash") {
			t.Fatalf("%s: %d turns that show nothing", api, len(turns))
		}
		for _, tn := range turns {
			for secret := range secrets {
				if strings.Contains(tn.raw, secret) {
					t.Errorf("%s: %s is told", api, secret)
				}
			}
			for _, secret := range []string{"nestedPassw0rd", "envFilePlainValue"} {
				if strings.Contains(tn.raw, secret) {
					t.Errorf("%s: %s is told", api, secret)
				}
			}
		}
	}
}

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
