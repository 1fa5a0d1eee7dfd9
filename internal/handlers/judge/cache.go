package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gate/hook"
	"gate/internal/hostfs"
	"gate/internal/setting"
	"gate/internal/strictjson"
)

// A cache keeps verdicts, one file each, in a directory that only this account
// can use. What it cannot read it does not know, and what it cannot write is
// asked again. It is safe for concurrent use, by several processes, too.
type cache struct{ dir string }

// Limits of the cache.
const (
	maxKept     = 1000    // files; then the oldest go
	maxKeptSize = 8 << 10 // bytes of one
	cacheForm   = 1
)

// path is the file of a verdict: named after all that it depends on.
func (c cache) path(key []any) string {
	sum := sha256.Sum256(strictjson.Append(nil, key))
	return filepath.Join(c.dir, hex.EncodeToString(sum[:]))
}

// get returns the verdict for the same question, if it is not older than keep.
func (c cache) get(key []any, now time.Time, keep time.Duration) (Ruling, bool) {
	if c.dir == "" || keep <= 0 || c.check() != nil {
		return Ruling{}, false
	}
	data, err := readPrivate(c.path(key))
	if err != nil {
		return Ruling{}, false
	}
	doc, err := strictjson.Object(data, limits(maxKeptSize))
	if err != nil || len(doc) != 6 {
		return Ruling{}, false
	}
	made, err := time.Parse(time.RFC3339Nano, text(doc["made"]))
	if age := now.Sub(made); err != nil || age < 0 || age > min(keep, setting.MaxKeep) || doc["v"] != json.Number("1") {
		return Ruling{}, false
	}
	ok, isBool := doc["ok"].(bool)
	r := Ruling{OK: ok, Reason: text(doc["reason"])}
	if !isBool || ok != (r.Reason == "") || len(r.Reason) > MaxReason+len("…") {
		return Ruling{}, false
	}
	r.Usage = hook.Usage{Turns: 1, InputTokens: number(doc["input"]), OutputTokens: number(doc["output"])}
	return r, true
}

func text(v any) string { s, _ := v.(string); return s }

func number(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return max(i, 0)
}

// put keeps a verdict. The file appears whole.
func (c cache) put(key []any, r Ruling, now time.Time, keep time.Duration) {
	if c.dir == "" || keep <= 0 || os.MkdirAll(c.dir, 0o700) != nil || c.check() != nil {
		return
	}
	c.prune()
	doc := map[string]any{
		"v": cacheForm, "made": now.UTC().Format(time.RFC3339Nano), "ok": r.OK, "reason": r.Reason,
		"input": r.Usage.InputTokens, "output": r.Usage.OutputTokens,
	}
	f, err := os.CreateTemp(c.dir, "new-") // mode 0600
	if err != nil {
		return
	}
	_, err = f.Write(strictjson.Append(nil, doc))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.path(key))
	}
	if err != nil {
		os.Remove(f.Name())
	}
}

// check reports a directory that others may use, or that is none.
func (c cache) check() error {
	info, err := os.Lstat(c.dir)
	if err == nil && !info.IsDir() {
		err = errors.New("no directory")
	}
	if err == nil {
		err = hostfs.Private(info)
	}
	return err
}

// readPrivate reads a small file of this account's.
func readPrivate(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|hostfs.OpenFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no regular file")
	}
	if err == nil {
		err = hostfs.Private(info)
	}
	if err != nil {
		return nil, err
	}
	return hostfs.ReadAll(f, maxKeptSize)
}

// prune removes the oldest files where there are too many.
func (c cache) prune() {
	entries, err := os.ReadDir(c.dir)
	if err != nil || len(entries) < maxKept {
		return
	}
	type kept struct {
		path string
		when time.Time
	}
	var list []kept
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Type() != fs.ModeDir {
			list = append(list, kept{filepath.Join(c.dir, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b kept) int { return a.when.Compare(b.when) })
	for _, k := range list[:max(len(list)-maxKept*9/10, 0)] {
		os.Remove(k.path)
	}
}
