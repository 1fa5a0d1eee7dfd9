package core

import (
	"path"
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/seen"
	"gate/internal/wordlist"
)

// dataSink is the kind of flow of a host to which programs report from then on.
const dataSink = "data sink"

// sinks adds the hosts that a call sets as the place to which programs report what they have: in a
// file, in the environment of a command, or by a word NAME=ADDRESS. One that stands in the place
// of another is told by [Gate.replaced].
func (g *Gate) sinks(f *hook.Facts, kept *seen.Seen) {
	left := maxReplaced
	for i := range f.Effects {
		e := &f.Effects[i]
		write, ok := e.Is.(*hook.FSWrite)
		if !ok || write.Path == nil || forPeople(*write.Path) || tried(*write.Path) || left == 0 {
			continue
		}
		left--
		old := ""
		for _, w := range f.Wrote {
			if w.Path != *write.Path {
				continue
			}
			for _, host := range reportsTo(w.Text) {
				if old == "" {
					old = g.text(*write.Path) + " "
				}
				if !strings.Contains(old, host) {
					sink(f, kept, host, e.Kind(), e.Command, write.Path)
				}
			}
		}
	}
	if f.Shell == nil {
		return
	}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		var list []string
		for name, v := range c.Env {
			if v != nil {
				list = append(list, reportsTo(name+"="+*v)...)
			}
		}
		for _, w := range c.Words {
			if w.Value != nil && strings.IndexByte(*w.Value, '=') > 0 && len(*w.Value) < maxLine && strings.IndexByte(*w.Value, '\n') < 0 {
				list = append(list, reportsTo(*w.Value)...)
			}
		}
		for _, host := range list {
			sink(f, kept, host, "environment", c.ID, nil)
		}
	}
}

// sink adds a host to which programs report, but for one that is told as another's replacement.
func sink(f *hook.Facts, kept *seen.Seen, host, effect string, command int, file *string) {
	hit := kept.Only(host)
	if hit == nil || !kept.Unrelated(host) || slices.ContainsFunc(f.Flow, func(flow hook.Flow) bool {
		return flow.What != nil && *flow.What == replacedHost && flow.Host != nil && *flow.Host == hit.Host
	}) {
		return
	}
	addHit(f, hit, dataSink, effect, command, file)
}

// tried reports a file of tests, which reports nothing that matters.
func tried(file string) bool {
	return strings.Contains(file, "/test") || strings.Contains(file, "/fixture") || strings.Contains(path.Base(file), "test") || strings.Contains(file, ".example")
}

// reportsTo are the hosts of a text that stand where a program is told to whom it reports: behind
// a name that says so in the line or the one before it, or behind the key of an address, as
// Sentry and its like have it.
func reportsTo(text string) (list []string) {
	before := ""
	for line := range strings.Lines(text) {
		if len(line) > maxLine {
			continue
		}
		for _, w := range seen.Hosts(line) {
			if w.At >= len(line) || nobodys(w.Host) || len(list) == maxPlaces {
				continue
			}
			head := line[:w.At]
			if keyed(head) || strings.Contains(head, "://") && (reports(head[:strings.LastIndex(head, "://")]) || strings.HasPrefix(strings.TrimLeft(head, " \t-"), "url") && reports(before)) {
				list = append(list, w.Host)
			}
		}
		if strings.TrimSpace(line) != "" {
			before = line
		}
	}
	return list
}

// keyed reports what stands before a host in an address with a key and no password, as
// https://KEY@host has it.
func keyed(head string) bool {
	at := strings.LastIndex(head, "://")
	if at < 0 || !strings.HasSuffix(head, "@") {
		return false
	}
	key := head[at+3 : len(head)-1]
	return len(key) >= 16 && strings.Trim(key, "0123456789abcdefABCDEF") == ""
}

// reports reports what stands before an address if it has a word by which programs know to whom
// they report.
func reports(head string) bool {
	head = head[max(0, len(head)-maxHead):]
	words := wordlist.OfName(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, head))
	return wordlist.HasAny(" dsn otlp otel telemetry collector webhook webhooks syslog logstash fluentd loki gelf pushgateway beacon analytics crashlytics sentry bugsnag rollbar glitchtip honeybadger airbrake datadog ", words) ||
		strings.Contains(strings.Join(words, " "), "remote write") || strings.Contains(strings.Join(words, " "), "report uri")
}

// maxHead is how far before an address its name stands, in bytes.
const maxHead = 80

// maxHanded is how many programs of one call are looked at.
const maxHanded = 4

