package sealed

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"gate/internal/strictjson"
)

// Names of the files that OPA gives a meaning.
const (
	ManifestFile   = ".manifest"
	SignaturesFile = ".signatures.json"
	DataFile       = "data.json"
)

const (
	maxName = 255  // bytes of one part of a path
	maxPath = 1024 // bytes of a whole path
	MaxDeep = 32   // directories in one another
)

// entryName is the name of an archive's entry within the bundle. One "/" or
// "./" in front is taken, because opa build and tar write it; nothing is ever
// written outside of a directory for it. It returns "" for the bundle's root.
func entryName(raw string, isDir bool) (string, error) {
	name := raw
	if isDir {
		name = strings.TrimSuffix(name, "/")
	}
	if name == "." || name == "" && isDir {
		return "", nil
	}
	if rest, ok := strings.CutPrefix(name, "./"); ok {
		name = rest
	} else {
		name = strings.TrimPrefix(name, "/")
	}
	if err := checkName(name); err != nil {
		return "", RefuseFile(UnsafeName, Shown(raw), err)
	}
	if err := CheckMeaning(name); err != nil {
		return "", RefuseFile(BadFile, Shown(raw), err)
	}
	return name, nil
}

// checkName refuses what is not the same clean relative path on every system.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("empty")
	case !utf8.ValidString(name):
		return errors.New("not UTF-8")
	case len(name) > maxPath:
		return fmt.Errorf("longer than %d bytes", maxPath)
	case strings.HasPrefix(name, "/"):
		return errors.New("absolute")
	case name != path.Clean(name), name == "..", strings.HasPrefix(name, "../"):
		return errors.New("not a clean path below the bundle")
	case strings.Count(name, "/") >= MaxDeep:
		return fmt.Errorf("more than %d directories in one another", MaxDeep)
	}
	for part := range strings.SplitSeq(name, "/") {
		if err := checkPart(part); err != nil {
			return err
		}
	}
	return nil
}

// checkPart refuses what Windows or a terminal understands as something else.
func checkPart(part string) error {
	if len(part) > maxName {
		return fmt.Errorf("a part longer than %d bytes", maxName)
	}
	for _, r := range part {
		if r < 0x20 || r == 0x7f || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return errors.New("a control or invisible character")
		}
		if strings.ContainsRune(`<>:"|?*\`, r) {
			return fmt.Errorf("the character %q", r)
		}
	}
	if strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasPrefix(part, " ") {
		return errors.New("a part that begins or ends with a blank, or ends with a dot")
	}
	if stem, _, _ := strings.Cut(strings.ToUpper(part), "."); windowsDevice(strings.TrimRight(stem, " ")) {
		return errors.New("a device on Windows")
	}
	return nil
}

func windowsDevice(stem string) bool {
	switch stem {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	rest, ok := strings.CutPrefix(stem, "COM")
	if !ok {
		rest, ok = strings.CutPrefix(stem, "LPT")
	}
	return ok && strings.Contains("0123456789¹²³", rest) && utf8.RuneCountInString(rest) == 1
}

// checkMeaning refuses files that OPA would understand and gate does not: OPA
// takes any name that ends in ".manifest" for the manifest.
func CheckMeaning(name string) error {
	base := path.Base(name)
	switch {
	case name == ManifestFile, name == SignaturesFile:
		return nil
	case strings.HasSuffix(name, ManifestFile), strings.HasSuffix(name, ManifestFile+".pb"):
		return errors.New("a second manifest to OPA")
	case base == SignaturesFile:
		return errors.New("a second signature file to OPA")
	case name == "patch.json":
		return errors.New("delta bundles cannot be signed; build a whole one")
	case base == "data.yaml", base == "data.yml":
		return errors.New("YAML has no one meaning to sign; write data.json")
	}
	return nil
}

// names knows every path of an archive, and which would be one on a file system
// that folds case or composes characters.
type names struct {
	folded map[string]entry
	fold   cases.Caser
	most   int // names, parents included: an archive could name a million of them
}

type entry struct {
	name  string
	isDir bool
	given bool // by an entry of its own, not only as a parent
}

func newNames(most int) *names {
	return &names{folded: map[string]entry{}, fold: cases.Fold(), most: most}
}

// add takes a name and its parents in.
func (n *names) add(name string, isDir bool) error {
	if err := n.put(name, isDir, true); err != nil {
		return err
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if e, ok := n.folded[n.key(dir)]; ok && e.name == dir && e.isDir {
			return nil // its parents are in already
		}
		if err := n.put(dir, true, false); err != nil {
			return err
		}
	}
	return nil
}

func (n *names) put(name string, isDir, given bool) error {
	key := n.key(name)
	old, ok := n.folded[key]
	switch {
	case !ok && len(n.folded) >= n.most:
		return Refuse(TooLarge, "more than %d files and directories", n.most)
	case !ok:
	case old.name != name:
		return RefuseFile(UnsafeName, Shown(name), fmt.Errorf("the same as %s on some file systems", Shown(old.name)))
	case old.isDir != isDir:
		return RefuseFile(UnsafeName, Shown(name), errors.New("a file and a directory"))
	case given && old.given:
		return RefuseFile(UnsafeName, Shown(name), errors.New("it is there twice"))
	}
	n.folded[key] = entry{name: name, isDir: isDir, given: given || old.given}
	return nil
}

// key is equal for names that some file system takes for one.
func (n *names) key(name string) string {
	if ascii(name) {
		return strings.ToLower(name)
	}
	return norm.NFKC.String(n.fold.String(norm.NFKC.String(name)))
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// shown is a name that a stranger chose, for a message.
func Shown(name string) string {
	const most = 120
	if len(name) > most {
		name = name[:most] + "…"
	}
	return strictjson.Visible(name)
}
