//! A server written with rmcp, the official Rust SDK. It prints its URL.

// The protocol deprecates sampling and roots, and peers still use them.
#![allow(deprecated)]

use std::{borrow::Cow, time::Duration};

use rmcp::{
    ServerHandler,
    model::*,
    service::{RequestContext, RoleServer},
    task_manager::{TaskExit, TaskManager, TaskOptions},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::{Value, json};

fn form(message: &str, field: &str, kind: &str) -> ElicitRequestParams {
    let schema = json!({
        "type": "object",
        "properties": { field: { "type": kind } },
        "required": [field],
    });
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message.into(),
        requested_schema: serde_json::from_value(schema).expect("a schema"),
    }
}

fn page() -> ElicitRequestParams {
    ElicitRequestParams::UrlElicitationParams {
        meta: None,
        message: "Sign in".into(),
        url: "https://example.com/in".into(),
        elicitation_id: "sign-in".into(),
    }
}

fn elicit(params: ElicitRequestParams) -> InputRequest {
    InputRequest::Elicitation(ElicitRequest::new(params))
}

fn asks<const N: usize>(
    state: Option<String>,
    asked: [(&str, InputRequest); N],
) -> InputRequiredResult {
    let requests = asked
        .into_iter()
        .map(|(key, request)| (key.to_owned(), request))
        .collect();
    InputRequiredResult::new(Some(requests), state)
}

