package commands

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Collect is what gate collect and its commands are told to do.
type Collect struct {
	Command  string // serve, token new, expect and so on
	Database string // "postgres://…", or a directory

	KeepText, KeepEffects, Silent time.Duration // 0: for ever; for ever; the default

	// Of serve.
	Listen                               []string
	Cert, Key, Roles                     string
	ProxyHeader, ProxyGroups, ProxyToken string // the last one is a file
	Channel                              string // a file
	AtOnce, RecordsAMinute               int

	// Of the others.
	Arg                       string
	Machine, Host, Team, Role string
	Labels                    map[string]string
	Expires                   time.Duration
	Days                      []string
	By                        string
	JSON                      bool

	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// collectFlags are the flags of all of them.
type collectFlags struct {
	Collect
	dir           string
	text, effects string
	silent        string
	expires       string
}

func newCollect(p process) *cobra.Command {
	var f collectFlags
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "run the collector of a fleet: records and statuses of machines, and what is wrong",
		Long: "Takes what machines send by gate log ship and gate sync, signed by their keys, keeps it\n" +
			"in a directory (SQLite) or in PostgreSQL, and answers questions about it in JSON, until it\n" +
			"is told to stop. It changes nothing on a machine.\n\n" +
			"Without a certificate it listens on loopback only. Who may look stands in the file of\n" +
			"--roles; a proxy that has people log in says who they are in headers, and proves by a\n" +
			"secret that it is the proxy.",
		Example: "  gate collect --dir /var/lib/gate-collect --listen :8443 --cert cert.pem --key key.pem --roles roles\n" +
			"  gate collect --database postgres://gate@db.example/gate --listen 127.0.0.1:8443 --roles roles",
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), p, "serve", nil) },
	}
	f.addStore(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.Listen, "listen", []string{"127.0.0.1:8443"}, "an `ADDRESS` to listen on: host:port, or unix:PATH for a proxy (repeatable)")
	flags.StringVar(&f.Cert, "cert", "", "a `FILE` with its certificate, in PEM")
	flags.StringVar(&f.Key, "key", "", "a `FILE` with the key of that, in PEM")
	flags.StringVar(&f.Roles, "roles", "", "a `FILE` that says who may look; gate collect let adds to it")
	flags.StringVar(&f.ProxyHeader, "proxy-header", "", "the `HEADER` in which a proxy says who asks")
	flags.StringVar(&f.ProxyGroups, "proxy-groups", "", "the `HEADER` in which it says their groups, with commas between")
	flags.StringVar(&f.ProxyToken, "proxy-secret-file", "", "a `FILE` with the secret that the proxy sends in Gate-Proxy-Secret")
	flags.StringVar(&f.Channel, "channel", "", "the `FILE` of the channel that machines follow, to tell how far it is rolled out")
	flags.IntVar(&f.AtOnce, "at-once", 0, "how many requests of machines are read at once (default 16)")
	flags.IntVar(&f.RecordsAMinute, "records-a-minute", 0, "how many records a machine may send in a minute (default 60000)")
	token := &cobra.Command{Use: "token", Short: "make, list and revoke tokens that let machines enrol", RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	token.AddCommand(byServer(f.tokenNew(p)), byServer(f.plain(p, "token list", "list", "list the tokens", noArgs)),
		byServer(f.plain(p, "token revoke", "revoke ID", "have a token let nobody in any more", oneArg("the id of a token"))))
	cmd.AddCommand(token,
		byServer(f.plain(p, "expect", "expect FILE", "put a list of the machines that there should be in the place of the one before", oneArg("a file in CSV, with machine or host, and team"))),
		byServer(f.plain(p, "forget", "forget MACHINE", "erase all about a machine, which must enrol anew", oneArg("the name of a machine"))),
		byServer(f.plain(p, "erase", "erase PSEUDONYM", "erase the records of an account", oneArg("the pseudonym of an account"))),
		byServer(f.plain(p, "expire", "expire", "drop what is older than --keep-text and --keep-effects", noArgs)),
		byServer(f.plain(p, "rebuild", "rebuild", "make all figures anew out of the records", noArgs)),
		byServer(f.plain(p, "close", "close FINDING", "close a finding that does not close by itself", oneArg("the number of a finding"))),
		byServer(f.plain(p, "looks", "looks", "list who looked at what", noArgs)),
		byServer(f.export(p)), byServer(f.let(p)), newCollectArchive(p), newCollectNext(p, "promote"), newCollectNext(p, "retreat"))
	return cmd
}

// addStore adds the flags that say where the store is, and for how long it keeps what.
func (f *collectFlags) addStore(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", "", "the `DIR` of the store, in SQLite")
	cmd.Flags().StringVar(&f.Database, "database", "", "the `URL` of the store in PostgreSQL, postgres://… (a password belongs into ~/.pgpass)")
	cmd.Flags().StringVar(&f.text, "keep-text", "", "for how `LONG` records with text are kept, such as 30d (for ever)")
	cmd.Flags().StringVar(&f.effects, "keep-effects", "", "the same of records without text, such as 400d (for ever)")
	cmd.Flags().StringVar(&f.silent, "silent-after", "", "after how `LONG` without a word a machine is silent, such as 36h (24h)")
}

