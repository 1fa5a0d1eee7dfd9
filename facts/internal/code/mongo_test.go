package code

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMongo reads testdata/mongo.txt.
func TestMongo(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "mongo.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "##") {
			continue
		}
		script, want, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("mongo.txt:%d: %q", i+1, line)
		}
		n++
		var got []string
		for _, s := range Mongo(script) {
			where := ""
			if s.Where {
				where = " where"
			}
			got = append(got, fmt.Sprintf("%s(%s)%s %s", s.Verb, s.Object, where, s.Access))
		}
		if got := strings.Join(got, "; "); got != want {
			t.Errorf("mongo.txt:%d: %s\n got %s\nwant %s", i+1, script, got, want)
		}
	}
	if n < 16 {
		t.Errorf("only %d lines", n)
	}
}
