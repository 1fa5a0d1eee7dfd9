package core

import (
	"net/netip"
	"strings"

	"gate/hook"
	"gate/internal/wordlist"
)

// carry adds to facts the effects that a call has because it holds a secret: what only
// looks up the name of a host hands the name on, code that reaches a host hands on what
// stands in it, a tool of a server gets its arguments, and a search its words.
func carry(tool string, f *hook.Facts) {
	if f == nil {
		return
	}
	sends := map[int]bool{}
	code := map[int]bool{}
	handed := false
	for i := range f.Effects {
		e := &f.Effects[i]
		switch e.Is.(type) {
		case *hook.NetSend, *hook.NetFetch:
			sends[e.Command], handed = true, true
		case *hook.ExecCode:
			code[e.Command] = true
		case *hook.Tool, *hook.FSRead, *hook.FSWrite, *hook.FSDelete, *hook.Database:
			handed = true
		}
	}
	for i := range f.Hosts {
		h := &f.Hosts[i]
		if sends[h.Command] || h.Host == nil || near(*h.Host) || !code[h.Command] && !looksUp(f, h.Command) {
			continue
		}
		f.Effects = append(f.Effects, hook.FactEffect{Command: h.Command, Is: &hook.NetSend{Host: h.Host, IP: h.IP, URL: h.URL, Source: "text"}})
	}
	if (strings.HasPrefix(tool, "mcp__") && !ofPage(tool) || wordlist.Has(searches, tool)) && !handed {
		f.Effects = append(f.Effects, hook.FactEffect{Is: &hook.Tool{Tool: tool, Access: "write"}})
	}
}

// searches are tools of agents whose words a service for searching gets.
const searches = " WebSearch web_search google_web_search websearch codesearch "

// looksUp reports a command that asks for the address of a name or whether a host is
// there, so that each server on the way reads the name, and one that gives a message to a broker.
func looksUp(f *hook.Facts, command int) bool {
	if f.Shell == nil || command < 1 || command > len(f.Shell.Commands) {
		return false
	}
	c := &f.Shell.Commands[command-1]
	p := c.Program
	if c.Options["P"] != nil {
		return false // the login of a broker
	}
	return p != nil && strings.Contains(" mosquitto_pub mosquitto_rr mqttx host dig nslookup drill kdig delv resolvectl getent ping ping6 fping traceroute tracepath mtr whois ", " "+*p+" ")
}

// ofPage reports a tool that types into a page of a browser: a person's login goes there.
func ofPage(tool string) bool {
	for _, name := range []string{"browser", "playwright", "puppeteer", "chrome", "selenium"} {
		if strings.Contains(strings.ToLower(tool), name) {
			return true
		}
	}
	return false
}

// near reports a host of this machine or network.
func near(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && (ip.IsLoopback() || ip.IsPrivate())
}

// maxFlow is how many entries are added for each value. Policies go through all of them.
const maxFlow = 1000

// AddFlow adds to facts where data comes from that stands in the call itself: each of
// found, whose Effect and Command are empty, once for every kind of effect of a command
// that hands data on or acts on it. Facts without such an effect stay as they are. Where
// that would be too many, values of one origin and kind share an entry.
func AddFlow(f *hook.Facts, found []hook.Flow) {
	if f == nil || len(found) == 0 {
		return
	}
	type place struct {
		effect  string
		command int
	}
	var places []place
	known := map[place]bool{}
	for i := range f.Effects {
		e := &f.Effects[i]
		if at := (place{e.Kind(), e.Command}); handsOn(e) && !known[at] {
			known[at] = true
			places = append(places, at)
		}
	}
	if len(places)*len(found) > maxFlow {
		found = coarser(found)
	}
	for _, at := range places {
		for _, flow := range found {
			flow.Effect, flow.Command = at.effect, at.command
			f.Flow = append(f.Flow, flow)
		}
	}
}

// coarser has one entry for each origin, kind and way of knowing. Without a host it stands
// for any.
func coarser(found []hook.Flow) (list []hook.Flow) {
	type group struct{ origin, what, how string }
	at := map[group]int{}
	for _, flow := range found {
		g := group{flow.Origin, "", flow.How}
		if flow.What != nil {
			g.what = *flow.What
		}
		if i, known := at[g]; known {
			list[i].Host = nil
			continue
		}
		at[g] = len(list)
		list = append(list, flow)
	}
	return list
}

// handsOn reports an effect that sends, changes, installs or runs something, so that it
// matters where its data or its line came from.
func handsOn(e *hook.FactEffect) bool {
	switch e.Is.(type) {
	case *hook.NetSend, *hook.NetFetch, *hook.NetListen, *hook.FSWrite, *hook.FSDelete, *hook.FSPermissions, *hook.Environment, *hook.GitConfig, *hook.GitPush, *hook.GitRemote, *hook.PackageInstall, *hook.PackagePublish,
		*hook.ExecRemote, *hook.ExecCode, *hook.ExecHidden, *hook.ExecShell, *hook.Tool, *hook.Infrastructure, *hook.Database:
		return true
	}
	return false
}
