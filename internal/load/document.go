package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// Limits of a document, so that no file of ours is a way to stop gate.
const (
	maxDepth = 32
	maxKeys  = 20_000
)

// formats are the endings of a file in the order in which people are told.
var formats = []string{".json", ".toml", ".yaml", ".yml"}

// A document is a file of one of the formats as the JSON tree that it stands
// for. lines holds the line of each key and element by JSON pointer.
type document struct {
	file  string
	value map[string]any
	lines map[string]int
}

// line returns the line of a JSON pointer, or of what is next above it.
func (d *document) line(pointer string) int {
	for {
		if n := d.lines[pointer]; n > 0 {
			return n
		}
		i := strings.LastIndexByte(pointer, '/')
		if i < 0 {
			return 1
		}
		pointer = pointer[:i]
	}
}

func (d *document) pos(pointer string) string { return fmt.Sprintf("%s:%d", d.file, d.line(pointer)) }

// A mistake is an error at a line.
type mistake struct {
	error
	line int
}

func (m mistake) Unwrap() error { return m.error }

// errorf makes an error about the value at a pointer.
func (d *document) errorf(pointer, format string, args ...any) error {
	return mistake{fmt.Errorf("%s: %w", d.pos(pointer), fmt.Errorf(format, args...)), d.line(pointer)}
}

// withoutLine is a mistake without the line that it is at.
func withoutLine(err error) error {
	m, placed := err.(mistake)
	if inner := errors.Unwrap(m.error); placed && inner != nil {
		return inner
	}
	return err
}

// inOrder sorts mistakes of one document by line.
func inOrder(errs []error) []error {
	line := func(err error) int {
		m, _ := err.(mistake)
		return m.line
	}
	slices.SortFunc(errs, func(a, b error) int {
		return cmp.Or(line(a)-line(b), strings.Compare(a.Error(), b.Error()))
	})
	return errs
}

// below extends a JSON pointer by one key.
func below(pointer, key string) string {
	return pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

func element(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

// decode reads a file by the ending of its name. It refuses what two readers
// could understand differently, in every format alike: duplicate keys, keys
// that only look alike, more than one document, and an empty one.
func decode(file string, data []byte) (*document, error) {
	d := &document{file: file, lines: map[string]int{}}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s:1: the file is empty; remove it if nothing is to be said", file)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d bytes", file, maxFile)
	}
	var err error
	switch path.Ext(file) {
	case ".json":
		err = d.json(data)
	case ".toml":
		err = d.toml(data)
	case ".yaml", ".yml":
		err = d.yaml(data)
	default:
		return nil, fmt.Errorf("%s: neither JSON nor TOML nor YAML by its name", file)
	}
	if err == nil && len(d.value) == 0 && path.Ext(file) != ".json" {
		err = fmt.Errorf("%s:1: the file is empty; remove it if you mean that", file)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (d *document) json(data []byte) (err error) {
	d.value, err = strictjson.Object(data, strictjson.Limits{Bytes: maxFile, Depth: maxDepth, Keys: maxKeys})
	if err != nil {
		return fmt.Errorf("%s:%d: %w", d.file, errorLine(data, err), err)
	}
	d.lines = linesOf(data)
	return nil
}

var byteOffset = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`byte (\d+)`) })

// errorLine finds the line that an error of package strictjson means: by the
// offset it names, else that of the first key with a twin.
func errorLine(data []byte, err error) int {
	lines := newLineIndex(data)
	if m := byteOffset().FindStringSubmatch(err.Error()); m != nil {
		n, _ := strconv.Atoi(m[1])
		return lines.at(n)
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	seen := map[string]bool{}
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return 1
		}
		depth := dec.StackDepth()
		if kind, n := dec.StackIndex(depth); tok.Kind() != '"' || kind != '{' || n%2 == 0 {
			continue // no key
		}
		folded := strictjson.Fold(string(dec.StackPointer()))
		if seen[folded] {
			return lines.at(int(dec.InputOffset()) - 1)
		}
		seen[folded] = true
	}
}

// A lineIndex holds the offsets of line feeds.
type lineIndex []int

func newLineIndex(data []byte) lineIndex {
	var ends lineIndex
	for i, c := range data {
		if c == '\n' {
			ends = append(ends, i)
		}
	}
	return ends
}

// at returns the line, from 1, of a byte.
func (l lineIndex) at(offset int) int {
	n, _ := slices.BinarySearch(l, offset)
	return n + 1
}

// keys finds twins among the keys of one object, whatever their format.
type keys map[string]string

func (k keys) add(key string) error {
	folded := strictjson.Fold(key)
	old, taken := k[folded]
	switch {
	case taken && old == key:
		return fmt.Errorf("key %q is there twice", key)
	case taken:
		return fmt.Errorf("keys %q and %q look alike", old, key)
	}
	k[folded] = key
	return nil
}

// find reads the one file called stem in a directory, in whatever format. It
// returns nil if there is none; two are an error, because nobody could say
// which counts.
func find(fsys fs.FS, stem, where string) (*document, []byte, error) {
	var found []string
	for _, ext := range formats {
		switch _, err := fs.Lstat(fsys, stem+ext); {
		case err == nil:
			found = append(found, stem+ext)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, nil, fmt.Errorf("%s: %w", path.Join(where, stem+ext), hostfs.Reason(err))
		}
	}
	switch len(found) {
	case 0:
		return nil, nil, nil
	case 1:
		return read(fsys, found[0], where)
	}
	return nil, nil, fmt.Errorf("%s: there is also %s; keep one", path.Join(where, found[0]), strings.Join(found[1:], " and "))
}

// read reads and decodes one file.
func read(fsys fs.FS, name, where string) (*document, []byte, error) {
	shown := path.Join(where, name)
	text, err := readText(fsys, name, shown)
	if err != nil {
		return nil, nil, err
	}
	d, err := decode(shown, []byte(text))
	return d, []byte(text), err
}

// readText reads one file; shown is its name for people.
func readText(fsys fs.FS, name, shown string) (string, error) {
	l := &loader{wanted: isPolicyFile}
	target := name
	if info, err := fs.Lstat(fsys, name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if target, err = l.target(fsys, name, true); err != nil || target == "" {
			return "", fmt.Errorf("%s: a symbolic link out of its directory; put the file itself here", shown)
		}
	}
	text, err := l.readFile(fsys, target, maxFile)
	if err != nil {
		return "", fmt.Errorf("%s: %w", shown, hostfs.Reason(err))
	}
	return text, nil
}

// loadFaults turns joined errors into faults, one each.
func loadFaults(errs ...error) []hook.Fault {
	var out []hook.Fault
	for _, err := range errs {
		if err == nil {
			continue
		}
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			out = append(out, loadFaults(joined.Unwrap()...)...)
			continue
		}
		out = append(out, hook.Fault{Kind: hook.FaultLoad, Err: err})
	}
	return out
}
