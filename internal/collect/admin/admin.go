// Package admin does what gate collect and its commands are told to, on the store itself:
// whoever may read the database's files, or log in to it, is its administrator. Only the
// program gate-server links it.
//
// Start with [Run].
package admin

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"gate/internal/collect"
	"gate/internal/collect/board"
	"gate/internal/collect/store"
)

// Options are what the command line says. Its fields are those of commands.Collect.
type Options struct {
	Command  string // serve, or one of commands below
	Database string // "postgres://…", or a directory

	KeepText, KeepEffects, Silent time.Duration // 0: for ever; for ever; the default

	// Of serve.
	Listen                               []string
	Cert, Key, Roles                     string
	ProxyHeader, ProxyGroups, ProxyToken string // the last one is a file
	Channel                              string // a file
	AtOnce, RecordsAMinute               int

	// Of the others.
	Arg                       string // a token's id, a machine, an account, a finding, a name, a file
	Machine, Host, Team, Role string
	Labels                    map[string]string
	Expires                   time.Duration
	Days                      []string
	By                        string // who does it
	JSON                      bool

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

type command func(ctx context.Context, o Options, s *store.Store) error

func commands() map[string]command {
	return map[string]command{
		"serve": serve, "token new": newToken, "token list": listTokens, "token revoke": revokeToken,
		"expect": expect, "forget": forget, "erase": erase, "expire": expire, "rebuild": rebuild,
		"export": export, "close": closeFinding, "looks": looks, "let": let,
	}
}

// Run does one command. The error is for a person.
func Run(ctx context.Context, o Options) error {
	run := commands()[o.Command]
	if run == nil {
		return fmt.Errorf("%s: there is no such command", o.Command)
	}
	if o.Command == "let" { // it is about a file only
		return run(ctx, o, nil)
	}
	s, err := store.Open(ctx, store.Options{Database: o.Database, Keep: store.Keep{Text: o.KeepText, Effects: o.KeepEffects}, Silent: o.Silent, Log: o.logger()})
	if err != nil {
		return err
	}
	err = run(ctx, o, s)
	if o.Command != "serve" && err == nil { // what was done stands where looks stand, and ends with them
		err = s.AddLook(ctx, store.Look{Who: o.By, Role: collect.Administrator.String(), What: "gate collect " + o.Command, Detail: o.Arg})
	}
	return errors.Join(err, s.Close())
}

func (o Options) logger() *slog.Logger { return slog.New(slog.NewTextHandler(o.Stderr, nil)) }

func serve(ctx context.Context, o Options, s *store.Store) error {
	keeper := &collect.Gatekeeper{Path: o.Roles, Proxy: collect.Proxy{UserHeader: o.ProxyHeader, GroupsHeader: o.ProxyGroups}}
	if err := keeper.Check(); err != nil {
		return err
	}
	if o.ProxyToken != "" {
		data, err := os.ReadFile(o.ProxyToken)
		if err != nil {
			return err
		}
		const short = 16
		if keeper.Proxy.Secret = strings.TrimSpace(string(data)); len(keeper.Proxy.Secret) < short {
			return fmt.Errorf("%s: a secret has at least %d characters", o.ProxyToken, short)
		}
	}
	options := collect.Options{Store: s, Gate: keeper, Log: o.logger(), Limits: collect.Limits{AtOnce: o.AtOnce, RecordsAMinute: o.RecordsAMinute}}
	if o.Channel != "" {
		options.Channel = func() ([]byte, error) { return os.ReadFile(o.Channel) }
	}
	l := collect.Listen{Addresses: o.Listen, Cert: o.Cert, Key: o.Key, Proxied: o.ProxyHeader != "" && keeper.Proxy.Secret == ""}
	server := collect.New(options)
	page, err := board.New(board.Options{Store: s, Who: server.Who})
	if err != nil {
		return err
	}
	server.HandleOpen("/ui/", page)
	server.HandleOpen("GET /{$}", http.RedirectHandler("/ui/overview", http.StatusSeeOther))
	return collect.Serve(ctx, server, l, func(addresses []string) {
		fmt.Fprintf(o.Stdout, "listening on %s\n", strings.Join(addresses, " and "))
	})
}

func newToken(ctx context.Context, o Options, s *store.Store) error {
	text, t, err := s.NewToken(ctx, store.Token{Machine: o.Machine, Host: o.Host, Labels: o.Labels, Team: o.Team, MadeBy: o.By, Expires: time.Now().Add(o.Expires)})
	if err != nil {
		return err
	}
	if o.JSON {
		return o.print(map[string]any{"token": text, "id": t.ID, "expires": t.Expires})
	}
	_, err = fmt.Fprintf(o.Stdout, "%s\n  its id is %s; it lets one machine in, until %s\n", text, t.ID, t.Expires.Format(time.RFC3339))
	return err
}

func listTokens(ctx context.Context, o Options, s *store.Store) error {
	list, err := s.Tokens(ctx)
	if err != nil {
		return err
	}
	if o.JSON {
		return o.print(map[string]any{"tokens": orEmpty(list)})
	}
	return o.table("id\tfor\tteam\texpires\tstate", len(list), func(i int) string {
		t := &list[i]
		whom := []string{}
		if t.Machine != "" {
			whom = append(whom, t.Machine)
		}
		if t.Host != "" {
			whom = append(whom, t.Host)
		}
		for name, value := range t.Labels {
			whom = append(whom, name+"="+value)
		}
		if len(whom) == 0 {
			whom = append(whom, "any machine")
		}
		state := "open"
		switch {
		case !t.Used.IsZero():
			state = "used by " + t.UsedBy
		case !t.Revoked.IsZero():
			state = "revoked"
		case !time.Now().Before(t.Expires):
			state = "ended"
		}
		return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", t.ID, strings.Join(whom, " "), t.Team, t.Expires.Format(time.DateTime), state)
	})
}

func revokeToken(ctx context.Context, o Options, s *store.Store) error {
	err := s.RevokeToken(ctx, o.Arg)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%s is the id of no open token", o.Arg)
	}
	return err
}

