package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gate/internal/serve"
	"gate/internal/strictjson"
)

// uiFlags are the flags of gate ui.
type uiFlags struct {
	dirs  dirFlags
	port  int
	given bool // the port was given
	print bool
	serve bool
}

func newUI(p process) *cobra.Command {
	var f uiFlags
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "open gate's page in a browser",
		Long: "Opens the page of the gate serve that runs here: what is decided now and why, what waits\n" +
			"for you, policies, settings, figures, and what guards this machine. The address holds an\n" +
			"invitation that works once, within two minutes. The page shows and never decides:\n" +
			"whatever loosens gate is typed at a terminal. Where no gate serve runs, --serve starts one\n" +
			"that lasts until it is interrupted. docs/page.md describes the page.",
		Example: "  gate ui\n  gate ui --serve\n  gate ui --print",
		Args: func(_ *cobra.Command, args []string) error {
			if f.port < 0 || f.port > 65535 {
				return usageError("--port must be between 0 and 65535")
			}
			return noArgs(nil, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = cmd.Flags().Changed("port")
			return f.run(cmd.Context(), p)
		},
	}
	cmd.Flags().IntVar(&f.port, "port", servePort, "the port of gate serve, where it has no socket; with --serve, the port to listen on")
	cmd.Flags().BoolVar(&f.print, "print", false, "print the address instead of opening a browser")
	cmd.Flags().BoolVar(&f.serve, "serve", false, "where no gate serve runs, start one that lasts until it is interrupted")
	addDirFlags(cmd, &f.dirs)
	return cmd
}

// errNoServe says that nobody answers.
var errNoServe = errors.New("no gate serve runs here")

func (f uiFlags) run(ctx context.Context, p process) error {
	d, err := f.dirs.Absolute().ForHook()
	if err != nil {
		return err
	}
	address, err := f.invitation(ctx, d)
	switch {
	case errors.Is(err, errNoServe) && f.serve:
		return serveFlags{dirs: f.dirs, port: f.port, invited: func(address string) error { return f.open(p, address) }}.run(ctx, p)
	case errors.Is(err, errNoServe):
		return hintedError{err, "start gate serve, or run gate ui --serve, which starts one until it is interrupted"}
	case err != nil:
		return err
	}
	return f.open(p, address)
}

// open has a browser show the page, or says where it is.
func (f uiFlags) open(p process, address string) error {
	if f.print {
		return emit(p, []byte(address+"\n"))
	}
	program := opener(runtime.GOOS)
	cmd := exec.Command(program[0], append(program[1:], address)...)
	cmd.Env = p.env
	if err := cmd.Start(); err != nil {
		return hintedError{fmt.Errorf("no browser was opened: %w", err), "gate ui --print prints the address, which works once, within two minutes"}
	}
	go cmd.Wait() // it may be the browser itself, and last
	where, _, _ := strings.Cut(address, "#")
	return printAll(p, "gate ui: opened "+where+"\n")
}

// opener is the program that opens an address as this person's system does.
func opener(system string) []string {
	switch system {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}

// invitation asks the gate serve that runs here for an address. The socket comes first: on
// it, nobody else can answer.
func (f uiFlags) invitation(ctx context.Context, d dirs) (address string, err error) {
	own := filepath.Join(d.State, serveDir)
	socket := filepath.Join(own, serveSocket)
	var dialer net.Dialer
	if _, err := os.Lstat(socket); err == nil {
		return f.invite(ctx, "http://localhost", "", func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		})
	}
	if runtime.GOOS != "windows" && !f.given { // another account may listen where a server ended
		return "", errNoServe
	}
	file := filepath.Join(own, serveToken)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return "", errNoServe
	}
	token, err := serve.Token(file)
	if err != nil {
		return "", fmt.Errorf("token: %w", err)
	}
	return f.invite(ctx, fmt.Sprintf("http://127.0.0.1:%d", f.port), token, dialer.DialContext)
}

// invite asks one server. A server that is not there is errNoServe.
func (f uiFlags) invite(ctx context.Context, base, token string, dial func(context.Context, string, string) (net.Conn, error)) (string, error) {
	const (
		most    = 4096
		patient = 10 * time.Second
	)
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/ui", bytes.NewReader(nil))
	if err != nil {
		return "", err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := &http.Client{
		Transport:     &http.Transport{DialContext: dial, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	var refused *net.OpError
	if errors.As(err, &refused) && refused.Op == "dial" {
		return "", errNoServe
	}
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, most))
	if err != nil {
		return "", err
	}
	doc, err := strictjson.Object(data, strictjson.Limits{Bytes: most})
	address, _ := doc["address"].(string)
	switch {
	case res.StatusCode == http.StatusNotFound:
		return "", hintedError{errors.New("the gate serve that runs here has no page"), "it runs with --no-http, or it is older than this gate: start it again"}
	case err != nil || res.StatusCode != http.StatusOK || !strings.HasPrefix(address, "http://127.0.0.1:"):
		return "", fmt.Errorf("what answers there is no gate serve that has a page: status %d", res.StatusCode)
	}
	return address, nil
}
