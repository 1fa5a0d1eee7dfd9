package program

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"gate/facts/internal/code"
	"gate/facts/internal/flow"
	"gate/internal/wordlist"
)

// told reports that one of the line's words is one of the list.
func (u *use) told(words string) bool {
	return slices.ContainsFunc(u.Given(), func(f flow.Word) bool { return wordlist.Has(words, f.Text()) })
}

// msbuild judges the tasks of a project of .NET that run programs, fetch and delete files.
// They stand in one text, as a task may run what one before it has fetched. Code within
// tasks, in CDATA, is only followed by its names.
func (u *use) msbuild(text string) {
	if !u.told(" build run test publish restore pack clean msbuild watch vstest tool format ") && u.name != "msbuild" && u.name != "xbuild" {
		return
	}
	text = msbuildComment().ReplaceAllString(text, "")
	values := map[string]string{"HOME": "${HOME}", "USERPROFILE": "${HOME}", "BaseIntermediateOutputPath": "obj/", "IntermediateOutputPath": "obj/", "OutDir": "bin/", "OutputPath": "bin/", "MSBuildThisFileDirectory": "./", "MSBuildProjectDirectory": "."}
	for _, set := range msbuildSet().FindAllStringSubmatch(text, -1) {
		values[set[1]] = msbuildText(set[2])
	}
	tasks := msbuildTask().FindAllStringSubmatchIndex(text, -1)
	for i, at := range tasks { // what a task puts out has a name, too
		end := len(text)
		if i+1 < len(tasks) {
			end = tasks[i+1][0]
		}
		given := attributes(text[at[4]:at[5]])
		output := msbuildOutput().FindStringSubmatch(text[at[1]:end])
		if output == nil {
			continue
		}
		switch name := output[1]; text[at[2]:at[3]] {
		case "DownloadFile":
			values[name] = downloaded(given)
		case "ReadLinesFromFile":
			values[name] = "$(cat " + given["File"] + ")"
		}
	}
	value := func(name string) string {
		if v, ok := values[name]; ok {
			return v
		}
		return "value"
	}
	var lines []string
	for _, at := range tasks {
		given := attributes(text[at[4]:at[5]])
		for name, v := range given {
			given[name] = u.fill(v, msbuildName(), value)
		}
		lines = append(lines, msbuildLines(text[at[2]:at[3]], given)...)
	}
	u.surely(func() { u.inside(func() { u.shell.Text(flow.Literal(strings.Join(lines, "\n")), flow.Stream{}) }) })
	for _, found := range msbuildCode().FindAllStringSubmatch(text, -1) {
		u.lineage(found[1])
	}
}

// msbuildLines are the lines of a shell that do what a task of msbuild does.
func msbuildLines(task string, given map[string]string) (lines []string) {
	switch task {
	case "Exec":
		lines = append(lines, given["Command"])
	case "DownloadFile":
		lines = append(lines, "curl -s -o "+shellLine([]string{downloaded(given), given["SourceUrl"]}))
	case "Unzip":
		lines = append(lines, "unzip -o "+shellLine([]string{given["SourceFiles"], "-d", given["DestinationFolder"]}))
	case "Copy", "Move":
		to := cmp.Or(given["DestinationFiles"], path.Join(given["DestinationFolder"], path.Base(given["SourceFiles"])))
		lines = append(lines, "cp "+shellLine([]string{given["SourceFiles"], to}))
	case "UsingTask": // a task of a program runs it
		if file := given["AssemblyFile"]; file != "" && strings.Contains(file, "/") {
			lines = append(lines, "dotnet exec "+shellLine([]string{file}))
		}
	case "RemoveDir", "Delete":
		for file := range strings.SplitSeq(given["Directories"]+given["Files"], ";") {
			lines = append(lines, "rm -rf "+file)
		}
	}
	return lines
}

// downloaded is where the task DownloadFile puts the file.
func downloaded(given map[string]string) string {
	return path.Join(given["DestinationFolder"], cmp.Or(given["DestinationFileName"], path.Base(given["SourceUrl"])))
}

func attributes(text string) map[string]string {
	given := map[string]string{}
	for _, found := range msbuildAttribute().FindAllStringSubmatch(text, -1) {
		given[found[1]] = msbuildText(found[2] + found[3])
	}
	return given
}

// msbuildText undoes the escapes of XML, and gives functions that name the home directory
// their value.
func msbuildText(text string) string {
	return strings.NewReplacer("&quot;", `"`, "&apos;", "'", "&amp;", "&", "&lt;", "<", "&gt;", ">", "&#xA;", "\n", "&#10;", "\n",
		"$([System.Environment]::GetEnvironmentVariable('HOME'))", "${HOME}", "$([System.Environment]::GetFolderPath(SpecialFolder.UserProfile))", "${HOME}",
		"$([System.Environment]::GetFolderPath('UserProfile'))", "${HOME}").Replace(text)
}

