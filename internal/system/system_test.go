package system_test

import (
	"os"
	"path/filepath"
	"testing"

	"jcode/internal/system"
)

func TestDrivesAreKnownWherePathsHaveThem(t *testing.T) {
	t.Parallel()
	if got, want := system.HasDrives(), filepath.VolumeName(`C:\x`) != ""; got != want {
		t.Errorf("HasDrives() = %t, the path functions say %t", got, want)
	}
}

func TestVariablesFoldAsTheEnvironmentDoes(t *testing.T) {
	t.Setenv("JCODE_Test_Folds", "yes")
	if got, want := system.FoldsVariables(), os.Getenv("JCODE_TEST_FOLDS") == "yes"; got != want {
		t.Errorf("FoldsVariables() = %t, the environment says %t", got, want)
	}
}

func TestModesAreKnownWhereFilesKeepThem(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := system.HasModes(), info.Mode().Perm() == 0o600; got != want {
		t.Errorf("HasModes() = %t, the mode of a private file is %v", got, info.Mode())
	}
}

func TestNamesThatFoldMayFold(t *testing.T) {
	t.Parallel()
	if system.FoldsNames() && !system.MayFoldNames() {
		t.Error("names are usually one file, but never may be")
	}
}

func TestTheExecutableIsThisProgram(t *testing.T) {
	t.Parallel()
	path, err := system.Executable()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(own)
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(got, want) {
		t.Errorf("%s is not %s", path, own)
	}
}
