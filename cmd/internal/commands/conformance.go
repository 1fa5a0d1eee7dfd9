package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/internal/acs"
	"gate/internal/conformance"
	"gate/internal/hostfs"
	"gate/internal/strictjson"
)

// conformanceFlags are the flags of gate conformance acs.
type conformanceFlags struct {
	keys   string
	key    string
	format string
}

func newConformance(p process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "conformance",
		Short: "hold an implementation of a standard, or a client of hooks, against vectors",
		Args:  subcommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newConformanceACS(p), newConformanceAuthZEN(p), newConformanceInterceptors(p), newConformanceHooks(p))
	return cmd
}

func newConformanceACS(p process) *cobra.Command {
	var f conformanceFlags
	cmd := &cobra.Command{
		Use:   "acs URL --keys FILE",
		Short: "drive the vectors of the Agent Control Standard against a Guardian",
		Long: "Sends the 43 vectors of ACS-Core 0.1.0, and probes of what they leave out, to the\n" +
			"Guardian at URL, and prints a claim: what held, what differs, what was not tried and\n" +
			"why. Vectors that need the Guardian's clock, a policy or an approval cannot be driven\n" +
			"from outside, and count for nothing. Each run has sessions of its own.",
		Example: "  gate conformance acs http://127.0.0.1:4283/acs --keys acs.json",
		Args:    oneArg("the address of a Guardian"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, args[0]) },
	}
	cmd.Flags().StringVar(&f.keys, "keys", "", "the keys, in the `FILE` that gate serve --acs takes (required)")
	cmd.Flags().StringVar(&f.key, "key", "", "the `ID` of the key to sign with; without it, the first one")
	addFormat(cmd, &f.format)
	return cmd
}

func newConformanceAuthZEN(p process) *cobra.Command {
	var token, format string
	var searches bool
	cmd := &cobra.Command{
		Use:   "authzen URL",
		Short: "drive the cases of AuthZEN's certification against a decision point",
		Long: "Sends the requests of the certification scenario of the Authorization API 1.0 to the\n" +
			"decision point at URL, and prints what held and what differs. It has to know the\n" +
			"scenario's subjects and records; docs/standards.md has a policy for gate.",
		Example: "  gate conformance authzen http://127.0.0.1:4283 --token ~/.local/state/gate/serve/token",
		Args:    oneArg("the address of a decision point"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkAddress(args[0]); err != nil {
				return err
			}
			bearer, err := bearerOf(token)
			if err != nil {
				return fmt.Errorf("--token: %w", err)
			}
			list, err := conformance.AuthZEN(cmd.Context(), caller(strings.TrimSuffix(args[0], "/"), bearer), searches)
			if err != nil {
				return err
			}
			return conformanceClaim{standard: "AuthZEN Authorization API 1.0", at: args[0], vectors: list}.print(p, format == "json")
		},
	}
	cmd.Flags().StringVar(&token, "token", "", "the `FILE` with the token that requests bear")
	cmd.Flags().BoolVar(&searches, "searches", false, "try searches, too")
	addFormat(cmd, &format)
	return cmd
}

func newConformanceInterceptors(p process) *cobra.Command {
	var token, format string
	cmd := &cobra.Command{
		Use:   "mcp-interceptors URL",
		Short: "run the fixtures of MCP interceptors against a host of them",
		Long: "Runs the fixtures of SEP-2624 against the MCP server at URL, and prints what held and\n" +
			"what differs. Most want interceptors of their own, which a host has in its own tests\n" +
			"only: they are not driven, and count for nothing. Those about secrets that go from one\n" +
			"server to another are put to the interceptors that the host offers.",
		Example: "  gate conformance mcp-interceptors http://127.0.0.1:4283/mcp --token ~/.local/state/gate/serve/token",
		Args:    oneArg("the address of an MCP server"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkAddress(args[0]); err != nil {
				return err
			}
			bearer, err := bearerOf(token)
			if err != nil {
				return fmt.Errorf("--token: %w", err)
			}
			host := conformance.Host{Send: poster(args[0], bearer)}
			list, err := conformance.Interceptors(cmd.Context(), host)
			if err != nil {
				return err
			}
			c := conformanceClaim{standard: "MCP interceptors (SEP-2624)", at: args[0], vectors: list, probes: conformance.InterceptorProbes(cmd.Context(), host)}
			return c.print(p, format == "json")
		},
	}
	cmd.Flags().StringVar(&token, "token", "", "the `FILE` with the token that requests bear")
	addFormat(cmd, &format)
	return cmd
}