// plain is a command with an argument at most.
func (f *collectFlags) plain(p process, name, use, short string, args cobra.PositionalArgs) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), p, name, args) }}
	f.addStore(cmd)
	cmd.Flags().BoolVar(&f.JSON, "json", false, "print JSON")
	return cmd
}

func (f *collectFlags) tokenNew(p process) *cobra.Command {
	cmd := f.plain(p, "token new", "new", "make a token that lets one machine enrol, once", noArgs)
	cmd.Flags().StringVar(&f.Machine, "machine", "", "the only `MACHINE` that it is for, as gate status names it")
	cmd.Flags().StringVar(&f.Host, "host", "", "the same by the `NAME` of its host")
	cmd.Flags().StringToStringVar(&f.Labels, "label", nil, "a label that the machine must have, as `NAME=VALUE` (repeatable)")
	cmd.Flags().StringVar(&f.Team, "team", "", "the `TEAM` of the machine, where the list of expected machines has none")
	cmd.Flags().StringVar(&f.expires, "expires", "24h", "for how `LONG` it is good")
	return cmd
}

func (f *collectFlags) export(p process) *cobra.Command {
	cmd := f.plain(p, "export", "export", "print records, a line each, as /v1/records does", noArgs)
	cmd.Flags().StringVar(&f.Machine, "machine", "", "those of one `MACHINE` only")
	cmd.Flags().StringSliceVar(&f.Days, "day", nil, "those of a `DAY` in UTC only, such as 2026-11-28 (repeatable)")
	return cmd
}

func (f *collectFlags) let(p process) *cobra.Command {
	cmd := &cobra.Command{Use: "let NAME", Short: "make a token for a person or program that may look", Args: oneArg("a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.Roles == "" {
				return usageError("--roles is missing")
			}
			return f.run(cmd.Context(), p, "let", args)
		}}
	cmd.Flags().StringVar(&f.Roles, "roles", "", "the `FILE` that its digest is added to (required)")
	cmd.Flags().StringVar(&f.Role, "role", "reader", "what it may see: reader (figures, machines, findings), reviewer (records, too) or administrator (who looked, and tokens, too)")
	oneOf(cmd, "role", "reader", "reviewer", "administrator")
	return cmd
}

// run has the store's program do it.
func (f *collectFlags) run(ctx context.Context, p process, name string, args []string) error {
	c := f.Collect
	c.Command = name
	if len(args) > 0 {
		c.Arg = args[0]
	}
	switch {
	case name == "let":
	case (f.dir == "") == (c.Database == ""):
		return usageError("one of --dir and --database is wanted")
	case c.Database != "" && !strings.HasPrefix(c.Database, "postgres://") && !strings.HasPrefix(c.Database, "postgresql://"):
		return usageError("--database takes postgres://…; a directory is --dir")
	case hasPassword(c.Database):
		return usageError("--database has a password, which every account of this machine can read in the list of processes: put it into ~/.pgpass")
	case (c.Cert == "") != (c.Key == ""):
		return usageError("--cert and --key go together")
	case c.ProxyHeader == "" && (c.ProxyGroups != "" || c.ProxyToken != ""):
		return usageError("--proxy-groups and --proxy-secret-file go with --proxy-header")
	}
	if f.dir != "" {
		dir, err := filepath.Abs(f.dir)
		if err != nil {
			return err
		}
		c.Database = dir
	}
	var err error
	for _, d := range []struct {
		flag, text string
		into       *time.Duration
	}{{"keep-text", f.text, &c.KeepText}, {"keep-effects", f.effects, &c.KeepEffects}, {"silent-after", f.silent, &c.Silent}, {"expires", f.expires, &c.Expires}} {
		if *d.into, err = parseLong(d.text); err != nil {
			return usageError("--" + d.flag + ": " + err.Error())
		}
	}
	c.By = "account " + strconv.Itoa(os.Getuid())
	if u, err := user.Current(); err == nil {
		c.By = u.Username
	}
	c.Stdin, c.Stdout, c.Stderr = p.stdin, p.stdout, p.stderr
	if p.clients == nil || p.clients.Collect == nil {
		return errors.New("this program has no collector")
	}
	return p.clients.Collect(ctx, c)
}

// parseLong reads a time such as 30d or 36h; "" is none.
func parseLong(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n <= 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d, nil
	}
	return 0, errors.New("a time such as 30d or 36h is wanted, and this is " + quoted(text))
}

// hasPassword reports an address that holds a password, in its login or as a parameter.
func hasPassword(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return strings.Contains(address, "@") // nobody reads it, and it may
	}
	_, login := u.User.Password()
	return login || u.Query().Has("password")
}
