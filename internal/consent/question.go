package consent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"gate/hook"
)

// ApprovalNamespace is what a signature over an answer is for, so that none of another
// purpose can be shown in its place.
const ApprovalNamespace = "gate-approval"

const (
	// maxQuestions bounds the questions that are open at a time: an agent shall tire nobody
	// out until they agree.
	maxQuestions = 16
	maxArmour    = 16 << 10 // bytes of a signature
)

// A Question is a call that waits, as it was put to people who are not at the terminal.
// They answer by a signature over [Question.Statement].
type Question struct {
	Pending Pending
	Until   time.Time // in whole seconds; from then on no answer counts
	Nonce   string    // random: no two questions have one
	Shown   string    // digest of the text that people were shown, "sha256:…"
}

// An Answer is what one of the approvers signed about a question.
type Answer struct {
	Question  Question
	Yes       bool
	Signature []byte // armoured, as ssh-keygen -Y sign makes it
	Who       string // who signed, as settings name the key
	At        time.Time
}

// Word is the last word of a statement.
func Word(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// StatementOpen is what is signed less its last word: this one call, asked about at one
// moment for these reasons, as it was shown.
func (q Question) StatementOpen() string {
	c := q.Pending.Call
	return fmt.Sprintf("gate approval answer 1\ndecision %s\nagent %s\nsession %s\ntool %s\ndirectory %s\ninput %s\nfacts %s\nquestion %s\nshown %s\nexpires %s\nnonce %s\nanswer ",
		q.Pending.ID, shown(c.Agent), c.Session, shown(c.Tool), shown(c.Dir), sum("input", []byte(c.Input)), c.Facts,
		sum("pending", q.Pending.text()), q.Shown, stamp(q.Until), q.Nonce)
}

// Statement is exactly what an approver signs.
func (q Question) Statement(yes bool) []byte { return []byte(q.StatementOpen() + Word(yes) + "\n") }

// Ask makes a question of a call that waits, for as long as an approval is good. text is
// what people are shown of it, and returned. Where the same call has been asked about, that
// question is returned with no text: people have it already. Where too many questions are
// open, that is an error.
func (s Store) Ask(p Pending, text func(until time.Time) string, rules Approvals, now time.Time) (Question, string, error) {
	now, err := s.Clock(now)
	if err != nil {
		return Question{}, "", err
	}
	root, err := s.open(true)
	if err != nil {
		return Question{}, "", err
	}
	defer root.Close()
	q := Question{Pending: p, Until: now.Add(rules.life()).Truncate(time.Second).UTC(), Nonce: token(32)}
	open, err := s.questions(root)
	if err != nil {
		return Question{}, "", err
	}
	n := 0
	for _, other := range open {
		switch {
		case !now.Before(other.Until):
		case other.Pending.Call == p.Call:
			return other, "", nil
		default:
			n++
		}
	}
	if n >= maxQuestions {
		return Question{}, "", fmt.Errorf("%d questions are open already", n)
	}
	said := text(q.Until)
	q.Shown = ShownDigest(said)
	return q, said, s.write(root, questionsDir, p.Call.Digest(), q.encode())
}

// ShownDigest is the digest of a text that people were shown, as a statement has it.
func ShownDigest(text string) string { return digestPrefix + sum("shown", []byte(text)) }

// Withdraw takes a question back that reached nobody.
func (s Store) Withdraw(q Question) error {
	root, err := s.open(false)
	if err != nil {
		return err
	}
	defer root.Close()
	_, err = s.claim(root, questionsDir, q.Pending.Call.Digest())
	return err
}

// Asked returns the question that was put about the call of a decision, and the answer if
// there is one; nil: there is none. A question whose time is over is fs.ErrNotExist.
func (s Store) Asked(ev *hook.Event, d *hook.Decision) (Question, *Answer, error) {
	call, err := CallOf(ev, d)
	if err != nil {
		return Question{}, nil, err
	}
	root, err := s.open(false)
	if err != nil {
		return Question{}, nil, err
	}
	defer root.Close()
	now, err := s.Clock(ev.Gate.Now)
	if err != nil {
		return Question{}, nil, err
	}
	q, err := s.readQuestion(root, call.Digest())
	if err == nil && !now.Before(q.Until) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return Question{}, nil, err
	}
	a, err := s.readAnswer(root, answeredDir, call.Digest(), call.Digest())
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && a.Question.Nonce != q.Nonce:
		return q, nil, nil
	case err != nil:
		return q, nil, err
	}
	return q, &a, nil
}

