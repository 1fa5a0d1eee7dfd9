package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gate/internal/confine"
)

// bareName is the call that confined ones are compared with.
const bareName = "/bin/true"

// A start is one way to run a program.
type start struct {
	name   string
	args   []string // the program first, by its path
	dir    string
	env    []string
	filter string // a file that the program reads at descriptor 3; "" for none
}

// confined measures what a confined call costs: each way to run /bin/true takes its turn in
// every round. before has gate-run of another tree, "" for none.
func (l *lab) confined(ctx context.Context, out io.Writer, before string) error {
	if err := l.compile(ctx, []string{"build", "-o", l.tool("gate-run"), "gate/cmd/gate-run"}); err != nil {
		return err
	}
	list, err := l.starts(ctx, before)
	if err != nil {
		return err
	}
	all := map[string][]measure{}
	for round := range l.rounds + 3 {
		for _, s := range list {
			m, err := s.once()
			if err != nil {
				return err
			}
			if round >= 3 { // the first ones fill caches
				all[s.name] = append(all[s.name], m)
			}
		}
	}
	wall := func(m measure) float64 { return float64(m.wall) }
	fastest := func(ms []measure) float64 {
		return wall(slices.MinFunc(ms, func(a, b measure) int { return int(a.wall - b.wall) }))
	}
	fmt.Fprintf(out, "\n**A confined call** (%d rounds)\n\n| program | fastest ms | median ms | CPU ms | x bare, fastest | x bare, median |\n|---|---|---|---|---|---|\n", l.rounds)
	for _, s := range list {
		ms := all[s.name]
		fmt.Fprintf(out, "| %s | %.2f | %.2f | %.2f | %.1f | %.1f |\n", s.name, milliseconds(fastest(ms)), milliseconds(middle(ms, wall)),
			milliseconds(middle(ms, func(m measure) float64 { return float64(m.cpu) })), fastest(ms)/fastest(all[bareName]), paired(ms, all[bareName]))
	}
	return nil
}

// once runs the program to its end. Nothing of it is read, which would take longer than a
// bare start.
func (s *start) once() (measure, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return measure{}, err
	}
	defer null.Close()
	files := []*os.File{null, null, os.Stderr}
	if s.filter != "" {
		filter, err := os.Open(s.filter)
		if err != nil {
			return measure{}, err
		}
		defer filter.Close()
		files = append(files, filter)
	}
	began := time.Now()
	p, err := os.StartProcess(s.args[0], s.args, &os.ProcAttr{Dir: s.dir, Env: s.env, Files: files})
	if err != nil {
		return measure{}, err
	}
	state, err := p.Wait()
	took := time.Since(began)
	if err == nil && !state.Success() {
		err = fmt.Errorf("%s: %v", s.name, state)
	}
	return measure{wall: took, cpu: state.UserTime() + state.SystemTime()}, err
}

// starts makes a home with two projects, one of them a repository, and lists the ways to run
// a program there.
func (l *lab) starts(ctx context.Context, before string) ([]start, error) {
	home := l.file("home")
	app, repo := filepath.Join(home, "app"), filepath.Join(home, "repo")
	if err := errors.Join(files(app, sources()), files(repo, sources())); err != nil {
		return nil, err
	}
	env := []string{"HOME=" + home, "PATH=/usr/bin:/bin", "LANG=C.UTF-8", "GIT_CONFIG_NOSYSTEM=1"}
	list := []start{{name: bareName, args: []string{"/bin/true"}, dir: app, env: env}}
	if before != "" {
		list = append(list, l.runs(filepath.Join(before, "gate-run"), ", before", app, repo, env)...)
	}
	list = append(list, l.runs(l.tool("gate-run"), "", app, repo, env)...)
	for _, words := range []string{"init -q .", "add -A", "-c user.name=x -c user.email=x@example.com commit -q -m first"} {
		cmd := exec.CommandContext(ctx, "git", strings.Fields(words)...)
		cmd.Dir, cmd.Env = repo, env
		if text, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(l.log, "left out: a repository: git %s: %v: %s\n", words, err, text)
			list = slices.DeleteFunc(list, func(s start) bool { return s.dir == repo })
			break
		}
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		fmt.Fprintln(l.log, "left out: bubblewrap:", err)
		return list, nil
	}
	few := strings.Fields("--unshare-all --die-with-parent --ro-bind /usr /usr --ro-bind /etc /etc --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 --proc /proc --dev /dev --tmpfs /tmp --bind " + app + " " + app)
	list = slices.Insert(list, 1, start{name: "bubblewrap, few mounts", args: slices.Concat([]string{bwrap}, few, []string{"/bin/true"}), dir: app, env: env})
	filter := l.file("filter")
	if err := os.WriteFile(filter, confine.Filter(), 0o600); err != nil {
		return nil, err
	}
	at := 2
	for _, s := range slices.Clone(list) {
		if s.args[0] != l.tool("gate-run") || !strings.HasPrefix(s.name, "gate run") {
			continue
		}
		same, err := l.alike(ctx, s)
		if err != nil {
			return nil, err
		}
		name := strings.Replace(s.name, "gate run", "bubblewrap, the same mounts, namespaces and filter", 1)
		list = slices.Insert(list, at, start{name: name, args: slices.Concat([]string{bwrap}, same, []string{"/bin/true"}), dir: s.dir, env: env, filter: filter})
		at++
	}
	return list, nil
}