// cmakeTakes judges the files that a script of CMake takes in: by a path, or a module by its
// name from the directories that such scripts have for modules.
func (u *use) cmakeTakes(file, text string) {
	dirs := []string{"cmake", "cmake/modules", "cmake/Modules", "CMake", "."}
	for _, set := range cmakeModules().FindAllStringSubmatch(text, -1) {
		dirs = append(dirs, strings.Fields(cmakeHere(set[1]))...)
	}
	for _, found := range cmakeInclude().FindAllStringSubmatch(text, maxIncluded) {
		name := strings.Trim(cmakeHere(found[2]), `"`)
		switch {
		case strings.EqualFold(found[1], "add_subdirectory"):
			u.includes("cmake", file, name+"/CMakeLists.txt")
		case strings.HasSuffix(name, ".cmake"):
			u.includes("cmake", file, name)
		default:
			for _, dir := range dirs {
				p := path.Join(path.Dir(file), dir, name+".cmake")
				if _, byAgent := u.AuthoredText(p); byAgent || u.World.Exists(p) {
					u.includes("cmake", file, p)
					break
				}
			}
		}
	}
}

// cmakeHere has the names of the project's own directory taken out of paths.
func cmakeHere(paths string) string {
	return strings.NewReplacer("${CMAKE_SOURCE_DIR}", ".", "${CMAKE_CURRENT_SOURCE_DIR}", ".", "${CMAKE_CURRENT_LIST_DIR}", ".", "${PROJECT_SOURCE_DIR}", ".", `"`, "").Replace(paths)
}

// cmakeStatements is a script of CMake with assignments in the place of the commands that
// bind names, so that names can be followed, and a call that sends for file(UPLOAD).
func cmakeStatements(text string) string {
	text = cmakeBinds().ReplaceAllString(text, "$1 = $2")
	text = cmakeReads().ReplaceAllString(text, "$2 = $1")
	text = cmakeEach().ReplaceAllString(text, "for $1 in $2")
	return cmakeUpload().ReplaceAllString(text, "upload(")
}

// cmakeValues is a script of CMake with the values of its variables, and of those of the environment
// that it sets, in the place of their names. A directory that a path is taken of is the one above.
func cmakeValues(text string) string {
	for range maxCMakeNames {
		found := cmakeSets().FindStringSubmatchIndex(text)
		if found == nil {
			return text
		}
		part := func(n int) string {
			if found[2*n] < 0 {
				return ""
			}
			return text[found[2*n]:found[2*n+1]]
		}
		name, value := "${"+part(2)+"}", strings.Trim(part(4), `"`)
		if part(3) != "" {
			name = "$" + part(3)
		}
		switch strings.ToUpper(part(5)) {
		case "DIRECTORY", "PATH":
			value += "/.."
		case "NAME", "NAME_WE", "EXT", "LAST_EXT", "NAME_WLE":
			name = "" // which leads nowhere
		}
		rest := text[found[1]:]
		if name != "" && !strings.Contains(value, name) {
			rest = strings.ReplaceAll(rest, name, value)
		}
		if len(rest) > maxCMakeText {
			return text
		}
		text = text[:found[0]] + rest
	}
	return text
}

// Limits of the variables of a script of CMake, and of its text with their values in bytes.
const (
	maxCMakeNames = 64
	maxCMakeText  = 256 << 10
)

// hclLines are the commands that terraform runs: those of provisioners, and the programs
// of external data. Most of its verbs run none.
func (u *use) hclLines(text string) (lines []string) {
	if u.told(" fmt validate init version providers output show state graph workspace login logout get force-unlock metadata taint untaint ") {
		return nil
	}
	for _, found := range hclProgram().FindAllStringSubmatch(text, -1) {
		if words, _ := quotedWords(found[1]); len(words) > 0 {
			lines = append(lines, shellLine(words))
		}
	}
	lines = append(lines, slices.Concat(texts(hclCommand(), text), texts(hclBlock(), text))...)
	for i, line := range lines {
		for _, dir := range []string{"${path.module}", "${path.root}", "${path.cwd}"} {
			line = strings.ReplaceAll(line, "'"+dir+"/", "'./")
			line = strings.ReplaceAll(line, dir, ".")
		}
		lines[i] = line
	}
	return lines
}

