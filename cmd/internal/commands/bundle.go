package commands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/bundles"
	"gate/internal/hostfs"
	"gate/internal/sealed"
	"gate/internal/strictjson"
)

func newBundle(p process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bundle",
		Short: "pack, sign and verify policy bundles",
		Long: "Packs policies into OPA's bundle format, signs bundles, and looks at them as\n" +
			"strictly as a machine that takes them. docs/bundles.md describes the formats.",
		Args: subcommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBundleInit(p), newBundleBuild(p), byServer(newBundlePush(p)), byServer(newBundlePull(p)), newBundleSign(p), newBundleVerify(p), newBundleInspect(p), newBundleDiff(p),
		byServer(newBundleInstall(p)), newBundleRollback(), newBundleRepublish(p), newBundleChannel(p), newBundleRecovery(p), newBundleMachine(p))
	return cmd
}

// envelopeSuffix makes the name of the envelope that lies beside a bundle.
const envelopeSuffix = ".gate.json"

// A bundleFile is a bundle as it lies in a directory.
type bundleFile struct {
	path              string
	archive, envelope []byte // the envelope is nil if there is none
}

// readBundle reads a bundle and the envelope beside it.
func readBundle(path string) (b bundleFile, err error) {
	b.path = path
	if b.archive, err = readFile(path, maxArchive); err != nil {
		return b, err
	}
	b.envelope, err = readFile(path+envelopeSuffix, maxSealed)
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	return b, err
}

const (
	maxArchive = 64 << 20 // more than a bundle may have, so that package bundles says so
	maxSealed  = 2 << 20  // of a key set or an envelope
)

// readFile reads a file that a person named, of a limited size.
func readFile(path string, limit int) ([]byte, error) {
	data, err := hostfs.Files{}.ReadFile(filepath.ToSlash(path), limit)
	return data, hostfs.At(path, err)
}

// isDir returns why what a person named is no directory.
func isDir(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return hostfs.At(path, err)
	}
	return nil
}

// refused says why a file is refused, one line and one hint for each reason, and
// ends the command. Other errors stay errors.
func refused(p process, path string, asJSON bool, err error) error {
	list := bundles.Refusals(err)
	if len(list) == 0 {
		return err
	}
	if asJSON {
		return errors.Join(printAll(p, strictjson.Indent(map[string]any{
			"file": path, "ok": false, "refusals": refusalDocuments(list),
		})), exitWith(exitRefused))
	}
	var hint string
	for _, r := range list {
		fmt.Fprintf(p.stderr, "gate: %s: refused: %s\n", visible(path), oneRefusal(r))
		if h := r.Reason.Hint(); h != "" && h != hint {
			hint = h
			fmt.Fprintf(p.stderr, "gate: hint: %s\n", h)
		}
	}
	return exitWith(exitRefused)
}

// oneRefusal is a refusal in one line; several mistakes in a file follow each
// other.
func oneRefusal(r *bundles.Refusal) string {
	return oneLine(strings.ReplaceAll(r.Error(), "\n", "; "))
}

func refusalDocuments(list []*bundles.Refusal) []any {
	docs := []any{}
	for _, r := range list {
		doc := map[string]any{
			"reason": string(r.Reason), "sentence": r.Reason.Sentence(), "hint": r.Reason.Hint(),
			"file": r.File, "detail": nil,
		}
		if r.Err != nil {
			doc["detail"] = visible(r.Err.Error())
		}
		docs = append(docs, doc)
	}
	return docs
}

// signatureDocuments and signatureLines show signatures.
func signatureDocuments(list []sealed.Signature) []any {
	docs := []any{}
	for _, s := range list {
		docs = append(docs, map[string]any{
			"key": s.Key, "algorithm": string(s.Algorithm), "detached": s.Detached,
			"counts": s.Counts, "reason": string(s.Reason), "detail": s.Detail,
		})
	}
	return docs
}

func signatureLine(s sealed.Signature) string {
	where := "inside"
	if s.Detached {
		where = "in the envelope"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", orUnnamed(s.Key), s.Algorithm, where))
}

func orUnnamed(key string) string {
	if key == "" {
		return "(an unnamed key)"
	}
	return visible(key)
}

// manifestDocument is what a bundle says about itself.
func manifestDocument(m bundles.Manifest) map[string]any {
	doc := map[string]any{
		"name": m.Gate.Name, "version": m.Gate.Version, "expires": nil, "labels": append([]string{}, m.Gate.Audience...),
		"audience": append([]string{}, m.Gate.Audience...), // as earlier releases said it
		"min_gate": m.Gate.MinGate, "facts": max(m.Gate.Facts, 1), "previous": m.Gate.Previous, "revision": m.Revision, "roots": append([]string{}, m.Roots...),
	}
	if !m.Gate.Expires.IsZero() {
		doc["expires"] = m.Gate.Expires.UTC().Format(time.RFC3339)
	}
	return doc
}

// manifestLines show it to people.
func manifestLines(b *strings.Builder, m bundles.Manifest) {
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintf(b, "  %-10s %s\n", what, visible(value))
		}
	}
	line("revision", m.Revision)
	line("roots", strings.Join(m.Roots, ", "))
	line("labels", strings.Join(m.Gate.Audience, ", "))
	if !m.Gate.Expires.IsZero() {
		line("expires", m.Gate.Expires.UTC().Format(time.RFC3339))
	}
	line("min_gate", m.Gate.MinGate)
	if m.Gate.Facts > 1 {
		line("facts", strconv.FormatInt(m.Gate.Facts, 10))
	}
	line("previous", m.Gate.Previous)
}

// timeGiven reads a time: RFC 3339, a day, or a number of days from now, as 90d.
func timeGiven(text string, now time.Time) (time.Time, error) {
	var days int
	if n, err := fmt.Sscanf(text, "%dd", &days); n == 1 && err == nil && text == fmt.Sprintf("%dd", days) {
		return now.AddDate(0, 0, days).UTC().Truncate(time.Second), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC().Truncate(time.Second), nil
		}
	}
	return time.Time{}, usageError(quoted(text) + " is no time; give 2027-01-31, 2027-01-31T12:00:00Z or 90d")
}
