package load_test

import (
	"fmt"
	"testing/fstest"

	"gate/hook"
	"gate/internal/load"
	"gate/internal/setting"
)

func ExampleSettings() {
	managed := load.Settings(fstest.MapFS{
		"settings.toml": {Data: []byte("[policies]\n\"acme.push\" = \"warn\"\n")},
	}, "/etc/gate", hook.Managed)
	user := load.Settings(fstest.MapFS{
		"settings.json": {Data: []byte("{\n  \"policy\": {\"acme.push\": \"off\"}\n}\n")},
	}, "/home/ana/.config/gate", hook.User)
	for _, f := range user.Source.Faults {
		fmt.Println(f.Error())
	}
	fmt.Println("closes:", user.Source.Closes())
	settings, err := setting.Combine(append(managed.Layers, user.Layers...)...)
	fmt.Println(settings.Deadline, err)
	// Output:
	// /home/ana/.config/gate/settings.json:2: unknown key policy; did you mean "policies"?
	// closes: true
	// 0s <nil>
}

func ExampleEdit() {
	out, err := load.Edit("settings.yaml", []byte("# mine\nlog: true # for OPS-17\n"), hook.User, "warn", "policies", "gate.git")
	fmt.Print(string(out), err)
	// Output:
	// # mine
	// log: true # for OPS-17
	// policies:
	//   gate.git: warn
	// <nil>
}
