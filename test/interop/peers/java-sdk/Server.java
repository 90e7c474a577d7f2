import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncPromptSpecification;
import io.modelcontextprotocol.server.McpServerFeatures.SyncResourceSpecification;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.HttpServletStreamableServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.CreateMessageRequest;
import io.modelcontextprotocol.spec.McpSchema.ElicitFormRequest;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.ElicitUrlRequest;
import io.modelcontextprotocol.spec.McpSchema.GetPromptResult;
import io.modelcontextprotocol.spec.McpSchema.ProgressNotification;
import io.modelcontextprotocol.spec.McpSchema.Prompt;
import io.modelcontextprotocol.spec.McpSchema.PromptArgument;
import io.modelcontextprotocol.spec.McpSchema.PromptMessage;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceResult;
import io.modelcontextprotocol.spec.McpSchema.Resource;
import io.modelcontextprotocol.spec.McpSchema.Role;
import io.modelcontextprotocol.spec.McpSchema.SamplingMessage;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.TextResourceContents;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BiFunction;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** A server written with the official Java SDK. It prints its URL. */
class Server {

  static Object field(McpSyncServerExchange exchange, String message, String field, String kind) {
    var schema =
        Map.<String, Object>of(
            "type", "object",
            "properties", Map.of(field, Map.of("type", kind)),
            "required", List.of(field));
    var answer =
        exchange.createElicitation(ElicitFormRequest.builder(message, schema).build());
    return answer.action() == ElicitResult.Action.ACCEPT
        ? answer.content().get(field)
        : answer.action().name().toLowerCase();
  }

  static String sampled(McpSyncServerExchange exchange, String prompt) {
    var message = SamplingMessage.builder(Role.USER, new TextContent(prompt)).build();
    var said = exchange.createMessage(CreateMessageRequest.builder(List.of(message), 50).build());
    return ((TextContent) said.content()).text();
  }

  static String counted(McpSyncServerExchange exchange, CallToolRequest request) {
    for (double done : new double[] {1, 2}) {
      exchange.progressNotification(
          new ProgressNotification(request.progressToken(), done, 2.0, null));
    }
    return "counted";
  }

  static String signedIn(McpSyncServerExchange exchange) {
    var id = UUID.randomUUID().toString();
    exchange.createElicitation(
        ElicitUrlRequest.builder("Sign in", "https://example.com/in", id).build());
    return "signed in";
  }

  static McpServer.SyncSpecification<?> tool(
      McpServer.SyncSpecification<?> server,
      String name,
      String description,
      BiFunction<McpSyncServerExchange, CallToolRequest, String> handler) {
    var schema = Map.<String, Object>of("type", "object");
    var tool = new Tool.Builder().name(name).description(description).inputSchema(schema).build();
    return server.toolCall(
        tool,
        (exchange, request) ->
            CallToolResult.builder().addTextContent(handler.apply(exchange, request)).build());
  }

  public static void main(String[] args) throws Exception {
    var transport = HttpServletStreamableServerTransportProvider.builder().mcpEndpoint("/mcp").build();
    McpServer.SyncSpecification<?> server =
        McpServer.sync(transport)
            .serverInfo("java-sdk", "1.0.0")
            .capabilities(
                ServerCapabilities.builder().tools(false).prompts(false).resources(false, false).build());
    tool(server, "greet", "Asks nothing", (exchange, request) ->
        "Hello, " + request.arguments().get("name") + "!");
    tool(server, "ask_name", "Asks a form", (exchange, request) ->
        "Hello, " + field(exchange, "Your name?", "name", "string") + "!");
    tool(server, "wizard", "Asks twice", (exchange, request) ->
        field(exchange, "Name?", "name", "string") + " is " + field(exchange, "Age?", "age", "integer"));
    tool(server, "together", "Asks for a form and a completion", (exchange, request) ->
        field(exchange, "Your name?", "name", "string") + " in " + sampled(exchange, "Name a place"));
    tool(server, "where", "Asks for the roots", (exchange, request) ->
        exchange.listRoots().roots().get(0).uri());
    tool(server, "sign_in", "Sends to a page", (exchange, request) -> signedIn(exchange));
    tool(server, "count", "Reports progress", Server::counted);
    // The SDK can send no notification of an extension.
    tool(server, "write", "Would stream a text", (exchange, request) -> "Dear Ada");
    server.prompts(
        new SyncPromptSpecification(
            new Prompt("letter", null, List.of(new PromptArgument("tone", null, true))),
            (exchange, request) -> {
              var to = field(exchange, "To whom?", "to", "string");
              var text = "Write a " + request.arguments().get("tone") + " letter to " + to + ".";
              return new GetPromptResult(
                  null, List.of(new PromptMessage(Role.USER, new TextContent(text))));
            }));
    server.resources(
        new SyncResourceSpecification(
            new Resource.Builder().uri("diary://today").name("today").build(),
            (exchange, request) -> {
              var mood = field(exchange, "Which mood?", "mood", "string");
              return new ReadResourceResult(
                  List.of(new TextResourceContents(request.uri(), "text/plain", "a " + mood + " day")));
            }));
    server.build();

    var tomcat = new Tomcat();
    tomcat.setBaseDir(System.getProperty("java.io.tmpdir"));
    var connector = new Connector();
    connector.setProperty("address", "127.0.0.1");
    connector.setPort(0);
    tomcat.setConnector(connector);
    var context = tomcat.addContext("", null);
    var servlet = Tomcat.addServlet(context, "mcp", transport);
    servlet.setAsyncSupported(true);
    context.addServletMappingDecoded("/mcp", "mcp");
    java.util.logging.LogManager.getLogManager().reset();
    tomcat.start();
    System.out.println("http://127.0.0.1:" + connector.getLocalPort() + "/mcp");
    tomcat.getServer().await();
  }
}
