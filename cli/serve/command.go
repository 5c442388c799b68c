package servecli

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"

	"github.com/skip2/go-qrcode"

	"jcode/cli/console"
	"jcode/internal/netaddr"
	"jcode/internal/ptty"
	"jcode/internal/text"
	"jcode/page"
	"jcode/remote"
)

// Cmd serves the page on which open sessions are followed, and says which devices may see it.
type Cmd struct {
	Page    pageCmd    `cmd:"" default:"withargs" help:"Serve a page on which open sessions are followed and answered in a browser."`
	Devices devicesCmd `cmd:"" help:"List the devices that may see the page."`
	Revoke  revokeCmd  `cmd:"" help:"Take a device's access away; what it does ends at once."`
	Token   tokenCmd   `cmd:"" help:"Print a token with which a program may see the page, once."`
}

// Setup is what the commands of `jcode serve` are given.
type Setup struct {
	console.Streams
	// Place finds where the processes of this user are found.
	Place func() (remote.Place, error)
	// Open opens what the page shows. The caller closes it.
	Open func(ctx context.Context) (Opened, error)
}

// Opened is what the page shows.
type Opened struct {
	Pages Pages
	// Editor serves an editor that comes over the network.
	Editor func(ctx context.Context, device page.Device, in io.Reader, out io.Writer) error
	Queue  page.Queue
	Close  func()
}

// Command is a command of `jcode serve`.
type Command interface {
	Run(ctx context.Context, std Setup) error
}

type pageCmd struct {
	Listen      string `default:"127.0.0.1:7333" help:"Address to listen on; one that others reach needs --cert or --behind-proxy." placeholder:"ADDRESS"`
	Cert        string `help:"File with the certificate for TLS." placeholder:"FILE"`
	Key         string `help:"File with its private key." placeholder:"FILE"`
	BehindProxy string `name:"behind-proxy" help:"Address under which a proxy offers the page with TLS." placeholder:"URL"`
	Watch       bool   `help:"The first code is for a device that may only watch."`
}

// Run serves until it is interrupted.
func (c *pageCmd) Run(ctx context.Context, std Setup) error {
	opt, address, err := c.options()
	if err != nil {
		return err
	}
	opened, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer opened.Close()
	opt.Place = opened.Pages.Place
	if _, err := opt.Place.Token(); err != nil { // makes the folder
		return err
	}
	opt.Devices, opt.Codes, opt.Stored = page.NewDevices(opt.Place), page.NewCodes(opt.Place), Kept{opened.Pages.Store}
	if ptty.Supported {
		opt.Begin = opened.Pages.begin
	}
	opt.Editor, opt.Queue = opened.Editor, opened.Queue
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
		go codes(std.In, code) // ends with the program, which nothing can wake from a read of the terminal
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
func codes(in io.Reader, code func(remote.Role)) {
	lines := bufio.NewScanner(in)
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
func (c *pageCmd) options() (opt page.Options, address string, err error) {
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
func (c *pageCmd) reached(addr net.Addr, names []string) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if len(names) > 0 && !netaddr.LoopbackHost(host) {
		host = names[0]
	}
	return net.JoinHostPort(host, port)
}
