//! Code generated from the `.proto` files, for Rust programs that call the services.

#![allow(
    clippy::all,
    clippy::pedantic,
    clippy::allow_attributes_without_reason,
    unreachable_pub,
    reason = "it is generated"
)]

pub mod campaign {
    tonic::include_proto!("campaign.v1");
}

pub mod session {
    tonic::include_proto!("session.v1");
}

pub mod duality {
    tonic::include_proto!("duality.v1");
}

pub mod skald {
    tonic::include_proto!("skald.v1");
}

/// The descriptors of all services, for reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
