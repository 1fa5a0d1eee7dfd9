package reach

import "testing"

// TestReachable holds which machines are not connected to, whatever a name
// leads to.
func TestReachable(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:80": "", "[::1]:80": "", "[::ffff:127.0.0.1]:80": "", "127.9.9.9:80": "",
		"93.184.216.34:443": "elsewhere", "10.0.0.1:443": "elsewhere", "[2001:db8::1]:443": "elsewhere",
		"169.254.169.254:443": "never", "[::ffff:169.254.169.254]:443": "never", "[fe80::1%eth0]:443": "never",
		"0.0.0.0:443": "never", "[::]:443": "never", "224.0.0.1:443": "never", "[ff02::1]:443": "never", "x": "never",
	} {
		near, far := reachable(address, true), reachable(address, false)
		if (near == nil) != (want == "") || (far == nil) != (want != "never") {
			t.Errorf("%s: as this machine %v, as another %v; want %q", address, near, far, want)
		}
	}
}
