package repository

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	one = strings.Repeat("1", 40)
	two = strings.Repeat("2", 40)
)

// git runs a line in a directory as a person does.
func git(t testing.TB, dir, line string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing")
	}
	cmd := exec.Command("/bin/sh", "-ec", line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e@example.com", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e@example.com")
	text, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, text)
	}
	return string(text)
}

func TestRefNames(t *testing.T) {
	for name, want := range map[string]bool{
		"refs/heads/main": true, "refs/stash": true, "refs/heads/a/b.c": true, "refs/heads/ä": true, "refs/heads/-x": true, "refs/heads/a@b": true,
		"HEAD": false, "config": false, "refs": false, "refs/": false, "refs/heads/": false, "refs//x": false, "refs/../config": false, "refs/heads/a..b": false,
		"refs/heads/.x": false, "refs/heads/x.": false, "refs/heads/x.lock": false, "refs/heads/x.LOCK": false, "refs/heads/x.lock/y": false, "refs/heads/a b": false, "refs/heads/a\nb": false,
		"refs/heads/a\x7f": false, "refs/heads/a:b": false, `refs/heads/a\b`: false, "refs/heads/@{u}": false, "refs/heads/*": false, "/refs/heads/x": false,
		"refs/heads/" + strings.Repeat("x", mostRefName): false,
	} {
		if got := isRef(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestRefs(t *testing.T) {
	for text, want := range map[string]string{
		one + "\n": one, one: one, "ref: refs/heads/main\n": "ref: refs/heads/main",
		"": "", "\n": "", one[1:] + "\n": "", strings.ToUpper(strings.Repeat("a", 40)): "", one + "\n\n": "", one + "\n" + two + "\n": "", "ref: ../x\n": "", "ref: config\n": "", "ref:refs/heads/x\n": "", one + " x\n": "",
	} {
		if got, err := readRef([]byte(text), 40); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := readHead([]byte("ref: refs/remotes/x\n"), 40); err == nil {
		t.Error("HEAD may stand for what is no branch")
	}
}

func TestPackedRefs(t *testing.T) {
	good := "# pack-refs with: peeled fully-peeled sorted \n" + one + " refs/heads/main\n" + two + " refs/tags/v1\n^" + one + "\n"
	refs, err := readPacked([]byte(good), 40)
	if err != nil || len(refs) != 2 || refs["refs/heads/main"] != one || refs["refs/tags/v1"] != two {
		t.Errorf("%v, %v", refs, err)
	}
	for _, bad := range []string{
		one + " refs/heads/main", one + " ../x\n", one + "  refs/heads/x\n", "x refs/heads/x\n", "^" + one + "\n", one + " refs/heads/x\n" + one + " refs/heads/x\n", one + " refs/heads/x\n^" + one + "\n^" + one + "\n", "\n", one + " refs/heads/x\n# x\n",
	} {
		if refs, err := readPacked([]byte(bad), 40); err == nil {
			t.Errorf("%q: %v", bad, refs)
		}
	}
	rest, found := withoutRefs([]byte(good), map[string]bool{"refs/tags/v1": true})
	if want := good[:strings.Index(good, two)]; string(rest) != want || !found {
		t.Errorf("%q, want %q", rest, want)
	}
	if rest, found := withoutRefs([]byte(good), map[string]bool{"refs/heads/x": true}); string(rest) != good || found {
		t.Errorf("%q, %v", rest, found)
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct {
		form form
		text string
		want bool
	}{
		{objects, one + "\n" + two + "\n", true}, {objects, one, true}, {objects, "", true}, {objects, one + "\tx\n", false}, {objects, "x\n", false},
		{fetched, one + "\tnot-for-merge\tbranch 'main' of x\n", true}, {fetched, one + "\n", false}, {fetched, one + "\t\x00\n", false},
		{message, "any\n", true}, {message, "a\x00b", false},
	} {
		if got := c.form.holds([]byte(c.text), 40); got != c.want {
			t.Errorf("%d %q: %v", c.form, c.text, got)
		}
	}
	line := one + " " + two + " n <e@example.com> 1700000000 +0000\tcommit: x\n"
	for text, want := range map[string]bool{
		"": true, line: true, line + line: true, line[:len(line)-1]: false, "x\n": false, line + "\n": false, strings.Replace(line, ">", "", 1): false, one + " " + one[1:] + "  n <e> 1 +0\tx\n": false, strings.Replace(line, "x\n", "\x00\n", 1): false,
	} {
		if got := isLog([]byte(text), 40); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, name := range strings.Fields("hooks config config.worktree commondir gitdir index HEAD head Merge_Head packed-refs description rebase-merge MERGE_RR BISECT_LOG") {
		if _, ok := plain(name); ok {
			t.Errorf("%s is a plain text", name)
		}
	}
}

func TestPaths(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "a/b": true, ".github/x": true, "git": true, "a/.gitignore": true, "GIT/x": true, "git~2": true, "...": true, "a b\n": true,
		"": false, "/a": false, "a/": false, "a//b": false, "../a": false, "a/./b": false, ".git": false, ".git/hooks/x": false, "a/.git/config": false, ".GIT/x": false, ".Git": false, "git~1": false, "GIT~1/x": false,
		".git./x": false, ".git /x": false, ".git::$INDEX_ALLOCATION/x": false, ".g\u200cit/x": false, "\u200d.git/x": false, `a\.git\hooks\x`: false, `..\..\.git`: false,
	} {
		if got := isPath(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

// anIndex makes an index of git's own.
func anIndex(t testing.TB, version string) (dir string, data []byte) {
	t.Helper()
	dir = t.TempDir()
	git(t, dir, "git init -q . && git config index.version "+version+" && mkdir -p a/b && for i in 1 2 3; do echo $i > a/b/$i; echo $i > f$i; done; ln -s f1 l; git add -A && git add -N f1 && echo x > n && git add -N n && git update-index --skip-worktree f2")
	data, err := os.ReadFile(dir + "/.git/index")
	if err != nil {
		t.Fatal(err)
	}
	return dir, data
}

func TestIndex(t *testing.T) {
	for _, version := range []string{"2", "4"} {
		dir, data := anIndex(t, version)
		x, err := readIndex(data, 40)
		if err != nil {
			t.Fatal(version, err)
		}
		want := git(t, dir, "git ls-files -s -t -v --debug")
		if err := os.WriteFile(dir+"/.git/index", x.bytes(40), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := git(t, dir, "git ls-files -s -t -v --debug"); got != want {
			t.Errorf("version %s: %s\nwant %s", version, got, want)
		}
		if y, err := readIndex(x.bytes(40), 40); err != nil || !y.same(x) {
			t.Errorf("version %s: %v", version, err)
		}
		changed := slices.Clone(data)
		copy(changed[bytes.Index(changed, []byte("a/b/1")):], ".git/")
		if _, err := readIndex(changed, 40); err == nil {
			t.Errorf("version %s: a path in .git", version)
		}
		for n := range len(data) { // no length makes it fail otherwise than with an error
			readIndex(data[:n], 40)
		}
	}
}

// TestSettle holds that a person's git believes nothing that a program wrote of a file without a
// look at it.
func TestSettle(t *testing.T) {
	dir, data := anIndex(t, "2")
	old, err := readIndex(data, 40)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := readIndex(data, 40)
	for i := range x.entries {
		switch e := &x.entries[i]; e.path {
		case "f2":
			e.flags |= assumed // new; that it is skipped is old
		case "f3":
			e.more |= skipped
		case "a/b/1":
			binary.BigEndian.PutUint32(e.stat[36:], 77) // of another length than it was
		}
	}
	asked := []string{}
	n := x.settle(old, ^uint64(0), func(e *entry) bool { asked = append(asked, e.path); return false })
	if n != 2 || !slices.Equal(asked, []string{"a/b/1"}) {
		t.Errorf("%d marks, asked about %v", n, asked)
	}
	for _, e := range x.entries {
		if e.path == "a/b/1" && (e.size() != 0 || e.changed() != 0 || e.mode() != 0o100644) {
			t.Errorf("%x", e.stat)
		}
		if e.path == "f2" && (e.flags&assumed != 0 || e.more&skipped == 0) || e.path == "f3" && e.more&skipped != 0 {
			t.Errorf("%s: %x %x", e.path, e.flags, e.more)
		}
	}
	asked = nil
	x, _ = readIndex(data, 40)
	x.settle(old, 0, func(e *entry) bool { asked = append(asked, e.path); return true })
	if len(asked) != len(x.entries) {
		t.Errorf("of files as young as the index only %v were looked at", asked)
	}
	os.WriteFile(dir+"/.git/index", x.bytes(40), 0o644)
	git(t, dir, "git status")
}

func deflated(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write([]byte(text))
	z.Close()
	return out.Bytes()
}

func TestLoose(t *testing.T) {
	name := nameOf("blob", []byte("x\n"), 40)
	good := deflated(t, "blob 2\x00x\n")
	for _, c := range []struct {
		what string
		file []byte
		name string
		left budget
		want bool
	}{
		{"good", good, name, 1 << 20, true}, {"another name", good, one, 1 << 20, false}, {"what follows", append(slices.Clone(good), 'x'), name, 1 << 20, false},
		{"its end", good[:len(good)-3], name, 1 << 20, false}, {"nothing", nil, name, 1 << 20, false}, {"no kind", deflated(t, "blub 2\x00x\n"), name, 1 << 20, false},
		{"a length", deflated(t, "blob 02\x00x\n"), name, 1 << 20, false}, {"another length", deflated(t, "blob 3\x00x\n"), name, 1 << 20, false}, {"too much", good, name, 3, false},
		{"zeros", deflated(t, "blob 9999999\x00"+strings.Repeat("\x00", 9999999)), name, 1 << 20, false},
	} {
		var out bytes.Buffer
		left := c.left
		if err := copyLoose(&out, bytes.NewReader(c.file), c.name, &left); (err == nil) != c.want || c.want && !bytes.Equal(out.Bytes(), c.file) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// aPack makes a pack of git's own, with objects that are told by differences.
func aPack(t testing.TB, options string) (idxData, packData []byte) {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "git init -q . && i=0; while [ $i -lt 400 ]; do echo line $i; i=$((i+1)); done > f; for n in 1 2 3 4; do echo $n >> f; git add f; git commit -q -m $n; done; git tag -a -m x v; git repack -q -a -d -f --depth=20 --window=20 "+options)
	names, _ := filepath.Glob(dir + "/.git/objects/pack/*.idx")
	if len(names) != 1 {
		t.Fatal(names)
	}
	idxData, _ = os.ReadFile(names[0])
	packData, _ = os.ReadFile(strings.TrimSuffix(names[0], ".idx") + ".pack")
	return idxData, packData
}

// readAll reads every object of a pack, and returns how many have the name that they should.
func readAll(idxData, packData []byte) (good int, err error) {
	x, err := readIdx(bytes.NewReader(idxData), int64(len(idxData)), 40)
	if err != nil {
		return 0, err
	}
	left := budget(64 << 20)
	p := &pack{file: bytes.NewReader(packData), size: int64(len(packData)), index: x, left: &left}
	for i := range x.count {
		name, err := x.name(i)
		if err != nil {
			return good, err
		}
		if x.find(name) != i {
			return good, fmt.Errorf("%s is not found", name)
		}
		at, err := x.at(i)
		if err != nil {
			return good, err
		}
		o, err := p.read(at)
		if err != nil {
			return good, err
		}
		p.keep(at, o)
		if nameOf(o.kind, o.content, 40) == name {
			good++
		}
	}
	return good, nil
}

func TestPack(t *testing.T) {
	for _, options := range []string{"", "--no-write-bitmap-index"} {
		idxData, packData := aPack(t, options)
		x, err := readIdx(bytes.NewReader(idxData), int64(len(idxData)), 40)
		if err != nil || x.count != 13 {
			t.Fatal(x, err)
		}
		if n, err := readAll(idxData, packData); err != nil || n != 13 {
			t.Errorf("%d objects, %v", n, err)
		}
		if x.find(one) >= 0 || x.find("x") >= 0 {
			t.Error("an object is found that is not there")
		}
		swapped := slices.Clone(idxData) // the list says of one object that it lies where another one does
		table := idxHead + 13*24
		copy(swapped[table:table+4], idxData[table+4:table+8])
		if n, _ := readAll(swapped, packData); n != 12 {
			t.Errorf("%d objects have their names", n)
		}
	}
}

func TestOffsets(t *testing.T) {
	for _, n := range []uint64{0, 1, 127, 128, 129, 16511, 16512, 1 << 20, 1 << 40} {
		raw := putOffset(n)
		if got, size := offset(append(raw, 0xff)); got != n || size != len(raw) {
			t.Errorf("%d: %d in %d bytes", n, got, size)
		}
	}
}

func FuzzRefs(f *testing.F) {
	f.Add([]byte("# pack-refs with: peeled \n" + one + " refs/heads/main\n^" + two + "\n"))
	f.Add([]byte("ref: refs/heads/main\n"))
	f.Add([]byte(one + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if refs, err := readPacked(data, 40); err == nil {
			all := map[string]bool{}
			for ref, object := range refs {
				all[ref] = true
				if !isRef(ref) || !isName(object, 40) {
					t.Errorf("%q %q", ref, object)
				}
			}
			rest, found := withoutRefs(data, all)
			if left, err := readPacked(rest, 40); err != nil && !bytes.HasPrefix(rest, []byte("^")) || len(left) > 0 || found != (len(refs) > 0) {
				t.Errorf("%q is left: %v", rest, err)
			}
		}
		if value, err := readHead(data, 40); err == nil {
			again, err := readHead([]byte(value+"\n"), 40)
			if to, link := strings.CutPrefix(value, symbolic); err != nil || again != value || link && !strings.HasPrefix(to, "refs/heads/") || strings.ContainsAny(value, "\n\x00") {
				t.Errorf("%q", value)
			}
		}
		isLog(data, 40)
		fetched.holds(data, 40)
	})
}

func FuzzIndex(f *testing.F) {
	for _, version := range []string{"2", "4"} {
		_, data := anIndex(f, version)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := readIndex(data, 40)
		if err != nil {
			return
		}
		for _, e := range x.entries {
			if !isPath(e.path) || strings.Contains(e.path, "\x00") {
				t.Errorf("%q", e.path)
			}
		}
		x.settle(&index{}, 0, func(*entry) bool { return false })
		if again, err := readIndex(x.bytes(40), 40); err != nil || !again.same(x) {
			t.Errorf("%v", err)
		}
	})
}

func FuzzPack(f *testing.F) {
	idxData, packData := aPack(f, "")
	f.Add(idxData, packData)
	f.Fuzz(func(t *testing.T, idxData, packData []byte) { readAll(idxData, packData) })
}

// TestLongPaths checks that short entries of version 4 cannot have gigabytes of paths.
func TestLongPaths(t *testing.T) {
	const many = mostPaths/4000 + 1
	data := append([]byte("DIRC"), 0, 0, 0, 4, 0, 0, 0, 0)
	binary.BigEndian.PutUint32(data[8:], many)
	entry := func(drop int, rest string) {
		var stat [statBytes]byte
		binary.BigEndian.PutUint32(stat[modeAt:], 0o100644)
		data = append(append(append(data, stat[:]...), make([]byte, 20+2)...), putOffset(uint64(drop))...)
		data = append(append(data, rest...), 0)
	}
	entry(0, strings.Repeat("x", 4000)+"00000")
	for n := 1; n < many; n++ {
		entry(5, fmt.Sprintf("%05d", n))
	}
	data = append(data, make([]byte, 20)...)
	if _, err := readIndex(data, 40); err == nil || !strings.Contains(err.Error(), "more than is looked at") {
		t.Errorf("%d bytes: %v", len(data), err)
	}
}

// TestChains checks that a list cannot have one long chain read for each of its objects.
func TestChains(t *testing.T) {
	data := make([]byte, 12)
	last := 0
	part := func(kind byte, content string, back int) {
		at := len(data)
		data = append(data, kind<<4|byte(len(content)))
		if kind == 6 {
			data = append(data, putOffset(uint64(back))...)
		}
		data = append(data, deflated(t, content)...)
		last = at
	}
	part(3, "x", 0)
	const long, many = 3000, 1000
	for range long {
		part(6, "\x01\x01\x90\x01", len(data)-last)
	}
	top := last
	left := budget(2 * (long + 2*many) * partCost)
	p := &pack{file: bytes.NewReader(nil), left: &left}
	var places []int64
	for n := range many {
		part(6, "\x01\x02\x02"+string([]byte{byte(n), byte(n >> 8)}), len(data)-top)
		places = append(places, int64(last))
	}
	p.file, p.size = bytes.NewReader(data), int64(len(data))
	for _, at := range places {
		if o, err := p.read(at); err != nil || len(o.content) != 2 {
			t.Fatalf("at %d: %q, %v", at, o.content, err)
		}
	}
	left = partCost - 1
	if _, err := p.read(places[0]); err != nil {
		t.Errorf("what is known costs: %v", err)
	}
	if _, err := (&pack{file: p.file, size: p.size, left: &left}).read(12); err == nil {
		t.Error("a part costs nothing")
	}
}
