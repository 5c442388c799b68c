// Package sdk drives jcode from a Go program. It starts the program jcode, which must be installed, and speaks with it
// over its standard input and output; it depends on nothing but the standard library.
//
//	s, err := sdk.Start(ctx, sdk.Options{Mode: "edits"})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	for ev, err := range s.Prompt(ctx, "make the tests pass") {
//		if err != nil {
//			return err
//		}
//		if ev.Type == "text" {
//			fmt.Print(ev.Text("delta"))
//		}
//	}
package sdk
