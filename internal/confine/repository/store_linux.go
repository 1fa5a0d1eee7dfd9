package repository

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A store is where a repository keeps objects.
type store struct {
	tree
	hexes int
	dirs  []string // that objects of others lie in, absolute
	packs []*idx
	files []*os.File
	fresh int // objects that were written
}

// mostOthers is how many directories of others' objects are looked at.
const mostOthers = 16

// openStore opens the objects of a repository, and lists those of others that it uses.
func openStore(real tree, common string, hexes int) (*store, error) {
	s := &store{hexes: hexes}
	file, err := real.open(path.Join(common, "objects"), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if s.fd, err = unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return nil, err
	}
	here, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", s.fd))
	if err != nil {
		s.close()
		return nil, err
	}
	todo := []string{here}
	for len(todo) > 0 && len(s.dirs) < mostOthers {
		dir := todo[0]
		todo = todo[1:]
		if slices.Contains(s.dirs, dir) {
			continue
		}
		s.dirs = append(s.dirs, dir)
		packs, _ := os.ReadDir(dir + "/pack")
		for _, e := range packs {
			if strings.HasSuffix(e.Name(), ".idx") {
				s.addPack(dir + "/pack/" + e.Name())
			}
		}
		text, _ := os.ReadFile(dir + "/info/alternates")
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
				if line[0] != '/' {
					line = path.Join(dir, line)
				}
				todo = append(todo, line)
			}
		}
	}
	return s, nil
}

func (s *store) addPack(name string) {
	file, err := os.Open(name)
	if err != nil {
		return
	}
	if info, err := file.Stat(); err == nil {
		if x, err := readIdx(file, info.Size(), s.hexes); err == nil {
			s.packs, s.files = append(s.packs, x), append(s.files, file)
			return
		}
	}
	file.Close()
}

func (s *store) close() {
	s.tree.close()
	for _, file := range s.files {
		file.Close()
	}
}

// has reports an object that git finds.
func (s *store) has(name string) bool {
	for _, dir := range s.dirs {
		if unix.Access(dir+"/"+name[:2]+"/"+name[2:], unix.F_OK) == nil {
			return true
		}
	}
	return slices.ContainsFunc(s.packs, func(x *idx) bool { return x.find(name) >= 0 })
}

// add writes an object by write, which is told where. What it fails of is not kept.
func (s *store) add(name string, write func(to io.Writer) error) error {
	dir := name[:2]
	if err := unix.Mkdirat(s.fd, dir, 0o777); err != nil && err != unix.EEXIST {
		return fmt.Errorf("objects/%s: %w", dir, err)
	}
	in, err := s.open(dir, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	temp := fmt.Sprintf("tmp_obj_gate%d-%d", os.Getpid(), s.fresh) // git clears such names away
	fd, err := unix.Openat(int(in.Fd()), temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o444)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), temp)
	defer file.Close()
	defer unix.Unlinkat(int(in.Fd()), temp, 0)
	out := bufio.NewWriterSize(file, 64<<10)
	if err = write(out); err == nil {
		err = out.Flush()
	}
	if s.fresh++; err == nil && s.fresh <= mostSynced {
		err = file.Sync()
	}
	if err != nil {
		return err
	}
	if err := unix.Renameat2(int(in.Fd()), temp, int(in.Fd()), name[2:], unix.RENAME_NOREPLACE); err != unix.EINVAL {
		return ignore(err, unix.EEXIST)
	}
	return ignore(unix.Linkat(int(in.Fd()), temp, int(in.Fd()), name[2:], 0), unix.EEXIST) // an older file system
}

func ignore(err, but error) error {
	if err == but {
		return nil
	}
	return err
}

// mostSynced is how many objects are brought to the disk one by one; more are together.
const mostSynced = 64

// settled brings objects to the disk before anything names them.
func (s *store) settled() error {
	if s.fresh > mostSynced {
		return unix.Syncfs(s.fd)
	}
	return nil
}

