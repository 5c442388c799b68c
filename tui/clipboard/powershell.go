//go:build !darwin

package clipboard

import (
	"encoding/base64"
	"strings"
)

// windowsPrograms returns the programs of Windows, which WSL reaches too.
func windowsPrograms() []program {
	shell := []string{"-NoProfile", "-NonInteractive", "-STA", "-Command"}
	return []program{{name: "clip.exe", write: []string{}}, {
		name: "powershell.exe", text: append(shell, "Get-Clipboard -Raw"), picture: append(shell, powershellPicture), decode: fromBase64,
	}}
}

// powershellPicture prints the picture on the clipboard as PNG in base64, or nothing.
const powershellPicture = `Add-Type -AssemblyName System.Windows.Forms, System.Drawing; $i = [Windows.Forms.Clipboard]::GetImage(); ` +
	`if ($i) { $s = New-Object IO.MemoryStream; $i.Save($s, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($s.ToArray()) }`

func fromBase64(out []byte) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.TrimSpace(string(out)))
}
