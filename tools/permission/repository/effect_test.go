package repository

import "testing"

// TestWhatASettingMakesGitDo, one line of a configuration each. What no row names is harmless.
func TestWhatASettingMakesGitDo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]effect{
		"[user]\nname = x":                                         harmless,
		"[core]\nbare = false":                                     harmless,
		"[core]\nfsmonitor":                                        harmless, // git's own
		"[core]\nfsmonitor = on":                                   harmless,
		"[core]\nfsmonitor = ./watch":                              steersOthers,
		"[core]\nfsmonitor =":                                      harmless,
		"[core]\nsshCommand = x":                                   steersOthers,
		"[core]\nhooksPath = x":                                    steersOthers,
		"[core]\ngitProxy = x":                                     steersOthers,
		"[core]\nalternateRefsCommand = x":                         steersOthers,
		"[core]\nworktree = ..":                                    placesFiles,
		"[core \"x\"]\nworktree = ..":                              steers,
		"[core]\nexcludesFile = x":                                 readsFile,
		"[core]\nattributesFile = x":                               readsFile,
		"[include]\npath = x":                                      steers,
		"[includeIf \"gitdir:x\"]\npath = x":                       steers,
		"[filter \"x\"]\nclean = ./run":                            steers,
		"[filter \"x\"]\nrequired = true":                          harmless,
		"[filter \"lfs\"]\nclean = git-lfs clean -- %f":            harmless,
		"[filter \"lfs\"]\nclean = \"git-lfs clean -- %f; ./run\"": steers,
		"[lfs \"customtransfer.x\"]\npath = ./run":                 steers,
		"[lfs \"extension.x\"]\nclean = ./run":                     steers,
		"[lfs]\nstandaloneTransferAgent = x":                       steers,
		"[lfs]\nfetchInclude = x":                                  harmless,
		"[protocol \"ext\"]\nallow = always":                       steersOthers,
		"[diff]\nexternal = x":                                     steersOthers,
		"[diff \"x\"]\ntextconv = x":                               steersOthers,
		"[diff \"x\"]\ncommand = x":                                steersOthers,
		"[diff]\norderFile = x":                                    readsFile,
		"[diff]\nrenames = true":                                   harmless,
		"[merge \"x\"]\ndriver = x":                                steersOthers,
		"[log]\nshowSignature = true":                              steersOthers,
		"[log]\nshowSignature = no":                                harmless,
		"[log]\ndiffMerges = x":                                    steersOthers,
		"[format]\npretty = %G?":                                   steersOthers,
		"[format]\npretty = %H":                                    harmless,
		"[pretty]\nmine = %(trailers)%(signature)":                 steersOthers,
		"[gpg]\nprogram = x":                                       steersOthers,
		"[gpg \"ssh\"]\ndefaultKeyCommand = x":                     steersOthers,
		"[extensions]\npartialClone = origin":                      steersOthers,
		"[remote \"origin\"]\npromisor = true":                     steersOthers,
		"[remote \"origin\"]\npromisor":                            steersOthers,
		"[remote \"origin\"]\npromisor = false":                    harmless,
		"[remote \"origin\"]\nurl = x":                             harmless,
		"[blame]\nignoreRevsFile = x":                              readsFile,
		"[mailmap]\nfile = x":                                      readsFile,
		"[commit]\ntemplate = x":                                   readsFile,
	} {
		list, err := parseConfig([]byte(text + "\n"))
		if err != nil || len(list) != 1 {
			t.Fatalf("%q: %v, %v", text, list, err)
		}
		if got := list[0].effect(); got != want {
			t.Errorf("%q: effect %d, not %d", text, got, want)
		}
	}
}
