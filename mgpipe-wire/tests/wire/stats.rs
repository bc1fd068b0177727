//! Both roles count what passed, and a report says so.

use crate::recording::{buffer, handle, program, upload};
use mgpipe_types::*;
use mgpipe_wire::client::{ClientOptions, WireBackend};
use mgpipe_wire::inproc::inproc;
use mgpipe_wire::null::NullBackend;
use mgpipe_wire::queue::{queue, QueueLimits};
use mgpipe_wire::stats::{Counted, Destination, Role, Section, Statistics, StatsOptions, Window};
use serde_json::Value;
use std::sync::Arc;

/// A backend on a second thread, counted on both sides.
struct Split {
    backend: Counted,
    client: Arc<Statistics>,
    server: Arc<Statistics>,
}

fn split(options: Option<StatsOptions>) -> Split {
    let of = |role| Statistics::new(role, "null", "inproc", options.clone());
    let (client, server) = (of(Role::Client), of(Role::Server));
    let ends = server.clone();
    let channel = move || {
        let (client, server) = queue(QueueLimits::default());
        Ok((client, ends.watch_server(server)))
    };
    let applied = Counted::new(Arc::new(NullBackend), server.clone());
    let wire: WireBackend = inproc(Arc::new(applied), Box::new(channel), ClientOptions::default());
    let link = wire.figures();
    Split { backend: Counted::new(Arc::new(wire), client.clone()).with_link(link), client, server }
}

fn report(stats: &Statistics) -> Value {
    serde_json::from_str(&stats.json()).expect("a report is JSON")
}

fn draw() -> DrawInfo {
    DrawInfo { mode: gl::TRIANGLES, instance_count: 1, range_count: 1, ..DrawInfo::default() }
}

#[test]
fn both_roles_count_the_same_calls() {
    let Split { backend, client, server } = split(None);
    program(&*backend.open(Arc::new(LogCallbacks::silent())).unwrap());
    // The connection ends, and with it the server's work.
    drop(backend);
    let (client, server) = (report(&client), report(&server));
    assert_eq!((&client["role"], &server["role"]), (&"client".into(), &"server".into()));
    let calls = client["total"]["calls"].as_object().unwrap();
    assert!(calls.len() > 6, "{calls:?}");
    // Answered on the client's side, from what the opening brought.
    for (name, counted) in calls.iter().filter(|(name, _)| *name != "get_caps") {
        assert_eq!(counted, &server["total"]["calls"][name], "{name}");
    }
    assert_eq!(client["total"]["uploads"], server["total"]["uploads"]);
    assert_eq!(client["total"]["uploads"]["buffer_bytes"], 4);
    let trips = &client["total"]["round_trips"];
    let expected = serde_json::json!({"open_screen": 1, "create_context": 2, "resource_readback": 1, "read_pixels": 1});
    assert_eq!((&trips["by_call"], &trips["total"]), (&expected, &5.into()));
    let wire = &client["total"]["wire"];
    // Each record has its control records beside it; all of them went through the ring.
    let records: u64 = calls.values().map(|call| call["calls"].as_u64().unwrap()).sum();
    assert!(wire["records"].as_u64().unwrap() > records, "{wire}");
    assert!(wire["record_bytes"].as_u64().unwrap() > client["total"]["record_bytes"].as_u64().unwrap() / 2, "{wire}");
    assert!(server["total"]["wire"].is_null() && !server["total"]["waits"].is_null());
}

#[test]
fn frames_know_their_round_trips() {
    let Split { backend, client, .. } = split(None);
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    let mut context = screen.create_context(ContextHandle(handle(1))).unwrap();
    screen.resource_create(&buffer(1, 16));
    let end = Flush { flags: flush_flags::SUBMIT | flush_flags::END_OF_FRAME, pad: 0 };
    context.flush(&end);
    for frame in 0..3 {
        context.set_draw_program(&HandleOnly { handle: handle(7) });
        for _ in 0..10 {
            context.draw_vbo(&draw(), &[DrawRange::default()], &[], HostBytes::Bytes(&[0; 6]));
        }
        if frame == 1 {
            let mut out = [0; 16];
            context.resource_readback(&BufferReadback { res: handle(1), offset: 0, size: 16 }, &mut out).unwrap();
        }
        context.flush(&end);
    }
    assert_eq!((client.frame().draws, client.frame().round_trips), (10, 0));
    let report = report(&client);
    let total = &report["total"];
    assert_eq!((&total["frames"], &total["draws"]["draws"]), (&4.into(), &30.into()));
    assert_eq!(total["draws"]["client_index_bytes"], 180);
    let trips = &total["round_trips"];
    // The first frame opened the screen and started the context.
    assert_eq!([&trips["frames_without"], &trips["most_in_a_frame"], &trips["last_frame"]], [&2, &2, &0]);
    // A draw is 56 bytes of payload, a range and indices, with a header and counts; the first of a frame also has to pay for
    // the program and for the flush before it.
    let histogram = total["draws"]["histogram"].as_array().unwrap();
    let in_bucket = |limit: u64| &histogram.iter().find(|bucket| bucket["up_to"] == limit).unwrap()["draws"];
    assert_eq!((in_bucket(128), in_bucket(256)), (&27.into(), &3.into()), "{histogram:?}");
}

