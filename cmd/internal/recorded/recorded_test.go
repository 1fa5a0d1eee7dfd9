package recorded

import "testing"

func TestMovePath(t *testing.T) {
	c := Call{home: "/home/ana", project: "/home/ana/work/x"}
	for text, want := range map[string]string{
		"cat /home/ana/work/x/a.txt":                "cat /home/dev/project/a.txt",
		"cd /home/ana/work/x && ls":                 "cd /home/dev/project && ls",
		"/home/ana/work/x":                          "/home/dev/project",
		"ls /home/ana/work/x2 /home/ana/work":       "ls /home/dev/work/x2 /home/dev/work",
		"ls /mnt/home/ana /home/anabel ~ana":        "ls /mnt/home/ana /home/anabel ~ana",
		"--dir=/home/ana/work/x '/home/ana/work/x'": "--dir=/home/dev/project '/home/dev/project'",
		"pw [redacted]":                             "pw redacted",
	} {
		if got := c.movedText(text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
