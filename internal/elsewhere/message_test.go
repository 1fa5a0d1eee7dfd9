package elsewhere

import (
	"encoding/base64"
	"encoding/pem"
	"strings"
	"testing"

	"gate/internal/consent"
	"gate/internal/strictjson"
)

func question() Question {
	const text = "A call of an agent waits.\n  input     {\"command\":\"make deploy <b>&amp;</b> ``` 'x'\"}\n"
	return Question{text, begin + "decision k3v9qx\nagent \"claude\"\ntool \"Bash\"\nshown " + consent.ShownDigest(text) + "\nexpires 2026-11-28T12:00:00Z\nnonce x\n" + end}
}

// TestReadQuestion reads messages in each form in which they are delivered or copied.
func TestReadQuestion(t *testing.T) {
	q := question()
	message := q.Message()
	for name, text := range map[string]string{
		"as it is":          message,
		"with CRLF":         strings.ReplaceAll(message, "\n", "\r\n"),
		"quoted in mail":    "> " + strings.ReplaceAll(message, "\n", "\n> "),
		"indented":          "    " + strings.ReplaceAll(message, "\n", "\n    "),
		"a JSON object":     string(strictjson.Append(nil, map[string]any{"id": "k3v9qx", "message": message})),
		"lines of JSON":     `{"event":"open"}` + "\n" + string(strictjson.Append(nil, map[string]any{"message": message})) + "\n",
		"with words around": "see below\n\n" + message + "\n-- \nBo\n",
	} {
		if got, err := ReadQuestion([]byte(text)); err != nil || got != q {
			t.Errorf("%s: %v\n%q", name, err, got)
		}
	}
	if q.ID() != "k3v9qx" || q.Until() != "2026-11-28T12:00:00Z" || !strings.HasSuffix(string(q.Statement(true)), "\nanswer yes\n") {
		t.Errorf("%q", q.Statement(true))
	}
}

// TestReadQuestionAltered refuses a message that shows another call than it has signed, and
// whatever is none.
func TestReadQuestionAltered(t *testing.T) {
	armoured := func(open, text string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: block, Bytes: strictjson.Append(nil, map[string]any{"open": open, "text": text})}))
	}
	q := question()
	for name, row := range map[string]struct{ message, want string }{
		"nothing":            {"", "no question"},
		"a key":              {"-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n", "no question"},
		"cut":                {q.Message()[:len(q.Message())-40], "no question"},
		"no JSON":            {string(pem.EncodeToMemory(&pem.Block{Type: block, Bytes: []byte("x")})), "the question in the message"},
		"another call shown": {armoured(q.Open, "A call of an agent waits.\n  input     {\"command\":\"ls\"}\n"), "was altered"},
		"an answer in it":    {armoured(q.Open+"yes\n"+end, q.Text), "no statement"},
		"two ends":           {armoured(strings.Replace(q.Open, "\nnonce", "\nanswer yes\nnonce", 1), q.Text), "no statement"},
		"another namespace":  {armoured("gate grant 1\n"+strings.TrimPrefix(q.Open, begin), q.Text), "no statement"},
		"hidden characters":  {armoured(strings.Replace(q.Open, "k3v9qx", "k3v9qx\u202e", 1), q.Text), "nobody sees"},
		"no decision":        {armoured(strings.Replace(q.Open, "decision k3v9qx\n", "", 1), q.Text), "names no decision"},
		"too long":           {strings.Repeat("x", maxMessage+1), "longer than"},
	} {
		if _, err := ReadQuestion([]byte(row.message)); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}

const armour = beginSignature + "\nU1NIU0lH\n" + endSignature + "\n"

// TestReadAnswers finds answers among what others wrote.
func TestReadAnswers(t *testing.T) {
	q := question()
	yes, no := string(q.Statement(true))+armour, string(q.Statement(false))+armour
	for name, row := range map[string]struct {
		text string
		want string
	}{
		"nothing":                 {"", ""},
		"an answer":               {yes, "k3v9qx yes;"},
		"two, and words":          {"hello\n" + no + "bye\n" + yes + "--\n", "k3v9qx no;k3v9qx yes;"},
		"in lines of JSON":        {string(strictjson.Append(nil, map[string]any{"message": yes})) + "\n" + string(strictjson.Append(nil, map[string]any{"message": no})) + "\n", "k3v9qx yes;k3v9qx no;"},
		"in an array":             {string(strictjson.Append(nil, []any{map[string]any{"body": yes}})), "k3v9qx yes;"},
		"quoted":                  {"> " + strings.ReplaceAll(strings.TrimSuffix(yes, "\n"), "\n", "\r\n> "), "k3v9qx yes;"},
		"a statement alone":       {string(q.Statement(true)), ""},
		"one before it unsigned":  {string(q.Statement(false)) + yes, "k3v9qx yes;"},
		"half of one before it":   {strings.TrimSuffix(no, endSignature+"\n") + yes, "k3v9qx yes;"},
		"a signature alone":       {armour, ""},
		"maybe":                   {strings.Replace(yes, "answer yes", "answer maybe", 1), ""},
		"a signature that is cut": {strings.TrimSuffix(yes, endSignature+"\n"), ""},
		"too long":                {yes + strings.Repeat("x", maxMessage), ""},
	} {
		got := ""
		for _, a := range ReadAnswers([]byte(row.text)) {
			got += a.ID + " " + consent.Word(a.Yes) + ";"
			if a.Statement != string(q.Statement(a.Yes)) {
				t.Errorf("%s: the statement is %q", name, a.Statement)
			}
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}

// FuzzRead reads foreign bytes.
func FuzzRead(f *testing.F) {
	q := question()
	f.Add([]byte(q.Message()))
	f.Add([]byte(string(q.Statement(true)) + armour))
	f.Add([]byte(base64.StdEncoding.EncodeToString([]byte(q.Message()))))
	f.Fuzz(func(t *testing.T, text []byte) {
		if q, err := ReadQuestion(text); err == nil && consent.ShownDigest(q.Text) != line(q.Open, "shown") {
			t.Error("it shows something else than is signed")
		}
		for _, a := range ReadAnswers(text) {
			if a.ID == "" || !strings.HasPrefix(a.Statement, begin) || len(a.Signature) == 0 {
				t.Errorf("%+v", a)
			}
		}
	})
}
