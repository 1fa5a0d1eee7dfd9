package elsewhere

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"gate/internal/audit/ship"
	"gate/internal/outgoing"
	"gate/internal/reach"
	"gate/internal/setting"
	"gate/internal/strictjson"
)

// sendTime bounds one delivery.
const sendTime = 10 * time.Second

// deliver tells all receivers at the same time, and returns whom it reached, and why not
// the others, without addresses, which may hold secrets.
func (d *Desk) deliver(ctx context.Context, q Question) (reached []string, failed []error) {
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	errs := make([]error, len(d.Settings.Deliver))
	var all sync.WaitGroup
	for i, to := range d.Settings.Deliver {
		all.Go(func() { errs[i] = d.send(ctx, to, q) })
	}
	all.Wait()
	for i, to := range d.Settings.Deliver {
		if errs[i] == nil {
			reached = append(reached, nameOf(to))
		} else {
			failed = append(failed, fmt.Errorf("%s: %w", nameOf(to), errs[i]))
		}
	}
	return reached, failed
}

// nameOf is how people are told of a receiver.
func nameOf(to setting.Receiver) string {
	if to.Form == setting.FormMail {
		return "mail to " + strings.Join(to.To, ", ")
	}
	if u, err := url.Parse(to.URL); err == nil {
		return to.Form + " at " + u.Host
	}
	return to.Form
}

func (d *Desk) send(ctx context.Context, to setting.Receiver, q Question) error {
	title := "gate asks: " + q.ID()
	switch to.Form {
	case setting.FormMail:
		return d.mail(ctx, to, title, q.Message())
	case setting.FormNtfy:
		_, err := d.request(ctx, http.MethodPost, to.URL, to.TokenFile, "text/plain; charset=utf-8", []byte(q.Message()), "Title", title)
		return err
	case setting.FormSlack:
		text := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.ReplaceAll(q.Message(), "```", "` ` `"))
		body := strictjson.Append(nil, map[string]any{"text": title + "\n```\n" + text + "```"})
		_, err := d.request(ctx, http.MethodPost, to.URL, to.TokenFile, "application/json", body)
		return err
	}
	body := strictjson.Append(nil, map[string]any{
		"kind": "gate.question/1", "id": q.ID(), "until": q.Until(), "text": q.Text, "statement": q.Open, "namespace": "gate-approval", "message": q.Message(),
	})
	_, err := d.request(ctx, http.MethodPost, to.URL, to.TokenFile, "application/json", body)
	return err
}

// request makes one request and returns the beginning of what came, with status 2xx only.
// headers are names and values.
func (d *Desk) request(ctx context.Context, method, address, tokenFile, kind string, body []byte, headers ...string) ([]byte, error) {
	if err := outgoing.CheckAddress(address); err != nil {
		return nil, fmt.Errorf("its url %w", err)
	}
	token, err := ship.Token(tokenFile)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("its url is no address")
	}
	req.Header.Set("User-Agent", "gate")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	client := reach.Client(reach.Options{Local: req.URL.Scheme == "http", Roots: d.Roots})
	defer client.CloseIdleConnections()
	resp, err := client.Do(req)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) {
			err = about.Err // without the address
		}
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("the server answered with status %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage+1))
	if err == nil && len(data) > maxMessage {
		err = fmt.Errorf("the server answered with more than %d KiB", maxMessage>>10)
	}
	return data, err
}

// sendmails are where the system's own program for mail lies.
func sendmails() []string {
	return []string{"/usr/sbin/sendmail", "/usr/lib/sendmail", "/usr/bin/sendmail"}
}

// mail hands a message to sendmail. Its environment is empty: the agent's says nothing here.
func (d *Desk) mail(ctx context.Context, to setting.Receiver, title, text string) error {
	program := to.Program
	for _, p := range sendmails() {
		if _, err := os.Stat(p); err == nil && program == "" {
			program = p
		}
	}
	if program == "" {
		return errors.New("this machine has no sendmail")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "To: %s\nSubject: %s\nAuto-Submitted: auto-generated\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n",
		strings.Join(to.To, ", "), title)
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	for len(encoded) > 0 {
		n := min(76, len(encoded))
		b.WriteString(encoded[:n] + "\n")
		encoded = encoded[n:]
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"-i", "--"}, to.To...)...)
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.WaitDelay = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, os.TempDir(), &b, time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("sendmail: %w", err)
	}
	return nil
}
