//go:build !darwin

package tui

import (
	"encoding/base64"
	"strings"
)

// windowsClipboards returns the programs of Windows, which WSL reaches too.
func windowsClipboards() []clipboard {
	shell := []string{"-NoProfile", "-NonInteractive", "-STA", "-Command"}
	return []clipboard{{name: "clip.exe", write: []string{}}, {
		name: "powershell.exe", text: append(shell, "Get-Clipboard -Raw"), picture: append(shell, powershellPicture), decode: fromBase64,
	}}
}

// powershellPicture prints the picture on the clipboard as PNG in base64, or nothing.
const powershellPicture = `Add-Type -AssemblyName System.Windows.Forms, System.Drawing; $i = [Windows.Forms.Clipboard]::GetImage(); ` +
	`if ($i) { $s = New-Object IO.MemoryStream; $i.Save($s, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($s.ToArray()) }`

func fromBase64(out []byte) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.TrimSpace(string(out)))
}
