package seen

import (
	"slices"
	"strings"

	"gate/hook"
	"gate/internal/wordlist"
)

// People is what rows about people are: data, and no secret to whom they belong. A call holds
// them where it has several of one column.
const People = "rows about people"

// Dump is the kind of what a file holds that rows of a database were put into, as facts have it.
const Dump = "dump of a database"

// registered stands before the column of a row that a register has; see [ofRegister].
const registered = "@"

// Limits of rows about people.
const (
	leastRows = 3   // of a column, for a call to hold them
	leastCell = 8   // letters and digits of a cell
	maxCells  = 256 // of one output
)

// The columns of tables and names in JSON by which rows tell who somebody is, and those that tell
// something of them. A row tells of a person where both are there.
const (
	whose   = " name fullname firstname lastname surname customer customername employee employeename patient patientname contact contactname displayname person member cardholder accountholder "
	reached = " email mail emailaddress useremail customeremail contactemail workemail phone phonenumber mobile telephone tel iban ssn taxid passport passportno accountnumber "
	private = reached + "salary wage compensation income birthdate birthday dateofbirth dob born diagnosis diagnoses street homeaddress religion "
)

// stems are the parts of words of which each name in private has one: most outputs have none.
const stems = "mail phone mobile tel iban ssn tax passport account salary wage compensation income birth dob born diagnos street address religion"

// cellLength is how much of a cell is kept. A text is gone through once for each.
func cellLength(n int) int {
	switch {
	case n < 12:
		return leastCell
	case n < 16:
		return 12
	}
	return 16
}

// showsPeople reports a call in whose output rows are looked for: of a database, a file or a
// program of this machine, less what is made to be tried with.
func showsPeople(ev *hook.Event, f *hook.Facts, from source) bool {
	if from != sourceNone && from != sourceKept && !ofDatabase(ev.Tool(), f) && !ofRegister(ev.Tool()) {
		return false
	}
	if f != nil {
		for i := range f.Paths {
			name := strings.ToLower(text(f.Paths[i].Path))
			for _, part := range strings.Fields("test fixture seed sample example mock fake demo spec") {
				if strings.Contains(name, part) {
					return false
				}
			}
		}
	}
	return true
}

// ofDatabase reports a tool of a server that is a database.
func ofDatabase(tool string, f *hook.Facts) bool {
	if !strings.HasPrefix(tool, "mcp__") {
		return false
	}
	if f != nil {
		for i := range f.Effects {
			if _, ok := f.Effects[i].Is.(*hook.Database); ok {
				return true
			}
		}
	}
	return wordlist.HasAny(" postgres postgresql pg mysql mariadb sqlite sqlite3 duckdb mssql sql database db mongo mongodb redis supabase bigquery snowflake clickhouse redshift dynamodb oracle neon dbhub athena trino cassandra elasticsearch ", wordlist.OfName(tool))
}

// ofRegister reports a tool of a server that keeps people, such as customers, and not those who
// work together.
func ofRegister(tool string) bool {
	return strings.HasPrefix(tool, "mcp__") && wordlist.HasAny(" crm hubspot salesforce pipedrive zoho mailchimp klaviyo shopify woocommerce bamboohr workday personio ehr fhir "+
		"contacts customers customer leads patients patient employees employee subscribers applicants candidates donors guests students tenants payroll ", wordlist.OfName(tool))
}

// people adds the cells of rows about people.
func (x *extraction) people(text string) {
	if len(text) > maxClose {
		text = text[:maxClose]
	}
	if lower := strings.ToLower(text); !slices.ContainsFunc(strings.Fields(stems), func(stem string) bool { return strings.Contains(lower, stem) }) {
		return
	}
	var separator string
	var columns []string
	for line := range strings.Lines(text) {
		plain := strings.TrimSpace(line)
		line = strings.TrimSpace(unnumbered(line))
		if separator == "" {
			separator, columns = headsOfPeople(line)
			continue
		}
		if strings.Count(plain, separator)+1 == len(columns) { // the number is that of a row: "7 | acme | …"
			line = plain
		}
		if cells := strings.Split(line, separator); len(cells) == len(columns) {
			for i, cell := range cells {
				x.cell(columns[i], cell)
			}
		}
	}
	if separator != "" {
		return
	}
	told := false
	pairsOf(text, func(key, _ string) { told = told || wordlist.Has(private, key) })
	if told {
		pairsOf(text, x.cell)
	}
}

// HasPeople reports a text with several rows about people.
func HasPeople(text string) bool {
	var x extraction
	x.people(text)
	count := map[string]int{}
	for _, v := range x.values {
		if count[v.what]++; count[v.what] >= leastListed {
			return true
		}
	}
	return false
}

// leastListed is how many rows a file has that lists people.
const leastListed = 2

// ListsPeople reports a text without a head whose lines have who somebody is, and how to reach them: an
// address of mail, an IBAN or a number, beside a name of two words.
func ListsPeople(text string) bool {
	n, lines := 0, 0
	for line := range strings.Lines(ahead(text, maxClose)) {
		if lines++; lines > maxCells || len(line) > maxQuery*4 {
			return false
		}
		if lower := strings.ToLower(line); strings.Contains(lower, "example.") || strings.Contains(lower, "noreply") {
			continue
		}
		if cells := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(",;\t|\"\n", r) }); len(cells) > 1 && slices.ContainsFunc(cells, reaches) && slices.ContainsFunc(cells, fullName) {
			if n++; n >= leastListed {
				return true
			}
		}
	}
	return false
}

