package acs

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"gate/internal/strictjson"
)

// MinSecret is the shortest secret that is taken, in bytes.
const MinSecret = 32

// A Key is a secret that clients and gate share, and what is known of those who hold it:
// nothing on the wire says what a client can do.
type Key struct {
	ID     string   // the key_id of signatures
	Secret []byte   // at least MinSecret bytes
	Agents []string // patterns of the agent ids that may use it; nil: all
	Asks   bool     // the client puts a question to a person and waits for the answer
	Fixed  bool     // the client applies no modification
}

func checkKeys(keys []Key) error {
	if len(keys) == 0 {
		return errors.New("no keys are given, and every request needs a signature")
	}
	var ids []string
	for _, k := range keys {
		switch {
		case k.ID == "" || len(k.ID) > maxName:
			return errors.New("a key has no id")
		case slices.Contains(ids, k.ID):
			return fmt.Errorf("key %s is given twice", strictjson.Quoted(k.ID))
		case len(k.Secret) < MinSecret:
			return fmt.Errorf("key %s: the secret has %d bytes, and at least %d are wanted", strictjson.Quoted(k.ID), len(k.Secret), MinSecret)
		}
		for _, pattern := range k.Agents {
			if _, err := path.Match(pattern, ""); err != nil {
				return fmt.Errorf("key %s: %s is no pattern", strictjson.Quoted(k.ID), strictjson.Quoted(pattern))
			}
		}
		ids = append(ids, k.ID)
	}
	return nil
}

func find(keys []Key, id string) *Key {
	for i := range keys {
		if keys[i].ID == id {
			return &keys[i]
		}
	}
	return nil
}

// admits reports an agent that may use the key.
func (k *Key) admits(agent string) bool {
	return len(k.Agents) == 0 || slices.ContainsFunc(k.Agents, func(pattern string) bool {
		ok, err := path.Match(pattern, agent)
		return err == nil && ok
	})
}
