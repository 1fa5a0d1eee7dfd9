package commands

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"gate/cmd/internal/screen"
	"gate/internal/audit/accounts"
	"gate/internal/audit/ship"
	"gate/internal/places"
)

// sendCommand is the hidden command that reads the log of the account that it runs as,
// for root.
const sendCommand = "send-log"

func sendLog(p process) int {
	if err := accounts.Send(p.stdout, p.args[1:]); err != nil {
		fmt.Fprintln(p.stderr, oneLine(err.Error()))
		return exitFailed
	}
	return exitOK
}

// A shippedAccount is what became of the log of an account.
type shippedAccount struct {
	places.Numbered
	ship.Report
	err error // why it was not read, or not to its end
}

// readTime bounds the reading of one account's log where nothing bounds all of them, and
// leastTime is what each has in any case.
const (
	readTime  = 2 * time.Minute
	leastTime = 5 * time.Second
)

// readyForAccounts reports why the logs of accounts cannot be sent, and makes the
// directory for how far they were. It comes before the state directory is opened: with the
// HOME of a user, that is one of the user's.
func (p process) readyForAccounts(d dirs) error {
	if p.accounts == nil {
		return errors.New("--accounts takes root: only root starts processes of other accounts")
	}
	if p.self == nil {
		return errors.New("the logs of accounts: this program cannot be started again")
	}
	if err := places.ManagedFiles(places.Dirs{}).Make(d.Accounts()); err != nil {
		return fmt.Errorf("the logs of accounts: how far they are sent is kept where only root writes, see --state-dir: %w", err)
	}
	return nil
}

// shipAccounts sends the logs of the machine's accounts. An account whose log cannot be
// read keeps no other from its turn: that goes by chance, and each has its share of the
// time. The error has what was not read, and why it ended before the last account.
func (p process) shipAccounts(ctx context.Context, d dirs, s *ship.Shipper) ([]shippedAccount, error) {
	list, err := p.accounts()
	errs := []error{err}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	var out []shippedAccount
	for i, who := range list {
		share := readTime
		if end, ok := ctx.Deadline(); ok {
			share = max(time.Until(end)/time.Duration(len(list)-i), leastTime)
		}
		report, err := p.shipAccount(ctx, share, d, who, s)
		if report.Batches > 0 || err != nil {
			out = append(out, shippedAccount{who, report, err})
		}
		if err != nil {
			errs = append(errs, err)
		}
		if err != nil && !errors.As(err, new(*accounts.ReadError)) || ctx.Err() != nil {
			if left := len(list) - i - 1; left > 0 {
				errs = append(errs, fmt.Errorf("the logs of %s were not looked at", screen.Counted(left, "account")))
			}
			break
		}
	}
	return out, errors.Join(errs...)
}

func (p process) shipAccount(ctx context.Context, share time.Duration, d dirs, who places.Numbered, s *ship.Shipper) (ship.Report, error) {
	reading, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	return s.Ship(ctx, p.accountLog(reading, d, who))
}

func accountsText(list []shippedAccount) string {
	var b strings.Builder
	for _, a := range list {
		if a.Batches > 0 {
			fmt.Fprintf(&b, "%s: %s", visible(a.Name), shipText(a.Report))
		}
	}
	return b.String()
}

// accountsDocument is the document of a shipping, with what became of other accounts.
func accountsDocument(r ship.Report, list []shippedAccount) map[string]any {
	doc, others := shipDocument(r), []any{}
	for _, a := range list {
		one := shipDocument(a.Report)
		one["account"], one["uid"] = a.Name, int64(a.UID)
		if a.err != nil {
			one["error"] = a.err.Error()
		}
		others = append(others, one)
	}
	if list != nil {
		doc["accounts"] = others
	}
	return doc
}