fn says(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// A field of an accepted form, or the action of another answer.
fn field(answer: &Value, name: &str) -> String {
    match &answer["content"][name] {
        Value::String(text) => text.clone(),
        Value::Null => answer["action"].as_str().unwrap_or_default().to_owned(),
        other => other.to_string(),
    }
}

/// Parley's streaming extension.
const STREAMING: &str = "io.github.mcp-parley/streaming";

#[derive(Clone, Default)]
struct Server {
    tasks: TaskManager,
}

type Context = RequestContext<RoleServer>;

impl Server {
    /// Asks a 2025-11-25 client, which has to be asked within the call.
    async fn asked(context: &Context, params: ElicitRequestParams) -> Result<Value, ErrorData> {
        let result = context.peer.create_elicitation(params).await;
        result
            .map(|result| json!(result))
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn ask_name(
        given: Option<Value>,
        context: &Context,
        is_legacy: bool,
    ) -> Result<CallToolResponse, ErrorData> {
        let question = form("Your name?", "name", "string");
        let name = match given {
            Some(name) => name,
            None if is_legacy => Self::asked(context, question).await?,
            None => return Ok(asks(None, [("name", elicit(question))]).into()),
        };
        Ok(says(format!("Hello, {}!", field(&name, "name"))).into())
    }

    async fn wizard(
        request: &CallToolRequestParams,
        context: &Context,
        is_legacy: bool,
    ) -> Result<CallToolResponse, ErrorData> {
        let first = form("Name?", "name", "string");
        let second = form("Age?", "age", "integer");
        let (name, age) = if is_legacy {
            let name = Self::asked(context, first).await?;
            (field(&name, "name"), Self::asked(context, second).await?)
        } else {
            let given = request.input_responses.clone().unwrap_or_default();
            if let Some(name) = given.get("name") {
                return Ok(asks(Some(field(name, "name")), [("age", elicit(second))]).into());
            }
            match (&request.request_state, given.get("age")) {
                (Some(name), Some(age)) => (name.clone(), age.clone()),
                _ => return Ok(asks(None, [("name", elicit(first))]).into()),
            }
        };
        Ok(says(format!("{name} is {}", field(&age, "age"))).into())
    }

    async fn sign_in(
        given: Option<Value>,
        context: &Context,
        is_legacy: bool,
    ) -> Result<CallToolResponse, ErrorData> {
        if given.is_none() {
            if !is_legacy {
                return Ok(asks(None, [("page", elicit(page()))]).into());
            }
            Self::asked(context, page()).await?;
        }
        Ok(says("signed in").into())
    }

    fn options() -> TaskOptions {
        TaskOptions::new().with_poll_interval_ms(50)
    }

    fn slow_compute(&self, arguments: &JsonObject) -> CallToolResponse {
        let seconds = arguments
            .get("seconds")
            .and_then(Value::as_f64)
            .unwrap_or_default();
        let label = arguments
            .get("label")
            .and_then(Value::as_str)
            .unwrap_or("it")
            .to_owned();
        let task = self.tasks.spawn(Self::options(), |context| {
            Box::pin(async move {
                tokio::select! {
                    () = context.cancelled() => Err(TaskExit::Cancelled),
                    () = tokio::time::sleep(Duration::from_secs_f64(seconds)) => {
                        Ok(says(format!("{label} took {seconds} s")))
                    }
                }
            })
        });
        CreateTaskResult::new(task).into()
    }

    fn confirm_delete(&self, arguments: &JsonObject) -> CallToolResponse {
        let file = arguments
            .get("filename")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let task = self.tasks.spawn(Self::options(), |context| {
            Box::pin(async move {
                let question = form(&format!("Delete {file}?"), "confirm", "boolean");
                let answer = context.request_input("confirm", elicit(question)).await?;
                let is_sure = answer["content"]["confirm"] == true;
                Ok(says(format!(
                    "{file} is {}.",
                    if is_sure { "deleted" } else { "kept" }
                )))
            })
        });
        CreateTaskResult::new(task).into()
    }

    fn introduced(&self, name: Option<Value>) -> CallToolResponse {
        let Some(name) = name else {
            let question = form("What is your name?", "name", "string");
            return asks(None, [("user_name", elicit(question))]).into();
        };
        let task = self.tasks.spawn(Self::options(), |_| {
            let text = format!("Hello, {}, from the background.", field(&name, "name"));
            Box::pin(async move { Ok(says(text)) })
        });
        CreateTaskResult::new(task).into()
    }

    async fn count(context: &Context) -> Result<CallToolResponse, ErrorData> {
        if let Some(token) = context.meta.get_progress_token() {
            for done in [1.0, 2.0] {
                let progress = ProgressNotificationParam::new(token.clone(), done).with_total(2.0);
                let _ = context.peer.notify_progress(progress).await;
            }
        }
        Ok(says("counted").into())
    }

    /// Streams a text, if the client wants its parts.
    async fn write(context: &Context) -> Result<CallToolResponse, ErrorData> {
        if let Some(asked) = context.meta.get(STREAMING) {
            for text in ["Dear", " ", "Ada"] {
                let part = json!({
                    "token": asked["token"],
                    "block": "letter",
                    "content": [{ "type": "text", "text": text }],
                });
                let method = format!("notifications/{STREAMING}/part");
                let notification = CustomNotification::new(method, Some(part));
                let _ = context.peer.send_notification(notification.into()).await;
            }
        }
        Ok(says("Dear Ada").into())
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_tasks()
            .build();
        let extensions = capabilities.extensions.get_or_insert_default();
        extensions.insert(STREAMING.into(), JsonObject::new());
        // 2025-11-25 has no extensions.
        let experimental = capabilities.experimental.get_or_insert_default();
        experimental.insert(STREAMING.into(), JsonObject::new());
        ServerConfig::new(capabilities).with_server_info(Implementation::new("rmcp", "1.0.0"))
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(&[ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25])
    }

    /// Without this, the SDK refuses every subscription.
    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({ "type": "object" });
        let names = [
            "greet",
            "ask_name",
            "wizard",
            "together",
            "where",
            "sign_in",
            "count",
            "write",
            "slow_compute",
            "confirm_delete",
            "test_tool_with_task",
        ];
        let tools = names.map(|name| {
            Tool::new(
                name,
                "A tool",
                schema.as_object().expect("an object").clone(),
            )
        });
        Ok(ListToolsResult::with_all_items(tools.into()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let is_legacy = context.protocol_version() == Some(ProtocolVersion::V_2025_11_25);
        let arguments = request.arguments.clone().unwrap_or_default();
        let given = |key: &str| {
            request
                .input_responses
                .as_ref()
                .and_then(|responses| responses.get(key))
                .cloned()
        };
        match request.name.as_ref() {
            "greet" => {
                let name = arguments
                    .get("name")
                    .and_then(Value::as_str)
                    .unwrap_or_default();
                Ok(says(format!("Hello, {name}!")).into())
            }
            "ask_name" => Self::ask_name(given("name"), &context, is_legacy).await,
            "wizard" => Self::wizard(&request, &context, is_legacy).await,
            "together" => match (given("name"), given("place")) {
                (Some(name), Some(place)) => {
                    let place = place["content"]["text"].as_str().unwrap_or_default();
                    Ok(says(format!("{} in {place}", field(&name, "name"))).into())
                }
                _ => {
                    let messages = vec![SamplingMessage::user_text("Name a place")];
                    let sampling = CreateMessageRequestParams::new(messages, 50);
                    let question = form("Your name?", "name", "string");
                    let place = InputRequest::CreateMessage(CreateMessageRequest::new(sampling));
                    Ok(asks(None, [("name", elicit(question)), ("place", place)]).into())
                }
            },
            "where" => match given("roots") {
                Some(roots) => {
                    Ok(says(roots["roots"][0]["uri"].as_str().unwrap_or_default()).into())
                }
                None => {
                    let roots = InputRequest::ListRoots(ListRootsRequest::default());
                    Ok(asks(None, [("roots", roots)]).into())
                }
            },
            "sign_in" => Self::sign_in(given("page"), &context, is_legacy).await,
            "count" => Self::count(&context).await,
            "write" => Self::write(&context).await,
            "slow_compute" => Ok(self.slow_compute(&arguments)),
            "confirm_delete" => Ok(self.confirm_delete(&arguments)),
            "test_tool_with_task" => Ok(self.introduced(given("user_name"))),
            name => Err(ErrorData::invalid_params(
                format!("There is no tool {name:?}"),
                None,
            )),
        }
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(to) = request
            .input_responses
            .as_ref()
            .and_then(|given| given.get("to"))
        else {
            return Ok(asks(None, [("to", elicit(form("To whom?", "to", "string")))]).into());
        };
        let arguments = request.arguments.clone().unwrap_or_default();
        let tone = arguments
            .get("tone")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let text = format!("Write a {tone} letter to {}.", field(to, "to"));
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(mood) = request
            .input_responses
            .as_ref()
            .and_then(|given| given.get("mood"))
        else {
            return Ok(asks(
                None,
                [("mood", elicit(form("Which mood?", "mood", "string")))],
            )
            .into());
        };
        let text = format!("a {} day", field(mood, "mood"));
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        self.tasks
            .get_task(&request.task_id)
            .map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        self.tasks
            .update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: Context,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }
}

#[tokio::main]
async fn main() {
    let server = Server::default();
    let service: StreamableHttpService<Server, LocalSessionManager> = StreamableHttpService::new(
        move || Ok(server.clone()),
        Default::default(),
        StreamableHttpServerConfig::default(),
    );
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    println!("http://{}/mcp", listener.local_addr().expect("an address"));
    let router = axum::Router::new().nest_service("/mcp", service);
    axum::serve(listener, router).await.expect("a server");
}
