// A client written with the official Go SDK. Its first argument is the URL of a server, its second an errand in JSON. It
// prints the outcome in JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type answer struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content"`
}

type errand struct {
	Era       string            `json:"era"`
	Tool      string            `json:"tool"`
	Prompt    string            `json:"prompt"`
	Resource  string            `json:"resource"`
	Arguments map[string]any    `json:"arguments"`
	Answers   map[string]answer `json:"answers"`
	Progress  float64           `json:"progress"`
	Task      string            `json:"task"`
}

type outcome struct {
	Text     string  `json:"text"`
	IsError  bool    `json:"isError,omitempty"`
	Progress float64 `json:"progress,omitempty"`
	Error    any     `json:"error,omitempty"`
	// What the SDK has no API for.
	Absent string `json:"absent,omitempty"`
}

func main() {
	var told errand
	if err := json.Unmarshal([]byte(os.Args[2]), &told); err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	result, err := run(ctx, os.Args[1], told)
	if err != nil {
		result.Error = map[string]any{"message": err.Error()}
		var wire *jsonrpc.Error
		if errors.As(err, &wire) {
			result.Error = map[string]any{"code": wire.Code, "message": wire.Message}
		}
	}
	printed, _ := json.Marshal(result)
	fmt.Println(string(printed))
}

func run(ctx context.Context, url string, told errand) (outcome, error) {
	var result outcome
	if told.Task == "listen" || told.Task == "cancel" {
		result.Absent = "tasks"
		return result, nil
	}
	if told.Arguments == nil {
		told.Arguments = map[string]any{}
	}
	heard := make(chan float64, 16)
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1.0.0"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			given, ok := told.Answers[req.Params.Message]
			if !ok {
				return nil, fmt.Errorf("no answer is prepared for %q", req.Params.Message)
			}
			return &mcp.ElicitResult{Action: given.Action, Content: given.Content}, nil
		},
		CreateMessageHandler: func(_ context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			prompt := req.Params.Messages[0].Content.(*mcp.TextContent).Text
			return &mcp.CreateMessageResult{
				Content:    &mcp.TextContent{Text: prompt + ", said the model"},
				Model:      "interop",
				Role:       "assistant",
				StopReason: "endTurn",
			}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			heard <- req.Params.Progress
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///home/ada", Name: "home"})
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}, &mcp.ClientSessionOptions{ProtocolVersion: told.Era})
	if err != nil {
		return result, err
	}
	defer session.Close()
	switch {
	case told.Tool != "":
		params := &mcp.CallToolParams{Name: told.Tool, Arguments: told.Arguments}
		if told.Progress > 0 {
			params.SetProgressToken("progress")
		}
		called, err := session.CallTool(ctx, params)
		if err != nil {
			return result, err
		}
		result.IsError = called.IsError
		for _, block := range called.Content {
			if text, ok := block.(*mcp.TextContent); ok {
				result.Text += text.Text
			}
		}
		// Progress may be handled after the result.
		waiting := time.After(5 * time.Second)
		for result.Progress < told.Progress {
			select {
			case result.Progress = <-heard:
			case <-waiting:
				return result, errors.New("no more progress was reported")
			}
		}
	case told.Prompt != "":
		arguments := map[string]string{}
		for name, value := range told.Arguments {
			arguments[name] = value.(string)
		}
		got, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: told.Prompt, Arguments: arguments})
		if err != nil {
			return result, err
		}
		result.Text = got.Messages[0].Content.(*mcp.TextContent).Text
	default:
		read, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: told.Resource})
		if err != nil {
			return result, err
		}
		result.Text = read.Contents[0].Text
	}
	return result, nil
}