// handedOver adds the hosts and addresses of mail that only untrusted text named, where a program
// has them that an agent wrote and that runs now: it reads files, and hands something over.
func (g *Gate) handedOver(f *hook.Facts, ev *hook.Event, kept *seen.Seen) {
	reads := false
	for i := range f.Effects {
		switch e := f.Effects[i].Is.(type) {
		case *hook.FSRead:
			reads = reads || e.Path != nil && !fetches(*e.Path)
		case *hook.SecretRead:
			reads = true
		}
	}
	left := maxHanded
	list := slices.Clone(f.Flow)
	if command := runner(f); command > 0 { // it loads what it finds in the project
		for _, file := range g.writtenCode(ev) {
			list = append(list, hook.Flow{Effect: "exec.code", Command: command, Origin: "written", Path: &file})
		}
	}
	for _, flow := range list {
		if flow.Origin != "written" || flow.Effect != "exec.code" || flow.Path == nil || left == 0 || forPeople(*flow.Path) {
			continue
		}
		left--
		text := g.text(*flow.Path)
		if !handsOver(text) || !reads && !readsStore(text) {
			continue
		}
		for _, hit := range kept.Sites(text) {
			if !near(hit.Host) && !nobodys(hit.Host) && kept.Unrelated(hit.Host) {
				addHit(f, &hit, "host", "net.send", flow.Command, flow.Path)
			}
		}
	}
}

// runner is the number of the first command of a call that runs code of a project which its line does
// not name, 0 for none.
func runner(f *hook.Facts) int {
	if f.Shell == nil {
		return 0
	}
	for i := range f.Shell.Commands {
		c := &f.Shell.Commands[i]
		if c.Program != nil && !wordlist.Has(lookers+clients+" cd export source . set ", *c.Program) && (!c.Known || wordlist.Has(codeRunners, *c.Program)) {
			return c.ID
		}
	}
	return 0
}

// codeRunners are programs that the catalogue knows and that load code of the project.
const codeRunners = " airflow dagster prefect celery mkdocs sphinx-build pytest tox nox jest vitest mocha rspec rails rake bundle mix cargo go npm yarn pnpm bun deno gradle gradlew mvn mvnw sbt dotnet swift dart flutter php artisan composer phpunit manage.py django-admin flask uvicorn gunicorn streamlit jupyter quarto Rscript julia lua busted perl prove ruby jekyll hugo astro next nuxt vite webpack pulumi cdk serverless sam k6 locust scrapy dbt kedro snakemake nextflow invoke fab make just task "

// writtenCode are files of code that agents wrote in the project of a call.
func (g *Gate) writtenCode(ev *hook.Event) (list []string) {
	ledger, known := g.origins()
	if !known {
		return nil
	}
	written, _ := ledger.Open(keyOf(ev)).Written() // an error closes what facts make of it
	for _, file := range written {
		if len(list) < maxHanded && wordlist.Has(" .py .rb .js .ts .mjs .cjs .php .pl .pm .lua .ex .exs .go .rs .java .kt .kts .scala .clj .groovy .gradle .swift .dart .cs .fs .jl .r .R .hs .ml .nim .cr .sh .bash .tcl .el ", path.Ext(file)) && !tried(file) {
			list = append(list, file)
		}
	}
	return list
}

// readsStore reports the text of a program that reads what is kept: files, rows, settings or secrets.
func readsStore(text string) bool {
	return hasAny(strings.ToLower(text), "open( read( readfile read_text .query( select( fetchall .all() .find( findmany get_uri getenv environ env[ env. variable.get get_secret secrets. keyring vault connection. slurp load( read_sql read_csv listdir glob( walk(")
}

// handsOver reports the text of a program that hands something over: it posts, mails, puts, or
// sends parts of packets. What only asks an interface is none.
func handsOver(text string) bool {
	lower := strings.ToLower(text)
	for _, mark := range []string{".post(", "'post'", `"post"`, ":post", "-x post", "method post", "post(", ".put(", "'put'", `"put"`, "smtp", "sendmail", "send_message", "sendmessage", "mail(", "sendto(", ".sendall(", ".send(", "websocket",
		"tcpsocket", "create_connection", "createconnection", "net.dial", "baseurl", "base_url", "api_base", "upload", "'ping'", `"ping"`, "ping -", "publish(", "multipart", "add_attachment", "attachments", "--data", "curl -d", "curl -f", "storbinary", "putfile"} {
		if strings.Contains(lower, mark) {
			return true
		}
	}
	return false
}
