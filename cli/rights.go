package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"jcode/cli/console"
	"jcode/internal/text"
	"jcode/tools/permission"
)

// rights are what a person let programs of the project and of plugins do besides what the sandbox lets them.
type rights struct{ project, person *permission.Trust }

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
func (r rights) list(ctx context.Context) (out []right, err error) {
	for _, t := range []*permission.Trust{r.project, r.person} {
		rows, err := t.Rights(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			out = append(out, right{row, t == r.person})
		}
	}
	return out, nil
}

// revoke takes back the right of a name as String returns it.
func (r rights) revoke(ctx context.Context, name string) (notice string, err error) {
	all, err := r.list(ctx)
	if err != nil {
		return "", err
	}
	name = strings.TrimSpace(name)
	i := slices.IndexFunc(all, func(x right) bool { return x.String() == name })
	if i < 0 {
		return "", fmt.Errorf("%s is not allowed: `jcode permissions list` shows what is, and grants are revoked in /permissions", text.Visible(name))
	}
	from := r.project
	if all[i].everywhere {
		from = r.person
	}
	if err := from.Revoke(ctx, all[i].TrustRow); err != nil {
		return "", err
	}
	return "revoked " + text.Visible(name) + ": what runs now keeps it until it starts again", nil
}

type permissionsRevokeCmd struct {
	Right []string `arg:"" help:"The right, as the list names it."`
}

// Run takes a right back.
func (c *permissionsRevokeCmd) Run(ctx context.Context, f *flags, std Streams) error {
	a, err := openJudge(ctx, f, std)
	if err != nil {
		return err
	}
	defer a.close()
	notice, err := newPermissionActions(a).rights.revoke(ctx, strings.Join(c.Right, " "))
	if err != nil {
		return console.Usage("%w", err)
	}
	_, err = io.WriteString(std.Out, notice+"\n")
	return err
}
