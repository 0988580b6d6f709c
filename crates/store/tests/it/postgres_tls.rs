//! Tests of TLS to PostgreSQL: connections are encrypted, and false certificates are refused.

mod postgres {
    use std::path::{Path, PathBuf};

    use skald_journal::Streams;

    use crate::tally::{Tally, add, stream};
    use crate::test_stores::{block_on, connect, create_schema, server_address};

    /// A certificate that `cargo xtask test` made: of the server, of its authority, or of a stranger.
    fn certificate_path(name: &str) -> PathBuf {
        let folder = std::env::var("SKALD_TEST_CERTIFICATES");
        let folder = folder.expect("SKALD_TEST_CERTIFICATES, which `cargo xtask test` sets, is a folder");
        Path::new(&folder).join(format!("{name}.crt"))
    }

    fn tls_parameters(mode: &str, name: &str) -> String {
        format!("sslmode={mode}&sslrootcert={}", certificate_path(name).display())
    }

    /// The number of connections of a test, and how many of them are encrypted.
    async fn count_connections(address: &str) -> (i64, i64) {
        let name = address.rsplit_once('=').unwrap().1;
        let count = "SELECT count(*), count(*) FILTER (WHERE ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
            WHERE application_name = $1";
        let row = connect(&server_address()).await.query_one(count, &[&name]).await.unwrap();
        (row.get(0), row.get(1))
    }

    /// Adds parameters before the others, so that the address still ends with the name of the test.
    fn with_parameters(address: &str, parameters: &str) -> String {
        address.replacen('?', &format!("?{parameters}&"), 1)
    }

    #[test]
    fn every_connection_is_as_private_as_asked() {
        block_on(async {
            for (parameters, is_private) in [
                ("sslmode=disable".to_owned(), false),
                ("sslmode=prefer".to_owned(), true),
                ("sslmode=require".to_owned(), true),
                (tls_parameters("require", "root"), true),
                (tls_parameters("verify-ca", "root"), true),
                (tls_parameters("verify-full", "root"), true),
                // The server's certificate is accepted as its own authority.
                (tls_parameters("verify-full", "server"), true),
            ] {
                let store_address = create_schema().await;
                let journal = skald_store::open(&with_parameters(&store_address, &parameters)).await.unwrap();
                let mut wakes = journal.subscribe_appends();
                // The first wake-up means that the notifier is listening.
                wakes.wait_for(|wakes| *wakes > 0).await.unwrap();
                let streams = Streams::<Tally>::new(journal);
                streams.execute(&stream("one"), add("a", 1)).await.map_err(|_| "failed").unwrap();
                assert_eq!(streams.read(&stream("one")).await.unwrap().revision(), 1);
                let (all, private) = count_connections(&store_address).await;
                assert!(all >= 4, "{all} connections: two that commit, one that tells others, one that reads");
                assert_eq!(private, if is_private { all } else { 0 }, "{parameters}");
            }
        });
    }

    #[test]
    fn a_certificate_that_is_not_trusted_is_a_clear_error() {
        block_on(async {
            let address = create_schema().await;
            let elsewhere = address.replacen("127.0.0.1", "localhost", 1);
            let refused = async |address: &str, parameters: &str| {
                skald_store::open(&with_parameters(address, parameters)).await.err().map(|error| error.to_string())
            };
            for mode in ["require", "verify-ca", "verify-full"] {
                let words =
                    refused(&address, &tls_parameters(mode, "stranger")).await.expect("a stranger signed nothing");
                assert!(words.contains("invalid peer certificate"), "{words}");
                assert!(words.contains("sslrootcert=FILE"), "{words}");
            }
            let words = refused(&address, "sslmode=verify-full").await.expect("no authority that is known");
            assert!(words.contains("sslrootcert=FILE"), "{words}");
            for name in ["root", "server"] {
                let words = refused(&elsewhere, &tls_parameters("verify-full", name)).await.expect("another name");
                assert!(words.contains("localhost") && words.contains("sslmode=verify-ca"), "{words}");
                assert_eq!(
                    refused(&elsewhere, &tls_parameters("verify-ca", name)).await,
                    None,
                    "no name was asked for"
                );
            }
        });
    }

    #[test]
    fn a_file_that_holds_no_certificate_is_named() {
        block_on(async {
            let store_address = create_schema().await;
            for file in ["Cargo.toml", "nowhere.pem"] {
                let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
                let parameters = format!("sslmode=verify-full&sslrootcert={}", file.display());
                let words =
                    skald_store::open(&with_parameters(&store_address, &parameters)).await.err().unwrap().to_string();
                assert!(words.contains(&format!("sslrootcert {}", file.display())), "{words}");
            }
        });
    }
}
