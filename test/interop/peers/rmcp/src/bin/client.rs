//! A client written with rmcp, the official Rust SDK. Its first argument is the URL of a server, its second an errand in
//! JSON. It prints the outcome in JSON.

// The protocol deprecates sampling and roots, and peers still use them.
#![allow(deprecated)]

use std::{
    collections::HashMap,
    env,
    error::Error,
    sync::{Arc, Mutex},
    time::Duration,
};

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt,
    model::*,
    service::{NotificationContext, RequestContext, RoleClient, RunningService, ServiceError},
    transport::StreamableHttpClientTransport,
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Clone, Deserialize)]
struct Answer {
    action: String,
    content: Option<Value>,
}

#[derive(Clone, Deserialize)]
struct Errand {
    era: String,
    tool: Option<String>,
    prompt: Option<String>,
    resource: Option<String>,
    arguments: Option<JsonObject>,
    #[serde(default)]
    answers: HashMap<String, Answer>,
    progress: Option<f64>,
    #[serde(default)]
    stream: bool,
    task: Option<String>,
}

/// Parley's streaming extension.
const STREAMING: &str = "io.github.mcp-parley/streaming";

struct Person {
    errand: Errand,
    heard: Arc<Mutex<Vec<f64>>>,
    /// The text that the parts of a stream make.
    streamed: Arc<Mutex<String>>,
}

impl Person {
    fn elicited(&self, params: ElicitRequestParams) -> Result<ElicitResult, ErrorData> {
        let message = match params {
            ElicitRequestParams::FormElicitationParams { message, .. } => message,
            ElicitRequestParams::UrlElicitationParams { message, .. } => message,
            _ => {
                return Err(ErrorData::internal_error(
                    "an elicitation of an unknown mode",
                    None,
                ));
            }
        };
        let answer = self.errand.answers.get(&message).ok_or_else(|| {
            ErrorData::internal_error(format!("no answer is prepared for {message:?}"), None)
        })?;
        let mut result = ElicitResult::new(match answer.action.as_str() {
            "accept" => ElicitationAction::Accept,
            "decline" => ElicitationAction::Decline,
            _ => ElicitationAction::Cancel,
        });
        result.content = answer.content.clone();
        Ok(result)
    }
}

impl ClientHandler for Person {
    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.elicited(params)
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let content = params.messages[0].content.clone().into_vec();
        let text = content[0].as_text().map_or("", |block| &block.text);
        let said = SamplingMessage::assistant_text(format!("{text}, said the model"));
        Ok(CreateMessageResult::new(said, "interop".into())
            .with_stop_reason(CreateMessageResult::STOP_REASON_END_TURN))
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![
            Root::new("file:///home/ada").with_name("home"),
        ]))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.heard.lock().unwrap().push(params.progress);
    }

    async fn on_custom_notification(
        &self,
        notification: CustomNotification,
        _context: NotificationContext<RoleClient>,
    ) {
        let params = notification.params.unwrap_or_default();
        let mut streamed = self.streamed.lock().unwrap();
        if params["op"].as_str().is_some_and(|op| op != "append") {
            streamed.clear();
        }
        for block in params["content"].as_array().into_iter().flatten() {
            streamed.push_str(block["text"].as_str().unwrap_or_default());
        }
    }

    fn get_info(&self) -> ClientConfig {
        let elicitation = ElicitationCapability::default()
            .with_form(FormElicitationCapability::default())
            .with_url(UrlElicitationCapability::default());
        let builder = ClientCapabilities::builder()
            .enable_elicitation_with(elicitation)
            .enable_roots()
            .enable_sampling();
        let mut capabilities = match self.errand.task {
            Some(_) => builder.enable_tasks().build(),
            None => builder.build(),
        };
        if self.errand.stream {
            let extensions = capabilities.extensions.get_or_insert_default();
            extensions.insert(STREAMING.into(), JsonObject::new());
            // 2025-11-25 has no extensions.
            let experimental = capabilities.experimental.get_or_insert_default();
            experimental.insert(STREAMING.into(), JsonObject::new());
        }
        let version = if self.errand.era == "2025-11-25" {
            ProtocolVersion::V_2025_11_25
        } else {
            ProtocolVersion::V_2026_07_28
        };
        ClientConfig::new(capabilities, Implementation::new("rmcp", "1.0.0"))
            .with_protocol_version(version)
    }
}

type Client = RunningService<RoleClient, Person>;

/// The answers to what a tool or a task asks. `call_tool` does this by itself, but does not follow a task.
fn answers(client: &Client, asked: InputRequests) -> Result<InputResponses, ErrorData> {
    asked
        .into_iter()
        .map(|(key, request)| match request {
            InputRequest::Elicitation(request) => {
                Ok((key, json!(client.service().elicited(request.params)?)))
            }
            _ => Err(ErrorData::internal_error(
                "a question of an unknown kind",
                None,
            )),
        })
        .collect()
}