// Question returns the question that was put under a decision's id. There is none under an
// id that is unknown, or whose answer was used: fs.ErrNotExist.
func (s Store) Question(id string) (Question, error) {
	root, err := s.open(false)
	if err != nil {
		return Question{}, err
	}
	defer root.Close()
	list, err := s.questions(root)
	for _, q := range list {
		if q.Pending.ID == id {
			return q, nil
		}
	}
	if err == nil {
		err = fs.ErrNotExist
	}
	return Question{}, err
}

// Questions lists the questions of which the time is not over at now. Records that are
// broken are in the error, joined.
func (s Store) Questions(now time.Time) (open []Question, err error) {
	root, err := s.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list, err := s.questions(root)
	for _, q := range list {
		if now.Before(q.Until) {
			open = append(open, q)
		}
	}
	return open, err
}

// Answer takes an approver's answer to the question of a decision. Whoever brings it does
// not matter: the signature is what counts. The first answer that counts is the only one.
func (s Store) Answer(id string, yes bool, signature []byte, rules Approvals, now time.Time) (Answer, error) {
	q, err := s.Question(id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Answer{}, NoQuestion
	case err != nil:
		return Answer{}, err
	}
	a := Answer{Question: q, Yes: yes, Signature: signature}
	if a.At, err = s.Clock(now); err != nil {
		return a, err
	}
	if a.Who, err = a.holds(rules, a.At); err != nil {
		return a, err
	}
	root, err := s.open(false)
	if err != nil {
		return a, err
	}
	defer root.Close()
	// The record is whole before the question counts as answered: on a full disk it stays open.
	draft, err := s.draft(root, answeredDir, a.encode())
	if err != nil {
		return a, err
	}
	if _, err := s.claim(root, pendingDir, id); err != nil {
		root.Remove(draft)
		if errors.Is(err, fs.ErrNotExist) {
			err = s.answeredAlready(root, q)
		}
		return a, err
	}
	return a, s.place(root, draft, answeredDir, q.Pending.Call.Digest())
}

// answeredAlready says why a question waits for no answer any more.
func (s Store) answeredAlready(root *os.Root, q Question) error {
	digest := q.Pending.Call.Digest()
	if a, err := s.readAnswer(root, answeredDir, digest, digest); err == nil && a.Question.Nonce == q.Nonce {
		return fmt.Errorf("%w: %s said %s at %s", Answered, a.Who, Word(a.Yes), stamp(a.At))
	}
	return Answered
}

// holds returns who answered, or why the answer does not count at a time.
func (a Answer) holds(rules Approvals, at time.Time) (who string, err error) {
	switch {
	case !rules.Enabled:
		return "", Off
	case rules.Elsewhere == nil:
		return "", NoApprovers
	case len(a.Signature) > maxArmour:
		return "", BadKey
	case !at.Before(a.Question.Until):
		return "", Expired
	case a.Question.Until.Sub(a.Question.Pending.Asked) > maxLife+clockSkew:
		return "", fmt.Errorf("the question %s was open until %s; gate asks no such question", a.Question.Pending.ID, stamp(a.Question.Until))
	}
	if who, err = rules.Elsewhere(a.Question.Statement(a.Yes), a.Signature, at); err != nil {
		return "", fmt.Errorf("%w: %w", BadKey, err)
	}
	return who, nil
}

