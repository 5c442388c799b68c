package servecli

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/page"
	"jcode/remote"
)

// servedDevices are the devices of this user.
func servedDevices(std Setup) (*page.Devices, error) {
	place, err := std.Place()
	if err != nil {
		return nil, err
	}
	_, err = place.Token() // makes the folder
	return page.NewDevices(place), err
}

type devicesCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Run lists devices.
func (c *devicesCmd) Run(_ context.Context, std Setup) error {
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

type revokeCmd struct {
	Name string `arg:"" optional:"" help:"Name of the device, as jcode serve devices prints it."`
	All  bool   `help:"All devices."`
}

// Run revokes devices.
func (c *revokeCmd) Run(_ context.Context, std Setup) error {
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

type tokenCmd struct {
	Name  string `arg:"" help:"What the program is called."`
	Watch bool   `help:"It may only watch."`
}

// Run makes a token. Only its hash is kept.
func (c *tokenCmd) Run(_ context.Context, std Setup) error {
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
