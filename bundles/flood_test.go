package bundles

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gate/internal/format"
	sealeds "gate/internal/sealed"
)

// TestFloods offers what costs the square of its size to read, or makes a
// message of megabytes, before any signature was checked.
func TestFloods(t *testing.T) {
	var texts, keys []string
	for i := range 100_000 {
		texts = append(texts, fmt.Sprintf(`"%06x"`, i))
		keys = append(keys, texts[i]+":1")
	}
	list, object := strings.Join(texts, ","), strings.Join(keys, ",")
	for name, open := range map[string]func() error{
		"signatures":   func() error { _, err := sealeds.ParseSignatures([]byte(`{"signatures":[` + list + `]}`)); return err },
		"unknown keys": func() error { _, err := sealeds.ParseSignatures([]byte(`{` + object + `}`)); return err },
		"envelope": func() error {
			_, _, err := sealeds.ParseEnvelope(sealedWith(format.Envelope.Mark(), object))
			return err
		},
		"key set": func() error { _, err := ParseKeySet(sealedWith(format.Keys.Mark(), `"keys":{`+object+`}`)); return err },
		"root keys": func() error {
			_, err := ParseKeySet(sealedWith(format.Keys.Mark(), `"root":{"keys":[`+list+`]}`))
			return err
		},
		"thresholds": func() error {
			_, err := ParseKeySet(sealedWith(format.Keys.Mark(), `"thresholds":{`+strings.ReplaceAll(object, ":1", ":0")+`}`))
			return err
		},
		"channel": func() error {
			_, _, err := sealeds.ParseChannel(sealedWith(format.Channel.Mark(), `"version":1,"releases":{`+object+`}`))
			return err
		},
		"rollouts": func() error {
			_, _, err := sealeds.ParseChannel(sealedWith(format.Channel.Mark(), `"version":1,"releases":{"a":[`+list+`]}`))
			return err
		},
		"recovery": func() error {
			_, _, err := sealeds.ParseRecoveryOf(sealedWith(format.Recovery.Mark(), `"off":[`+list+`]`))
			return err
		},
		"manifest roots": func() error { _, err := sealeds.ParseManifest([]byte(`{"roots":[` + list + `]}`)); return err },
	} {
		t.Run(name, func(t *testing.T) {
			err := open()
			if err == nil || len(err.Error()) > 4096 || len(Refusals(err)) == 0 {
				t.Errorf("refused in %d bytes: %.200s", len(fmt.Sprint(err)), fmt.Sprint(err))
			}
		})
	}
}

// TestManyGoodKeys reads a key set with more parts than a message holds mistakes.
func TestManyGoodKeys(t *testing.T) {
	ring := newKeyRing(t)
	data, err := ring.known().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if s, err := ParseKeySet(data); err != nil || len(s.Keys) < 6 {
		t.Error(err)
	}
	if _, err := ring.known().OpenRecovery(nil, "", time.Time{}); err == nil {
		t.Error("no recovery file recovers")
	}
}

func sealedWith(kind, fields string) []byte {
	return []byte(`{"signed":{"type":"` + kind + `",` + fields + `},"signatures":[]}`)
}