// takeObjects takes over all objects of a layer. Only files whose name is that of their content
// get in, and packs are taken apart: the list of a pack could say anything.
func (t *taking) takeObjects(dir string, to *store) error {
	items, err := t.layer.list(dir, &t.names)
	if err != nil {
		return err
	}
	for _, i := range items {
		at := path.Join(dir, i.name)
		switch {
		case i.kind == removed && isName(i.name, 2):
			t.cleaned = true
		case i.kind == folder && i.name == "info":
			if t.layer.kind(at+"/alternates") != gone {
				t.never(at + "/alternates")
			}
		case i.kind == folder && i.name == "pack":
			err = t.takePacks(at, to)
		case i.kind == folder && isName(i.name, 2):
			err = t.takeLoose(at, i.name, to)
		case strings.HasPrefix(i.name, "tmp_"):
		default:
			t.never(at)
		}
		if err != nil {
			return err
		}
	}
	return to.settled()
}

func (t *taking) takeLoose(dir, first string, to *store) error {
	items, err := t.layer.list(dir, &t.names)
	if err != nil {
		return err
	}
	for _, i := range items {
		name := first + i.name
		switch {
		case i.kind == removed:
			t.cleaned = true
			continue
		case strings.HasPrefix(i.name, "tmp_"):
			continue
		case i.kind != regular || !isName(name, t.Hexes):
			t.never(dir + "/" + i.name)
			continue
		}
		if to.has(name) {
			continue
		}
		file, err := t.layer.file(dir + "/" + i.name)
		if err == nil {
			err = to.add(name, func(out io.Writer) error { return copyLoose(out, t.read.limited(file), name, &t.inflated) })
			file.Close()
		}
		if err != nil {
			return fmt.Errorf("%s/%s: %w", dir, i.name, err)
		}
	}
	return nil
}

func (t *taking) takePacks(dir string, to *store) error {
	items, err := t.layer.list(dir, &t.names)
	if err != nil {
		return err
	}
	for _, i := range items {
		name, isList := strings.CutSuffix(i.name, ".idx")
		switch ext := path.Ext(i.name); {
		case i.kind == removed:
			t.cleaned = true
		case strings.HasPrefix(i.name, "tmp_") || strings.HasPrefix(i.name, ".tmp-"):
		case i.kind != regular:
			t.never(dir + "/" + i.name)
		case isList:
			if err := t.takePack(dir+"/"+name, to); err != nil {
				return fmt.Errorf("%s/%s.pack: %w", dir, name, err)
			}
		case slices.Contains(strings.Fields(".pack .rev .keep .bitmap .mtimes .lock"), ext) || i.name == "multi-pack-index":
			// read with its list, or made anew by git
		default:
			t.never(dir + "/" + i.name)
		}
	}
	return nil
}

// takePack takes over the objects of a pack that the repository lacks, as loose ones.
func (t *taking) takePack(name string, to *store) error {
	list, err := t.layer.file(name + ".idx")
	if err != nil {
		return err
	}
	defer list.Close()
	file, err := t.layer.file(name + ".pack")
	if err != nil {
		return err
	}
	defer file.Close()
	listInfo, err := list.Stat()
	info, err2 := file.Stat()
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	x, err := readIdx(list, listInfo.Size(), t.Hexes)
	if err != nil {
		return err
	}
	type missing struct {
		name string
		at   int64
	}
	var lacks []missing
	for i := range x.count {
		if t.names--; t.names < 0 {
			return errTooMany
		}
		object, err := x.name(i)
		if err == nil && !to.has(object) {
			at, wrong := x.at(i)
			lacks, err = append(lacks, missing{object, at}), wrong
		}
		if err != nil {
			return err
		}
	}
	slices.SortFunc(lacks, func(a, b missing) int { return int(min(max(a.at-b.at, -1), 1)) })
	p := &pack{file: file, size: info.Size(), index: x, left: &t.inflated}
	for _, m := range lacks {
		o, err := p.read(m.at)
		if err == nil && nameOf(o.kind, o.content, t.Hexes) != m.name {
			err = errors.New("its content has another name")
		}
		if err == nil {
			p.keep(m.at, o)
			var small bytes.Buffer
			if err = writeLoose(&small, o.kind, o.content); err == nil {
				err = to.add(m.name, func(out io.Writer) error { _, err := small.WriteTo(out); return err })
			}
		}
		if err != nil {
			return fmt.Errorf("object %s: %w", m.name, err)
		}
	}
	return nil
}

// isGone reports that there is nothing at a name.
func isGone(err error) bool { return errors.Is(err, fs.ErrNotExist) }
