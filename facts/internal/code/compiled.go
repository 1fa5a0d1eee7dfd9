package code

import (
	"strconv"
	"strings"
)

// compiledLanguage stands for languages that are compiled before they run: Go, Rust, C,
// and those of the Java machine. Their text is not parsed: calls are found by name, and
// count as far as their arguments are literal text.
func compiledLanguage() *language {
	return &language{name: "compiled", table: func() table { return nil }, inspect: inspectCompiled}
}

// compiledCalls are the beginnings of calls, by what they do.
var compiledCalls = [...]struct{ does, begins string }{
	{"argv", "Command::new( exec.Command( exec.CommandContext( ProcessBuilder( commandLine( execvp( execlp( execl( execv( posix_spawn( syscall.Exec( Process.run( Process.runSync( Process.start( addSystemCommand( os.proc( ctx.execute("},
	{"shell", "system( popen( Runtime.getRuntime().exec("},
	{"delete+r", "remove_dir_all( os.RemoveAll( deleteDirectory( "},
	{"delete", "os.Remove( remove_file( unlink( "},
	{"write", "os.WriteFile( os.Create( fs::write( File::create( "},
}

func inspectCompiled(r *inspection, text string) {
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "//go:generate "); ok {
			r.emit(Call{Name: "go:generate", Does: "shell"}, []value{textValue(strings.TrimSpace(command))})
		}
		command, _, ok := strings.Cut(line, ".execute(") // Groovy
		if list := strings.LastIndexByte(command, '['); ok && list >= 0 && strings.HasSuffix(command, "]") {
			r.compiledCall("execute", "argv", command[list:], 0)
			continue
		}
		if before, _, sbt := strings.Cut(line, `".!`); sbt && !ok {
			command, ok = before+`"`, true
		}
		if ok {
			if found, _ := literals(command); len(found) > 0 {
				r.emit(Call{Name: "execute", Does: "shell"}, []value{textValue(found[len(found)-1])})
			}
		}
	}
	text = strings.NewReplacer("commandLine \"", "commandLine(\"", "commandLine([", "commandLine(").Replace(text)
	for _, row := range compiledCalls {
		for begin := range strings.FieldsSeq(row.begins) {
			for at, rest := 0, text; ; {
				i := strings.Index(rest, begin)
				if i < 0 {
					break
				}
				at += i + len(begin)
				rest = rest[i+len(begin):]
				r.compiledCall(strings.TrimSuffix(begin, "("), row.does, rest, at)
			}
		}
	}
}

// compiledCall reports one call, whose arguments rest begins with.
func (r *inspection) compiledCall(name, does, rest string, at int) {
	found, first := literals(statementOf(rest))
	if len(found) == 0 || !first && does != "argv" {
		return
	}
	c := Call{Name: name, Does: does, Offset: at}
	c.Does, c.Recursive = strings.CutSuffix(does, "+r")
	if c.Does != "argv" {
		found = found[:1]
	}
	args := make([]value, len(found))
	for i, text := range found {
		args[i] = textValue(text)
	}
	r.emit(c, args)
}

// maxStatement bounds how much text belongs to one call.
const maxStatement = 2000

// statementOf cuts off what follows the statement that text begins in: at a semicolon,
// or at a line break behind which no chain of calls goes on.
func statementOf(text string) string {
	text = text[:min(len(text), maxStatement)]
	depth, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ';':
			return text[:i]
		case c == '\n' && depth <= 0 && !strings.HasPrefix(strings.TrimSpace(text[i:]), "."):
			return text[:i]
		}
	}
	return text
}

// literals are the texts in double quotes, and whether the statement begins with one.
func literals(text string) (found []string, first bool) {
	first = strings.HasPrefix(strings.TrimLeft(text, " \t\n&{["), `"`)
	for {
		i := strings.IndexByte(text, '"')
		if i < 0 {
			return found, first
		}
		text = text[i:]
		end := 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		if end >= len(text) {
			return found, first
		}
		s, err := strconv.Unquote(text[:end+1])
		if err != nil {
			s = text[1:end]
		}
		found = append(found, s)
		text = text[end+1:]
	}
}

// DoubleQuoted is a text of a language that has texts in either quotes, with those in single
// ones between double ones.
func DoubleQuoted(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		i := strings.IndexAny(text, "\"'")
		if i < 0 {
			break
		}
		end := i + 1
		for end < len(text) && text[end] != text[i] && text[end] != '\n' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		b.WriteString(text[:i])
		switch {
		case end >= len(text):
			return b.String() + text[i:]
		case text[end] == '\n' || text[i] == '"':
			b.WriteString(text[i : end+1])
		default:
			b.WriteString(`"` + strings.ReplaceAll(text[i+1:end], `"`, `\"`) + `"`)
		}
		text = text[end+1:]
	}
	return b.String() + text
}
