package bundles

import (
	"runtime"
	"testing"

	sealeds "gate/internal/sealed"
)

// small limits make the cases small, too.
var small = Limits{Archive: 1 << 20, Total: 2 << 20, File: 1 << 20, Entries: 1000}

// TestArchives unpacks one archive for every trick.
func TestArchives(t *testing.T) {
	for _, c := range readCases(t, "testdata/archives.txt") {
		t.Run(c.name, func(t *testing.T) {
			var b archiveBuilder
			for _, step := range c.steps {
				b.step(t, step)
			}
			files, err := sealeds.Unpack(b.bytes(), small)
			if err == nil && len(files) == 0 {
				t.Error("nothing was unpacked")
			}
			c.check(t, err)
		})
	}
}

// TestBombMemory unpacks gigabytes of zeros, in a file that says so and
// where padding may be.
func TestBombMemory(t *testing.T) {
	const size = 10 << 30
	roomy := Limits{File: 11 << 30, Archive: 64 << 20}
	for name, archive := range map[string][]byte{"one file": bomb(7 << 30), "padding": padding(size)} {
		if len(archive) < 5<<20 || len(archive) > 20<<20 {
			t.Errorf("%s: the archive has %d bytes", name, len(archive))
		}
		for _, limits := range []Limits{{}, roomy} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := sealeds.Unpack(archive, limits)
			runtime.ReadMemStats(&after)
			if reasonOf(err) != sealeds.TooLarge {
				t.Errorf("%s: %v, want %s", name, err, sealeds.TooLarge)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 128<<20 {
				t.Errorf("%s: %d MiB were allocated", name, got>>20)
			}
		}
	}
}
