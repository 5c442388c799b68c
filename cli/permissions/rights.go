package permissionscli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"jcode/cli/console"
	"jcode/internal/slicex"
	"jcode/internal/text"
	"jcode/tools/command"
	"jcode/tools/permission"
)

// Rights are what a person let programs of the project and of plugins do besides what the sandbox lets them.
type Rights struct{ Project, Person *permission.Trust }

// right is one of them.
type right struct {
	permission.TrustRow
	everywhere bool // not in this project alone
}

// String names it: "network mcp github".
func (r right) String() string { return string(r.Kind) + " " + r.Name }

// from says where it holds.
func (r right) from() string {
	if r.everywhere {
		return "allowed everywhere"
	}
	return "allowed in this project"
}

// list returns all of them.
func (r Rights) list(ctx context.Context) (out []right, err error) {
	for _, t := range []*permission.Trust{r.Project, r.Person} {
		rows, err := t.Rights(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			out = append(out, right{row, t == r.Person})
		}
	}
	return out, nil
}

// revoke takes back the right of a name as String returns it.
func (r Rights) revoke(ctx context.Context, name string) (notice string, err error) {
	all, err := r.list(ctx)
	if err != nil {
		return "", err
	}
	name = strings.TrimSpace(name)
	i := slices.IndexFunc(all, func(x right) bool { return x.String() == name })
	if i < 0 {
		return "", fmt.Errorf("%s is not allowed: `jcode permissions list` shows what is, and grants are revoked in /permissions", text.Visible(name))
	}
	from := r.Project
	if all[i].everywhere {
		from = r.Person
	}
	if err := from.Revoke(ctx, all[i].TrustRow); err != nil {
		return "", err
	}
	return "revoked " + text.Visible(name) + ": what runs now keeps it until it starts again", nil
}

type revokeCmd struct {
	Right []string `arg:"" help:"The right, as the list names it."`
}

// Run takes a right back.
func (c *revokeCmd) Run(ctx context.Context, std Setup) error {
	a, err := std.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	notice, err := a.Actions.Rights.revoke(ctx, strings.Join(c.Right, " "))
	if err != nil {
		return console.Usage("%w", err)
	}
	_, err = io.WriteString(std.Out, notice+"\n")
	return err
}

// names proposes the rights that can be revoked.
func (r Rights) names(ctx context.Context, _ string) []string {
	list, _ := r.list(ctx) // the list of permissions reports what can't be read
	return slicex.Map(list, right.String)
}

// Names proposes the rights that can be revoked, with where each holds.
func (r Rights) Names(ctx context.Context) ([]command.Choice, error) {
	list, err := r.list(ctx)
	return slicex.Map(list, func(x right) command.Choice { return command.Choice{Value: x.String(), Info: x.from()} }), err
}
