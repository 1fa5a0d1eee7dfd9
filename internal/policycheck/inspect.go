package policycheck

// An Inspection knows what stands where in policies. It is for editors.
type Inspection struct{ c *checker }
