package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"gate/cmd/internal/screen"
	"gate/hook"
	"gate/internal/audit"
	"gate/internal/audit/ship"
	"gate/internal/core"
	"gate/internal/outgoing"
	"gate/internal/setting"
	"gate/internal/setup"
	"gate/internal/sources"
	"gate/scopes"
)

// shipFlags say where the log is sent, in the place of settings.
type shipFlags struct {
	dirs dirFlags
	to   setting.DecisionLogs
	json bool

	accounts bool
}

func newLogShip(p process) *cobra.Command {
	var f shipFlags
	cmd := &cobra.Command{
		Use:   "ship",
		Short: "send new records to a collector of decision logs",
		Long: "Posts the records that were not sent yet, in batches, to the address in managed\n" +
			"settings (decisionLogs) or to another one: gzipped JSON arrays, as OPA sends its\n" +
			"decision log, or with --form otlp as OpenTelemetry. A file beside the log says how far\n" +
			"it came. It ends when all has arrived or the other side does not take more; start it from\n" +
			"a timer. The calls of agents never wait for it.\n\n" +
			"With --accounts root sends the logs of the machine's accounts as well. A process of the\n" +
			"account's own reads each, and how far it came is kept in root's state directory.",
		Example: "  gate log ship\n  gate log ship --to https://collector.example/logs --token-file ~/collector.token",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), p) },
	}
	cmd.Flags().StringVar(&f.to.URL, "to", "", "the address that batches are posted to, such as https://collector.example/logs")
	cmd.Flags().StringVar(&f.to.Form, "form", "", "the `FORM`: opa, or otlp for logs, spans and metrics of OpenTelemetry, posted to v1/logs and so on below the address")
	cmd.Flags().StringSliceVar(&f.to.Signals, "signals", nil, "with otlp: any of logs, traces and metrics")
	cmd.Flags().BoolVar(&f.to.CallText, "call-text", false, "with otlp: send the text of calls along, redacted as in the log")
	cmd.Flags().StringVar(&f.to.TokenFile, "token-file", "", "a `FILE` with a bearer token for it")
	cmd.Flags().StringVar(&f.to.CA, "ca", "", "a `FILE` with certificates, in PEM, of who may have signed its certificate")
	cmd.Flags().StringVar(&f.to.ClientCert, "client-cert", "", "a `FILE` with a certificate of this machine, in PEM")
	cmd.Flags().StringVar(&f.to.ClientKey, "client-key", "", "its key, where that is another `FILE`")
	cmd.Flags().BoolVar(&f.accounts, "accounts", false, "also the logs of the machine's accounts, as root on Linux")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	addDirFlags(cmd, &f.dirs)
	return cmd
}

// run sends the log where the flags say, else where settings do.
func (f *shipFlags) run(ctx context.Context, p process) error {
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return err
	}
	to := f.to
	if err := f.check(); err != nil {
		return err
	}
	l := sources.Load(sources.For{Machine: p.machine(d, "")})
	settings, err := setting.Combine(l.Layers...)
	if err != nil {
		return err
	}
	if to.URL == "" && settings.DecisionLogs.URL == "" { // broken settings say nothing
		if err := managedFaults(l.Sources); err != nil {
			return err
		}
	}
	queue := queueOf(to, settings.DecisionLogs)
	if to.URL == "" {
		to = settings.DecisionLogs
	}
	if f.accounts {
		if err := p.readyForAccounts(d); err != nil {
			return err
		}
	}
	shipper, err := p.newShipper(d, queue, to, settings)
	if errors.Is(err, errNoTelemetry) && p.handOver != nil {
		return serverMissing(p.handOver(p.args, nil))
	}
	if err != nil {
		return err
	}
	report, err := shipLog(ctx, d.State, shipper)
	var others []shippedAccount
	if err == nil && f.accounts {
		others, err = p.shipAccounts(ctx, d, shipper)
	}
	status := p.sendStatus(ctx, shippedBy{flags: f.dirs, dirs: d, shipper: shipper, accounts: f.accounts, shipped: err})
	if err != nil && report.Batches == 0 && others == nil && status == nil {
		return err
	}
	err = errors.Join(err, status.failed())
	if f.json {
		doc := accountsDocument(report, others)
		if status != nil {
			doc["status"] = status.document()
		}
		return errors.Join(printJSON(p, doc), err)
	}
	return errors.Join(printAll(p, shipText(report)+accountsText(others)+status.text()), err)
}

// check reports flags that do not go together.
func (f *shipFlags) check() error {
	to := f.to
	switch {
	case to.URL == "" && (cmp.Or(to.TokenFile, to.CA, to.ClientCert, to.ClientKey, to.Form) != "" || len(to.Signals) > 0 || to.CallText):
		return usageError("--form, --signals, --call-text, --token-file, --ca, --client-cert and --client-key go with --to")
	case to.Form != "" && to.Form != setting.FormOPA && to.Form != setting.FormOTLP:
		return usageError("--form takes opa or otlp")
	case to.Form != setting.FormOTLP && (len(to.Signals) > 0 || to.CallText):
		return usageError("--signals and --call-text go with --form otlp")
	}
	for _, s := range to.Signals {
		if s != "logs" && s != "traces" && s != "metrics" {
			return usageError("--signals takes logs, traces and metrics")
		}
	}
	return nil
}

