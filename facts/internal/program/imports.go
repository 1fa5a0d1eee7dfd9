package program

import (
	"path"
	"strings"

	"gate/facts/internal/code"
	"gate/internal/wordlist"
)

// Bounds of what is read of the files that a text takes names from.
const (
	maxImports    = 16       // names of modules in a text
	maxImported   = 6        // files that are read
	maxImportText = 16 << 10 // bytes of one
	maxSiblings   = 64       // names of a directory whose files share their names
)

// withImports has the names that the project's own modules give to the home directory stand for
// it in a text that an agent wrote and that deletes. A text that sets variables of the
// environment may have moved it.
func (u *use) withImports(file, text string) string {
	if file == "" || u.at().Remote || !code.Deletes(text) || setsVariable().MatchString(text) || !u.Afford(len(text)) {
		return text
	}
	left := maxImported
	var names []string
	for _, module := range u.imported(file, text) {
		if left == 0 {
			break
		}
		if _, agents := u.AuthoredText(module); agents && module == file {
			continue
		}
		other, err := u.World.Read(module, maxImportText)
		if err != nil {
			continue
		}
		left--
		if !u.Afford(inspectSteps * len(other)) {
			return text
		}
		for _, name := range code.OfHome(other) {
			if namesWord(text, name) {
				names = append(names, name)
			}
		}
	}
	var ahead strings.Builder
	for _, name := range names {
		ahead.WriteString(name + " = homedir()\n")
	}
	return ahead.String() + text
}

// imported are the files of the project that may be those which a text takes names from: the
// modules that it imports, or in some languages each file beside it.
func (u *use) imported(file, text string) (files []string) {
	ending := path.Ext(file)
	add := func(name string) {
		if strings.HasPrefix(name, u.World.Project+"/") && name != file && u.World.Exists(name) {
			files = append(files, name)
		}
	}
	dirs := []string{path.Dir(file), u.World.Project, u.World.Project + "/src", u.World.Project + "/lib", u.World.Project + "/app"}
	for _, found := range imports().FindAllStringSubmatch(text, maxImports) {
		name := found[1] + found[2]
		if name == "" {
			continue
		}
		if found[3] != "" { // from a.b import c
			name += "." + found[3]
		}
		plain := strings.TrimPrefix(strings.NewReplacer("::", "/", `\`, "/").Replace(name), "@/")
		if !strings.ContainsAny(name, "/\"") {
			plain = strings.ReplaceAll(strings.TrimLeft(plain, "."), ".", "/")
		}
		plain = strings.TrimSuffix(strings.TrimSuffix(plain, ending), "/")
		if wordlist.Has(" .ex .exs ", ending) {
			plain = snake(plain)
		}
		ends := strings.Fields(strings.ReplaceAll(ending, ".exs", ".ex") + " " + alsoEndings(ending))
		for _, dir := range dirs {
			full := path.Join(dir, plain)
			for _, end := range ends {
				add(full + end)
			}
			if found[3] != "" {
				add(path.Dir(full) + ending)
			}
		}
	}
	beside := ""
	switch {
	case wordlist.Has(" .go .java .kt .cs .swift .rs .scala .jl .lua ", ending):
		beside = path.Dir(file)
	case ending == ".R" || ending == ".r":
		beside = u.World.Project + "/R"
	default:
		return files
	}
	entries, err := u.World.List(beside, maxSiblings)
	if err != nil {
		return files
	}
	for _, e := range entries {
		if strings.EqualFold(path.Ext(e.Name()), ending) {
			add(path.Join(beside, e.Name()))
		}
	}
	return files
}

// alsoEndings are other endings that a module of a language has.
func alsoEndings(ending string) string {
	switch ending {
	case ".py":
		return "/__init__.py"
	case ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".tsx":
		return ".ts .js .mjs .cjs /index.ts /index.js"
	}
	return ""
}

// snake is the name of a file for the name of a module: MyApp/Paths is my_app/paths.
func snake(name string) string {
	var b strings.Builder
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' && i > 0 && name[i-1] != '/' {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return strings.ToLower(b.String())
}

var (
	imports = lazy("(?m)(?:^|[^\\w.])(?:from|import|require(?:_relative|_once)?|include(?:_once)?|use|alias|load|source|using|open)\\s*\\(?\\s*(?:[\"'`]([\\w./@~-]+)[\"'`]|([\\w.:\\\\]+))(?:\\s+import\\s+\\(?(\\w+))?" +
		"|(?:^|[^\\w.])from\\s+[\"']([\\w./@~-]+)[\"']")
	setsVariable = lazy(`(?i)\bsetenv\b|environ\[[^\]]+\]\s*=[^=]|process\.env\.\w+\s*=[^=]|process\.env\[[^\]]+\]\s*=[^=]|\bENV\[[^\]]+\]\s*=[^=]|set_var\(|\bputenv\b|put_env\(|Sys\.setenv|\$ENV\{\w+\}\s*=[^=]|withr::local_envvar|with_envvar|mock_env|stubEnv|SetEnvironmentVariable`)
)
