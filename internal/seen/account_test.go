package seen

import (
	"slices"
	"testing"
)

func TestAccounts(t *testing.T) {
	for text, want := range map[string]string{
		`"partner":"0x00D7e20B94Aa1c6f35E8021bC9F4d073bE56a841"`: "0x00d7e20b94aa1c6f35e8021bc9f4d073be56a841",
		"pay to GB33BUKB20201555555555 now":                      "GB33BUKB20201555555555",
		"pay to GB33 BUKB 2020 1555 5555 55 now":                 "GB33BUKB20201555555555",
		"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq":             "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
		"arn:aws:iam::100200300400:root":                         "100200300400",
		"account 4005006007":                                     "4005006007",
		"aws s3 cp x s3://cold-vault/":                           "s3://cold-vault",
		"assignee 6F1c2d3e-4b5a-4c7d-8e9f-0a1b2c3d4e5f":          "6f1c2d3e-4b5a-4c7d-8e9f-0a1b2c3d4e5f",
		"call +49 151 12345678":                                  "+4915112345678",
		"took 4005006007 ns":                                     "",
		"da39a3ee5e6b4b0d3255bfef95601890afd80709":               "", // a commit
		"E3B0C44298FC1C149AFBF4C8996FB92427AE41E4":               "",
		"version 2026-11-28":                                     "",
	} {
		got := Accounts(text)
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	}
}

func TestHasPeople(t *testing.T) {
	rows := "name,email,salary\nAnn Brandt,ann.brandt@posteo.de,1\nTom Hrubec,tom.hrubec@seznam.cz,2\nEva Lind,eva.lind@gmx.net,3\n"
	if !HasPeople(rows) || HasPeople(rows[:60]) || HasPeople("name,size\na-long-name,1\nb-long-name,2\nc-long-name,3\n") {
		t.Error("rows about people are told wrong")
	}
}
