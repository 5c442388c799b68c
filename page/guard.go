package page

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"

	"jcode/internal/netaddr"
)

// policy lets the page load from itself alone, and run and style nothing that stands in it.
const policy = "default-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"

// The limits of a request, in bytes.
const (
	maxHeader = 16 << 10
	maxBody   = 4 << 20 // a prompt of 1 MB as a form
	maxPair   = 4 << 10
)

// guard refuses what does not come from the page itself, or from a program that is no browser.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // not no-referrer, with which forms have no origin
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		origin, ok := s.origin(r)
		if !ok {
			http.Error(w, "jcode serve is not known under this name: see --behind-proxy", http.StatusMisdirectedRequest)
			return
		}
		if !welcome(r, origin) {
			http.Error(w, "this request comes from another page", http.StatusForbidden)
			return
		}
		limit := int64(maxBody)
		if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") { // it is read for a paired device only
			limit = maxPictures
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		next.ServeHTTP(w, r)
	})
}

// origin returns the origin under which a request reaches the page. ok is false under a foreign name, to which another
// page may have bound this address.
func (s *Server) origin(r *http.Request) (origin string, ok bool) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	switch {
	case s.opt.Public != "" && strings.EqualFold(r.Host, hostOf(s.opt.Public)):
		return s.opt.Public, true
	case r.TLS != nil && (slices.ContainsFunc(s.opt.Names, func(n string) bool { return strings.EqualFold(n, host) }) || netaddr.LoopbackHost(host)):
		return "https://" + r.Host, true
	case r.TLS == nil && netaddr.LoopbackHost(host):
		return "http://" + r.Host, true
	}
	return "", false
}

func hostOf(origin string) string {
	_, host, _ := strings.Cut(origin, "://")
	return host
}

// welcome reports whether a request may come from where it says it does. What a browser sends for another page has an
// origin or says so; what changes something must say where it comes from, unless it has a token, which no browser adds.
func welcome(r *http.Request, origin string) bool {
	if o := r.Header.Values("Origin"); len(o) > 0 && (len(o) > 1 || !strings.EqualFold(o[0], origin)) {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	own := site == "same-origin" || site == "none"
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if reads {
		opened := r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
		return site == "" || own || opened
	}
	return r.Method == http.MethodPost && (site == "" || own) && (r.Header.Get("Origin") != "" || own || r.Header.Get("Authorization") != "")
}

// cookie is the name of the cookie with a device's key. Its path is the device's folder: a browser sends a cookie to
// every port of a host, and so to any server that an agent starts there, which must not get it.
const cookie = "jcode"

// paired lets in only the device whose folder an address is in.
func (s *Server) paired(next func(http.ResponseWriter, *http.Request, Device)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("device")
		var v Device
		err := errUnknown
		if key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			v, err = s.opt.Devices.known(id, key, true)
		} else if c, e := r.Cookie(cookie); e == nil {
			v, err = s.opt.Devices.known(id, c.Value, false)
		}
		if err != nil {
			s.askCode(w, http.StatusUnauthorized, "")
			return
		}
		ctx, end := context.WithCancel(r.Context())
		defer s.live.add(v.ID, end)()
		next(w, r.WithContext(ctx), v)
	})
}
