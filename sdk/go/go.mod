module jcode/sdk

go 1.25
