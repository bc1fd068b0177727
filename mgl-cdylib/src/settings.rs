//! The environment variables that choose what runs behind the entry points.

use std::path::PathBuf;

use mgl_frontend::TrackerSwitches;
use mgpipe_types::switches::switch_text;
use mgpipe_wire::client::MapTier;
use mgpipe_wire::stats::StatsOptions;

use crate::logging;

/// Which backend executes MGPipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    /// Vulkan.
    Magma,
    /// OpenGL ES.
    Espryt,
    /// Nothing is drawn: for measuring the frontend, and for tests without a device.
    Null,
}

/// Where the backend runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Transport {
    /// In the calling thread.
    Monolith,
    /// On a second thread of this process.
    Inproc,
    /// In a process of its own, which this one starts.
    Spawn,
    /// In a server that listens at this path.
    Unix(PathBuf),
}

/// `MGL_IPC_RESPAWN=1`: a server that is lost is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Respawn {
    /// `MGL_IPC_RESPAWN_LIMIT`: servers within half a minute, after which the loss is for good.
    pub(crate) most: u32,
    /// `MGL_IPC_RESPAWN_MB`: bytes of contents that are kept for a new server.
    pub(crate) budget: u64,
}

impl Respawn {
    fn parse(get: impl Fn(&str) -> String) -> Result<Option<Respawn>, String> {
        let number = |name: &str, usual: u32, most: u32| match get(name).as_str() {
            "" => Ok(usual),
            text => match text.parse() {
                Ok(value) if (1..=most).contains(&value) => Ok(value),
                _ => Err(format!("{name}={text} is no number from 1 to {most}")),
            },
        };
        let most = number("MGL_IPC_RESPAWN_LIMIT", 5, 1_000_000)?;
        let megabytes = number("MGL_IPC_RESPAWN_MB", 1024, 1 << 20)?;
        match get("MGL_IPC_RESPAWN").as_str() {
            "" | "0" => Ok(None),
            "1" => Ok(Some(Respawn { most, budget: u64::from(megabytes) << 20 })),
            other => Err(format!("MGL_IPC_RESPAWN={other} is unknown; use 0 or 1")),
        }
    }
}

/// The choices in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settings {
    /// `MGL_BACKEND`.
    pub(crate) backend: Backend,
    /// `MGL_TRANSPORT`.
    pub(crate) transport: Transport,
    /// `MGL_IPC_SERVER_PATH`: the server's program, when it is not the one beside this library.
    pub(crate) server: Option<PathBuf>,
    /// `MGL_IPC_PRESENT_CREDIT`: frames that may be ahead of a backend that runs elsewhere.
    pub(crate) present_credit: u32,
    /// `MGL_IPC_MAP_TIER`: how bytes of persistent mappings reach a backend that runs elsewhere.
    pub(crate) map_tier: MapTier,
    /// Whether, and how often, a server in another process is replaced when it is lost.
    pub(crate) respawn: Option<Respawn>,
    /// `MGL_RECORD`: where the calls of the first share group are recorded; later groups get numbered names.
    pub(crate) record: Option<PathBuf>,
    /// `MGL_CSO_ADDRESSING`.
    pub(crate) switches: TrackerSwitches,
    /// `MGL_LEGACY_CONTEXTS=refuse`: a request for a version before 3.1 that is not forward compatible fails, since only
    /// the compatibility profile could answer it whole. By default it gets the core context.
    pub(crate) refuse_legacy: bool,
    /// Where compiled shaders are kept between processes; `None` with `MGL_SHADER_CACHE=off` or without a cache folder.
    pub(crate) shader_cache: Option<PathBuf>,
    /// `MGL_STATS` and `MGL_STATS_WINDOW`: what is counted and where it is written.
    pub(crate) stats: Option<StatsOptions>,
    /// `MGL_HUD`: counters are shown over frames.
    pub(crate) hud: bool,
}

impl Settings {
    /// Reads the process environment and what the settings files add to it. The error is one line for the user.
    pub(crate) fn from_env() -> Result<Settings, String> {
        Settings::parse(switch_text)
    }

