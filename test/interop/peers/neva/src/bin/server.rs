//! A server written with neva. It prints its URL. One build speaks one version of the protocol.

// The protocol deprecates sampling and roots, and peers still use them.
#![allow(deprecated)]

use std::time::Duration;

use neva::{
    App, Context,
    error::Error,
    map_tool,
    types::{
        Meta, ProgressToken,
        elicitation::{ElicitRequestParams, ElicitResult},
        notification,
    },
};
use serde_json::Value;
use tracing_subscriber::{filter::filter_fn, prelude::*};

fn form(message: impl Into<String>, field: &str, kind: &str) -> ElicitRequestParams {
    ElicitRequestParams::form(message)
        .with_required(field, kind)
        .into()
}

fn page() -> ElicitRequestParams {
    ElicitRequestParams::url("https://example.com/in", "Sign in").into()
}

#[cfg(not(feature = "legacy"))]
async fn ask(ctx: &Context, key: &str, params: ElicitRequestParams) -> Result<ElicitResult, Error> {
    ctx.elicit(key, params).await
}

/// A 2025-11-25 client is asked within the call, so a question needs no key.
#[cfg(feature = "legacy")]
async fn ask(ctx: &Context, _: &str, params: ElicitRequestParams) -> Result<ElicitResult, Error> {
    ctx.clone().elicit(params).await
}

/// A field of an accepted form, or the action of another answer.
fn field(answer: &ElicitResult, name: &str) -> String {
    match answer
        .content
        .as_ref()
        .and_then(|content| content.get(name))
    {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => serde_json::json!(answer.action)
            .as_str()
            .unwrap_or_default()
            .to_owned(),
    }
}

/// What only 2026-07-28 has.
#[cfg(not(feature = "legacy"))]
fn add_modern(app: &mut App) {
    use neva::{
        map_prompt,
        types::{
            Role,
            sampling::{CreateMessageRequestParams, SamplingMessage},
        },
    };

    map_tool!(app, "together", |ctx: Context| async move {
        let prompt = SamplingMessage::user().with("Name a place");
        let sampling = CreateMessageRequestParams::new()
            .with_message(prompt)
            .with_max_tokens(50);
        let name = ctx
            .elicit("name", form("Your name?", "name", "string"))
            .await;
        let place = ctx.sample("place", sampling).await;
        let (name, place) = (name?, place?);
        let text = place
            .text()
            .next()
            .map_or(String::new(), |block| block.text.to_string());
        Ok::<_, Error>(format!("{} in {text}", field(&name, "name")))
    });
    map_tool!(app, "where", |ctx: Context| async move {
        let roots = ctx.list_roots("roots").await?;
        Ok::<_, Error>(roots.roots[0].uri.to_string())
    });
    map_tool!(
        app,
        "slow_compute",
        |seconds: f64, label: Option<String>| async move {
            tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            format!("{} took {seconds} s", label.unwrap_or("it".into()))
        }
    )
    .with_task_support("required");
    map_tool!(
        app,
        "confirm_delete",
        |ctx: Context, filename: String| async move {
            let question = form(format!("Delete {filename}?"), "confirm", "boolean");
            let answer = ctx.task().elicit(question).await?;
            let is_sure = field(&answer, "confirm") == "true";
            Ok::<_, Error>(format!(
                "{filename} is {}.",
                if is_sure { "deleted" } else { "kept" }
            ))
        }
    )
    .with_task_support("required");
    map_tool!(app, "test_tool_with_task", |ctx: Context| async move {
        let name = ctx
            .task()
            .elicit(form("What is your name?", "name", "string"))
            .await?;
        Ok::<_, Error>(format!(
            "Hello, {}, from the background.",
            field(&name, "name")
        ))
    })
    .with_task_support("required");
    map_prompt!(app, "letter", |ctx: Context, tone: String| async move {
        let to = ctx.elicit("to", form("To whom?", "to", "string")).await?;
        let text = format!("Write a {tone} letter to {}.", field(&to, "to"));
        Ok::<_, Error>((text, Role::User))
    });
    app.map_resource("diary://today", "today", |ctx: Context| async move {
        let mood = ctx
            .elicit("mood", form("Which mood?", "mood", "string"))
            .await?;
        Ok::<_, Error>(("diary://today", format!("a {} day", field(&mood, "mood"))))
    });
}

#[tokio::main]
async fn main() {
    // Progress is reported by way of tracing, and nothing else is to be logged to the client.
    let progress = filter_fn(|one| one.is_span() || one.target() == "progress");
    tracing_subscriber::registry()
        .with(notification::fmt::layer().with_filter(progress))
        .init();

    // The SDK takes an address, not a socket.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address").to_string();
    drop(free);

    let mut app = App::new().with_options(|options| {
        let options = options
            .with_http(|http| http.bind(&address).with_endpoint("/mcp"))
            .with_name("neva")
            .with_version("1.0.0");
        #[cfg(not(feature = "legacy"))]
        let options = options.with_tasks();
        options
    });
    map_tool!(app, "greet", |name: String| async move {
        format!("Hello, {name}!")
    });
    map_tool!(app, "ask_name", |ctx: Context| async move {
        let name = ask(&ctx, "name", form("Your name?", "name", "string")).await?;
        Ok::<_, Error>(format!("Hello, {}!", field(&name, "name")))
    });
    map_tool!(app, "wizard", |ctx: Context| async move {
        let name = ask(&ctx, "name", form("Name?", "name", "string")).await?;
        let age = ask(&ctx, "age", form("Age?", "age", "integer")).await?;
        Ok::<_, Error>(format!(
            "{} is {}",
            field(&name, "name"),
            field(&age, "age")
        ))
    });
    map_tool!(app, "sign_in", |ctx: Context| async move {
        ask(&ctx, "page", page()).await?;
        Ok::<_, Error>("signed in".to_owned())
    });
    map_tool!(app, "count", |token: Meta<ProgressToken>| async move {
        for done in [1, 2] {
            tracing::info!(target: "progress", token = %token.0, value = done, total = 2);
        }
        "counted".to_owned()
    });
    // The SDK can send no notification of an extension.
    map_tool!(app, "write", |_ctx: Context| async move {
        "Dear Ada".to_owned()
    });
    #[cfg(not(feature = "legacy"))]
    add_modern(&mut app);

    let shown = address.clone();
    tokio::spawn(async move {
        while tokio::net::TcpStream::connect(&shown).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        println!("http://{shown}/mcp");
    });
    app.run().await;
}
