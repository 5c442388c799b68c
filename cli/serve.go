package cli

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/skip2/go-qrcode"

	"jcode/cli/console"
	taskscli "jcode/cli/tasks"
	"jcode/internal/netaddr"
	"jcode/internal/ptty"
	"jcode/internal/text"
	"jcode/page"
	"jcode/remote"
)

// serveCmd serves the page on which open sessions are followed, and says which devices may see it.
type serveCmd struct {
	Page    servePageCmd    `cmd:"" default:"withargs" help:"Serve a page on which open sessions are followed and answered in a browser."`
	Devices serveDevicesCmd `cmd:"" help:"List the devices that may see the page."`
	Revoke  serveRevokeCmd  `cmd:"" help:"Take a device's access away; what it does ends at once."`
	Token   serveTokenCmd   `cmd:"" help:"Print a token with which a program may see the page, once."`
}

type servePageCmd struct {
	Listen      string `default:"127.0.0.1:7333" help:"Address to listen on; one that others reach needs --cert or --behind-proxy." placeholder:"ADDRESS"`
	Cert        string `help:"File with the certificate for TLS." placeholder:"FILE"`
	Key         string `help:"File with its private key." placeholder:"FILE"`
	BehindProxy string `name:"behind-proxy" help:"Address under which a proxy offers the page with TLS." placeholder:"URL"`
	Watch       bool   `help:"The first code is for a device that may only watch."`
}

// Run serves until it is interrupted.
func (c *servePageCmd) Run(ctx context.Context, f *flags, std Streams) error {
	opt, address, err := c.options()
	if err != nil {
		return err
	}
	a, err := openKept(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	opt.Place = remote.In(a.paths.Data)
	if _, err := opt.Place.Token(); err != nil { // makes the folder
		return err
	}
	opt.Devices, opt.Codes, opt.Stored = page.NewDevices(opt.Place), page.NewCodes(opt.Place), kept{a.store}
	if ptty.Supported {
		opt.Begin = pageBegins{opt.Place, std.Getenv("TERM")}.begin
	}
	opt.Editor, opt.Queue = newRemoteEditors(a).serve, taskscli.Served{Paths: a.paths}
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(std.Err, format+"\n", args...)
	}
	opt.Said = func(line string) { say("%s", text.Visible(line)) }
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return console.Usage("%w: another one may be running; --listen takes another address", err)
	}
	if address == "" {
		address = map[bool]string{true: "https://", false: "http://"}[opt.Certificate != nil] + c.reached(l.Addr(), opt.Names)
	}
	server := page.NewServer(opt)
	defer server.Close()
	say("%s", address)
	if std.InIsTerminal {
		if qr := qrOf(address); qr != "" {
			say("%s", qr)
		}
	}
	if release, ok := page.Claim(opt.Place, address); ok { // a second one serves as well, and is not found by /remote
		defer release()
	}
	code := func(role remote.Role) {
		code, err := opt.Codes.New(role)
		if err != nil {
			say("jcode: %v", err)
			return
		}
		say("%s  code for one device%s, for %d minutes", code, map[bool]string{true: " that only watches"}[role == remote.Watch], int(page.CodeFor.Minutes()))
	}
	code(map[bool]remote.Role{true: remote.Watch, false: remote.Control}[c.Watch])
	if std.InIsTerminal {
		say("Enter makes another code, w and Enter one for a device that only watches. Ctrl+C ends.")
		go codes(std, code) // ends with the program, which nothing can wake from a read of the terminal
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
		server.Close()
		return <-served
	}
}

// qrOf returns an address as a QR code, "" for one that a phone can't reach.
func qrOf(address string) string {
	qr, err := qrcode.New(address, qrcode.Low)
	if err != nil || strings.HasPrefix(address, "http:") { // of this machine alone
		return ""
	}
	return strings.TrimRight(qr.ToSmallString(false), "\n")
}

// codes makes a code for each line that is typed.
func codes(std Streams, code func(remote.Role)) {
	lines := bufio.NewScanner(std.In)
	for lines.Scan() {
		switch strings.TrimSpace(lines.Text()) {
		case "w", "watch":
			code(remote.Watch)
		case "":
			code(remote.Control)
		}
	}
}

