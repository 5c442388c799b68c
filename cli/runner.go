package cli

import (
	"context"
	"fmt"

	backgroundcli "jcode/cli/background"
	"jcode/cli/config"
	"jcode/cli/demo"
	doctorcli "jcode/cli/doctor"
	documentscli "jcode/cli/documents"
	editorscli "jcode/cli/editors"
	"jcode/cli/eval"
	luacli "jcode/cli/lua"
	"jcode/cli/manual"
	mcpcli "jcode/cli/mcp"
	"jcode/cli/memory"
	modelscli "jcode/cli/models"
	permissionscli "jcode/cli/permissions"
	pluginscli "jcode/cli/plugins"
	"jcode/cli/review"
	rolescli "jcode/cli/roles"
	servecli "jcode/cli/serve"
	sessionscli "jcode/cli/sessions"
	skillscli "jcode/cli/skills"
	"jcode/cli/switching"
	taskscli "jcode/cli/tasks"
	updatecli "jcode/cli/update"
	"jcode/cli/usage"
	workercli "jcode/cli/worker"
	"jcode/internal/commandline"
)

// runner is a command that the program itself carries out.
type runner interface {
	Run(ctx context.Context, f *flags, std Streams) error
}

// carryOut runs the command that was chosen. The commands of a feature are given what the feature says that they need.
func carryOut(ctx context.Context, chosen *commandline.Command, f *flags, std Streams) error {
	switch c := chosen.Target.(type) {
	case runner:
		return c.Run(ctx, f, std)
	case *demo.Cmd:
		return c.Run(ctx, newTourSetup(f, std))
	case *editorscli.Cmd:
		return c.Run(ctx, newEditorSetup(f, std))
	case *manual.Cmd:
		return c.Run(ctx, manual.Setup{Streams: std.Streams, Dir: std.dir})
	case pluginscli.Command:
		return c.Run(ctx, newPluginSetup(std))
	case luacli.Command:
		return c.Run(ctx, newLuaSetup(f, std))
	case skillscli.Command:
		return c.Run(ctx, newSkillSetup(f, std))
	case rolescli.Command:
		return c.Run(ctx, newRoleSetup(f, std))
	case modelscli.Command:
		return c.Run(ctx, newModelSetup(f, std))
	case doctorcli.Command:
		return c.Run(ctx, newDoctorSetup(f, std, nil))
	case permissionscli.Command:
		return c.Run(ctx, newPermissionSetup(f, std))
	case taskscli.Command:
		return c.Run(ctx, newTaskSetup(f, std))
	case *workercli.Cmd:
		return c.Run(ctx, newWorkerSetup(f, std))
	case *backgroundcli.AttachCmd:
		return c.Run(ctx, newBackgroundSetup(f, std))
	case servecli.Command:
		return c.Run(ctx, newServeSetup(f, std))
	case sessionscli.Command:
		return c.Run(ctx, newSessionSetup(f, std))
	case *switching.Cmd:
		return c.Run(ctx, newSwitchSetup(f, std))
	case usage.Command:
		return c.Run(ctx, newUsageSetup(f, std))
	case memory.Command:
		return c.Run(ctx, newNotesSetup(f, std))
	case eval.Command:
		return c.Run(ctx, eval.Given{Streams: std.Streams, Model: f.Model, Mode: f.Mode})
	case updatecli.Command:
		return c.Run(ctx, newUpdateSetup(f, std))
	case review.Command:
		return c.Run(ctx, newReviewSetup(f, std))
	case config.Subcommand:
		return c.Run(ctx, newConfigSetup(f, std))
	case documentscli.Command:
		return c.Run(ctx, newDocsSetup(f, std))
	case mcpcli.Command:
		return c.Run(ctx, newMCPSetup(f, std))
	}
	return fmt.Errorf("command line: %s can't be run", chosen.Path())
}