// dbt judges the statements that macros and hooks of dbt run beside its models. Copying
// data out of the database is asked about: whose the place is nobody can tell.
func (u *use) dbt(file, text string) {
	if !u.told(" run build test seed snapshot run-operation compile docs retry clone ") {
		return
	}
	text = code.Joined(text)
	if code.DropsFound(text) {
		u.asksAbout(dropsFound)
	}
	var statements []string
	for _, found := range dbtStatement().FindAllStringSubmatch(text, -1) {
		statements = append(statements, strings.Join(found[1:], ""))
	}
	if strings.Contains(file, "/macros/") {
		statements = append(statements, dbtTag().ReplaceAllString(text, ";"))
	}
	for _, statement := range statements {
		u.surely(func() { u.sql(flow.Literal(statement)) })
		if copiesOut().MatchString(statement) {
			u.asksAbout("a statement that an agent wrote copies data out of the database")
		}
	}
}

// mountsHome asks about a service that an agent wrote, and that gets all of the home
// directory.
func (u *use) mountsHome(text string) {
	if u.told(" up run start create restart watch ") && homeMount(u.World.Home).MatchString(text) {
		u.asksAbout("a service that an agent wrote gets the whole home directory")
	}
}

// homeMount finds the home directory before the colon of a volume, or as its source.
func homeMount(home string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)(?:^\s*-\s*|[\[,]\s*|\bsource:\s*)["']?(?:\$\{HOME\}|\$HOME|~|` + regexp.QuoteMeta(home) + `)/?(?::/|["']?\s*(?:[,}]|$))`)
}

var (
	msbuildSet       = lazy(`<([A-Z]\w*)>([^<>\n]*)</\w+>`)
	msbuildComment   = lazy(`(?s)<!--.*?-->`)
	msbuildOutput    = lazy(`<Output\s[^>]*(?:PropertyName|ItemName)\s*=\s*["'](\w+)["']`)
	msbuildTask      = lazy(`(?s)<(Exec|DownloadFile|RemoveDir|Delete|Unzip|Copy|Move|UsingTask|ReadLinesFromFile)\s((?:[^>"']|"[^"]*"|'[^']*')*)>`)
	msbuildAttribute = lazy(`(?s)(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
	msbuildName      = lazy(`[$@]\((\w+)\)`)
	msbuildCode      = lazy(`(?s)<!\[CDATA\[(.*?)\]\]>`)

	cmakeBinds   = lazy(`(?i)\b(?:set\s*\(|file\s*\(\s*GLOB(?:_RECURSE)?|list\s*\(\s*APPEND|string\s*\(\s*APPEND)\s*(\w+)\s+([^)]*\))`)
	cmakeSets    = lazy(`(?i)\b(set|get_filename_component)\s*\(\s*(?:(\w+)|(ENV\{\w+\}))\s+("[^"\n]*"|[^\s()"]+)(?:\s+(ABSOLUTE|REALPATH|DIRECTORY|PATH|NAME|NAME_WE|EXT|LAST_EXT|NAME_WLE))?[^()\n]*\)`)
	cmakeReads   = lazy(`(?i)\bfile\s*\(\s*(?:READ|STRINGS)\s+(\S+)\s+(\w+)`)
	cmakeInclude = lazy(`(?i)\b(include|add_subdirectory)\s*\(\s*("[^"\n]*"|[^\s()]+)`)
	cmakeModules = lazy(`(?i)\b(?:list\s*\(\s*(?:APPEND|PREPEND|INSERT)|set\s*\()\s*CMAKE_MODULE_PATH\s+([^)]*)\)`)
	cmakeEach    = lazy(`(?i)\bforeach\s*\(\s*(\w+)\s+([^)]*)\)`)
	cmakeUpload  = lazy(`(?i)\bfile\s*\(\s*UPLOAD\s`)

	hclProgram = lazy(`(?s)\bprogram\s*=\s*(\[.*?\])`)

	dbtStatement = lazy(`(?s)\brun_query\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')|\b(?:pre|post)[-_]hook\s*[=:]\s*\[?\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')|\bon-run-(?:start|end):\s*(?:-\s*|\[\s*)*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')`)
	dbtTag       = lazy(`(?s)\{%.*?%\}|\{#.*?#\}`)
	copiesOut    = lazy(`(?is)\bcopy\s+into\s+@?'?(?:s3|gcs|azure|https?)://|\bunload\s*\(.*\bto\s+'s3://|\bexport\s+data\s+options\b|\bquery_export_to_s3\b|\binsert\s+into\s+(?:table\s+)?function\s+(?:s3|url|remote|gcs|azure|hdfs|ftp)\w*\s*\(|\bto\s+program\b|\bto\s+'(?:s3|s3a|gs|gcs|r2|az|azure|abfss?|https?|hf)://|\bexport\s+database\s+'(?:s3|gs|https?)://|\binto\s+outfile\s+(?:s3\s+)?'(?:s3|https?)[:-]|\bdblink_exec\s*\(|\bsp_send_dbmail\b|\butl_http\b|\butl_smtp\b|\bhttp_post\s*\(|\bengine\s*=?\s*(?:url|s3)\s*\(`)
)
