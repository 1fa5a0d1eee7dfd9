package page

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// KeyHeader is the header that has the key of a browser's tab.
const KeyHeader = "Gate-Page-Key"

const (
	inviteLife = 2 * time.Minute
	keyLife    = 12 * time.Hour // since it was last used
	maxInvites = 16             // the oldest goes
	maxKeys    = 64
)

// A keyring has the invitations that nobody has used yet, and the keys of those who
// were let in. It keeps digests of both, so that how long a look takes tells nothing.
type keyring struct {
	clock   func() time.Time
	mu      sync.Mutex
	invites map[digest]time.Time // when they end
	keys    map[digest]time.Time
}

type digest = [sha256.Size]byte

func newKeyring(clock func() time.Time) *keyring {
	return &keyring{clock: clock, invites: map[digest]time.Time{}, keys: map[digest]time.Time{}}
}

// invite makes an invitation.
func (k *keyring) invite() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	text := rand.Text()
	k.add(k.invites, maxInvites, text, inviteLife)
	return text
}

// exchange takes an invitation, which is used up by that, for a key.
func (k *keyring) exchange(invitation string) (key string, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	sum := sha256.Sum256([]byte(invitation))
	ends, known := k.invites[sum]
	delete(k.invites, sum)
	if !known || !k.clock().Before(ends) {
		return "", false
	}
	key = rand.Text() + rand.Text()
	k.add(k.keys, maxKeys, key, keyLife)
	return key, true
}

// opens reports whether a key is one, and has it last from now on.
func (k *keyring) opens(key string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	sum := sha256.Sum256([]byte(key))
	ends, known := k.keys[sum]
	if !known || !k.clock().Before(ends) {
		delete(k.keys, sum)
		return false
	}
	k.keys[sum] = k.clock().Add(keyLife)
	return true
}

// close ends a key.
func (k *keyring) close(key string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, sha256.Sum256([]byte(key)))
}

// add adds what ends after a time, and makes room for it.
func (k *keyring) add(to map[digest]time.Time, most int, text string, life time.Duration) {
	now := k.clock()
	var oldest digest
	var end time.Time
	for sum, ends := range to {
		if !now.Before(ends) {
			delete(to, sum)
			continue
		}
		if end.IsZero() || ends.Before(end) {
			oldest, end = sum, ends
		}
	}
	if len(to) >= most {
		delete(to, oldest)
	}
	to[sha256.Sum256([]byte(text))] = now.Add(life)
}
