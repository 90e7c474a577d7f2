// A server written with the official Go SDK. It prints its URL.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type arguments struct {
	Name string `json:"name,omitempty"`
}

type asked = mcp.InputRequestMap

func form(message string, field string, kind string) *mcp.ElicitParams {
	schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":%q}},"required":[%q]}`, field, kind, field)
	return &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)}
}

func says(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// A handler's answers so far: those of this round, and those that its state has kept.
type answers struct {
	given mcp.InputResponseMap
	kept  map[string]any
}

func answersOf(responses mcp.InputResponseMap, state string) answers {
	kept := map[string]any{}
	if state != "" {
		_ = json.Unmarshal([]byte(state), &kept)
	}
	return answers{given: responses, kept: kept}
}

// The field of an accepted form, kept for later rounds.
func (a answers) field(key string, field string) (any, bool) {
	if form, ok := a.given[key].(*mcp.ElicitResult); ok {
		if form.Action != "accept" {
			return form.Action, true
		}
		a.kept[key] = form.Content[field]
	}
	value, ok := a.kept[key]
	return value, ok
}

func (a answers) state() string {
	state, _ := json.Marshal(a.kept)
	return string(state)
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "go-sdk", Version: "1.0.0"}, nil)

	tool := func(name string, description string, handler func(context.Context, *mcp.CallToolRequest, arguments, answers) (*mcp.CallToolResult, error)) {
		mcp.AddTool(server, &mcp.Tool{Name: name, Description: description}, func(ctx context.Context, req *mcp.CallToolRequest, args arguments) (*mcp.CallToolResult, any, error) {
			result, err := handler(ctx, req, args, answersOf(req.Params.InputResponses, req.Params.RequestState))
			return result, nil, err
		})
	}

	tool("greet", "Asks nothing", func(_ context.Context, _ *mcp.CallToolRequest, args arguments, _ answers) (*mcp.CallToolResult, error) {
		return says("Hello, " + args.Name + "!"), nil
	})
	tool("ask_name", "Asks a form", func(_ context.Context, _ *mcp.CallToolRequest, _ arguments, got answers) (*mcp.CallToolResult, error) {
		name, ok := got.field("name", "name")
		if !ok {
			return &mcp.CallToolResult{InputRequests: asked{"name": form("Your name?", "name", "string")}}, nil
		}
		return says(fmt.Sprintf("Hello, %v!", name)), nil
	})
	tool("wizard", "Asks twice", func(_ context.Context, _ *mcp.CallToolRequest, _ arguments, got answers) (*mcp.CallToolResult, error) {
		name, ok := got.field("name", "name")
		if !ok {
			return &mcp.CallToolResult{InputRequests: asked{"name": form("Name?", "name", "string")}, RequestState: got.state()}, nil
		}
		age, ok := got.field("age", "age")
		if !ok {
			return &mcp.CallToolResult{InputRequests: asked{"age": form("Age?", "age", "integer")}, RequestState: got.state()}, nil
		}
		return says(fmt.Sprintf("%v is %v", name, age)), nil
	})
	tool("where", "Asks for the roots", func(_ context.Context, _ *mcp.CallToolRequest, _ arguments, got answers) (*mcp.CallToolResult, error) {
		roots, ok := got.given["roots"].(*mcp.ListRootsResult)
		if !ok {
			return &mcp.CallToolResult{InputRequests: asked{"roots": &mcp.ListRootsParams{}}}, nil
		}
		return says(roots.Roots[0].URI), nil
	})
	tool("together", "Asks two things in one round", func(_ context.Context, _ *mcp.CallToolRequest, _ arguments, got answers) (*mcp.CallToolResult, error) {
		name, ok := got.field("name", "name")
		if !ok {
			return &mcp.CallToolResult{InputRequests: asked{
				"name":  form("Your name?", "name", "string"),
				"place": &mcp.CreateMessageParams{MaxTokens: 50, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Name a place"}}}},
			}}, nil
		}
		place := ""
		switch said := got.given["place"].(type) {
		case *mcp.CreateMessageResult:
			place = said.Content.(*mcp.TextContent).Text
		case *mcp.CreateMessageWithToolsResult:
			place = said.Content[0].(*mcp.TextContent).Text
		}
		return says(fmt.Sprintf("%v in %s", name, place)), nil
	})
	tool("sign_in", "Sends to a page", func(_ context.Context, _ *mcp.CallToolRequest, _ arguments, got answers) (*mcp.CallToolResult, error) {
		if _, ok := got.given["page"]; !ok {
			return &mcp.CallToolResult{InputRequests: asked{"page": &mcp.ElicitParams{Mode: "url", Message: "Sign in", URL: "https://example.com/in", ElicitationID: "sign-in"}}}, nil
		}
		return says("signed in"), nil
	})
	tool("count", "Reports progress", func(ctx context.Context, req *mcp.CallToolRequest, _ arguments, _ answers) (*mcp.CallToolResult, error) {
		for i := range 2 {
			if token := req.Params.GetProgressToken(); token != nil {
				_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: float64(i + 1), Total: 2})
			}
		}
		return says("counted"), nil
	})

	// The SDK can send no notification of an extension.
	tool("write", "Would stream a text", func(_ context.Context, _ *mcp.CallToolRequest, _ arguments, _ answers) (*mcp.CallToolResult, error) {
		return says("Dear Ada"), nil
	})

	server.AddPrompt(&mcp.Prompt{Name: "letter", Arguments: []*mcp.PromptArgument{{Name: "tone", Required: true}}}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		to, ok := answersOf(req.Params.InputResponses, req.Params.RequestState).field("to", "to")
		if !ok {
			return &mcp.GetPromptResult{InputRequests: asked{"to": form("To whom?", "to", "string")}}, nil
		}
		text := fmt.Sprintf("Write a %s letter to %v.", req.Params.Arguments["tone"], to)
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
	})
	server.AddResource(&mcp.Resource{Name: "today", URI: "diary://today"}, func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		mood, ok := answersOf(req.Params.InputResponses, req.Params.RequestState).field("mood", "mood")
		if !ok {
			return &mcp.ReadResourceResult{InputRequests: asked{"mood": form("Which mood?", "mood", "string")}}, nil
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "diary://today", Text: fmt.Sprintf("a %v day", mood)}}}, nil
	})

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	// The SDK serves 2026-07-28 only without sessions, and asks 2025-11-25 clients only within one.
	find := func(*http.Request) *mcp.Server { return server }
	stateless := mcp.NewStreamableHTTPHandler(find, &mcp.StreamableHTTPOptions{Stateless: true})
	sessions := mcp.NewStreamableHTTPHandler(find, nil)
	panic(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") == "2026-07-28" {
			stateless.ServeHTTP(w, r)
		} else {
			sessions.ServeHTTP(w, r)
		}
	})))
}
