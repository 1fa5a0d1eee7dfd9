package page

import (
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"gate/internal/page/look"
)

// A refusal is why a request is not answered. The zero refusal is none.
type refusal struct {
	status int
	word   string
	why    string
}

var (
	wrongHost   = refusal{http.StatusMisdirectedRequest, "host", "the request is for another host or port than this page's"}
	wrongSite   = refusal{http.StatusForbidden, "origin", "requests of other pages are not answered"}
	noKey       = refusal{http.StatusUnauthorized, "key", "this tab has no key, or it has ended: run gate ui"}
	usedUp      = refusal{http.StatusUnauthorized, "invitation", "this invitation was used already, or is older than two minutes: run gate ui again; if nobody you know used it, run gate doctor"}
	wrongMethod = refusal{http.StatusMethodNotAllowed, "method", "the method does not go with this address"}
	wrongPath   = refusal{http.StatusNotFound, "not_found", "there is nothing at this address"}
	wrongForm   = refusal{http.StatusBadRequest, "form", "the form did not arrive whole and in time"}
	tooLarge    = refusal{http.StatusRequestEntityTooLarge, "size", "the form is too large"}
	wrongType   = refusal{http.StatusUnsupportedMediaType, "type", "a form is application/x-www-form-urlencoded"}
	busy        = refusal{http.StatusServiceUnavailable, "busy", "too much of the page is asked for at once"}
	failed      = refusal{http.StatusInternalServerError, "failed", ""}
)

func (r refusal) because(why string) refusal {
	r.why = why
	return r
}

// admit reports why nothing is told to who sent a request, whatever it has.
//
// Every page in the browser can send requests here. Those of other sites and of other
// ports have an Origin or a Sec-Fetch-Site that says so. A name that its owner has
// resolve to this machine stands in Host.
func admit(r *http.Request) refusal {
	if !ownHost(r) {
		return wrongHost
	}
	if look.Foreign(r, "http://"+r.Host) {
		return wrongSite
	}
	return refusal{}
}

// ownHost reports that a request is for this machine under a name that only it can
// have, and for the port that it came in by.
func ownHost(r *http.Request) bool {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return false
	}
	const usual = 80 // browsers leave it out
	for _, name := range []string{"127.0.0.1", "[::1]", "localhost"} {
		if r.Host == name+":"+strconv.Itoa(tcp.Port) || r.Host == name && tcp.Port == usual {
			return true
		}
	}
	return false
}

// readForm reads a posted form, which has a body and no part in the address.
func readForm(w http.ResponseWriter, r *http.Request, most int64) (url.Values, refusal) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" || r.Header.Get("Content-Encoding") != "" {
		return nil, wrongType
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		return nil, tooLarge
	case err != nil:
		return nil, wrongForm
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, wrongForm
	}
	return form, refusal{}
}
