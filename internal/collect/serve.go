package collect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// Listen says where the collector listens.
type Listen struct {
	Addresses []string // host:port, or unix:PATH; without certificates on loopback only
	Cert, Key string   // files, in PEM; they are read again when they have changed
	Proxied   bool     // by a proxy that is to be believed without a secret: on unix sockets only
}

// Serve listens, tells ready where, and answers until ctx ends. Then it takes no more
// and ends what it began, for 20 seconds at most.
func Serve(ctx context.Context, h *Server, l Listen, ready func(addresses []string)) error {
	listeners, err := l.open()
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 10 * time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(h.log.Handler(), slog.LevelWarn),
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { h.Run(ctx) })
	failed := make(chan error, len(listeners))
	var addresses []string
	for _, one := range listeners {
		addresses = append(addresses, one.Addr().String())
		group.Go(func() {
			if err := server.Serve(one); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	ready(addresses)
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer stop()
	if e := server.Shutdown(end); e != nil {
		server.Close()
	}
	cancel()
	group.Wait()
	return err
}

func (l Listen) open() (list []net.Listener, err error) {
	defer func() {
		if err != nil {
			for _, one := range list {
				one.Close()
			}
			list = nil
		}
	}()
	var config *tls.Config
	if l.Cert != "" || l.Key != "" {
		c := &certificate{cert: l.Cert, key: l.Key}
		if _, err := c.get(nil); err != nil {
			return nil, err
		}
		config = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"http/1.1"}}
	}
	if len(l.Addresses) == 0 {
		return nil, errors.New("it listens nowhere")
	}
	for _, address := range l.Addresses {
		if path, socket := strings.CutPrefix(address, "unix:"); socket {
			one, err := listenSocket(path)
			if err != nil {
				return list, err
			}
			list = append(list, one)
			continue
		}
		if l.Proxied {
			return list, fmt.Errorf("%s: without a secret anybody who reaches it could say who they are: listen on unix:PATH, or give the proxy a secret", address)
		}
		one, err := net.Listen("tcp", address)
		if err != nil {
			return list, err
		}
		list = append(list, one)
		switch tcp, _ := one.Addr().(*net.TCPAddr); {
		case config != nil:
			list[len(list)-1] = tls.NewListener(one, config)
		case tcp == nil || !tcp.IP.IsLoopback():
			return list, fmt.Errorf("%s: without a certificate it listens on loopback only", address)
		}
	}
	return list, nil
}

// listenSocket listens on a socket that this account and its group may use: that of the
// proxy.
func listenSocket(path string) (net.Listener, error) {
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("%s: somebody answers there", path)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		os.Remove(path) // its server is gone
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o660); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// A certificate is read again when its file has changed.
type certificate struct {
	cert, key string

	mu   sync.Mutex
	read time.Time
	pair *tls.Certificate
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, err := os.Stat(c.cert)
	if err == nil && c.pair != nil && info.ModTime().Equal(c.read) {
		return c.pair, nil
	}
	pair, bad := tls.LoadX509KeyPair(c.cert, c.key)
	if err = errors.Join(err, bad); err != nil {
		if c.pair != nil { // half of it is new: the old one is good for now
			return c.pair, nil
		}
		return nil, fmt.Errorf("the certificate: %w", err)
	}
	c.pair, c.read = &pair, info.ModTime()
	return c.pair, nil
}
