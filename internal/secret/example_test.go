package secret_test

import (
	"fmt"

	"gate/internal/secret"
)

func ExampleRedact() {
	fmt.Println(secret.Redact("curl -u me:swordfish -H 'Authorization: Bearer 0123abcd' https://example.com"))
	fmt.Println(secret.Redact("API_KEY=$API_KEY make test"))
	// Output:
	// curl -u me:[redacted] -H 'Authorization: Bearer [redacted]' https://example.com
	// API_KEY=$API_KEY make test
}
