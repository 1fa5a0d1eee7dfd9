package places

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"gate/facts"
	"gate/internal/hostfs"
)

// Own lists where gate's own files really are, so that the rule that protects
// them and the layout cannot drift apart.
func Own(d Dirs) []facts.Place {
	var trees, files []string
	named := slices.DeleteFunc([]string{d.Managed, d.User, d.State}, func(dir string) bool { return dir == "" })
	for _, p := range hostfs.Spellings(named...) {
		trees = append(trees, p, p+"/**")
	}
	if exe, err := os.Executable(); err == nil {
		programs := []string{exe}
		for _, name := range []string{"gate", "gate-hook", "gate-run", "gate-server"} { // each protects the others
			if program := Beside(exe, name); program != exe {
				programs = append(programs, program)
			}
		}
		files = hostfs.Spellings(programs...)
		if plugin := pluginOf(exe); plugin != "" { // its hooks and its launcher decide whether gate is asked
			for _, p := range hostfs.Spellings(plugin) {
				trees = append(trees, p, p+"/**")
			}
		}
	}
	if who, err := Listed(); err == nil && filepath.IsAbs(who.Home) {
		for _, p := range hostfs.Spellings(Programs(who.Home)) {
			files = append(files, p, p+"/**")
		}
	}
	injectors, _ := d.Grants().Injectors() // of a broken one no text is taken
	var given []string
	for _, in := range injectors {
		for _, p := range hostfs.Spellings(in.Dir) {
			given = append(given, p, p+"/**")
		}
	}
	return []facts.Place{
		{Class: "self", What: "a directory of texts for agents", Patterns: given},
		{Class: "self", What: "gate's own directory", Patterns: trees},
		{Class: "self", What: "gate's program", Patterns: files},
	}
}

// Launcher is where the program lies that starts confined calls: beside this one, whether
// or not it is there. It is "" where nobody knows where this program lies.
func Launcher() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	return Beside(exe, "gate-run")
}

// pluginOf is the directory of the agent's plugin that a program lies in, "" for none. An
// agent may read it from where its marketplace lies, outside its own directory.
func pluginOf(program string) string {
	bin := filepath.Dir(program)
	plugin := filepath.Dir(bin)
	if filepath.Base(bin) != "bin" {
		return ""
	}
	for _, files := range [][2]string{{".claude-plugin/plugin.json", "hooks/hooks.json"}, {"plugin.json", "hooks.json"}} {
		_, manifest := os.Lstat(filepath.Join(plugin, filepath.FromSlash(files[0])))
		_, hooks := os.Lstat(filepath.Join(plugin, filepath.FromSlash(files[1])))
		if manifest == nil && hooks == nil {
			return plugin
		}
	}
	return ""
}

// Beside is the path of another program of gate's in the directory of one.
func Beside(program, name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(program), name)
}
