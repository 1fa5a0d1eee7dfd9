package catalogue

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"gate/internal/strictjson"
)

var update = flag.Bool("update", false, "lay out the files of rows, and write what is made of them")

// width is the longest line of a file of rows, in characters.
const width = 160

// A piece is an entry of a file, or a line between entries.
type piece struct {
	at    string // file:line
	text  string // of an entry: in one line
	entry *entry
}

// pieces reads a file of rows. What is indented belongs to the line above.
func pieces(file, text string) ([]piece, error) {
	var list []piece
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		at := fmt.Sprintf("%s:%d", file, i+1)
		trimmed := strings.Trim(line, " \t")
		switch indented := trimmed != "" && strings.Trim(line[:1], " \t") == ""; {
		case !indented:
			list = append(list, piece{at: at, text: strings.TrimRight(line, " \t")})
		case len(list) == 0 || list[len(list)-1].between():
			return nil, fmt.Errorf("%s: an indented line goes on with a row, and there is none", at)
		default:
			list[len(list)-1].text += " " + trimmed
		}
	}
	for i := range list {
		if p := &list[i]; !p.between() {
			if err := p.read(); err != nil {
				return nil, fmt.Errorf("%s: %w", p.at, err)
			}
		}
	}
	return list, nil
}

func (p *piece) between() bool { return p.text == "" || strings.HasPrefix(p.text, "#") }

// read takes the text of an entry apart.
func (p *piece) read() error {
	if head, row, ok := strings.Cut(p.text, " {"); ok && !strings.HasPrefix(p.text, "let ") {
		m, err := strictjson.Object([]byte("{"+row), strictjson.Limits{})
		p.entry = &entry{head, m}
		return err
	}
	head, value, ok := strings.Cut(p.text, " = ")
	if !ok {
		return fmt.Errorf("neither a row, nor a list (let NAME = words), nor other names of a program (names = program)")
	}
	p.entry = &entry{head, value}
	return nil
}

// laidOut is the piece as it stands in a file.
func (p *piece) laidOut() string {
	if p.between() {
		return p.text
	}
	if _, ok := p.entry.value.(string); ok {
		return fill(strings.Join(strings.Fields(p.text), " "), "", "    ")
	}
	var row bytes.Buffer
	if err := json.Compact(&row, []byte(p.text[len(p.entry.head)+1:])); err != nil {
		panic(err)
	}
	head := strings.Join(strings.Fields(p.entry.head), " ")
	if line := head + " " + row.String(); utf8.RuneCountInString(line) <= width {
		return line
	}
	lines := []string{fill(head+" {", "", "    ")}
	members := split(row.String()[1 : row.Len()-1])
	for i, member := range members {
		end := ","
		if i == len(members)-1 {
			end = "}"
		}
		lines = append(lines, layMember(member, end))
	}
	return strings.Join(lines, "\n")
}

// layMember lays out a field of a long row: each effect begins a line.
func layMember(member, end string) string {
	effects, ok := strings.CutPrefix(member, `"effects":[`)
	if line := "  " + member + end; !ok || utf8.RuneCountInString(line) <= width {
		return fill(member+end, "  ", "    ")
	}
	list := split(strings.TrimSuffix(effects, "]"))
	lines := []string{`  "effects":[`}
	for i, effect := range list {
		after := ","
		if i == len(list)-1 {
			after = "]" + end
		}
		if before, conditions, ok := strings.Cut(effect, `,"if":[`); ok && utf8.RuneCountInString("    "+effect+after) > width {
			lines = append(lines, fill(before+",", "    ", "      "), fill(`"if":[`+conditions+after, "      ", "        "))
			continue
		}
		lines = append(lines, fill(effect+after, "    ", "      "))
	}
	return strings.Join(lines, "\n")
}

