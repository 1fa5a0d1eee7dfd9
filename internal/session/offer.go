package session

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// OfferName is the name of the file in which MassGen's orchestrator has a text for a
// running agent. It replaces the file as a whole, and takes back what nobody fetched.
const OfferName = "hook_post_tool_use.json"

// An Offer is a text for a running agent that stands in a file of an orchestrator's.
type Offer struct {
	Text     string
	Strategy hook.Strategy // "" is hook.ToolResult
	Matcher  string        // as MassGen writes it: Python's fnmatch patterns with "|" between them
	Expires  time.Time     // zero: never
	Sequence int64         // a session takes none that is not higher than the last; 0: it has none

	dir, name string
	data      string // of the file, to know it again
}

// offersFor are the names below an injector's directory at which a text for a session can
// stand: one for this session, and one for whoever comes first.
func offersFor(id string) []string {
	if plainID(id) {
		return []string{path.Join(id, OfferName), OfferName}
	}
	return []string{OfferName}
}

// plainID reports the name of a session that can be that of a directory.
func plainID(id string) bool {
	odd := func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return id != "" && len(id) <= 128 && id[0] != '.' && strings.IndexFunc(id, odd) < 0
}

// Offered reports whether a text for a session may stand in an injector's directory. What
// cannot be told counts as yes, so that it is found out.
func Offered(dir, id string) bool {
	for _, name := range offersFor(id) {
		if !hostfs.Missing(filepath.Join(dir, filepath.FromSlash(name))) {
			return true
		}
	}
	return false
}

// Offers reads the texts for a session in an injector's directory. An error is about one
// file, which stays where it is.
func Offers(dir, id string) (offers []Offer, errs []error) {
	for _, name := range offersFor(id) {
		o, err := readOffer(dir, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", filepath.Join(dir, filepath.FromSlash(name)), hostfs.Reason(err)))
		default:
			offers = append(offers, o)
		}
	}
	return offers, errs
}

// Place is the file that the text stands in.
func (o *Offer) Place() string { return filepath.Join(o.dir, filepath.FromSlash(o.name)) }

// Take takes the text away from its place, for this process alone: of any number that
// try, it succeeds for one. taken is false if somebody else was faster, or the
// orchestrator has put another text there, which waits for the next event.
func (o *Offer) Take() (taken bool, err error) {
	root, err := hostfs.OpenDir(o.dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	var mark [8]byte
	rand.Read(mark[:]) // never fails
	own := fmt.Sprintf("%s.taken-%x", o.name, mark)
	if err := root.Rename(o.name, own); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, fmt.Errorf("%s: %w", o.Place(), hostfs.Reason(err))
	}
	now, err := readOffer(o.dir, own)
	if err == nil && now.data == o.data {
		return true, root.Remove(own)
	}
	// A newer text at the place is what the orchestrator wants to have said.
	if err := root.Link(own, o.name); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, fmt.Errorf("%s: it stands in %s now: %w", o.Place(), own, hostfs.Reason(err))
	}
	return false, root.Remove(own)
}

// maxOffer bounds the file, in bytes.
const maxOffer = 64 << 10

func readOffer(dir, name string) (Offer, error) {
	data, err := readGiven(dir, name)
	if err != nil {
		return Offer{}, err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: maxOffer, Depth: 4, Keys: 16})
	if err != nil {
		return Offer{}, err
	}
	r := &reader{}
	o := Offer{dir: dir, name: name, data: string(data)}
	inject := r.object(doc, "inject")
	o.Text = r.string("inject.content", inject["content"])
	if v, ok := inject["strategy"]; ok {
		o.Strategy = hook.Strategy(r.string("inject.strategy", v))
	}
	if v, ok := doc["tool_matcher"]; ok && v != nil {
		o.Matcher = r.string("tool_matcher", v)
	}
	o.Expires = r.seconds(doc["expires_at"])
	if v, ok := doc["sequence"]; ok && v != nil {
		o.Sequence = r.int("sequence", v)
	}
	r.known("file", doc, "inject", "tool_matcher", "expires_at", "sequence")
	r.known("inject", inject, "content", "strategy")
	if r.err == nil {
		r.err = o.check()
	}
	return o, r.err
}

// readGiven reads a small file that this account has and nobody else may write, where
// another program put it.
func readGiven(dir, name string) ([]byte, error) {
	root, err := hostfs.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if above := path.Dir(name); above != "." {
		info, err := root.Lstat(above)
		if err == nil && !info.IsDir() {
			err = errors.New("it lies in no directory")
		}
		if err == nil {
			err = errors.Join(hostfs.Own(info), hostfs.Steady(info))
		}
		if err != nil {
			return nil, err
		}
	}
	f, err := root.OpenFile(name, os.O_RDONLY|hostfs.OpenFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	}
	if err := errors.Join(hostfs.Own(info), hostfs.Steady(info)); err != nil {
		return nil, err
	}
	data, err := hostfs.ReadAll(f, maxOffer)
	if err == hostfs.TooLarge(maxOffer) {
		err = fmt.Errorf("it is %w", err)
	}
	return data, err
}

// check holds the text to what holds for all that waits for a session.
func (o *Offer) check() error {
	switch {
	case strings.TrimSpace(o.Text) == "":
		return errors.New("inject.content: there is no text")
	case len(o.Text) > MaxText:
		return fmt.Errorf("inject.content has more than %d bytes", MaxText)
	case !utf8.ValidString(o.Text):
		return errors.New("inject.content is not UTF-8")
	case len(o.Matcher) > maxMatcher:
		return fmt.Errorf("tool_matcher has more than %d bytes", maxMatcher)
	case o.Strategy != "" && o.Strategy != hook.ToolResult && o.Strategy != hook.UserMessage:
		return fmt.Errorf("inject.strategy must be %s or %s", hook.ToolResult, hook.UserMessage)
	}
	return nil
}

// seconds reads a moment as Python's time.time gives it.
func (r *reader) seconds(v any) time.Time {
	if v == nil {
		return time.Time{}
	}
	n, _ := v.(json.Number)
	s, err := n.Float64()
	if err != nil || s <= 0 || s > 1<<40 {
		r.fail("expires_at", "it is no time in seconds since 1970")
		return time.Time{}
	}
	whole, part := math.Modf(s)
	return time.Unix(int64(whole), int64(part*1e9)).UTC()
}

// known refuses members that nobody knows: somebody relies on them.
func (r *reader) known(key string, doc map[string]any, names ...string) {
	left := len(doc)
	for _, name := range names {
		if _, ok := doc[name]; ok {
			left--
		}
	}
	if left > 0 {
		r.fail(key, "there are members besides %s", strings.Join(names, ", "))
	}
}
