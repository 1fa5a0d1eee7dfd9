package program

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"gate/facts/internal/flow"
	"gate/internal/wordlist"
)

// told reports that one of the line's words is one of the list.
func (u *use) told(words string) bool {
	return slices.ContainsFunc(u.Given(), func(f flow.Word) bool { return wordlist.Has(words, f.Text()) })
}

// msbuild judges the tasks of a project of .NET that run programs, fetch and delete files.
// They stand in one text, as a task may run what one before it has fetched. Code within
// tasks, in CDATA, is only followed from the home directory.
func (u *use) msbuild(text string) {
	if !u.told(" build run test publish restore pack clean msbuild watch vstest ") && u.name != "msbuild" && u.name != "xbuild" {
		return
	}
	values := map[string]string{"HOME": "${HOME}", "BaseIntermediateOutputPath": "obj/", "IntermediateOutputPath": "obj/", "MSBuildThisFileDirectory": "./", "MSBuildProjectDirectory": "."}
	for _, set := range msbuildSet().FindAllStringSubmatch(text, -1) {
		values[set[1]] = set[2]
	}
	value := func(name string) string {
		if v, ok := values[name]; ok {
			return v
		}
		return "value"
	}
	var lines []string
	for _, task := range msbuildTask().FindAllStringSubmatch(text, -1) {
		given := map[string]string{}
		for _, found := range msbuildAttribute().FindAllStringSubmatch(task[2], -1) {
			v := strings.NewReplacer("&quot;", `"`, "&apos;", "'", "&amp;", "&", "&lt;", "<", "&gt;", ">", "&#xA;", "\n", "&#10;", "\n",
				"$([System.Environment]::GetEnvironmentVariable('HOME'))", "${HOME}", "$([System.Environment]::GetFolderPath(SpecialFolder.UserProfile))", "${HOME}").Replace(found[2] + found[3])
			given[found[1]] = u.fill(v, msbuildName(), value)
		}
		switch task[1] {
		case "Exec":
			lines = append(lines, given["Command"])
		case "DownloadFile":
			name := given["DestinationFileName"]
			if name == "" {
				name = path.Base(given["SourceUrl"])
			}
			lines = append(lines, "curl -s -o "+shellLine([]string{path.Join(given["DestinationFolder"], name), given["SourceUrl"]}))
		case "RemoveDir", "Delete":
			for file := range strings.SplitSeq(given["Directories"]+given["Files"], ";") {
				lines = append(lines, "rm -rf "+file)
			}
		}
	}
	u.surely(func() { u.inside(func() { u.shell.Text(flow.Literal(strings.Join(lines, "\n")), flow.Stream{}) }) })
	for _, found := range msbuildCode().FindAllStringSubmatch(text, -1) {
		u.lineage(found[1])
	}
}

// cmakeStatements is a script of CMake with assignments in the place of the commands that
// bind names, so that names can be followed, and a call that sends for file(UPLOAD).
func cmakeStatements(text string) string {
	text = cmakeBinds().ReplaceAllString(text, "$1 = $2")
	text = cmakeReads().ReplaceAllString(text, "$2 = $1")
	text = cmakeEach().ReplaceAllString(text, "for $1 in $2")
	return cmakeUpload().ReplaceAllString(text, "upload(")
}

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
	msbuildTask      = lazy(`(?s)<(Exec|DownloadFile|RemoveDir|Delete)\s((?:[^>"']|"[^"]*"|'[^']*')*)>`)
	msbuildAttribute = lazy(`(?s)(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)')`)
	msbuildName      = lazy(`\$\((\w+)\)`)
	msbuildCode      = lazy(`(?s)<!\[CDATA\[(.*?)\]\]>`)

	cmakeBinds  = lazy(`(?i)\b(?:set\s*\(|file\s*\(\s*GLOB(?:_RECURSE)?|list\s*\(\s*APPEND|string\s*\(\s*APPEND)\s*(\w+)\s+([^)]*\))`)
	cmakeReads  = lazy(`(?i)\bfile\s*\(\s*(?:READ|STRINGS)\s+(\S+)\s+(\w+)`)
	cmakeEach   = lazy(`(?i)\bforeach\s*\(\s*(\w+)\s+([^)]*)\)`)
	cmakeUpload = lazy(`(?i)\bfile\s*\(\s*UPLOAD\s`)

	hclProgram = lazy(`(?s)\bprogram\s*=\s*(\[.*?\])`)

	dbtStatement = lazy(`(?s)\brun_query\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')|\b(?:pre|post)[-_]hook\s*[=:]\s*\[?\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')|\bon-run-(?:start|end):\s*(?:-\s*|\[\s*)*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')`)
	dbtTag       = lazy(`(?s)\{%.*?%\}|\{#.*?#\}`)
	copiesOut    = lazy(`(?is)\bcopy\s+into\s+@?'?(?:s3|gcs|azure|https?)://|\bunload\s*\(.*\bto\s+'s3://|\bexport\s+data\s+options\b|\bquery_export_to_s3\b|\binsert\s+into\s+(?:table\s+)?function\s+(?:s3|url|remote|gcs|azure|hdfs|ftp)\w*\s*\(|\bto\s+program\b|\bto\s+'(?:s3|s3a|gs|gcs|r2|az|azure|abfss?|https?|hf)://|\bexport\s+database\s+'(?:s3|gs|https?)://|\binto\s+outfile\s+(?:s3\s+)?'(?:s3|https?)[:-]|\bdblink_exec\s*\(|\bsp_send_dbmail\b|\butl_http\b|\butl_smtp\b|\bhttp_post\s*\(|\bengine\s*=?\s*(?:url|s3)\s*\(`)
)
