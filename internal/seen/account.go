package seen

import (
	"strings"

	"gate/internal/wordlist"
)

// ofAccount stands before the name of an account that a text has. No word has a blank.
const ofAccount = "account "

// Limits of the names of accounts.
const (
	maxAccounts  = 256 // of one text
	leastAccount = 8   // letters and digits of one
	leastBucket  = 3   // of the name of a bucket
)

// Accounts are what a text has of names by which money, rights or data go to somebody, each once:
// wallets, accounts of banks (IBAN, and numbers behind a word that says so), accounts of clouds in
// an ARN, identities (8-4-4-4-12), buckets, and numbers of telephones with their country.
func Accounts(text string) (list []string) {
	var l lexer
	l.accounts(text)
	for _, t := range l.tokens {
		list = append(list, strings.TrimPrefix(t.text, ofAccount))
	}
	return list
}

// OnlyAccount is the hit of an account, as [Accounts] has it, that only untrusted text named, nil
// for another one. Its host is the account, shortened.
func (s *Seen) OnlyAccount(name string) *Hit {
	kept, err := s.open()
	if err != nil || kept.key == nil {
		return nil
	}
	l := lexer{kept: true}
	l.add(kindWord, ofAccount+name)
	hits := kept.brought(&l)
	if len(hits) == 0 {
		return nil
	}
	if hits[0].Host = name; len(name) > 24 && !strings.Contains(name, "://") {
		hits[0].Host = name[:8] + "…" + name[len(name)-8:]
	}
	return &hits[0]
}

// accounts adds the names of accounts of a text.
func (l *lexer) accounts(s string) {
	left := maxAccounts
	eachNumber(s, func(number string, _, _ int) {
		if left--; left > 0 {
			l.add(kindWord, ofAccount+number)
		}
	})
	for at := 0; at < len(s) && left > 0; {
		if inWindow(s[at]) == 0 {
			at++
			continue
		}
		end := at
		for end < len(s) && inWindow(s[end]) != 0 {
			end++
		}
		if name, to := accountAt(s, at, end); name != "" {
			l.add(kindWord, ofAccount+name)
			left--
			end = max(end, to)
		}
		at = end
	}
}

// accountAt is the account that a run of letters and digits is, or begins, and where it ends; ""
// for none.
func accountAt(s string, at, end int) (name string, to int) {
	run := s[at:end]
	if strings.HasPrefix(s[end:], "://") && wordlist.Has(" s3 s3a gs az abfs abfss wasb wasbs r2 oss cos b2 ", run) {
		return bucketAt(s, run+"://", end+3)
	}
	if strings.HasPrefix(s[at:], "arn:aws:s3:::") {
		return bucketAt(s, "s3://", at+len("arn:aws:s3:::"))
	}
	if len(run) == 4 { // IBAN in groups
		joined, to := groups(s, at)
		if len(joined) >= 15 && isIBAN(joined) {
			return joined, to
		}
	}
	switch {
	case len(run) < leastAccount:
	case len(run) == 8 && isIdentity(s[at:]):
		return strings.ToLower(s[at : at+36]), at + 36
	case len(run) > 38 && len(run) < 46 && strings.HasPrefix(run, "0x") && onlyHex(run[2:]):
		return strings.ToLower(run), end
	case isIBAN(run), isBech(run), isBase58(run):
		return run, end
	case strings.Trim(run, "0123456789") == "" && len(run) <= 20 && ofBank(s[max(0, at-maxHeader):at], len(run)):
		return run, end
	}
	return "", end
}

func bucketAt(s, scheme string, at int) (name string, to int) {
	to = at
	for to < len(s) && inName(s[to]) {
		to++
	}
	if to-at < leastBucket {
		return "", to
	}
	return scheme + strings.ToLower(strings.TrimRight(s[at:to], ".")), to
}

// groups joins the groups of four that a text begins with at a place, each a blank apart.
func groups(s string, at int) (joined string, to int) {
	for to = at; to < len(s) && len(joined) < 36; {
		end := to
		for end < len(s) && end-to < 5 && inWindow(s[end]) != 0 {
			end++
		}
		if end-to == 0 || end-to > 4 {
			return joined, to
		}
		joined += s[to:end]
		if end-to < 4 || end >= len(s) || s[end] != ' ' {
			return joined, end
		}
		to = end + 1
	}
	return joined, to
}

// isIBAN reports a text of the form of an IBAN. Its sum is not looked at: a wrong one is no
// better.
func isIBAN(s string) bool {
	if len(s) < 15 || len(s) > 34 {
		return false
	}
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			if i < 2 {
				return false
			}
			digits++
		case c >= 'A' && c <= 'Z':
			if i == 2 || i == 3 {
				return false
			}
		default:
			return false
		}
	}
	return digits >= 10
}

// isIdentity reports that a text begins with an identity, 8-4-4-4-12 digits of hex.
func isIdentity(s string) bool {
	if len(s) < 36 || len(s) > 36 && inWindow(s[36]) != 0 {
		return false
	}
	for i := range 36 {
		switch i {
		case 8, 13, 18, 23:
			if s[i] != '-' {
				return false
			}
		default:
			if !isHex(s[i]) {
				return false
			}
		}
	}
	return true
}

func onlyHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// isBech reports a wallet in the form of bech32: bc1 and the like, and small letters and digits.
func isBech(s string) bool {
	at := strings.IndexByte(s, '1')
	return at > 0 && len(s)-at >= 30 && len(s) <= 110 && wordlist.Has(" bc tb ltc addr stake cosmos osmo celestia kaspa bnb terra inj sei erd zs u lnbc ", s[:at]) &&
		strings.Trim(s[at:], "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// isBase58 reports a wallet in base58: of a length and with the first sign that some coin has, and
// with letters of both cases and digits.
func isBase58(s string) bool {
	switch n := len(s); {
	case n >= 26 && n <= 35 && strings.IndexByte("13TrDLMXAtzqU", s[0]) >= 0, n == 43, n == 44, n == 48, n == 95, n == 106:
	default:
		return false
	}
	var kinds [other + 1]bool
	for i := range len(s) {
		kinds[letterOf(s[i])] = true
	}
	return kinds[digit] && kinds[lower] && kinds[upper]
}

// ofBank reports what stands before a number if it says that the number is that of an account.
func ofBank(before string, digits int) bool {
	if i := strings.LastIndexByte(before, '\n'); i >= 0 {
		before = before[i+1:]
	}
	before = strings.ToLower(before)
	if digits == 12 && (strings.Contains(before, "arn:aws") || strings.HasSuffix(before, "aws ")) {
		return true
	}
	for _, word := range [...]string{"account", "acct", "konto", "routing", "beneficiary", "merchant", "payee", "subscription", "customer", "owner", "principal"} {
		if strings.Contains(before, word) {
			return true
		}
	}
	return false
}