// UseAnswer returns who said yes to this very call from elsewhere, and uses the answer up,
// as [Store.Use] does with an approval. A no is [SaidNo], and is used up by nothing but time.
func (s Store) UseAnswer(ev *hook.Event, d *hook.Decision, rules Approvals) (who string, err error) {
	asked := causes(d)
	switch {
	case !rules.Enabled:
		return "", Off
	case len(asked) == 0:
		return "", NotAsked
	}
	call, err := CallOf(ev, d)
	if err != nil {
		return "", err
	}
	root, err := s.open(false)
	if errors.Is(err, fs.ErrNotExist) {
		return "", NoApproval
	}
	if err != nil {
		return "", err
	}
	defer root.Close()
	name := call.Digest()
	a, err := s.readAnswer(root, answeredDir, name, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", NoApproval
	}
	if err != nil {
		return "", err
	}
	now, err := s.Clock(ev.Gate.Now)
	if err == nil {
		who, err = a.covers(asked, rules, now)
	}
	if err != nil {
		return who, err
	}
	claimed, err := s.claim(root, answeredDir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", Used
	}
	if err != nil {
		return "", err
	}
	// What counts is what was claimed: it may be a later one than was read.
	if a, err = s.readAnswer(root, claimsDir, claimed, name); err != nil {
		return "", err
	}
	if who, err = a.covers(asked, rules, now); err != nil {
		return "", err
	}
	// The next call like this is a new question. That this fails only leaves it closed.
	s.claim(root, questionsDir, name)
	return who, nil
}

// covers reports why an answer does not let its call pass, and who gave it.
func (a Answer) covers(asked []Cause, rules Approvals, now time.Time) (who string, err error) {
	if who, err = a.holds(rules, now); err != nil {
		return "", err
	}
	for _, c := range asked {
		if !slices.Contains(a.Question.Pending.Reasons, c) {
			return "", OtherCause
		}
	}
	if !a.Yes {
		return who, SaidNo
	}
	return who, nil
}

func (s Store) questions(root *os.Root) (list []Question, err error) {
	names, err := s.names(root, questionsDir)
	errs := []error{err}
	for _, name := range names {
		if !isDigest(name) {
			errs = append(errs, s.wrap(path.Join(questionsDir, clip(name)), errors.New("it is not gate's")))
			continue
		}
		q, err := s.readQuestion(root, name)
		switch {
		case err == nil:
			list = append(list, q)
		case !errors.Is(err, fs.ErrNotExist): // swept in between
			errs = append(errs, err)
		}
	}
	return list, errors.Join(errs...)
}

func (s Store) readQuestion(root *os.Root, digest string) (Question, error) {
	return readRecord(s, root, questionsDir, digest, decodeQuestion, func(q Question) error {
		return sameName(q.Pending.Call.Digest(), digest, "call")
	})
}

func (s Store) readAnswer(root *os.Root, dir, name, digest string) (Answer, error) {
	return readRecord(s, root, dir, name, decodeAnswer, func(a Answer) error {
		return sameName(a.Question.Pending.Call.Digest(), digest, "call")
	})
}

func (q Question) tree() map[string]any {
	return map[string]any{"pending": q.Pending.encode(), "until": stamp(q.Until), "nonce": q.Nonce, "shown": q.Shown}
}

func (q Question) encode() []byte { return seal("question", q.tree()) }

func decodeQuestion(data []byte) (Question, error) {
	f, err := unseal("question", data)
	if err != nil {
		return Question{}, err
	}
	q := questionFrom(f)
	return q, f.done()
}

func questionFrom(f *fields) Question {
	pending := f.object("pending")
	q := Question{Pending: pendingFrom(pending), Until: f.time("until"), Nonce: f.text("nonce"), Shown: f.text("shown")}
	f.include("pending", pending)
	if err := checkDigest(q.Shown); err != nil {
		f.fail("shown: %w", err)
	}
	if len(q.Nonce) != 32 || strings.Trim(q.Nonce, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
		f.fail("nonce is none of gate's")
	}
	if !q.Until.Equal(q.Until.Truncate(time.Second)) {
		f.fail("until is not in whole seconds")
	}
	return q
}

func (a Answer) encode() []byte {
	return seal("answer", map[string]any{
		"question": a.Question.tree(), "answer": Word(a.Yes), "signature": string(a.Signature), "who": a.Who, "at": stamp(a.At),
	})
}

func decodeAnswer(data []byte) (Answer, error) {
	f, err := unseal("answer", data)
	if err != nil {
		return Answer{}, err
	}
	question := f.object("question")
	a := Answer{Question: questionFrom(question), Signature: []byte(f.text("signature")), Who: f.text("who"), At: f.time("at")}
	f.include("question", question)
	word := f.text("answer")
	if a.Yes = word == Word(true); !a.Yes && word != Word(false) {
		f.fail("answer is neither yes nor no")
	}
	return a, f.done()
}
