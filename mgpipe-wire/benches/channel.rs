//! What the channel costs between two processes: records a second, the wake-up of a parked peer, a doorbell.
//!
//! The program starts itself as the server. `cargo bench -p mgpipe-wire --bench channel` prints a table.

#[cfg(target_os = "linux")]
mod measure {
    use mgpipe_wire::channel::{inherited_socket, spawn, ConnectOptions, Guest, Tuning, CONNECTED};
    use mgpipe_wire::client::Attached;
    use mgpipe_wire::port::{CommandSink, Mark};
    use std::time::{Duration, Instant};

    const LONG: Duration = Duration::from_secs(60);
    const RECORD: usize = 64;
    const RECORDS: u64 = 20_000_000;
    const WAKE_UPS: usize = 3_000;

    fn idle() {}

    /// The server: takes every record and does nothing with it.
    fn serve(arguments: &[String]) {
        let spin = arguments.iter().find_map(|argument| argument.strip_prefix("--spin-us="));
        let spin = spin.and_then(|text| text.parse().ok()).map(Duration::from_micros);
        let socket = inherited_socket().expect("a client started this");
        let guest = Guest::meet(socket).expect("a client");
        let admitted = guest.admit(Tuning { spin, ..Tuning::default() }, Box::new(|| ())).expect("admitted");
        let (mut commands, mut record) = (admitted.end.commands, Vec::new());
        while commands.next(&mut record, LONG).is_ok() {
            std::hint::black_box(&record);
            commands.retire();
        }
    }

    fn connect(spin: Option<Duration>) -> Attached {
        let mut options = ConnectOptions::new("none");
        options.tuning.spin = spin;
        spawn(&std::env::current_exe().expect("this program"), &options).expect("a server")
    }

    fn send(commands: &mut dyn CommandSink) -> u64 {
        let record = commands.reserve(RECORD, &idle).expect("alive");
        record.fill(7);
        // Kind, flags and size of the header.
        record[..8].copy_from_slice(&[1, 0, 0, 0, RECORD as u8, 0, 0, 0]);
        commands.commit()
    }

    fn throughput() {
        let mut client = connect(None);
        let start = Instant::now();
        for _ in 0..RECORDS / 64 {
            for _ in 0..64 {
                send(&mut *client.end.commands);
            }
            client.end.commands.doorbell();
        }
        let sent = start.elapsed();
        client.end.link.wait_mark(Mark::Applied, RECORDS, LONG, &idle).expect("applied");
        let applied = start.elapsed();
        let waits = client.end.link.waits();
        println!(
            "64-byte records: {:.1} million a second (wanted: 10), {:.1} ns each for the client; it waited {} times, slept {}, rang {}",
            RECORDS as f64 / applied.as_secs_f64() / 1e6,
            sent.as_nanos() as f64 / RECORDS as f64,
            waits.waits,
            waits.parks,
            waits.rings
        );
    }

    /// The client spins, so that what is measured is the server's wake-up and not its own.
    fn wake_up() {
        let mut client = connect(Some(Duration::ZERO));
        let mut latencies = Vec::with_capacity(WAKE_UPS);
        let mut doorbells = Vec::with_capacity(WAKE_UPS);
        for _ in 0..WAKE_UPS {
            // Long enough for the server to sleep.
            std::thread::sleep(Duration::from_micros(300));
            let ordinal = send(&mut *client.end.commands);
            let start = Instant::now();
            client.end.commands.doorbell();
            doorbells.push(start.elapsed());
            while client.end.link.mark(Mark::Applied) < ordinal {
                std::hint::spin_loop();
            }
            latencies.push(start.elapsed());
        }
        let mut awake = Vec::with_capacity(WAKE_UPS);
        for _ in 0..WAKE_UPS {
            let start = Instant::now();
            for _ in 0..100 {
                client.end.commands.doorbell();
            }
            awake.push(start.elapsed() / 100);
        }
        for (what, values) in [
            ("wake-up of a parked peer (wanted: 60)", &mut latencies),
            ("doorbell that wakes", &mut doorbells),
            ("doorbell while nothing is parked, or rung already", &mut awake),
        ] {
            values.sort();
            let at = |share: f64| values[((values.len() - 1) as f64 * share) as usize].as_nanos() as f64 / 1e3;
            println!("{what}: median {:.2} µs, p90 {:.2}, p99 {:.2}", at(0.5), at(0.9), at(0.99));
        }
        println!("rings that made a system call: {}", client.end.link.waits().rings);
    }

    /// Server or client, as the command line says.
    pub(super) fn main() {
        let arguments: Vec<String> = std::env::args().collect();
        if arguments.iter().any(|argument| argument == CONNECTED) {
            serve(&arguments);
        } else {
            throughput();
            wake_up();
        }
    }
}

fn main() {
    #[cfg(target_os = "linux")]
    measure::main();
}
