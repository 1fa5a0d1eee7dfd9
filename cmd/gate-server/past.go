package main

import (
	"context"

	"gate/cmd/internal/commands"
	"gate/internal/collect/archive"
	"gate/internal/replay"
)

// past opens the records of a fleet for gate replay.
func past(ctx context.Context, at commands.FleetPast) (replay.Past, error) {
	a, err := archive.Open(at.Place, archiveOptions(at.LookupEnv))
	if err != nil {
		return nil, err
	}
	return a.Past(ctx, at.From, at.To)
}

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