// maxList bounds the list of expected machines, in bytes.
const maxList = 64 << 20

// expect reads the list: a line a machine, its name or that of its host, and its team.
func expect(ctx context.Context, o Options, s *store.Store) error {
	data, err := readInput(o, maxList)
	if err != nil {
		return err
	}
	list, err := parseExpected(data)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Arg, err)
	}
	if err := s.SetExpected(ctx, list); err != nil {
		return fmt.Errorf("%s: %w", o.Arg, err)
	}
	c, err := s.Counts(ctx)
	if err != nil {
		return err
	}
	if o.JSON {
		return o.print(c)
	}
	_, err = fmt.Fprintf(o.Stdout, "%d machines are expected; %d of them are not enrolled, and %d that are enrolled are not on the list\n", c.Expected, c.Missing, c.Unlisted)
	return err
}

// parseExpected reads CSV with a head line that names the columns: one of machine, host,
// hostname, name or "device name", and, where there is one, team or group. Others are
// passed over, so that the export of a device management can be taken as it is.
func parseExpected(data []byte) ([]store.Expected, error) {
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	in.FieldsPerRecord = -1
	rows, err := in.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, errors.New("a head line is wanted, with machine or host, and team")
	}
	column := func(names ...string) int {
		for _, name := range names {
			for i, head := range rows[0] {
				if strings.EqualFold(strings.TrimSpace(head), name) {
					return i
				}
			}
		}
		return -1
	}
	name, team := column("machine", "host", "hostname", "name", "device name"), column("team", "group")
	if name < 0 {
		return nil, errors.New("a head line is wanted, with machine or host, and team")
	}
	var list []store.Expected
	for n, row := range rows[1:] {
		at := func(i int) string {
			if i < 0 || i >= len(row) {
				return ""
			}
			return strings.TrimSpace(row[i])
		}
		if at(name) == "" {
			return nil, fmt.Errorf("line %d names no machine", n+2)
		}
		list = append(list, store.Expected{Name: at(name), Team: at(team)})
	}
	return list, nil
}

func forget(ctx context.Context, o Options, s *store.Store) error {
	gone, days, err := s.Forget(ctx, o.Arg)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%s is the name of no machine that is enrolled", o.Arg)
	}
	if err != nil {
		return err
	}
	return o.erased(gone, days)
}

func erase(ctx context.Context, o Options, s *store.Store) error {
	gone, days, err := s.Erase(ctx, o.Arg)
	if err != nil {
		return err
	}
	return o.erased(gone, days)
}