// reaches reports a cell by which somebody is reached or paid.
func reaches(cell string) bool {
	cell = strings.TrimSpace(cell)
	if at := strings.IndexByte(cell, '@'); at > 0 && !strings.ContainsAny(cell, " /:") {
		return isHost(cell[at+1:])
	}
	plain := strings.ReplaceAll(cell, " ", "")
	if len(plain) >= 15 && len(plain) <= 34 && plain[0] >= 'A' && plain[0] <= 'Z' && plain[1] >= 'A' && plain[1] <= 'Z' && strings.Trim(plain[2:4], "0123456789") == "" {
		return strings.Trim(plain, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
	}
	return len(plain) >= 9 && plain[0] == '+' && strings.Trim(plain[1:], "0123456789-()") == ""
}

// fullName reports a cell with the names of somebody: words with capitals and no others.
func fullName(cell string) bool {
	words := strings.Fields(cell)
	if len(words) < 2 || len(words) > 4 {
		return false
	}
	for _, w := range words {
		if len(w) < 2 || w[0] < 'A' || w[0] > 'Z' || strings.Trim(w[1:], "abcdefghijklmnopqrstuvwxyz'-.") != "" && w[1] < 0x80 {
			return false
		}
	}
	return true
}

// pairsOf calls f for each name in quotes of a JSON text with the text in quotes behind it.
func pairsOf(text string, f func(key, value string)) {
	for {
		at := strings.Index(text, `":`)
		if at < 0 {
			return
		}
		from := strings.LastIndexByte(text[:at], '"')
		if from >= 0 && at-from <= 32 {
			f(plainOf(text[from+1:at]), inQuotes(text[at+1:]))
		}
		text = text[at+2:]
	}
}

// headsOfPeople are the columns of a line that is the head of rows about people.
func headsOfPeople(line string) (separator string, columns []string) {
	if len(line) > maxColumns*8 || strings.ContainsAny(line, "={}()") {
		return "", nil
	}
	for _, separator = range []string{",", ";", "\t", "|"} {
		cells := strings.Split(line, separator)
		who, told := 0, 0
		for i, cell := range cells {
			cells[i] = plainOf(cell)
			switch {
			case wordlist.Has(private, cells[i]):
				told++
			case wordlist.Has(whose, cells[i]):
				who++
			}
		}
		if told > 1 || told == 1 && who > 0 {
			return separator, cells
		}
	}
	return "", nil
}

// cell adds a cell by which somebody is known. Addresses that are nobody's are none.
func (x *extraction) cell(column, text string) {
	if !wordlist.Has(whose+reached, column) || len(x.values) >= maxCells {
		return
	}
	lower := strings.ToLower(text)
	for _, none := range []string{"@example.", ".example", ".test", ".invalid", "@localhost", "noreply", "no-reply"} {
		if strings.Contains(lower, none) {
			return
		}
	}
	if folded := fold(nil, text); len(folded) >= leastCell && len(folded) <= maxCell {
		if x.register {
			column = registered + column
		}
		x.put(value{People + ": " + column, string(folded[:cellLength(len(folded))]), kindWindow})
	}
}

// readsRows reports a call that reads a file with rows about people.
func (s *Seen) readsRows(f *hook.Facts) bool {
	if s.Rows == nil || f == nil {
		return false
	}
	for i := range f.Paths {
		if p := &f.Paths[i]; i < maxPlaces && p.Access == "read" && p.Path != nil && s.Rows(*p.Path) {
			return true
		}
	}
	return false
}

// packed adds pieces of the long words of rows about people that are packed: as base64, say. A
// call has them where it holds as many as of rows.
func (x *extraction) packed(text string) {
	if len(text) > maxClose {
		text = text[:maxClose]
	}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r <= ' ' || r == '"' || r == '\'' }) {
		for part := word; len(part) >= leastPacked && len(x.values) < maxCells; part = part[windowLength:] {
			if folded := fold(nil, part[:2*windowLength]); len(folded) >= windowLength {
				x.put(value{People + ": packed", string(folded[:windowLength]), kindWindow})
			}
		}
	}
}

// leastPacked is how long a word is that holds rows: words of people are shorter.
const leastPacked = 64

// maxCell is how long a cell is that names somebody, in letters and digits.
const maxCell = 64

// ofPeople reports the kind of a cell.
func ofPeople(what string) bool { return strings.HasPrefix(what, People) }

// severalPeople are the first hits of rows of which there are several of one column, or two of
// each of two. It takes all of them out of what was found.
func (f *finder) severalPeople() (rows []found) {
	count := map[string]int{}
	rest := f.found[:0]
	pairs := 0
	for _, one := range f.found {
		if !ofPeople(one.secret.what) {
			rest = append(rest, one)
			continue
		}
		if count[one.secret.what]++; count[one.secret.what] == leastListed {
			pairs++
		}
		if (count[one.secret.what] == leastRows || pairs == 2) && len(rows) == 0 {
			rows = append(rows, one)
		}
	}
	f.found = rest
	return rows
}
