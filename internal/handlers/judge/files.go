package judge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"gate/internal/audit"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// Limits of an investigation.
const (
	maxFile    = 1 << 20  // bytes of a file that is read
	maxResult  = 32 << 10 // bytes of one result
	maxResults = 1 << 20  // bytes of all results
	maxUses    = 16       // tools of one turn
	maxVisits  = 20_000   // files that one search looks at
	maxScanned = 32 << 20 // bytes that one search reads
	maxFound   = 200      // lines that one search returns
	maxInput   = 16 << 10 // bytes of a tool's input
)

// files are what an investigation may see: the regular files below one
// directory, as long as no symbolic link and no secret is on the way.
type files struct {
	root   *os.Root
	dir    string
	secret func(string) bool
	masker *audit.Masker
	left   int // bytes that results may still have

	tools      []Tool // that are offered
	transcript string // the file with the conversation, "" if the agent names none
}

func openFiles(dir string, secret func(string) bool, m *audit.Masker) (*files, error) {
	if !filepath.IsAbs(dir) {
		return nil, errors.New("it is not known where it is")
	}
	root, err := hostfs.OpenDir(dir)
	if err != nil {
		return nil, hostfs.Reason(err)
	}
	return &files{root: root, dir: dir, secret: secret, masker: m, left: maxResults}, nil
}

func (f *files) close() { f.root.Close() }

// answer runs the tools of one turn.
func (f *files) answer(ctx context.Context, calls []ToolCall, d *data) []ToolResult {
	out := make([]ToolResult, len(calls))
	for i, c := range calls {
		text, err := "", errors.New("too many tools at once")
		if i < maxUses {
			text, err = f.use(ctx, c)
		}
		if err != nil {
			text = "error: " + visibleLine(f.masker.Text(clip(err.Error(), maxMessage)))
		}
		if f.left -= len(text); f.left < 0 {
			text, err = "error: nothing more is read for this question; answer now", ErrTooMuch
		}
		out[i] = ToolResult{c.ID, d.fence("result of "+toolName(c.Name), text), err != nil}
	}
	return out
}

// use runs one tool. Its result is lines that begin with a number or a quote.
func (f *files) use(ctx context.Context, c ToolCall) (string, error) {
	for i := range f.tools {
		if f.tools[i].Name != c.Name {
			continue
		}
		in, err := f.tools[i].read(c.Input)
		if err != nil {
			return "", err
		}
		return f.tools[i].run(f, ctx, in)
	}
	return "", errors.New("there is no such tool; there are " + namesOf(f.tools))
}

// local is a path within the project, in slashes.
func (f *files) local(name string) (string, error) {
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(f.dir, name)
		if err != nil {
			return "", errors.New("only files of the project can be read")
		}
		name = rel
	}
	name = path.Clean(filepath.ToSlash(name))
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", errors.New("only files of the project can be read")
	}
	for i, c := range name + "/" {
		if c != '/' {
			continue
		}
		info, err := f.root.Lstat(filepath.FromSlash(name[:i]))
		if err != nil {
			return "", hostfs.Reason(err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return "", errors.New("a symbolic link is not followed")
		}
	}
	if f.hidden(name) {
		return "", errHidden
	}
	return name, nil
}

var errHidden = errors.New("it may hold secrets and cannot be read")

// hidden reports files that nobody is shown.
func (f *files) hidden(name string) bool {
	return f.secret == nil || f.secret(filepath.Join(f.dir, filepath.FromSlash(name)))
}

// text reads a file as it may be shown: without secrets and without characters
// that nobody sees.
func (f *files) text(name string) (string, error) {
	file, err := f.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|hostfs.OpenFlags, 0)
	if err != nil {
		return "", hostfs.Reason(err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", hostfs.Reason(err)
	case !info.Mode().IsRegular():
		return "", errors.New("it is no regular file")
	case info.Size() > maxFile:
		return "", fmt.Errorf("it has %d KiB, and %d KiB can be read", info.Size()>>10, maxFile>>10)
	}
	data, err := hostfs.ReadAll(file, maxFile)
	switch {
	case err == hostfs.TooLarge(maxFile):
		return "", errors.New("it grows while it is read")
	case err != nil:
		return "", hostfs.Reason(err)
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return "", errors.New("it is no text")
	}
	return strictjson.Visible(f.masker.Text(string(data))), nil
}

// readFile is the tool Read.
func (f *files) readFile(_ context.Context, in input) (string, error) {
	name, err := f.local(in.text("path"))
	if err != nil {
		return "", err
	}
	if info, err := f.root.Lstat(filepath.FromSlash(name)); err != nil || !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	text, err := f.text(name)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	from := max(in.number("from"), 1)
	n := 0
	for line := range strings.Lines(text) {
		if n++; n < from {
			continue
		}
		shown := fmt.Sprintf("%d\t%s\n", n, clip(strings.TrimRight(line, "\n"), maxLine))
		if b.Len()+len(shown) > maxResult {
			fmt.Fprintf(&b, "%d\t… and more; go on with from\n", n)
			break
		}
		b.WriteString(shown)
	}
	if b.Len() == 0 {
		return fmt.Sprintf("%d\t(no more lines)\n", n), nil
	}
	return b.String(), nil
}

const maxLine = 2000 // bytes of a line that is shown
