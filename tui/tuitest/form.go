package tuitest

import "jcode/tools"

// Form returns a form with one field of each kind.
func Form() tools.Form {
	return tools.Form{From: "MCP server travel", Text: "Please say how you want to travel. The price is held for ten minutes.", Fields: []tools.FormField{
		{Name: "name", Title: "Name", Description: "As in the passport", Kind: tools.FieldText, Required: true, Min: new(2.0)},
		{Name: "mail", Title: "E-mail", Kind: tools.FieldText, Format: "email", Default: "ada@example.com"},
		{Name: "seats", Kind: tools.FieldInteger, Required: true, Default: 2.0, Min: new(1.0), Max: new(9.0)},
		{Name: "extras", Title: "Extras 漢字", Description: "What shall be on board?", Kind: tools.FieldChoices, Options: []string{"w", "m", "q", "b"}, Labels: []string{"Window seat", "Meal", "Quiet coach", "Bicycle"}, Default: []string{"m"}, Max: new(3.0)},
		{Name: "class", Title: "Class", Kind: tools.FieldChoice, Options: []string{"1", "2"}, Labels: []string{"First", "Second"}, Default: "2"},
		{Name: "back", Title: "And back", Kind: tools.FieldBoolean, Default: true},
		{Name: "price", Title: "At most", Kind: tools.FieldNumber},
	}}
}