// options checks who could reach the page: others only over TLS, its own or a proxy's.
func (c *servePageCmd) options() (opt page.Options, address string, err error) {
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return opt, "", console.Usage("--listen %s: it is an address and a port, such as 127.0.0.1:7333", c.Listen)
	}
	if (c.Cert == "") != (c.Key == "") {
		return opt, "", console.Usage("--cert and --key belong together")
	}
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return opt, "", console.Usage("--cert %s, --key %s: %w", c.Cert, c.Key, err)
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			return opt, "", console.Usage("--cert %s: %w", c.Cert, err)
		}
		opt.Certificate, opt.Names = &pair, leaf.DNSNames
		for _, ip := range leaf.IPAddresses {
			opt.Names = append(opt.Names, ip.String())
		}
	}
	if c.BehindProxy != "" {
		if opt.Public, err = publicOf(c.BehindProxy); err != nil {
			return opt, "", console.Usage("--behind-proxy %w", err)
		}
		address = opt.Public
	}
	if !netaddr.LoopbackHost(host) && opt.Certificate == nil && opt.Public == "" {
		return opt, "", console.Usage("--listen %s: others would reach the page unencrypted. Give --cert and --key, or --behind-proxy with the address of a proxy that has TLS, or stay on 127.0.0.1 and use ssh -L", c.Listen)
	}
	return opt, address, nil
}

// publicOf returns the origin under which a proxy offers the page.
func publicOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return "", fmt.Errorf("%s: it is the address that a browser opens, such as https://jcode.example.org", address)
	}
	return "https://" + u.Host, nil
}

// reached returns the host and port that a browser opens.
func (c *servePageCmd) reached(addr net.Addr, names []string) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if len(names) > 0 && !netaddr.LoopbackHost(host) {
		host = names[0]
	}
	return net.JoinHostPort(host, port)
}

// servedDevices are the devices of this user.
func servedDevices(std Streams) (*page.Devices, error) {
	paths, err := findPaths(std)
	if err != nil {
		return nil, err
	}
	place := remote.In(paths.Data)
	_, err = place.Token() // makes the folder
	return page.NewDevices(place), err
}

type serveDevicesCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Run lists devices.
func (c *serveDevicesCmd) Run(_ context.Context, _ *flags, std Streams) error {
	d, err := servedDevices(std)
	if err != nil {
		return err
	}
	all, err := d.List()
	if err != nil {
		return err
	}
	for i := range all {
		all[i].Hash = "" // it is nobody's business
	}
	if c.JSON {
		return console.PrintJSON(std.Out, append([]page.Device{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(std.Err, "no device is paired: jcode serve prints a code for one")
		return nil
	}
	w := tabwriter.NewWriter(std.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tMAY\tKIND\tPAIRED\tUSED")
	for _, v := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", text.Visible(v.Name), v.Role, map[bool]string{true: "program", false: "browser"}[v.Program], text.Ago(time.Since(v.Paired)), text.Ago(time.Since(v.Used)))
	}
	return w.Flush()
}

type serveRevokeCmd struct {
	Name string `arg:"" optional:"" help:"Name of the device, as jcode serve devices prints it."`
	All  bool   `help:"All devices."`
}

// Run revokes devices.
func (c *serveRevokeCmd) Run(_ context.Context, _ *flags, std Streams) error {
	if (c.Name == "") != c.All {
		return console.Usage("name a device, or give --all: jcode serve devices lists them")
	}
	d, err := servedDevices(std)
	if err != nil {
		return err
	}
	gone, err := d.Revoke(c.Name, c.All)
	if err != nil {
		return err
	}
	if len(gone) == 0 && !c.All {
		return console.Usage("no device is called %q: jcode serve devices lists them", c.Name)
	}
	for _, v := range gone {
		fmt.Fprintln(std.Err, text.Visible(v.Name)+" may not see the page any more")
	}
	return nil
}

type serveTokenCmd struct {
	Name  string `arg:"" help:"What the program is called."`
	Watch bool   `help:"It may only watch."`
}

// Run makes a token. Only its hash is kept.
func (c *serveTokenCmd) Run(_ context.Context, _ *flags, std Streams) error {
	d, err := servedDevices(std)
	if err != nil {
		return err
	}
	v, key, err := d.Add(c.Name, map[bool]remote.Role{true: remote.Watch, false: remote.Control}[c.Watch], true)
	if err != nil {
		return errors.Join(errors.New("no token was made"), err)
	}
	fmt.Fprintf(std.Err, "below /d/%s/ with the header Authorization: Bearer, and this token, which is not shown again:\n", v.ID)
	fmt.Fprintln(std.Out, key)
	return nil
}
