package audit_test

import (
	"fmt"

	"gate/audit"
)

func ExampleRedact() {
	fmt.Println(audit.Redact("curl -u me:swordfish -H 'Authorization: Bearer 0123abcd' https://example.com"))
	fmt.Println(audit.Redact("API_KEY=$API_KEY make test"))
	// Output:
	// curl -u me:[redacted] -H 'Authorization: Bearer [redacted]' https://example.com
	// API_KEY=$API_KEY make test
}