#[test]
fn uploads_have_shapes() {
    let stats = Statistics::new(Role::Client, "null", "monolith", None);
    let backend = Counted::new(Arc::new(NullBackend), stats.clone());
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    let mut context = screen.create_context(ContextHandle(handle(1))).unwrap();
    screen.resource_create(&buffer(1, 16));
    context.resource_subdata(&upload(handle(1), 0, &[1; 16]), &[], &[1; 16]);
    let texels = |regions: &[SubRegion]| SubData {
        res: handle(2),
        target: Target::Tex2D as u16,
        region_count: regions.len() as u32,
        ..SubData::default()
    };
    let one = [SubRegion { width: 2, height: 2, depth: 1, ..SubRegion::default() }];
    let two = [one[0], SubRegion { x: 4, ..one[0] }];
    context.resource_subdata(&texels(&one), &one, &[0; 16]);
    context.resource_subdata(&texels(&two), &two, &[0; 32]);
    drop(context);
    let report = report(&stats);
    let expected = serde_json::json!({
        "bytes": 64, "buffer_uploads": 1, "buffer_bytes": 16,
        "texture_boxes": 1, "texture_lists": 1, "texture_regions": 2, "texture_bytes": 48,
        "texture_jobs": 0, "texture_joined": 0, "texture_job_bytes": 0,
    });
    assert_eq!(report["total"]["uploads"], expected);
    assert_eq!(report["total"]["classes"]["object"]["calls"], 3);
    // Nobody waits for anybody here.
    assert!(report["total"]["waits"].is_null() && report["total"]["wire"].is_null());
    assert_eq!(report["total"]["round_trips"]["total"], 0);
}

#[test]
fn each_window_has_its_own_figures_in_the_file() {
    let path = std::env::temp_dir().join(format!("mgl-stats-{}.json", std::process::id()));
    let options = StatsOptions { destination: Destination::File(path.clone()), window: Window::Frames(2) };
    let stats = Statistics::new(Role::Client, "null", "monolith", Some(options));
    stats.add_section("other", || Section {
        counts: [("table", [("name".to_owned(), 7)].into())].into(),
        rates: vec![],
    });
    let backend = Counted::new(Arc::new(NullBackend), stats.clone());
    let screen = backend.open(Arc::new(LogCallbacks::silent())).unwrap();
    let mut context = screen.create_context(ContextHandle(handle(1))).unwrap();
    let read = || -> Value { serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap() };
    for frame in 1..=5u64 {
        context.draw_vbo(&draw(), &[DrawRange::default()], &[], HostBytes::None);
        context.flush(&Flush { flags: flush_flags::END_OF_FRAME, pad: 0 });
        if frame % 2 == 0 {
            let report = read();
            assert_eq!((&report["total"]["frames"], &report["window"]["frames"]), (&frame.into(), &2.into()));
            assert_eq!(report["window"]["draws"]["draws"], 2);
            let grown = if frame == 2 { 7 } else { 0 };
            assert_eq!(report["window"]["sections"]["other"]["table"]["name"], grown);
            assert_eq!(report["ended"], false);
        }
    }
    drop(context);
    stats.finish();
    let report = read();
    assert_eq!(
        (&report["ended"], &report["total"]["frames"], &report["window"]["frames"]),
        (&true.into(), &5.into(), &1.into())
    );
    assert!(report["peak_rss_kib"].as_u64().unwrap() > 1000);
    std::fs::remove_file(path).unwrap();
}