// bearerOf reads a token, "" without a file.
func bearerOf(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	f, err := hostfs.Regular(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := hostfs.ReadAll(f, 1<<10)
	return strings.TrimSpace(string(data)), err
}

// checkAddress refuses what cannot be asked.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return usageError(quoted(address) + " is no address of http or https")
	}
	return nil
}

func (f conformanceFlags) run(ctx context.Context, p process, address string) error {
	if err := checkAddress(address); err != nil {
		return err
	}
	if f.keys == "" {
		return usageError("--keys is missing: a Guardian answers nothing that is not signed")
	}
	keys, err := acs.ReadKeys(f.keys)
	if err != nil {
		return fmt.Errorf("--keys: %w", err)
	}
	i := 0
	if f.key != "" {
		if i = slices.IndexFunc(keys, func(k acs.Key) bool { return k.ID == f.key }); i < 0 {
			return usageError("--key: " + quoted(f.keys) + " has no key " + quoted(f.key))
		}
	}
	target := conformance.Target{Key: keys[i], Send: poster(address, "")}
	vectors, err := conformance.ACS(ctx, target)
	if err != nil {
		return err
	}
	c := conformanceClaim{standard: "Agent Control Standard " + acs.Version, at: address, vectors: vectors, probes: conformance.ACSProbes(ctx, target)}
	return c.print(p, f.format == "json")
}

// postLimit is more than any decision takes.
const postLimit = 15 * time.Second

// poster sends requests by HTTP. A redirect is no answer, and neither is another status
// than 200.
func poster(address, token string) func(context.Context, []byte) ([]byte, error) {
	call := caller(address, token)
	return func(ctx context.Context, body []byte) ([]byte, error) {
		status, data, err := call(ctx, "", "application/json", body)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("the status is %d", status)
		}
		return data, err
	}
}

// maxSaid bounds an answer.
const maxSaid = 8 << 20

// caller sends requests below an address, with a token where there is one.
func caller(address, token string) conformance.Poster {
	web := &http.Client{Timeout: postLimit, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return func(ctx context.Context, path, media string, body []byte) (int, []byte, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+path, bytes.NewReader(body))
		if err != nil {
			return 0, nil, err
		}
		req.Header.Set("Content-Type", media)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		said, err := web.Do(req)
		if err != nil {
			return 0, nil, err
		}
		defer said.Body.Close()
		data, err := io.ReadAll(io.LimitReader(said.Body, maxSaid))
		return said.StatusCode, data, err
	}
}

// A conformanceClaim is what a run of a kit showed.
type conformanceClaim struct {
	standard, at    string
	vectors, probes []conformance.Finding
}

// print says the claim. A difference is a failure.
func (c conformanceClaim) print(p process, asJSON bool) error {
	if err := c.show(p, asJSON); err != nil {
		return err
	}
	if count(c.vectors, conformance.Differs)+count(c.probes, conformance.Differs) > 0 {
		return exitWith(exitFailed)
	}
	return nil
}

// show says the claim, whatever it is.
func (c conformanceClaim) show(p process, asJSON bool) error {
	text := c.text()
	if asJSON {
		text = strictjson.Indent(c.document()) + "\n"
	}
	return emit(p, []byte(text))
}

func count(list []conformance.Finding, o conformance.Outcome) (n int) {
	for _, f := range list {
		if f.Outcome == o {
			n++
		}
	}
	return n
}

func (c conformanceClaim) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s at %s\n\n", c.standard, visible(c.at))
	for _, part := range []struct {
		what string
		list []conformance.Finding
	}{{"vectors", c.vectors}, {"probes", c.probes}} {
		if len(part.list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%d %s\n", len(part.list), part.what)
		for _, o := range []conformance.Outcome{conformance.Held, conformance.Differs, conformance.NotDriven, conformance.NotApplicable} {
			if n := count(part.list, o); n > 0 {
				fmt.Fprintf(&b, "  %3d %s\n", n, o)
			}
		}
		for _, f := range part.list {
			if f.Outcome == conformance.Differs || f.Outcome == conformance.NotDriven {
				fmt.Fprintf(&b, "  %s (%s) %s: %s\n", f.ID, f.About, f.Outcome, visible(f.Why))
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("A vector that is not applicable or was not driven is not passed. Nobody certified this: it is the claim of whoever ran it.\n")
	return b.String()
}

func (c conformanceClaim) document() map[string]any {
	list := func(findings []conformance.Finding) []any {
		out := make([]any, len(findings))
		for i, f := range findings {
			out[i] = map[string]any{"id": f.ID, "about": f.About, "outcome": string(f.Outcome), "why": f.Why}
		}
		return out
	}
	return map[string]any{"standard": c.standard, "at": c.at, "vectors": list(c.vectors), "probes": list(c.probes)}
}
