//! Load generator: calls a gateway as fast as it answers, from several connections. `cargo xtask bench` runs it against
//! Skald and against `echo`.

use std::error::Error;
use std::io::Write;
use std::time::{Duration, Instant};

use skald_grpc::proto::skald::CallRequest;
use skald_grpc::proto::skald::gateway_client::GatewayClient;
use tonic::transport::{Channel, Endpoint};

const OPERATION: &str = "duality_outcome";
const INPUT: &str = r#"{"hope":9,"fear":4,"modifier":2,"difficulty":12}"#;
/// What every right answer holds.
const EXPECTED: &str = "SUCCESS_WITH_HOPE";

async fn call(client: &mut GatewayClient<Channel>) -> Result<Duration, Box<dyn Error + Send + Sync>> {
    let began = Instant::now();
    let request = CallRequest { operation: OPERATION.to_owned(), input: INPUT.to_owned() };
    let answer = client.call(request).await?.into_inner().answer;
    if !answer.contains(EXPECTED) {
        return Err(format!("a call was answered: {answer}").into());
    }
    Ok(began.elapsed())
}

/// usage: calls ADDRESS CONNECTIONS CALLS; prints the calls a second and the median in microseconds.
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, connections, calls] = &arguments[..] else {
        return Err("usage: calls ADDRESS CONNECTIONS CALLS".into());
    };
    let (connections, calls): (u32, u32) = (connections.parse()?, calls.parse()?);
    let began = Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..connections {
        let mut client = GatewayClient::new(Endpoint::from_shared(format!("http://{address}"))?.connect().await?);
        tasks.push(tokio::spawn(async move {
            let mut times = Vec::new();
            for _ in 0..calls {
                times.push(call(&mut client).await?);
            }
            Ok::<_, Box<dyn Error + Send + Sync>>(times)
        }));
    }
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await??);
    }
    let wall = began.elapsed();
    times.sort_unstable();
    let median = times.get(times.len() / 2).ok_or("no calls")?;
    let rate = f64::from(connections * calls) / wall.as_secs_f64();
    writeln!(std::io::stdout(), "{rate:.0} {:.1}", median.as_secs_f64() * 1e6)?;
    Ok(())
}
