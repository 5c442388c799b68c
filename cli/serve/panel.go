package servecli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"jcode/cli/core"
	"jcode/internal/text"
	"jcode/page"
	"jcode/remote"
	"jcode/tools/command"
)

// RemotePage is /remote: the page of jcode serve for the devices of the user, which this process serves if nobody does,
// and the list of devices. It is a client of the sockets as jcode serve is, and owns no session.
type RemotePage struct {
	pages Pages
	place remote.Place

	mu      sync.Mutex
	server  *page.Server // nil while this process serves none
	serving sync.WaitGroup
	address string
	release func()
	code    string // the one that was shown last
	closed  bool
}

// NewRemotePage returns /remote of a process, which closes it.
func NewRemotePage(p Pages) *RemotePage { return &RemotePage{pages: p, place: p.Place} }

// usualPage is where jcode serve listens by default.
const usualPage = "127.0.0.1:7333"

// serve makes sure that the page is served, and returns where. public is the address of a proxy that offers it, "" for
// none.
func (r *RemotePage) serve(public string) (address string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != nil && (public == "" || public == r.address) {
		return r.address, nil
	}
	if r.server == nil {
		if at := page.Served(r.place); at != "" {
			if public != "" && public != at {
				return "", fmt.Errorf("the page is served at %s by another jcode: end that first", at)
			}
			return at, nil
		}
	}
	if r.closed {
		return "", errors.New("this session is ending")
	}
	r.stop()
	if _, err := r.place.Token(); err != nil { // makes the folder
		return "", err
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", usualPage)
	if err != nil { // something else is there
		l, err = (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return "", err
	}
	address = "http://" + l.Addr().String()
	if public != "" {
		address = public
	}
	release, ok := page.Claim(r.place, address)
	if !ok {
		_ = l.Close() // it was not used
		return "", errors.New("another jcode has just begun to serve the page: say /remote again")
	}
	server := page.NewServer(page.Options{
		Place: r.place, Devices: page.NewDevices(r.place), Codes: page.NewCodes(r.place), Stored: Kept{r.pages.Store}, Begin: r.pages.begin, Public: public,
	})
	r.server, r.address, r.release = server, address, release
	r.serving.Go(func() { _ = server.Serve(l) }) // it ends with the server
	return address, nil
}

// stop ends the server of this process. The caller holds the lock.
func (r *RemotePage) stop() {
	if r.server == nil {
		return
	}
	r.server.Close()
	r.serving.Wait()
	r.release()
	r.server = nil
}

// Close ends the page of this process.
func (r *RemotePage) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	r.stop()
}

// pairing returns a code that can be used: the one before, as long as that can. role "" is any.
func (r *RemotePage) pairing(role remote.Role) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	codes := page.NewCodes(r.place)
	if role == "" && r.code != "" && codes.Valid(r.code) {
		return r.code, nil
	}
	if role == "" {
		role = remote.Control
	}
	var err error
	r.code, err = codes.New(role)
	return r.code, err
}

// pairRow is the ID of the row with which a device is paired.
const pairRow = "+"

// Extension returns what it adds to jcode.
func (r *RemotePage) Extension() core.Extension { return core.Extension{Panels: r.panels} }

func (r *RemotePage) panels() []command.Panel {
	return []command.Panel{{
		Name: "remote", Help: "this session in a browser: address, code, paired devices", Title: "Open sessions in a browser", Live: true,
		Rows: r.rows,
		Verbs: command.Verbs{
			{Name: "code", Help: "show the address, and a code for one device", Run: func(context.Context, string) (string, error) { return r.show("", "") }},
			{Name: "watch", Help: "show a code for a device that only watches", Run: func(context.Context, string) (string, error) { return r.show(remote.Watch, "") }},
			{Name: "stop", Help: "serve the page no longer; paired devices stay paired", Run: r.end},
		},
		Other: command.Verb{Hint: "https://NAME", Help: "show the code, and this address, under which others reach the page", Run: r.publish},
		Actions: []command.Action{
			{Label: "show address and code", Close: true, Command: func(command.Row) string { return "/remote code" }},
			{Key: "ctrl+d", Label: "revoke", Confirm: true, Run: func(_ context.Context, row command.Row) (string, error) { return r.revoke(row.ID) }},
		},
	}}
}

// rows are how a device is paired, and the devices.
func (r *RemotePage) rows(context.Context) ([]command.Row, error) {
	address, err := r.serve("")
	if err != nil {
		return nil, err
	}
	code, err := r.pairing("")
	if err != nil {
		return nil, err
	}
	list, err := page.NewDevices(r.place).List()
	rows := []command.Row{{
		ID: pairRow, Name: "Pair a device", Info: address, State: "code " + code, Keys: []string{"show address and code"},
		Detail: "Open the address and type the code: for one device, once, within " + fmt.Sprint(int(page.CodeFor.Minutes())) + " minutes.\n" + r.reach(address),
	}}
	for _, v := range list {
		rows = append(rows, command.Row{
			ID: v.ID, Name: text.Visible(v.Name), Info: string(v.Role) + map[bool]string{true: ", a program"}[v.Program], State: text.Ago(time.Since(v.Used)), Keys: []string{"revoke"},
			Detail: "paired " + text.Ago(time.Since(v.Paired)) + ", used " + text.Ago(time.Since(v.Used)),
		})
	}
	return rows, err
}

// reach says how a device gets to an address, and how long it is there.
func (r *RemotePage) reach(address string) string {
	r.mu.Lock()
	own := r.server != nil
	r.mu.Unlock()
	said := "jcode serve serves it."
	if own {
		said = "This process serves it until the session ends; jcode serve in another terminal goes on."
	}
	if strings.HasPrefix(address, "http:") {
		_, port, _ := net.SplitHostPort(strings.TrimPrefix(address, "http://"))
		said += " From another device: ssh -L " + port + ":127.0.0.1:" + port + ", or tailscale serve " + port + " and /remote https://NAME with the name that it prints."
	}
	return said
}

func (r *RemotePage) revoke(id string) (string, error) {
	gone, err := page.NewDevices(r.place).Revoke(id, false)
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	server := r.server
	r.mu.Unlock()
	if server != nil { // another process sees it in the file
		server.EndRevoked()
	}
	if len(gone) == 0 {
		return "", errors.New("it is revoked already")
	}
	return text.Visible(gone[0].Name) + " may not see the page any more", nil
}

// end ends the page of this process.
func (r *RemotePage) end(context.Context, string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server == nil {
		return "", errors.New("this process serves no page")
	}
	r.stop()
	return "The page is not served any more; paired devices stay paired.", nil
}

// publish shows the page under a public address; other words search the list.
func (r *RemotePage) publish(_ context.Context, address string) (string, error) {
	if !strings.HasPrefix(address, "https://") {
		return "", command.ErrSearch
	}
	public, err := publicOf(address)
	if err != nil {
		return "", err
	}
	return r.show("", public)
}

// show serves the page and returns its address with a code. role "" is any, public "" the address of this machine.
func (r *RemotePage) show(role remote.Role, public string) (string, error) {
	address, err := r.serve(public)
	if err != nil {
		return "", err
	}
	code, err := r.pairing(role)
	if err != nil {
		return "", err
	}
	out := fmt.Sprintf("%s\n%s  code for one device%s, for %d minutes", address, code, map[bool]string{true: " that only watches"}[role == remote.Watch], int(page.CodeFor.Minutes()))
	if qr := qrOf(address); qr != "" {
		out += "\n" + qr
	}
	return out + "\n" + r.reach(address), nil
}