    fn parse(get: impl Fn(&str) -> Option<String>) -> Result<Settings, String> {
        let get = |name: &str| get(name).unwrap_or_default();
        let level = get("MGL_LOG");
        if logging::level(&level).is_none() {
            return Err(format!("MGL_LOG={level} is unknown; use off, error, warn, info, debug or trace"));
        }
        let validation = get("MGL_VALIDATION");
        if !matches!(validation.as_str(), "" | "0" | "1" | "sync") {
            return Err(format!("MGL_VALIDATION={validation} is unknown; use 0, 1 or sync"));
        }
        // Whatever the transport is: a value that cannot be is not kept for the day that it is needed.
        #[cfg(target_os = "linux")]
        mgpipe_wire::channel::ConnectOptions::new("").with_switches(|name| Some(get(name)))?;
        let backend = match get("MGL_BACKEND").as_str() {
            "" | "magma" => Backend::Magma,
            "null" => Backend::Null,
            "espryt" => Backend::Espryt,
            other => return Err(format!("MGL_BACKEND={other} is unknown; use magma, espryt or null")),
        };
        let transport = match get("MGL_TRANSPORT").as_str() {
            "" | "monolith" => Transport::Monolith,
            "inproc" => Transport::Inproc,
            "spawn" => Transport::Spawn,
            other => match other.strip_prefix("unix:").filter(|path| !path.is_empty()) {
                Some(path) => Transport::Unix(path.into()),
                None => {
                    return Err(format!("MGL_TRANSPORT={other} is unknown; use monolith, inproc, spawn or unix:PATH"))
                }
            },
        };
        let present_credit = match get("MGL_IPC_PRESENT_CREDIT").as_str() {
            "" => 1,
            text => match text.parse() {
                Ok(credit @ 1..=16) => credit,
                _ => return Err(format!("MGL_IPC_PRESENT_CREDIT={text} is no number of frames from 1 to 16")),
            },
        };
        let map_tier = match get("MGL_IPC_MAP_TIER").as_str() {
            "" => MapTier::Auto,
            text => MapTier::from_name(text)
                .ok_or_else(|| format!("MGL_IPC_MAP_TIER={text} is unknown; use {}", MapTier::NAMES))?,
        };
        let respawn = Respawn::parse(get)?;
        if respawn.is_some() && map_tier == MapTier::Shared {
            return Err(
                "MGL_IPC_MAP_TIER=t0 shares memory with one server; with MGL_IPC_RESPAWN=1 use auto or t2".into()
            );
        }
        let path = |name: &str| Some(get(name)).filter(|path| !path.is_empty()).map(PathBuf::from);
        let server = path("MGL_IPC_SERVER_PATH");
        let content_addressing = match get("MGL_CSO_ADDRESSING").as_str() {
            "" | "on" => true,
            "off" => false,
            other => return Err(format!("MGL_CSO_ADDRESSING={other} is unknown; use on or off")),
        };
        let refuse_legacy = match get("MGL_LEGACY_CONTEXTS").as_str() {
            "" | "core" => false,
            "refuse" => true,
            other => return Err(format!("MGL_LEGACY_CONTEXTS={other} is unknown; use core or refuse")),
        };
        let shader_cache = match get("MGL_SHADER_CACHE").as_str() {
            "" | "on" => shader_folder(&get("XDG_CACHE_HOME"), &get("HOME")),
            "off" => None,
            other => return Err(format!("MGL_SHADER_CACHE={other} is unknown; use on or off")),
        };
        let stats = StatsOptions::parse(&get("MGL_STATS"), &get("MGL_STATS_WINDOW"))?;
        let hud = match get("MGL_HUD").as_str() {
            "" | "0" | "off" => false,
            "1" => true,
            other => return Err(format!("MGL_HUD={other} is unknown; use off or 1")),
        };
        let switches = TrackerSwitches { content_addressing, ..TrackerSwitches::default() };
        let record = path("MGL_RECORD");
        Ok(Settings {
            backend,
            transport,
            server,
            present_credit,
            map_tier,
            respawn,
            record,
            switches,
            refuse_legacy,
            shader_cache,
            stats,
            hud,
        })
    }
}

/// The folder for compiled shaders under the user's cache folder. Paths that are not absolute are invalid there and ignored
/// (XDG base directories).
fn shader_folder(cache: &str, home: &str) -> Option<PathBuf> {
    Some(mgpipe_cache::folder_below(Some(cache.into()), Some(home.into()))?.join("shaders"))
}

#[cfg(test)]
mod tests {
    use super::{Backend, MapTier, Respawn, Settings, TrackerSwitches, Transport};