// queueOf is the queue of a destination: "" for the one of settings, and one of its own
// for each other address and form.
func queueOf(to, settings setting.DecisionLogs) string {
	form := func(d setting.DecisionLogs) string { return cmp.Or(d.Form, setting.FormOPA) }
	switch {
	case to.URL == "" || to.URL == settings.URL && form(to) == form(settings):
		return ""
	case form(to) == setting.FormOPA:
		return to.URL
	}
	return form(to) + " " + to.URL
}

// managedFaults are what is wrong with what the administrator wrote.
func managedFaults(sources []scopes.Source) error {
	var errs []error
	for _, src := range sources {
		if src.Authority != hook.Managed {
			continue
		}
		for i := range src.Faults {
			errs = append(errs, &src.Faults[i])
		}
	}
	return errors.Join(errs...)
}

// errNowhere reports that nobody said where the log is to be sent.
var errNowhere = errors.New("there is no address: managed settings say none (decisionLogs.url), and --to was not given")

// newShipper is what sends logs to an address. queue is "" for the one in settings: what
// goes elsewhere must not count as sent there.
func (p process) newShipper(d dirs, queue string, to setting.DecisionLogs, settings scopes.Settings) (*ship.Shipper, error) {
	if to.URL == "" {
		return nil, errNowhere
	}
	if err := outgoing.CheckAddress(to.URL); err != nil {
		return nil, fmt.Errorf("the address of the collector %w", err)
	}
	client, err := ship.Client(to.CA, to.ClientCert, to.ClientKey)
	if err != nil {
		return nil, fmt.Errorf("decision log: %w", err)
	}
	token, err := ship.Token(to.TokenFile)
	if err != nil {
		return nil, fmt.Errorf("decision log: token: %w", err)
	}
	settings.DecisionLogs = to
	s := &ship.Shipper{URL: to.URL, Client: client, Token: token, Labels: core.LogLabels(settings), Queue: queue}
	switch to.Form {
	case setting.FormCollector:
		if s.Form, err = p.collectorForm(d, to); err != nil {
			return nil, err
		}
	case setting.FormOTLP:
		if s.Form, err = p.telemetry(to, s.Labels); err != nil {
			return nil, fmt.Errorf("decision log: %w", err)
		}
	}
	return s, nil
}

// errNoTelemetry reports a program that does not speak OpenTelemetry.
var errNoTelemetry = errors.New("this program does not speak OpenTelemetry: " + server + " does")

// telemetry is the form of OpenTelemetry. Settings alone say what is sent: variables of
// OpenTelemetry's, which its SDK reads as it is set up, are those of somebody's program.
func (p process) telemetry(to setting.DecisionLogs, labels map[string]string) (ship.Form, error) {
	if p.clients == nil || p.clients.Telemetry == nil {
		return nil, errNoTelemetry
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OTEL_") {
			os.Unsetenv(name)
		}
	}
	return p.clients.Telemetry(Telemetry{Version: setup.Version(), Labels: labels, Signals: to.Signals, Text: to.CallText})
}

// shipLog sends what was not sent yet of the log in dir.
func shipLog(ctx context.Context, dir string, s *ship.Shipper) (ship.Report, error) {
	h, err := audit.OpenHistory(dir)
	if err != nil {
		return ship.Report{}, fmt.Errorf("decision log: %w", err)
	}
	report, err := s.Ship(ctx, h)
	if err != nil {
		err = fmt.Errorf("decision log: %s sent, then: %w", screen.Counted(report.Records, "record"), err)
	}
	return report, err
}

func shipText(r ship.Report) string {
	if r.Batches == 0 && r.Kept > 0 {
		return fmt.Sprintf("%s counted, and not sent\n", screen.Counted(r.Kept, "record"))
	}
	if r.Batches == 0 {
		return "everything was sent before\n"
	}
	text := fmt.Sprintf("%s sent in %s, %d bytes\n", screen.Counted(r.Records, "record"), screen.Counted(r.Batches, "batch"), r.Bytes)
	if r.Skipped > 0 {
		text += fmt.Sprintf("note: the collector refuses %s: a gap is there in their place, and they stay in the log here\n", screen.Counted(r.Skipped, "record"))
	}
	if gaps := r.Gaps - r.Skipped; gaps > 0 {
		text += fmt.Sprintf("note: records are missing in %s: they were dropped or taken out before they were sent\n", screen.Counted(gaps, "place"))
	}
	switch {
	case r.Refused > 0:
		text += fmt.Sprintf("note: the collector took the rest and refused %s for good: %s\n", screen.Counted(int(r.Refused), "item"), cmp.Or(r.Said, "it does not say why"))
	case r.Said != "":
		text += fmt.Sprintf("note: the collector says: %s\n", r.Said)
	}
	if r.Findings > 0 {
		text += fmt.Sprintf("note: %s: it is not the log that was sent before\n", screen.Counted(r.Findings, "finding"))
	}
	return text
}

func shipDocument(r ship.Report) map[string]any {
	doc := map[string]any{
		"records": r.Records, "gaps": r.Gaps, "findings": r.Findings, "batches": r.Batches, "bytes": r.Bytes,
		"log": r.Cursor.Log, "seq": r.Cursor.Seq,
	}
	if r.Kept > 0 {
		doc["kept"] = r.Kept
	}
	if r.Skipped > 0 {
		doc["skipped"] = r.Skipped
	}
	if r.Refused > 0 || r.Said != "" {
		doc["refused"], doc["said"] = r.Refused, r.Said
	}
	return doc
}