/// Calls the tool, and follows the task that it becomes.
async fn called(client: &Client, mut params: CallToolRequestParams) -> Result<Value, ServiceError> {
    let task = loop {
        match client.call_tool_once(params.clone()).await? {
            CallToolResponse::Complete(result) => return Ok(json!(result)),
            CallToolResponse::Task(created) => break created.task,
            CallToolResponse::InputRequired(asked) => {
                let asked_now = asked.input_requests.unwrap_or_default();
                params.input_responses =
                    Some(answers(client, asked_now).map_err(ServiceError::McpError)?);
                params.request_state = asked.request_state;
            }
            _ => return Err(ServiceError::UnexpectedResponse),
        }
    };
    if client.service().errand.task.as_deref() == Some("cancel") {
        client
            .cancel_task(CancelTaskParams::new(&task.task_id))
            .await?;
    }
    loop {
        let got = client
            .get_task(GetTaskParams::new(&task.task_id))
            .await?
            .task;
        match got.payload {
            TaskPayload::InputRequired { input_requests } => {
                let given = answers(client, input_requests).map_err(ServiceError::McpError)?;
                client
                    .update_task(UpdateTaskParams::new(&task.task_id, given))
                    .await?;
            }
            TaskPayload::Completed { result } => return Ok(Value::Object(result)),
            TaskPayload::Failed { error } => {
                let error = serde_json::from_value(Value::Object(error));
                return Err(ServiceError::McpError(error.expect("an error of JSON-RPC")));
            }
            TaskPayload::Cancelled => {
                return Ok(json!({ "content": [{ "type": "text", "text": "cancelled" }] }));
            }
            _ => {
                let pause = got.task.poll_interval_ms.unwrap_or(50);
                tokio::time::sleep(Duration::from_millis(pause)).await;
            }
        }
    }
}

fn text_of(blocks: &Value) -> String {
    let texts = blocks.as_array().into_iter().flatten();
    texts
        .filter_map(|block| block["text"].as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

async fn run(url: &str, errand: Errand) -> Result<Value, Box<dyn Error>> {
    if errand.task.as_deref() == Some("listen") {
        // The filter of a subscription has no member for the ids of tasks.
        return Ok(json!({ "text": "", "absent": "push" }));
    }
    let heard = Arc::new(Mutex::new(Vec::new()));
    let streamed = Arc::new(Mutex::new(String::new()));
    let lifecycle = if errand.era == "2025-11-25" {
        ClientLifecycleMode::Initialize
    } else {
        ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        }
    };
    let person = Person {
        errand: errand.clone(),
        heard: heard.clone(),
        streamed: streamed.clone(),
    };
    let transport = StreamableHttpClientTransport::from_uri(url);
    let client = person.serve_with_lifecycle(transport, lifecycle).await?;
    let arguments = errand.arguments.unwrap_or_default();
    let told = if let Some(tool) = errand.tool {
        let mut params = CallToolRequestParams::new(tool).with_arguments(arguments);
        if errand.stream {
            let mut meta = RequestMetaObject::default();
            meta.insert(STREAMING.into(), json!({ "token": "s-1" }));
            params.meta = Some(meta);
        }
        let result = match errand.task {
            None => json!(client.call_tool(params).await?),
            Some(_) => called(&client, params).await?,
        };
        let mut told = json!({ "text": text_of(&result["content"]) });
        if result["isError"] == true {
            told["isError"] = true.into();
        }
        // Progress and parts may be handled after the result.
        for _ in 0..500 {
            let mut is_heard = true;
            if let Some(awaited) = errand.progress {
                let last = heard.lock().unwrap().last().copied().unwrap_or(0.0);
                told["progress"] = last.into();
                is_heard = last >= awaited;
            }
            if errand.stream {
                told["streamed"] = streamed.lock().unwrap().clone().into();
                is_heard = told["streamed"] == told["text"];
            }
            if is_heard {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        told
    } else if let Some(prompt) = errand.prompt {
        let params = GetPromptRequestParams::new(prompt).with_arguments(arguments);
        let got = client.get_prompt(params).await?;
        json!({ "text": json!(got.messages[0].content)["text"] })
    } else {
        let uri = errand.resource.unwrap_or_default();
        let read = client
            .read_resource(ReadResourceRequestParams::new(uri))
            .await?;
        json!({ "text": json!(read.contents[0])["text"] })
    };
    client.cancel().await?;
    Ok(told)
}

// The SDK starts a task for each notification. On one thread, they run in the order in which the notifications came.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<String> = env::args().collect();
    let errand = serde_json::from_str(&args[2]).expect("an errand");
    let outcome = run(&args[1], errand).await.unwrap_or_else(|error| {
        let told = match error.downcast_ref::<ServiceError>() {
            Some(ServiceError::McpError(wire)) => {
                json!({ "code": wire.code.0, "message": wire.message })
            }
            _ => json!({ "message": error.to_string() }),
        };
        json!({ "text": "", "error": told })
    });
    println!("{outcome}");
}