// erased says what was erased, and what the store cannot erase.
func (o Options) erased(gone store.Erased, days []string) error {
	if o.JSON {
		return o.print(map[string]any{"erased": gone, "archived_days": orEmpty(days)})
	}
	fmt.Fprintf(o.Stdout, "erased: %d records, %d statuses, %d findings\n", gone.Records, gone.Statuses, gone.Findings)
	if len(days) > 0 {
		fmt.Fprintf(o.Stdout, "  %d days are archived outside the store, from %s to %s: what is there is not erased by this\n", len(days), days[0], days[len(days)-1])
	}
	return nil
}

func expire(ctx context.Context, o Options, s *store.Store) error {
	list, err := s.Expire(ctx)
	if err != nil {
		return err
	}
	if o.JSON {
		return o.print(map[string]any{"dropped": orEmpty(list)})
	}
	return o.table("day\tlevel\trecords", len(list), func(i int) string {
		return fmt.Sprintf("%s\t%s\t%d", list[i].Day, list[i].Level, list[i].Records)
	})
}

func rebuild(ctx context.Context, o Options, s *store.Store) error {
	n, err := s.Rebuild(ctx)
	if err == nil {
		_, err = fmt.Fprintf(o.Stdout, "figures were made anew out of %d records\n", n)
	}
	return err
}

// export writes records as /v1/records does, all days or some.
func export(ctx context.Context, o Options, s *store.Store) error {
	days := o.Days
	if len(days) == 0 {
		list, err := s.Days(ctx)
		if err != nil {
			return err
		}
		for i := len(list) - 1; i >= 0; i-- {
			days = append(days, list[i].Day)
		}
	}
	out := json.NewEncoder(o.Stdout)
	out.SetEscapeHTML(false)
	for _, day := range days {
		for r, err := range s.Records(ctx, store.RecordQuery{Day: day, Machine: o.Machine}) {
			if err != nil {
				return err
			}
			if err := out.Encode(collect.Line{Machine: r.Machine, Team: r.Team, Received: r.Received, Record: r.Body}); err != nil {
				return err
			}
		}
	}
	return out.Encode(collect.End{End: true})
}

func closeFinding(ctx context.Context, o Options, s *store.Store) error {
	var id int64
	if _, err := fmt.Sscan(o.Arg, &id); err != nil {
		return fmt.Errorf("%s: a finding is named by its number", o.Arg)
	}
	err := s.CloseFinding(ctx, id, o.By)
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%d is the number of no open finding", id)
	}
	return err
}

func looks(ctx context.Context, o Options, s *store.Store) error {
	list, err := s.Looks(ctx, 0, 1000)
	if err != nil {
		return err
	}
	if o.JSON {
		return o.print(map[string]any{"looks": orEmpty(list)})
	}
	return o.table("at\twho\trole\twhat", len(list), func(i int) string {
		l := &list[i]
		return fmt.Sprintf("%s\t%s\t%s\t%s", l.At.Format(time.DateTime), visible(l.Who), l.Role, visible(strings.TrimSpace(l.What+" "+l.Detail)))
	})
}

// let makes a token for a person, and adds its digest to the file of roles.
func let(_ context.Context, o Options, _ *store.Store) error {
	if _, err := collect.ParseRole(o.Role); err != nil {
		return err
	}
	if o.Arg == "" || strings.ContainsFunc(o.Arg, func(r rune) bool { return r <= ' ' || r == '#' || r > '~' }) {
		return errors.New("a name of printable characters is wanted, without blanks and #")
	}
	text := "gate-look-" + rand.Text()
	sum := sha256.Sum256([]byte(text))
	f, err := os.OpenFile(o.Roles, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "token %s %s %s\n", o.Role, o.Arg, hex.EncodeToString(sum[:]))
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.Stdout, "%s\n  %s sends it as Authorization: Bearer; only its digest is in %s\n", text, o.Arg, o.Roles)
	return err
}

// readInput reads the file of the argument, "-" for standard input.
func readInput(o Options, most int64) ([]byte, error) {
	in := o.Stdin
	if o.Arg != "-" {
		f, err := os.Open(o.Arg)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: it has more than %d bytes", o.Arg, most)
	}
	return data, err
}

func (o Options) print(doc any) error {
	out := json.NewEncoder(o.Stdout)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(doc)
}

func (o Options) table(head string, rows int, row func(int) string) error {
	out := tabwriter.NewWriter(o.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, head)
	for i := range rows {
		fmt.Fprintln(out, row(i))
	}
	return out.Flush()
}

// visible makes one line of what others wrote.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r > '~' {
			return '?'
		}
		return r
	}, s)
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