    fn parse(pairs: &[(&str, &str)]) -> Result<Settings, String> {
        Settings::parse(|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
    }

    #[test]
    fn the_default_is_magma_in_the_calling_thread() {
        let want = Settings {
            backend: Backend::Magma,
            transport: Transport::Monolith,
            server: None,
            present_credit: 1,
            map_tier: MapTier::Auto,
            respawn: None,
            record: None,
            switches: TrackerSwitches::default(),
            refuse_legacy: false,
            shader_cache: None,
            stats: None,
            hud: false,
        };
        assert_eq!(parse(&[]), Ok(want.clone()));
        assert_eq!(parse(&[("MGL_BACKEND", "magma"), ("MGL_TRANSPORT", "monolith")]), Ok(want));
    }

    #[test]
    fn recording_and_addressing_by_content_can_be_chosen() {
        let settings = parse(&[("MGL_RECORD", "calls"), ("MGL_CSO_ADDRESSING", "off")]).expect("both are known");
        assert_eq!(settings.record.as_deref(), Some(std::path::Path::new("calls")));
        assert!(!settings.switches.content_addressing);
    }

    #[test]
    fn transports_have_names() {
        let transport = |value: &str| parse(&[("MGL_TRANSPORT", value)]).expect("known").transport;
        assert_eq!(transport("inproc"), Transport::Inproc);
        assert_eq!(transport("spawn"), Transport::Spawn);
        assert_eq!(transport("unix:/run/mgl"), Transport::Unix("/run/mgl".into()));
        let settings = parse(&[("MGL_IPC_SERVER_PATH", "/s"), ("MGL_IPC_PRESENT_CREDIT", "3")]).expect("known");
        assert_eq!((settings.server, settings.present_credit), (Some("/s".into()), 3));
    }

    #[test]
    fn servers_are_replaced_when_that_is_asked_for() {
        let respawn = |pairs: &[(&str, &str)]| parse(pairs).expect("known").respawn;
        assert_eq!(respawn(&[("MGL_IPC_RESPAWN", "0"), ("MGL_IPC_RESPAWN_MB", "7")]), None);
        assert_eq!(respawn(&[("MGL_IPC_RESPAWN", "1")]), Some(Respawn { most: 5, budget: 1 << 30 }));
        let all = [("MGL_IPC_RESPAWN", "1"), ("MGL_IPC_RESPAWN_LIMIT", "9"), ("MGL_IPC_RESPAWN_MB", "7")];
        assert_eq!(respawn(&all), Some(Respawn { most: 9, budget: 7 << 20 }));
        let both = [("MGL_IPC_RESPAWN", "1"), ("MGL_IPC_MAP_TIER", "t0")];
        assert!(parse(&both).expect_err("refused").contains("use auto or t2"));
    }

    #[test]
    fn shaders_are_kept_in_the_users_cache_folder() {
        let folder = |pairs: &[(&str, &str)]| parse(pairs).expect("known").shader_cache;
        let at = |path: &str| Some(std::path::PathBuf::from(path));
        assert_eq!(folder(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]), at("/c/mgl/shaders"));
        assert_eq!(folder(&[("HOME", "/h")]), at("/h/.cache/mgl/shaders"));
        assert_eq!(folder(&[("XDG_CACHE_HOME", "c"), ("HOME", "/h")]), at("/h/.cache/mgl/shaders"));
        assert_eq!(folder(&[("HOME", "here")]), None);
        assert_eq!(folder(&[("HOME", "/h"), ("MGL_SHADER_CACHE", "off")]), None);
    }

    #[test]
    fn unknown_and_unbuilt_values_are_errors_that_name_the_choices() {
        for (name, value, hint) in [
            ("MGL_BACKEND", "vulkan", "use magma, espryt or null"),
            ("MGL_TRANSPORT", "tcp", "use monolith, inproc, spawn or unix:PATH"),
            ("MGL_TRANSPORT", "unix:", "use monolith, inproc, spawn or unix:PATH"),
            ("MGL_IPC_PRESENT_CREDIT", "0", "from 1 to 16"),
            ("MGL_IPC_RESPAWN", "yes", "use 0 or 1"),
            ("MGL_IPC_RESPAWN_LIMIT", "0", "from 1 to"),
            ("MGL_IPC_RESPAWN_MB", "all", "from 1 to"),
            ("MGL_LOG", "loud", "trace"),
            ("MGL_VALIDATION", "maybe", "use 0, 1 or sync"),
            ("MGL_IPC_MAP_TIER", "t9", "use auto, t0, t2 or t2-compare"),
            ("MGL_IPC_SPIN_US", "fast", "no number from 0"),
            ("MGL_IPC_RING_MB", "3", "no power of two"),
            ("MGL_CSO_ADDRESSING", "maybe", "use on or off"),
            ("MGL_LEGACY_CONTEXTS", "no", "use core or refuse"),
            ("MGL_SHADER_CACHE", "/tmp", "use on or off"),
            ("MGL_STATS", "loud", "use off, 1 or the name of a file"),
            ("MGL_STATS_WINDOW", "2m", "number of frames"),
            ("MGL_HUD", "yes", "use off or 1"),
        ] {
            let text = parse(&[(name, value)]).expect_err("refused");
            assert!(text.contains(hint) && text.contains(name), "{text}");
        }
    }
}
