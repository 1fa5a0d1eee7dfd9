package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"gate/cmd/internal/commands"
	"gate/internal/audit/ship"
	"gate/internal/collect/archive"
	"gate/internal/outgoing"
	"gate/internal/replay"
)

// past opens the records of a fleet for gate replay.
func past(ctx context.Context, at commands.FleetPast) (replay.Past, error) {
	options := archiveOptions(at.LookupEnv)
	if strings.HasPrefix(at.Place, "https://") || strings.HasPrefix(at.Place, "http://") {
		return fetched(ctx, at, options)
	}
	if at.TokenFile != "" || at.CA != "" {
		return nil, errors.New("--token-file and --ca are for a collector, https://host")
	}
	a, err := archive.Open(at.Place, options)
	if err != nil {
		return nil, err
	}
	return a.Past(ctx, at.From, at.To)
}

// fetched are the records of a collector, in an archive that goes when it is closed.
func fetched(ctx context.Context, at commands.FleetPast, o archive.Options) (replay.Past, error) {
	if err := outgoing.CheckAddress(at.Place); err != nil {
		return nil, errors.New("the collector's address " + err.Error())
	}
	client, err := ship.Client(at.CA, "", "")
	if err != nil {
		return nil, err
	}
	client.Timeout = 0 // a day of records takes as long as it does
	token, err := ship.Token(at.TokenFile)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Temp, "gate-replay-")
	if err != nil {
		return nil, err
	}
	a, err := archive.Open(dir, o)
	if err == nil {
		err = a.Fetch(ctx, archive.Collector{URL: at.Place, Token: token, Client: client}, at.From, at.To)
	}
	var p replay.Past
	if err == nil {
		p, err = a.Past(ctx, at.From, at.To)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return removing{p, dir}, nil
}

// removing is a past whose directory goes with it.
type removing struct {
	replay.Past
	dir string
}

func (r removing) Close() error { return errors.Join(r.Past.Close(), os.RemoveAll(r.dir)) }

// archiveOptions say how an S3-style store is reached, by the variables that Amazon's own
// programs read.
func archiveOptions(lookup func(string) (string, bool)) archive.Options {
	get := func(name string) string {
		v, _ := lookup(name)
		return v
	}
	return archive.Options{
		Endpoint: get("AWS_ENDPOINT_URL"), Region: get("AWS_REGION"),
		KeyID: get("AWS_ACCESS_KEY_ID"), Secret: get("AWS_SECRET_ACCESS_KEY"), Token: get("AWS_SESSION_TOKEN"), Temp: get("TMPDIR"),
	}
}
