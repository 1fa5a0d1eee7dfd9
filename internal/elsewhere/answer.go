package elsewhere

import (
	"errors"
	"fmt"
	"strings"

	"gate/internal/consent"
)

const (
	beginSignature = "-----BEGIN SSH SIGNATURE-----"
	endSignature   = "-----END SSH SIGNATURE-----"

	// maxAnswers bounds what is looked at of one text: each costs a signature.
	maxAnswers = 1024
)

// An Answer is a statement with a signature behind it, as an approver sends it. Nothing of
// it counts before the signature was looked at.
type Answer struct {
	ID        string
	Yes       bool
	Statement string // as it came
	Signature []byte
}

// ReadAnswers reads the answers in a text, in JSON objects too, 1024 at most. Others may have
// written anything around them.
func ReadAnswers(text []byte) (list []Answer) {
	if len(text) > maxMessage {
		return nil
	}
	for _, t := range texts(text) {
		// An answer ends before the next one begins: what is half hides none behind it.
		for _, part := range strings.Split(t, begin)[1:] {
			statement, rest, _ := strings.Cut(begin+part, beginSignature)
			signature, _, ended := strings.Cut(rest, endSignature)
			statement = strings.TrimRight(statement, "\n") + "\n"
			word := line(statement, "answer")
			a := Answer{
				ID: line(statement, "decision"), Yes: word == consent.Word(true), Statement: statement,
				Signature: []byte(beginSignature + signature + endSignature + "\n"),
			}
			if ended && a.ID != "" && (a.Yes || word == consent.Word(false)) && len(list) < maxAnswers {
				list = append(list, a)
			}
		}
	}
	return list
}

// differs says which line of an answer is not that of the question, "" if none differs.
func (a Answer) differs(q consent.Question) string {
	if a.Statement == string(q.Statement(a.Yes)) {
		return ""
	}
	for l := range strings.Lines(q.StatementOpen()) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
		if line(a.Statement, name) != rest && name != strings.TrimSpace(end) {
			return name
		}
	}
	return "form"
}

// errDiffers is the reason of an answer to another question than the one that was put.
func errDiffers(what string) error {
	return fmt.Errorf("%w: its %s is not that of the question", consent.BadKey, what)
}

// refused reports an error that is an ordinary no to an answer, and no fault of the machine.
func refused(err error) bool {
	var refusal consent.Refusal
	return errors.As(err, &refusal)
}
