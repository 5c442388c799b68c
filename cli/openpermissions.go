package cli

import (
	"context"
	"slices"

	"jcode/cli/config"
	permissionscli "jcode/cli/permissions"
	"jcode/notes"
	"jcode/session"
	"jcode/tools"
	"jcode/tools/permission"
)

// newPermissionActions returns the actions of a person on rules.
func newPermissionActions(a *app) permissionscli.Actions {
	return permissionscli.Actions{
		Gate: a.gate, Session: a.board.Session, Mode: func() tools.Mode {
			if conv := a.board.Open(); conv != nil {
				return conv.State().Mode
			}
			return a.mode
		},
		Rules: func() config.Permissions { return a.config.Permissions }, Allow: a.flags.Allow, Deny: a.flags.Deny,
		Origin: func(key string, element int) string { return a.origin(key, element) },
		Rights: permissionscli.Rights{Project: a.trust, Person: ofPerson(a)}, Managed: a.std.managed,
	}
}

// newPermissionSetup returns what the commands of `jcode permissions` are given.
func newPermissionSetup(f *flags, std Streams) permissionscli.Setup {
	return permissionscli.Setup{Streams: std.Streams, Open: func(ctx context.Context) (permissionscli.Opened, error) {
		a, err := openJudge(ctx, f, std)
		if err != nil {
			return permissionscli.Opened{}, err
		}
		return permissionscli.Opened{Actions: newPermissionActions(a), Close: a.close}, nil
	}}
}

// openJudge opens what a judgement needs: places, store, trust, settings and the gate.
func openJudge(ctx context.Context, f *flags, std Streams) (*app, error) {
	a, err := openKept(ctx, f, std)
	if err != nil {
		return nil, err
	}
	return a.after(ctx, a.loadConfig, a.openGate)
}

// rulesOf joins the rules of configuration and flags.
func rulesOf(a *app) (permission.RuleSet, error) {
	p := a.config.Permissions
	if a.config.Memory == memoryAuto { // what speaks against a note is asked about all the same
		p.Allow = append(slices.Clone(p.Allow), notes.RememberTool)
	}
	return permissionscli.Join(p, a.flags.Allow, a.flags.Deny)
}

// maxMode returns the highest mode that this machine's administrator allows, "" for any.
func maxMode(m *config.Managed) tools.Mode {
	mode, _ := m.Highest()
	return mode
}

// newTrust returns the trust in this project's files that a store keeps.
func newTrust(a *app, store *session.Store) *permission.Trust {
	own := config.Load(config.Options{Paths: a.paths}).Config.Trust.Folders // the person's file alone
	run := a.flags.Trust || permissionscli.NamesFolder(own, a.paths.Home, a.root)
	return permission.NewTrust(a.project, permissionscli.TrustRows{Stored: store.Trusts(), Project: a.project}, run)
}

// everywhere returns the trust in files of the project and of the person.
func (a *app) everywhere() tools.Trust {
	return permissionscli.Trusts{Project: a.trust, Person: ofPerson(a)}
}

// ofPerson returns the trust in files of the person's own.
func ofPerson(a *app) *permission.Trust {
	return permission.NewTrust("", permissionscli.TrustRows{Stored: a.store.Trusts()}, a.flags.Trust)
}

// newUntrusted returns the content of this folder that stays off until the person trusts it.
func newUntrusted(a *app) permissionscli.Untrusted {
	return permissionscli.Untrusted{
		Say: a.board.Say, Trust: a.trust, Root: a.root, Extensions: &a.list,
		Settings: permissionscli.Held{List: func() []config.Held { return a.held }, Apply: a.applySettings},
		Started:  a.started, Settle: func() { a.settling.Do(func() { close(a.settled) }) },
	}
}
