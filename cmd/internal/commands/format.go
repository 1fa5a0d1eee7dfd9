package commands

import (
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// addFormat adds the flag that says for whom a command prints.
func addFormat(cmd *cobra.Command, format *string) {
	cmd.Flags().StringVar(format, "format", "text", forWhom)
	oneOf(cmd, "format", "text", "json")
}

const forWhom = "text for people, json for programs"

// bothSpellings has a command, and all below it, take --format json and --json
// alike where it has one of them. A --format without a default is another one:
// it says what form a file gets.
func bothSpellings(cmd *cobra.Command) {
	const same = "the same as --format json"
	flags := cmd.Flags()
	format, short := flags.Lookup("format"), flags.Lookup("json")
	switch {
	case short != nil && format == nil:
		flags.Var(choice{formatOfJSON{short}, []string{"text", "json"}, false}, "format", forWhom)
		short.Usage = same
	case format != nil && format.DefValue != "" && short == nil:
		flags.VarPF(jsonOfFormat{format}, "json", "", same).NoOptDefVal = "true"
	}
	for _, below := range cmd.Commands() {
		bothSpellings(below)
	}
}

// A formatOfJSON is --format of a command that knows --json.
type formatOfJSON struct{ json *pflag.Flag }

func (f formatOfJSON) Type() string { return "string" }

func (f formatOfJSON) String() string {
	if f.json != nil && f.json.Value.String() == "true" {
		return "json"
	}
	return "text"
}

func (f formatOfJSON) Set(format string) error {
	return f.json.Value.Set(strconv.FormatBool(format == "json"))
}

// A jsonOfFormat is --json of a command that knows --format.
type jsonOfFormat struct{ format *pflag.Flag }

func (j jsonOfFormat) Type() string { return "bool" }

func (j jsonOfFormat) String() string {
	return strconv.FormatBool(j.format != nil && j.format.Value.String() == "json")
}

func (j jsonOfFormat) Set(text string) error {
	wanted, err := strconv.ParseBool(text)
	switch {
	case err != nil:
		return err
	case wanted:
		return j.format.Value.Set("json")
	}
	return j.format.Value.Set(j.format.DefValue)
}
