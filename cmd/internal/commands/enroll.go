package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/internal/audit/ship"
	"gate/internal/core"
	"gate/internal/fleet"
	"gate/internal/outgoing"
	"gate/internal/setting"
	"gate/internal/sources"
	"gate/scopes"
)

// enrollFlags are the flags of gate enroll.
type enrollFlags struct {
	dirs   dirFlags
	url    string
	token  string
	ca     string
	labels map[string]string
	again  bool
	json   bool
}

func newEnroll(p process) *cobra.Command {
	var f enrollFlags
	cmd := &cobra.Command{
		Use:   "enroll --token-file FILE",
		Short: "make this machine known to the collector of its fleet",
		Long: "Makes a key of this machine and a key for pseudonyms in the state directory, and gives\n" +
			"the collector the public one, with a token that is good for one machine. From then on\n" +
			"gate sync and gate log ship sign what they send, where managed settings have decisionLogs\n" +
			"with \"form\": \"collector\". Run it as the account that sends, root as a rule. A machine\n" +
			"that is enrolled there already stays as it is. docs/fleet.md says what leaves the machine.",
		Example: "  gate enroll --token-file /etc/gate/enroll.token\n  gate enroll --url https://fleet.acme.example --token-file token --label team=payments",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), p) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.url, "url", "", "the address of the collector (default: that of managed settings)")
	flags.StringVar(&f.token, "token-file", "", "a `FILE` with the token that gate collect made (required)")
	flags.StringVar(&f.ca, "ca", "", "a `FILE` with certificates, in PEM, of who may have signed the collector's (default: that of managed settings)")
	flags.StringToStringVar(&f.labels, "label", nil, "what the collector is told of this machine, beside the labels of settings, as `NAME=VALUE`")
	flags.BoolVar(&f.again, "again", false, "also where this collector has the key: it was told to forget the machine")
	flags.BoolVar(&f.json, "json", false, "print JSON for programs")
	addDirFlags(cmd, &f.dirs)
	return cmd
}

func (f *enrollFlags) run(ctx context.Context, p process) error {
	if err := noAgent(p); err != nil {
		return err
	}
	d, err := f.dirs.ForPeople(p.lookupEnv)
	if err != nil {
		return err
	}
	l := sources.Load(sources.For{Machine: p.machine(d, "")})
	settings, err := setting.Combine(l.Layers...)
	if err != nil {
		return err
	}
	to := settings.DecisionLogs
	if f.url == "" && to.Form == setting.FormCollector {
		f.url = to.URL
	}
	if f.url == "" {
		return errors.Join(managedFaults(l.Sources), usageError("--url is missing, and "+errNoCollector.Error()))
	}
	f.url = strings.TrimRight(f.url, "/")
	if err := outgoing.CheckAddress(f.url); err != nil {
		return fmt.Errorf("the address of the collector %w", err)
	}
	name, err := machineName(d)
	if err != nil {
		return err
	}
	lock, err := fleet.Lock(ctx, d.State)
	if err != nil {
		return err
	}
	defer lock.Close()
	if m, err := fleet.Open(d.State); err == nil && m.URL == f.url && !f.again {
		if err := m.Is(name); err != nil {
			return err
		}
		return f.say(p, d, m, settings, false)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if f.token == "" {
		return usageError("--token-file is missing: an administrator of the collector makes a token for this machine")
	}
	token, err := ship.Token(f.token)
	if err != nil {
		return fmt.Errorf("token: %w", err)
	}
	client, err := ship.Client(orSettings(f.ca, to, f.url), to.ClientCert, to.ClientKey)
	if err != nil {
		return err
	}
	m, err := fleet.Make(d.State, name)
	if err != nil {
		return err
	}
	if err := f.post(ctx, &ship.Shipper{URL: f.url, Client: client, Tries: 2}, m, token, settings); err != nil {
		return err
	}
	if err := m.Taken(f.url, time.Now()); err != nil {
		return err
	}
	return f.say(p, d, m, settings, true)
}

// orSettings is the file of authorities for an address: settings have one for theirs.
func orSettings(ca string, to setting.DecisionLogs, url string) string {
	if ca == "" && strings.TrimRight(to.URL, "/") == url {
		return to.CA
	}
	return ca
}

// post gives the machine's public key to the collector.
func (f *enrollFlags) post(ctx context.Context, s *ship.Shipper, m *fleet.Machine, token string, settings scopes.Settings) error {
	labels := core.LogLabels(settings)
	delete(labels, "host") // it stands by itself
	maps.Copy(labels, f.labels)
	host, _ := os.Hostname() // the machine's name does without
	body, err := json.Marshal(m.Enrollment(token, host, labels))
	if err != nil {
		return err
	}
	err = s.Post(ctx, ship.Request{Path: fleet.EnrollPath, Type: "application/json", Body: body, Plain: true, Answer: func(_ string, body []byte) (ship.Refusal, error) {
		var answer struct{ Machine string }
		if json.Unmarshal(body, &answer) != nil || answer.Machine != m.Name {
			return ship.Refusal{}, errors.New("this is no answer of gate collect")
		}
		return ship.Refusal{}, nil
	}})
	var answer *ship.AnswerError
	if !errors.As(err, &answer) {
		return err
	}
	switch answer.Code {
	case http.StatusForbidden:
		return hintedError{errors.New("the collector does not take the token: it is unknown, used, expired or for another machine"), "have an administrator make another one"}
	case http.StatusConflict:
		return hintedError{fmt.Errorf("the collector has another key of machine %s", m.Name), "have an administrator see why, and let the collector forget the old key"}
	}
	return err
}

// levelSays is what leaves the machine at a level, for people.
func levelSays(l fleet.Level) string {
	switch l {
	case fleet.Counts:
		return "how many calls, asks and denials there were by hour and policy; no records"
	case fleet.Text:
		return "the decision log, without secrets; ~ for the home directory, and pseudonyms for accounts"
	}
	return "kinds of effects, ids of policies and times; no text of calls, paths, hosts or reasons, and pseudonyms for accounts, sessions and projects"
}

// say tells the person what is so now.
func (f *enrollFlags) say(p process, d dirs, m *fleet.Machine, settings scopes.Settings, now bool) error {
	to := settings.DecisionLogs
	level, err := fleet.ParseLevel(to.Level)
	if err != nil {
		return err
	}
	sends := to.Form == setting.FormCollector && strings.TrimRight(to.URL, "/") == m.URL
	if f.json {
		doc := map[string]any{"machine": m.Name, "url": m.URL, "key": m.Public(), "enrolled": now, "level": nil}
		if sends {
			doc["level"] = string(level)
		}
		return printJSON(p, doc)
	}
	text := fmt.Sprintf("machine %s is enrolled at %s\n", m.Name, visible(m.URL))
	if !now {
		text = fmt.Sprintf("machine %s was enrolled at %s before, on %s\n", m.Name, visible(m.URL), m.Enrolled.Local().Format(time.DateTime))
	}
	text += fmt.Sprintf("its keys are in %s: they never leave it\n", visible(p.tilde(d.State)))
	switch {
	case sends:
		text += fmt.Sprintf("what is sent (level %s): %s\nand the machine's status: releases, agents and their hooks, settings, findings and counts\n", level, levelSays(level))
	case to.URL != "":
		text += "nothing is sent there: managed settings (decisionLogs) send the log to " + visible(to.URL) + "\n"
	default:
		text += "nothing is sent: managed settings do not say so (decisionLogs)\n"
	}
	return printAll(p, text)
}
