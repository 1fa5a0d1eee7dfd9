package load

import (
	"strings"

	"gate/internal/outgoing"
	"gate/internal/setting"
)

// receivers checks whom questions go to, and where answers come from.
func (r *layerReader) receivers() {
	a := r.layer.Approvals
	if a == nil {
		return
	}
	if len(a.Approvers) == 0 && (len(a.Deliver) > 0 || a.Poll != "") {
		r.bad("/approvals", "approvals: deliver and poll need approvers: nobody could answer")
	}
	if a.Poll != "" {
		if err := outgoing.CheckAddress(a.Poll); err != nil {
			r.bad("/approvals/poll", "approvals.poll %w", err)
		}
	}
	if a.PollToken != "" && a.Poll == "" {
		r.bad("/approvals/poll_token_file", "approvals.poll_token_file: there is no poll that it belongs to")
	}
	for i, to := range a.Deliver {
		at := element("/approvals/deliver", i)
		mail := to.Form == setting.FormMail
		switch {
		case mail && len(to.To) == 0:
			r.bad(at, "%s: mail needs to, the addresses", dotted(at))
		case mail && (to.URL != "" || to.TokenFile != ""):
			r.bad(at, "%s: mail has neither url nor token_file", dotted(at))
		case !mail && (len(to.To) > 0 || to.Program != ""):
			r.bad(at, "%s: to and program go with mail only", dotted(at))
		case !mail && to.URL == "":
			r.bad(at, "%s: url is missing", dotted(at))
		case !mail:
			if err := outgoing.CheckAddress(to.URL); err != nil {
				r.bad(at, "%s.url %w", dotted(at), err)
			}
		}
		for _, address := range to.To {
			if !plainAddress(address) {
				r.bad(at, "%s: to: %q is no address of e-mail", dotted(at), address)
			}
		}
	}
}

// plainAddress reports an address that nothing takes for an option or for two.
func plainAddress(address string) bool {
	name, host, ok := strings.Cut(address, "@")
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(",;:<>()[]@\"\\", r) }
	return ok && name != "" && host != "" && name[0] != '-' && !strings.ContainsFunc(name+host, odd)
}
