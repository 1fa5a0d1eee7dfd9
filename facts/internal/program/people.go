package program

import (
	"regexp"
	"slices"
	"strings"

	"gate/facts/internal/flow"
)

// The words by which a statement tells that it copies rows about people: a table, or two
// columns. One that counts, sums up, or asks for no rows tells of nobody.
var (
	aboutPeople = lazy(`(?i)\b(from|copy|join)\s+[\w.\"` + "`" + `]*?(customers?|clients?|users?|members?|patients?|employees?|staff|people|persons?|contacts|subscribers|sign_?ups|leads|tenants|guests|students|applicants|donors|accounts?|profiles|kunden|clientes|utilisateurs)\b`)
	ofPeople    = lazy(`(?i)\b(e_?mail|phone|mobile|(first|last|full)_?name|surname|iban|ssn|cpr|salary|street|birth_?(date|day)|dob|passport(_no)?|tax_?id|card_(no|number|last4)|diagnosis)\b`)
	summedUp    = lazy(`(?i)\b(count|sum|avg|min|max)\s*\(|\bgroup\s+by\b|\blimit\s+(0|1)\b|\bexplain\b|\bwhere\s+false\b|\bpg_catalog\b|\binformation_schema\b`)
	selects     = lazy(`(?i)^\s*(\\?copy\s*\(?\s*(select\b)?|select\b|with\b)`)
	statement   = lazy(`(?is)["'` + "`" + `]\s*(?:select|with)\b[^"` + "`" + `]{1,800}?\bfrom\b[^"'` + "`" + `]{1,500}`)
	copiesTo    = lazy(`(?i)\bcopy\b.*\bto\s+'([^']+)'`)
)

// selectsPeople reports a client of a database whose statement puts rows about people out, as a
// dump does. A file that the statement names holds them.
func (u *use) selectsPeople() bool {
	var statements []flow.Word
	for _, option := range [...]string{"command", "execute", "c", "e"} {
		statements = append(statements, u.opts[option]...)
	}
	if len(statements) == 0 && len(u.rest) > 1 {
		statements = u.rest[1:]
	}
	found := false
	for _, w := range statements {
		text := w.Text()
		if !selects().MatchString(text) || summedUp().MatchString(text) || !aboutPeople().MatchString(text) && !severalOf(ofPeople(), text) {
			continue
		}
		if m := copiesTo().FindStringSubmatch(text); m != nil && !strings.Contains(m[1], "://") {
			u.remember(flow.Literal(m[1]), flow.Stream{Some: true, Taint: flow.Taint{Secret: flow.Dump}, From: u.ID}, false)
		}
		found = true
	}
	return found
}

// savesPeople remembers that a program writes rows about people into files, as it asks a database
// for them by a statement in its text.
func (u *use) savesPeople(files []flow.Word) {
	for _, found := range statement().FindAllString(u.text, maxHanded) {
		if summedUp().MatchString(found) || !aboutPeople().MatchString(found) && !severalOf(ofPeople(), found) {
			continue
		}
		for _, f := range files {
			u.remember(f, flow.Stream{Some: true, Taint: flow.Taint{Secret: flow.Dump}, From: u.ID}, false)
		}
		return
	}
}

// severalOf reports two different matches.
func severalOf(pattern *regexp.Regexp, text string) bool {
	all := pattern.FindAllString(strings.ToLower(text), 8)
	slices.Sort(all)
	return len(slices.Compact(all)) > 1
}
