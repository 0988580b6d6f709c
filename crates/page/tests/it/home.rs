//! Home: who sees how to connect a program to this server.

use axum::body::Body;
use axum::extract::Request;
use skald_app::{Caller, CampaignRole};

use crate::World;

#[tokio::test]
async fn only_the_owner_on_this_machine_sees_its_paths() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let owner = Caller::owner();
    let home = async |caller: &Caller, host: &str| {
        let request = Request::builder().uri("/").header("host", host).body(Body::empty()).unwrap();
        world.answer(request, Some(caller)).await.body
    };
    for host in ["localhost:8081", "127.0.0.1:8081", "[::1]:8081", "localhost"] {
        let page = home(&owner, host).await;
        assert!(page.contains("/srv/skald") && page.contains(&format!("http://{host}/mcp")), "{host}: {page}");
        let page = home(&player, host).await;
        assert!(!page.contains("/srv/skald") && page.contains("/mcp"), "{host}: {page}");
    }
    for host in ["table.example", "192.168.0.9:8081", "127.0.0.1.evil.example", "localhost.evil.example:80"] {
        assert!(!home(&owner, host).await.contains("/srv/skald"), "{host}");
    }
}