// runs are the calls of a gate-run.
func (l *lab) runs(program, which, app, repo string, env []string) []start {
	return []start{
		{name: "gate run" + which, args: []string{program, "--", "/bin/true"}, dir: app, env: env},
		{name: "gate run" + which + ", in a repository", args: []string{program, "--", "/bin/true"}, dir: repo, env: env},
	}
}

// sources are files of a small project.
func sources() map[string]string {
	list := map[string]string{"README.md": "A project.\n", "Makefile": "all:\n\ttrue\n"}
	for i := range 60 {
		list[fmt.Sprintf("src/part%d/file%d.c", i%6, i)] = fmt.Sprintf("int f%d(void) { return %d; }\n", i, i)
	}
	return list
}

// alike are the arguments that have bubblewrap make what a confined program sees: gate-run
// shows its mounts and links by running programs that list them. Bubblewrap 0.8 knows no
// layer, so that a directory with one is bound.
func (l *lab) alike(ctx context.Context, s start) ([]string, error) {
	look := func(words ...string) ([]string, error) {
		cmd := exec.CommandContext(ctx, s.args[0], append([]string{"--"}, words...)...)
		cmd.Dir, cmd.Env = s.dir, s.env
		text, err := cmd.Output()
		return strings.Split(strings.TrimSpace(string(text)), "\n"), err
	}
	table, err := look("cat", "/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	for _, line := range table {
		if len(strings.Fields(line)) < 10 {
			return nil, fmt.Errorf("no line of a mount: %s", line)
		}
	}
	links, err := look("find", "/", "-maxdepth", "1", "-type", "l", "-printf", "%l %p\\n")
	if err != nil {
		return nil, err
	}
	hidden := map[bool]string{false: l.file("hidden"), true: l.file("hidden-dir")}
	if err := errors.Join(os.MkdirAll(hidden[true], 0o700), os.WriteFile(hidden[false], nil, 0o600)); err != nil {
		return nil, err
	}
	args := strings.Fields("--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --cap-drop ALL --die-with-parent --seccomp 3")
	depth := func(line string) int { return strings.Count(strings.Fields(line)[4], "/") }
	slices.SortStableFunc(table, func(a, b string) int { return depth(a) - depth(b) })
	for _, line := range table {
		f := strings.Fields(line)
		root, at := f[3], f[4]
		kind := f[slices.Index(f, "-")+1]
		bind := "--bind"
		if strings.HasPrefix(f[5], "ro") {
			bind = "--ro-bind"
		}
		switch {
		case at == "/" || strings.HasPrefix(at, "/dev/"): // --dev makes those below /dev
		case kind == "proc":
			args = append(args, "--proc", at, "--dev", "/dev")
		case strings.HasPrefix(root, "/.void"):
			args = append(args, bind, hidden[strings.HasPrefix(root, "/.void-dir")], at)
		case kind == "tmpfs" && root == "/":
			if size := sizeOf(line); size != "" {
				args = append(args, "--size", size)
			}
			args = append(args, "--tmpfs", at)
		case kind == "overlay":
			args = append(args, bind, at, at)
		case strings.HasPrefix(root, "/"): // the store of a cache lies elsewhere than the cache
			from := at
			if strings.HasSuffix(root, "/up") {
				from = root
			}
			args = append(args, bind, from, at)
		}
	}
	for _, link := range links {
		to, at, ok := strings.Cut(link, " ")
		if ok {
			args = append(args, "--symlink", to, at)
		}
	}
	args = append(args, "--remount-ro", "/", "--chdir", s.dir)
	return args, nil
}

// sizeOf is the size of a file system in memory, in bytes; "" where it has none.
func sizeOf(line string) string {
	for option := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ',' || r == ' ' }) {
		if size, ok := strings.CutPrefix(option, "size="); ok {
			kib, err := strconv.Atoi(strings.TrimSuffix(size, "k"))
			if err != nil {
				return ""
			}
			return strconv.Itoa(kib << 10)
		}
	}
	return ""
}
