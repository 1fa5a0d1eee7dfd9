package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// documents is where packages put pages and licences.
const documents = "/usr/share/doc/gate/"

// A family is what differs between the systems of packages.
type family struct {
	zsh    string            // where zsh finds completions of packages
	arches map[string]string // Go's words for processors to the family's
}

// arch is a processor in the family's words.
func (f family) arch(p Platform) (string, error) {
	if name, ok := f.arches[p.Arch]; ok {
		return name, nil
	}
	return "", fmt.Errorf("%s: this family of packages is not made for it", p)
}

// placed returns the files of a platform where a package installs them, by absolute paths
// and in their order. The programs share a directory, since each finds the others beside it.
func (r *Release) placed(s Staged, f family) ([]File, error) {
	list := []File{{Page, documents + "copyright", 0o644, r.copyright(s)}}
	for _, file := range s.Files {
		var err error
		if file, err = r.place(file, f); err != nil {
			return nil, err
		}
		list = append(list, file)
	}
	system, err := systemUnits(s)
	if err != nil {
		return nil, err
	}
	list = append(list, system...)
	slices.SortFunc(list, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for i := range list[1:] {
		if list[i].Path == list[i+1].Path {
			return nil, fmt.Errorf("%s would be installed twice", list[i].Path)
		}
	}
	return list, nil
}

// place returns a file as packages have it. Shells without a directory for packages
// have their completions beside the pages.
func (r *Release) place(f File, family family) (File, error) {
	name := path.Base(f.Path)
	switch f.Kind {
	case Program:
		f.Path = "/usr/bin/" + name
	case Page, Licence:
		f.Path = documents + f.Path
	case Manual:
		packed, err := packed(f.Data)
		if err != nil {
			return File{}, err
		}
		f.Path, f.Data = "/usr/share/man/man1/"+name+".gz", packed
	case Completion:
		switch shell := path.Base(path.Dir(f.Path)); shell {
		case "bash":
			f.Path = "/usr/share/bash-completion/completions/" + name
		case "zsh":
			f.Path = family.zsh + name
		case "fish":
			f.Path = "/usr/share/fish/vendor_completions.d/" + name
		default:
			f.Path = documents + f.Path
		}
	case Unit:
		f.Path = "/usr/lib/systemd/user/" + name
	default:
		return File{}, fmt.Errorf("%s: packages have no place for a %s", f.Path, f.Kind)
	}
	return f, nil
}

// packed compresses data; the result has neither name nor time.
func packed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// copyright says what may be done with the package.
func (r *Release) copyright(s Staged) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "gate %s\n\nLicence of gate: %s.\n", r.Version, noLicence)
	if slices.ContainsFunc(s.Files, func(f File) bool { return f.Kind == Licence }) {
		fmt.Fprintf(&b, "\nThe programs contain Go modules of others, whose licences are in\n%slicences.\n", documents)
	}
	return []byte(b.String())
}

// systemUnits are the units of the whole machine, which docs/mdm has for machines without
// packages: there administrators put the programs into /usr/local/bin.
func systemUnits(s Staged) ([]File, error) {
	var list []File
	for _, f := range s.Files {
		name := path.Base(f.Path)
		if f.Kind != Page || path.Dir(f.Path) != "docs/mdm" || path.Ext(name) != ".service" && path.Ext(name) != ".timer" {
			continue
		}
		text := strings.ReplaceAll(string(f.Data), "/usr/local/bin/", "/usr/bin/")
		text = strings.ReplaceAll(text, "# /etc/systemd/system/"+name+": ", "# ")
		if path.Ext(name) == ".service" && !strings.Contains(text, "ExecStart=/usr/bin/") {
			return nil, fmt.Errorf("%s does not start a program in /usr/local/bin, where packages look for it", f.Path)
		}
		list = append(list, File{Unit, "/usr/lib/systemd/system/" + name, 0o644, []byte(text)})
	}
	return list, nil
}

// removal is the script that runs before a package is removed, and only prints.
func (r *Release) removal() ([]byte, error) {
	return os.ReadFile(filepath.Join(r.Tree, "packaging", "linux", "prerm"))
}

// linux are the staged files of one system, which alone has packages of these families
// and images.
func linux(staged []Staged) []Staged {
	return slices.DeleteFunc(slices.Clone(staged), func(s Staged) bool { return s.Platform.OS != "linux" })
}

// packages writes a package for each platform of Linux, with an ending to its name.
func (r *Release) packages(staged []Staged, ending string, pack func(Staged) ([]byte, error)) ([]string, error) {
	var made []string
	for _, s := range linux(staged) {
		data, err := pack(s)
		if err != nil {
			return nil, err
		}
		name := r.base(s.Platform) + ending
		if err := os.WriteFile(filepath.Join(r.Out, name), data, 0o644); err != nil {
			return nil, err
		}
		made = append(made, name)
	}
	return made, nil
}

// addTree adds files with absolute paths to an archive, and before each the directories
// above it. All are root's. Names begin with the root as the reader writes it: "" or "./".
func (r *Release) addTree(archive *tar.Writer, root string, format tar.Format, files []File) error {
	known := map[string]bool{root: root == ""} // "" is no name
	for _, f := range files {
		for _, dir := range above(f.Path) {
			name := root + strings.TrimPrefix(dir+"/", "/")
			if dir == "/" {
				name = root
			}
			if known[name] {
				continue
			}
			known[name] = true
			h := tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755, Uname: "root", Gname: "root", ModTime: r.Time, Format: format}
			if err := archive.WriteHeader(&h); err != nil {
				return err
			}
		}
		h := tar.Header{Name: root + f.Path[1:], Mode: int64(f.Mode), Size: int64(len(f.Data)), Uname: "root", Gname: "root", ModTime: r.Time, Format: format}
		if err := archive.WriteHeader(&h); err != nil {
			return err
		}
		if _, err := archive.Write(f.Data); err != nil {
			return err
		}
	}
	return nil
}

// above are the directories above an absolute path, the outermost first.
func above(name string) []string {
	dir := path.Dir(name)
	if dir == "/" {
		return []string{"/"}
	}
	return append(above(dir), dir)
}
