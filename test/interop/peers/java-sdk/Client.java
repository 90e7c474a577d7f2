import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.ClientCapabilities;
import io.modelcontextprotocol.spec.McpSchema.CreateMessageResult;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.GetPromptRequest;
import io.modelcontextprotocol.spec.McpSchema.Implementation;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceRequest;
import io.modelcontextprotocol.spec.McpSchema.Role;
import io.modelcontextprotocol.spec.McpSchema.Root;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.TextResourceContents;
import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * A client written with the official Java SDK. Its first argument is the URL of a server, its second an errand in JSON.
 * It prints the outcome in JSON.
 */
class Client {

  record Answer(String action, Map<String, Object> content) {}

  record Errand(
      String era,
      String tool,
      String prompt,
      String resource,
      Map<String, Object> arguments,
      Map<String, Answer> answers,
      Double progress,
      String task) {

    ElicitResult answer(String message) {
      var answer = answers.get(message);
      var action = ElicitResult.Action.valueOf(answer.action.toUpperCase());
      return ElicitResult.builder(action).content(answer.content).build();
    }

    Map<String, Object> args() {
      return arguments == null ? Map.of() : arguments;
    }
  }

  public static void main(String[] args) throws Exception {
    var json = McpJsonDefaults.getMapper();
    var errand = json.readValue(args[1], Errand.class);
    Map<String, Object> outcome = new LinkedHashMap<>();
    try {
      run(args[0], errand, outcome);
    } catch (Exception thrown) {
      Map<String, Object> error = new LinkedHashMap<>();
      if (McpError.findRootCause(thrown) instanceof McpError told && told.getJsonRpcError() != null) {
        error.put("code", told.getJsonRpcError().code());
        error.put("message", told.getJsonRpcError().message());
      } else {
        error.put("message", String.valueOf(McpError.findRootCause(thrown).getMessage()));
      }
      outcome.put("text", "");
      outcome.put("error", error);
    }
    System.out.println(json.writeValueAsString(outcome));
    System.exit(0);
  }

  static void run(String url, Errand errand, Map<String, Object> outcome) throws Exception {
    if ("listen".equals(errand.task) || "cancel".equals(errand.task)) {
      outcome.put("text", "");
      outcome.put("absent", "tasks");
      return;
    }
    var heard = new LinkedBlockingQueue<Double>();
    var place = URI.create(url);
    var transport =
        HttpClientStreamableHttpTransport.builder(place.getScheme() + "://" + place.getAuthority())
            .endpoint(place.getPath())
            .openConnectionOnStartup(false)
            .build();
    var client =
        McpClient.sync(transport)
            .clientInfo(new Implementation("java-sdk", "1.0.0"))
            .capabilities(
                ClientCapabilities.builder().elicitation(true, true).sampling().roots(false).build())
            .requestTimeout(Duration.ofSeconds(60))
            .roots(new Root("file:///home/ada", "home"))
            .elicitation(request -> errand.answer(request.message()))
            .urlElicitation(request -> errand.answer(request.message()))
            .sampling(
                request -> {
                  var prompt = ((TextContent) request.messages().get(0).content()).text();
                  return CreateMessageResult.builder(
                          Role.ASSISTANT, prompt + ", said the model", "interop")
                      .stopReason(CreateMessageResult.StopReason.END_TURN)
                      .build();
                })
            .progressConsumer(notification -> heard.add(notification.progress()))
            .build();
    try {
      client.initialize();
      done(client, errand, outcome);
      // Progress may be handled after the result.
      while (errand.progress != null && !errand.progress.equals(outcome.get("progress"))) {
        var done = heard.poll(5, TimeUnit.SECONDS);
        if (done == null) throw new IllegalStateException("no more progress was reported");
        outcome.put("progress", done);
      }
    } finally {
      client.closeGracefully();
    }
  }

  static void done(McpSyncClient client, Errand errand, Map<String, Object> outcome) {
    if (errand.prompt != null) {
      var got = client.getPrompt(new GetPromptRequest(errand.prompt, errand.args()));
      outcome.put("text", ((TextContent) got.messages().get(0).content()).text());
      return;
    }
    if (errand.resource != null) {
      var read = client.readResource(new ReadResourceRequest(errand.resource));
      outcome.put("text", ((TextResourceContents) read.contents().get(0)).text());
      return;
    }
    var request = CallToolRequest.builder(errand.tool).arguments(errand.args());
    if (errand.progress != null) request.progressToken("progress");
    var result = client.callTool(request.build());
    outcome.put(
        "text",
        result.content().stream()
            .map(block -> ((TextContent) block).text())
            .collect(Collectors.joining("\n")));
    if (Boolean.TRUE.equals(result.isError())) outcome.put("isError", true);
  }
}
