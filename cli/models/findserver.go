package modelscli

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"jcode/agent/model"
	"jcode/agent/model/dial"
	"jcode/agent/model/provider"
)

// findServer returns the base URL of the server that a person means by an address such as localhost:8000: the
// first of the likely ones that lists models, or that asks for a key.
func findServer(ctx context.Context, address string) (string, error) {
	var failed []string
	for _, base := range serverAddresses(address) {
		if err := provider.CheckURL(base); err != nil {
			return "", err
		}
		why, err := askServer(ctx, base)
		switch {
		case err != nil:
			return "", err
		case why == "":
			return base, nil
		}
		failed = append(failed, provider.Config{BaseURL: base}.Address()+"/models "+why)
	}
	return "", fmt.Errorf("no models are listed there: %s. Is the server running, and is this its address?", strings.Join(failed, "; "))
}

// askServer says why an address is not that of a model server; "" means that it is one. err means that nobody
// waits for the answer any more.
func askServer(ctx context.Context, base string) (why string, err error) {
	client, err := dial.Open(provider.Config{Name: ownServer, BaseURL: base})
	if err != nil {
		return "", err
	}
	defer client.Close()
	limited, cancel := context.WithTimeout(ctx, keyWait)
	defer cancel()
	list, err := client.ListModels(limited)
	var refused *model.Error
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "did not answer within " + keyWait.String(), nil
	case err == nil && len(list) > 0:
		return "", nil
	case err == nil:
		return "names no model", nil
	case !errors.As(err, &refused):
		return "gave no list of models", nil
	case refused.Class == model.ClassAuth:
		return "", nil
	case refused.Status != 0:
		return fmt.Sprintf("answered HTTP %d", refused.Status), nil
	case refused.Class == model.ClassNetwork:
		return "did not answer", nil
	}
	return "gave no list of models", nil
}

// serverAddresses returns the base URLs that an address may stand for, the likeliest first.
func serverAddresses(address string) []string {
	address = strings.TrimRight(strings.TrimSpace(address), "/")
	if !strings.Contains(address, "://") {
		scheme := "https://"
		if u, err := url.Parse("http://" + address); err == nil && nearby(u) {
			scheme = "http://"
		}
		address = scheme + address
	}
	if u, err := url.Parse(address); err == nil && u.Path == "" {
		return []string{address + "/v1", address}
	}
	return []string{address}
}

// nearby reports whether a server is on this machine or in its own network, where few speak TLS.
func nearby(u *url.URL) bool {
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".localhost")
}
