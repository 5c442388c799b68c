package cli

import (
	"context"
	"errors"
	"path/filepath"

	skillscli "jcode/cli/skills"
	"jcode/skills"
	"jcode/tools"
)

// openGuidance registers what files tell the agent in this folder. It does not look for files.
func (a *app) openGuidance() error {
	l := skillscli.New(skillscli.Options{
		Files: skills.Options{
			Places: a.skillPlaces(), Disabled: a.config.Skills.Disabled, Cache: filepath.Join(a.paths.Data, "cache"), Trust: a.everywhere(),
		},
		Host: skillscli.Caller{Board: &a.board, Dispatcher: a.dispatcher, Mode: func() tools.Mode { return a.mode }, Alone: a.flags.once(), Cwd: a.cwd, Allow: a.allow}, Board: &a.board, Home: a.paths.Home, Cwd: a.cwd, Settings: a.paths.File(),
		NoSkills: a.flags.NoSkills, Once: a.flags.once(), History: a.store.History().All,
		Replaced: newRoleFiles(a).Replaced, OnClose: a.onClose, Allow: a.allow, Foreign: foreignFiles(a),
	})
	a.guidance = l
	a.commands.Sources = append(a.commands.Sources, l.Commands()...)
	a.dispatcher.Hooks = append(a.dispatcher.Hooks, l.Hook())
	var errs []error
	for _, t := range l.Tools() {
		errs = append(errs, a.registry.Register(tools.OwnerBuiltin, tools.RankBuiltin, t))
	}
	return errors.Join(errs...)
}

// skillPlaces returns where skills and command files are.
func (a *app) skillPlaces() skills.Places {
	return skills.Places{Config: a.paths.Config, Home: a.paths.Home, Folders: a.config.Skills.Folders, Project: a.root, Denied: readDenied(a.gate), Plugins: a.bundles.Skills}
}

// newSkillSetup returns what the commands of `jcode skills` are given.
func newSkillSetup(f *flags, std Streams) skillscli.Setup {
	return skillscli.Setup{
		Streams: std.Streams,
		Taken:   func() []string { return append(chatOnly(), panelNames()...) },
		Open: func(ctx context.Context) (skills.Options, func(), error) {
			a, err := openKept(ctx, f, std)
			if err == nil {
				a, err = a.after(ctx, a.loadConfig)
			}
			if err != nil {
				return skills.Options{}, nil, err
			}
			return skills.Options{Places: a.skillPlaces(), Disabled: a.config.Skills.Disabled, Trust: a.everywhere()}, a.close, nil
		},
		Places: func(ctx context.Context) (skills.Places, string, error) {
			a := &app{flags: f, std: std}
			if err := a.findPlaces(ctx); err != nil {
				return skills.Places{}, "", err
			}
			return a.skillPlaces(), a.cwd, nil
		},
	}
}