// split cuts compact JSON at its outermost commas.
func split(s string) []string {
	var parts []string
	from, depth := 0, 0
	for i, inText := range texts(s) {
		switch {
		case inText:
		case s[i] == '[' || s[i] == '{':
			depth++
		case s[i] == ']' || s[i] == '}':
			depth--
		case s[i] == ',' && depth == 0:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// texts tells which bytes of JSON are within a text.
func texts(s string) []bool {
	in := make([]bool, len(s))
	for i, inside := 0, false; i < len(s); i++ {
		in[i] = inside
		switch {
		case inside && s[i] == '\\':
			i++
			in[i] = true
		case s[i] == '"':
			inside = !inside
		}
	}
	return in
}

// fill breaks a text behind commas of JSON and at single blanks, and names only
// behind commas. Its words stay as they are, so that a line with a long one is too
// long.
func fill(s, first, next string) string {
	var lines []string
	indent := first
	inText, names := texts(s), strings.HasSuffix(s, " {")
	from, last := 0, 0 // of the line; where it may end
	for i := 0; i <= len(s); i++ {
		blank := i < len(s) && s[i] == ' ' && i > 0 && s[i-1] != ' ' && s[i+1] != ' '
		comma := i < len(s) && i > 0 && s[i-1] == ',' && !inText[i-1]
		if i < len(s) && !(blank && (comma || !names)) && !(comma && !names) {
			continue
		}
		if last > from && utf8.RuneCountInString(indent+s[from:i]) > width {
			lines = append(lines, indent+s[from:last])
			from, indent = last, next
			if s[from] == ' ' {
				from++
			}
		}
		last = i
	}
	return strings.Join(append(lines, indent+s[from:]), "\n")
}

// compact is what the program has of entries: rows in one line each, and the index
// of their names.
func compact(entries []entry) (rows, index string, mistakes []mistake) {
	groups, mistakes := expand(entries)
	names := map[string]bool{}
	for _, g := range groups {
		for _, name := range g.names {
			names[name] = g.as == ""
		}
	}
	for _, as := range groups {
		if as.as != "" && !alias(groups, as, names) {
			mistakes = append(mistakes, mistake{as.from, fmt.Errorf("%s has no row", as.as)})
		}
	}
	for more := -1; more != len(names); { // podman = docker, docker compose = docker-compose
		more = len(names)
		for _, as := range groups {
			alias(groups, as, names)
		}
	}
	var where []indexEntry
	for _, g := range groups {
		if g.as != "" {
			continue
		}
		line := strings.Join(g.names, ",") + " " + string(strictjson.Append(nil, g.row))
		for _, name := range g.names {
			where = append(where, indexEntry{hashName(name), uint32(len(rows)), uint16(len(line))})
			if _, err := newRow(name, g.row); err != nil {
				mistakes = append(mistakes, mistake{g.from, err})
				break
			}
		}
		if len(line) >= 1<<16 {
			mistakes = append(mistakes, mistake{g.from, fmt.Errorf("a row of %d bytes", len(line))})
		}
		rows += line + "\n"
	}
	slices.SortFunc(where, func(a, b indexEntry) int { return bytes.Compare(a.bytes(), b.bytes()) })
	var entriesOf []byte
	for _, e := range where {
		entriesOf = append(entriesOf, e.bytes()...)
	}
	return rows, string(entriesOf), mistakes
}

// TestNotation reads rows with mistakes, and says where they are.
func TestNotation(t *testing.T) {
	for text, want := range map[string]string{
		"  a {}":                              "x.rows:1: an indented line goes on with a row, and there is none",
		"a {}\n\n  b":                         "x.rows:3: an indented line goes on with a row, and there is none",
		"a {}\nb":                             "x.rows:2: neither a row",
		"a {\n  \"options\":\"-x\n    -x\",}": "x.rows:1: ",
		"a {}\nlet w = x":                     "x.rows:2: let w: the list is not used",
		"let w = x\nlet w = y\na <w> {}":      "x.rows:2: let w: there is a list of this name already",
		"let W = x":                           `x.rows:1: let W: "W" is no name of a list`,
		"a <w> {}":                            "x.rows:1: a <w>: there is no list <w>",
		"a {\"options\":\"<w>\"}":             "x.rows:1: a: options: there is no list <w>",
		`a {"effects":[{"kind":"x","if":["any~<w>"]}]}`: "x.rows:1: a: effects: there is no list <w>",
		"a {}\nb, a {}":            "x.rows:2: b, a: a has a row already",
		"b = a":                    "x.rows:1: b: a has no row",
		"a {}\nb = a\nc = b":       "x.rows:3: c: b is another name itself, for a",
		"a {}\na = a":              "x.rows:2: a: a has a row already",
		`a {"operands":["reads"]}`: `x.rows:1: a: operands: unknown role "reads"`,
	} {
		var got []string
		if list, err := pieces("x.rows", text); err != nil {
			got = append(got, err.Error())
		} else {
			var entries []entry
			var at []string
			for _, p := range list {
				if p.entry != nil {
					entries, at = append(entries, *p.entry), append(at, p.at)
				}
			}
			_, _, mistakes := compact(entries)
			for _, m := range mistakes {
				got = append(got, fmt.Sprintf("%s: %s: %v", at[m.entry], entries[m.entry].head, m.err))
			}
		}
		if len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%s:\ngot  %q\nwant %q", text, got, want)
		}
	}
}

// TestLists puts lists and aliases into rows, and lays rows out.
func TestLists(t *testing.T) {
	text := "let v = push\n  pull\nlet o = -x -y=text\n# said\na {\"verbs\":true,\n \"options\":\"<o>  -z\"}\n" +
		`a <v>, a x {"effects":[{"kind":"k","if":["any~^(<v>|(?P<V>x))$","!has:x"]}]}` + "\nb, c = a\nb pull {}\n"
	list, err := pieces("x.rows", text)
	if err != nil {
		t.Fatal(err)
	}
	var entries []entry
	var laid []string
	for _, p := range list {
		if laid = append(laid, p.laidOut()); p.entry != nil {
			entries = append(entries, *p.entry)
		}
	}
	rows, _, mistakes := compact(entries)
	want := `a,b,c {"options":"-x -y=text  -z","verbs":true}
a push,a pull,a x,b push,c push,c pull,b x,c x {"effects":[{"if":["any~^(push|pull|(?P<V>x))$","!has:x"],"kind":"k"}]}
b pull {}
`
	if rows != want || len(mistakes) > 0 {
		t.Errorf("got\n%s%v\nwant\n%s", rows, mistakes, want)
	}
	want = "let v = push pull\nlet o = -x -y=text\n# said\na {\"verbs\":true,\"options\":\"<o>  -z\"}\n"
	if got := strings.Join(laid, "\n"); !strings.HasPrefix(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestFill breaks long rows where reading them joins them again.
func TestFill(t *testing.T) {
	long := strings.Repeat(`-o,--option=text `, 30) + `--last`
	row := `program, ` + strings.Repeat("another-program, ", 20) + `third {"options":"` + long + `","operands":["text*"],` +
		`"effects":[{"kind":"x","what":"a \"word\",  and  two","if":["any~` + strings.Repeat(`a{1,2} \\b`, 30) + `","has:x"]},{"kind":"y"}]}`
	list, err := pieces("x.rows", row)
	if err != nil {
		t.Fatal(err)
	}
	laid := list[0].laidOut()
	again, err := pieces("x.rows", laid)
	if err != nil || len(again) != 1 {
		t.Fatal(again, err)
	}
	if again[0].laidOut() != laid || fmt.Sprint(again[0].entry) != fmt.Sprint(list[0].entry) {
		t.Errorf("laid out as\n%s\nit is\n%v", laid, again[0].entry)
	}
	for line := range strings.Lines(laid) {
		if len(line) > width+1 {
			t.Errorf("%d: %s", len(line), line)
		}
	}
}

// alias gives rows their other names, but for those that have a row, and reports
// whether there is any.
func alias(groups []group, as group, names map[string]bool) (found bool) {
	for i := range groups {
		g := &groups[i]
		for _, name := range g.names {
			verbs, ok := strings.CutPrefix(name+" ", as.as+" ")
			if as.as == "" || g.as != "" || !ok {
				continue
			}
			found = true
			for _, other := range as.names {
				if other = strings.TrimSpace(other + " " + verbs); !names[other] {
					names[other] = true
					g.names = append(g.names, other)
				}
			}
		}
	}
	return found
}

// sources reads the files of rows and holds their form.
func sources(t *testing.T) (entries []entry, at []string) {
	files, err := filepath.Glob("*.rows")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list, err := pieces(file, string(data))
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, p := range list {
			lines = append(lines, p.laidOut())
			if p.entry != nil {
				entries, at = append(entries, *p.entry), append(at, p.at)
			}
		}
		text := strings.Join(lines, "\n") + "\n"
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if text != string(data) {
			t.Errorf("%s is not laid out: run go test ./internal/catalogue -update", file)
		}
		for i, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%s:%d: a line of %d characters; a long word can be a list (let)", file, i+1, n)
			}
		}
	}
	return entries, at
}

// TestGenerated holds that what the program has is what the files say.
func TestGenerated(t *testing.T) {
	entries, at := sources(t)
	rows, index, mistakes := compact(entries)
	for _, m := range mistakes {
		t.Errorf("%s: %s: %v", at[m.entry], entries[m.entry].head, m.err)
	}
	if t.Failed() {
		return
	}
	for file, text := range map[string]string{"catalogue.compact": rows, "catalogue.index": index} {
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if data, err := os.ReadFile(file); err != nil || string(data) != text {
			t.Errorf("%s is stale: run go test ./internal/catalogue -update", file)
		}
	}
}

// bytes is the entry as the index has it, the highest byte first.
func (e indexEntry) bytes() []byte {
	return []byte{
		byte(e.hash >> 24), byte(e.hash >> 16), byte(e.hash >> 8), byte(e.hash),
		byte(e.offset >> 16), byte(e.offset >> 8), byte(e.offset), byte(e.length >> 8), byte(e.length),
	}
}
