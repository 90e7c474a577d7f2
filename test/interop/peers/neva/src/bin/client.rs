//! A client written with neva. Its first argument is the URL of a server, its second an errand in JSON. It prints the
//! outcome in JSON. One build speaks one version of the protocol.

// The protocol deprecates sampling and roots, and peers still use them.
#![allow(deprecated)]

use std::{
    collections::HashMap,
    env,
    sync::{Arc, Mutex},
    time::Duration,
};

use neva::{
    Client,
    error::Error,
    types::{
        elicitation::{ElicitRequestParams, ElicitResult},
        notification::Notification,
        sampling::{CreateMessageRequestParams, CreateMessageResult},
    },
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Clone, Deserialize)]
struct Answer {
    action: String,
    content: Option<Value>,
}

#[derive(Deserialize)]
struct Errand {
    tool: Option<String>,
    prompt: Option<String>,
    resource: Option<String>,
    #[serde(default)]
    arguments: HashMap<String, Value>,
    #[serde(default)]
    answers: HashMap<String, Answer>,
    progress: Option<f64>,
    task: Option<String>,
}

fn client(url: &str, errand: &Errand) -> Client {
    let (scheme, address) = url.split_once("://").expect("a URL");
    let (address, path) = address.split_once('/').expect("a path");
    assert_eq!(scheme, "http");
    let mut client = Client::new().with_options(|options| {
        let options = options
            .with_http(|http| http.bind(address).with_endpoint(format!("/{path}")))
            .with_name("neva")
            .with_version("1.0.0")
            .with_timeout(Duration::from_secs(60))
            .with_elicitation(|elicitation| elicitation.with_form().with_url())
            .with_sampling(|sampling| sampling)
            .with_roots(|roots| roots);
        #[cfg(not(feature = "legacy"))]
        let options = if errand.task.is_some() {
            options.with_tasks()
        } else {
            options
        };
        options
    });
    client.add_root("file:///home/ada", "home");
    let answers = errand.answers.clone();
    client.map_elicitation(move |params: ElicitRequestParams| {
        let message = match &params {
            ElicitRequestParams::Form(form) => &form.message,
            ElicitRequestParams::Url(page) => &page.message,
        };
        let answer = answers.get(message).expect("an answer to the question");
        let result = match answer.action.as_str() {
            "accept" => ElicitResult::accept(),
            "decline" => ElicitResult::decline(),
            _ => ElicitResult::cancel(),
        };
        match answer.content.clone() {
            Some(content) => result.with_content(content),
            None => result,
        }
    });
    client.map_sampling(|params: CreateMessageRequestParams| async move {
        let prompt = params
            .text()
            .next()
            .map_or(String::new(), |block| block.text.to_string());
        Ok::<_, Error>(
            CreateMessageResult::assistant()
                .with_model("interop")
                .with_content(format!("{prompt}, said the model"))
                .end_turn(),
        )
    });
    client
}

/// Calls the tool as a task, cancels the task once it exists, and waits until it has ended.
#[cfg(not(feature = "legacy"))]
async fn cancelled(client: &Client, tool: String, errand: &Errand) -> Result<Value, Error> {
    use neva::types::{CallToolRequestParams, TaskStatus};
    let params = CallToolRequestParams::new(tool).with_args(errand.arguments.clone());
    let created: Value = client
        .tools()
        .call_raw(params.with_ttl(None))
        .await?
        .into_result()?;
    let Some(id) = created["taskId"].as_str() else {
        return Ok(told(&created));
    };
    client.tasks().cancel(id).await?;
    loop {
        let task = client.tasks().get(id).await?;
        if task.status != TaskStatus::Working {
            return Ok(json!({ "text": json!(task.status) }));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[cfg(feature = "legacy")]
async fn cancelled(_: &Client, _: String, _: &Errand) -> Result<Value, Error> {
    unreachable!("no errand of 2025-11-25 has a task")
}

/// What to tell of the result of a tool.
fn told(result: &Value) -> Value {
    let blocks = result["content"].as_array().into_iter().flatten();
    let texts: Vec<_> = blocks.filter_map(|block| block["text"].as_str()).collect();
    let mut told = json!({ "text": texts.join("\n") });
    if result["isError"] == true {
        told["isError"] = true.into();
    }
    told
}

async fn done(client: &Client, errand: &Errand, heard: &Mutex<f64>) -> Result<Value, Error> {
    let arguments = errand.arguments.clone();
    if let Some(prompt) = errand.prompt.clone() {
        let got = json!(client.prompts().get(prompt, arguments).await?);
        return Ok(json!({ "text": got["messages"][0]["content"]["text"] }));
    }
    if let Some(uri) = errand.resource.clone() {
        let read = json!(client.resources().read(uri).await?);
        return Ok(json!({ "text": read["contents"][0]["text"] }));
    }
    let tool = errand.tool.clone().unwrap_or_default();
    let result = match errand.task.as_deref() {
        Some("cancel") => return cancelled(client, tool, errand).await,
        Some(_) => client.tools().as_task().call(tool, arguments).await?,
        None => client.tools().call(tool, arguments).await?,
    };
    let mut told = told(&json!(result));
    if let Some(awaited) = errand.progress {
        // Progress may be handled after the result.
        for _ in 0..500 {
            let last = *heard.lock().unwrap();
            told["progress"] = last.into();
            if last >= awaited {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    Ok(told)
}

async fn run(url: &str, errand: &Errand) -> Result<Value, Error> {
    if errand.task.as_deref() == Some("listen") {
        // The filter of a subscription has no member for the ids of tasks.
        return Ok(json!({ "text": "", "absent": "push" }));
    }
    let heard = Arc::new(Mutex::new(0.0));
    let mut client = client(url, errand);
    client.connect().await?;
    // Earlier, it would be replaced by a handler that logs.
    let last = heard.clone();
    client.subscribe(
        "notifications/progress",
        move |notification: Notification| {
            let last = last.clone();
            async move {
                let params = notification.params.unwrap_or_default();
                *last.lock().unwrap() = params["progress"].as_f64().unwrap_or_default();
            }
        },
    );
    let told = done(&client, errand, &heard).await;
    client.disconnect().await?;
    told
}

#[tokio::main]
async fn main() {
    let args: Vec<String> = env::args().collect();
    let errand = serde_json::from_str(&args[2]).expect("an errand");
    let outcome = run(&args[1], &errand).await.unwrap_or_else(|error| {
        let told = json!({ "code": i32::from(error.code()), "message": error.to_string() });
        json!({ "text": "", "error": told })
    });
    println!("{outcome}");
}
