package consent_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestClock(t *testing.T) {
	k := newDesk(t)
	for _, row := range []struct {
		name   string
		now    time.Duration
		want   time.Duration
		broken string
	}{
		{"first", 0, 0, ""},
		{"same", 0, 0, ""},
		{"within a second", 300 * time.Millisecond, 300 * time.Millisecond, ""},
		{"forward", time.Hour, time.Hour, ""},
		{"back", 0, time.Hour, ""},
		{"back a day", -23 * time.Hour, time.Hour, ""},
		{"back further", -24 * time.Hour, time.Hour, "set back"},
		{"back a year", -365 * 24 * time.Hour, time.Hour, "set back"},
		{"right again", 2 * time.Hour, 2 * time.Hour, ""},
	} {
		got, err := k.store.Clock(noon.Add(row.now))
		if !got.Equal(noon.Add(row.want)) || (err != nil) != (row.broken != "") || err != nil && !strings.Contains(err.Error(), row.broken) {
			t.Errorf("%s: %v, %v", row.name, got, err)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(k.store.Dir, "clock", "*")); len(files) != 1 {
		t.Errorf("the clock keeps %q", files)
	}
	for _, bad := range []time.Time{{}, time.Unix(0, 0), time.Unix(1<<60, 0)} {
		if _, err := k.store.Clock(bad); err == nil {
			t.Errorf("%v is a time", bad)
		}
	}
}

func TestClockTampered(t *testing.T) {
	for _, name := range []string{"x", "-1", "0", "000000000000", "1", "999999999999999999999", "00001763726400", "1763726400 ", "001763726400.1"} {
		k := newDesk(t)
		k.approve(push(noon))
		k.must(os.WriteFile(filepath.Join(k.store.Dir, "clock", name), nil, 0o600))
		if _, err := k.store.Clock(noon); err == nil || !strings.Contains(err.Error(), "not gate's") {
			t.Errorf("%q: %v", name, err)
		}
		if err := k.use(push(noon)); err == nil {
			t.Errorf("%q: the approval counts", name)
		}
	}
}

// Whatever processes do at the same time, the time never falls.
func TestClockParallel(t *testing.T) {
	k := newDesk(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 7))
			last := time.Time{}
			for range 50 {
				got, err := k.store.Clock(noon.Add(time.Duration(r.IntN(3600)) * time.Second))
				if err != nil || got.Before(last) {
					t.Errorf("%v after %v, %v", got, last, err)
					return
				}
				last = got
			}
		})
	}
	wg.Wait()
}
