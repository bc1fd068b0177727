//! What Magma finds on a machine, for a person to read. Never fails.

use crate::device::{create_instance, device_extensions, entry};
use crate::features::OPTIONAL;
use crate::mask::Mask;
use ash::vk;

/// An optional extension on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtensionProbe {
    /// Name.
    pub name: String,
    /// Whether the device has it.
    pub present: bool,
    /// What its absence costs, as a sentence.
    pub cost: String,
}

/// A Vulkan device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceProbe {
    /// Name.
    pub name: String,
    /// Kind: discrete, integrated, virtual, cpu or other.
    pub kind: String,
    /// Vulkan version as text.
    pub api_version: String,
    /// Driver version number.
    pub driver_version: u32,
    /// Whether Magma can run on it.
    pub usable: bool,
    /// The extensions that Magma uses.
    pub extensions: Vec<ExtensionProbe>,
    /// Limits worth a line: name and value.
    pub limits: Vec<(String, String)>,
}

/// The outcome of a probe.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Probe {
    /// Whether the Vulkan loader was found.
    pub loader: bool,
    /// What went wrong, when nothing can be listed.
    pub problem: Option<String>,
    /// Devices in the order of the loader: their index is what `MGL_MAGMA_DEVICE` takes.
    pub devices: Vec<DeviceProbe>,
}

/// Looks for a loader, drivers and devices.
pub fn probe() -> Probe {
    let entry = match entry() {
        Ok(entry) => entry,
        Err(error) => return Probe { problem: Some(error.to_string()), ..Probe::default() },
    };
    let mut out = Probe { loader: true, ..Probe::default() };
    let instance = match Mask::from_environment().and_then(|mask| create_instance(entry, &mask)) {
        Ok((instance, _)) => instance,
        Err(error) => {
            out.problem = Some(error.to_string());
            return out;
        }
    };
    // SAFETY: the instance is alive until the end of this function.
    match unsafe { instance.enumerate_physical_devices() } {
        Ok(devices) => out.devices.extend(devices.iter().map(|physical| describe(&instance, *physical))),
        Err(code) => out.problem = Some(format!("vkEnumeratePhysicalDevices: {code}")),
    }
    if out.devices.is_empty() && out.problem.is_none() {
        out.problem = Some("no Vulkan driver offers a device".into());
    }
    // SAFETY: nothing of the instance is used any more.
    unsafe { instance.destroy_instance(None) };
    out
}

fn describe(instance: &ash::Instance, physical: vk::PhysicalDevice) -> DeviceProbe {
    // SAFETY: `physical` comes from `instance`.
    let properties = unsafe { instance.get_physical_device_properties(physical) };
    let names = device_extensions(instance, physical).unwrap_or_default();
    let has = |name: &std::ffi::CStr| names.iter().any(|n| n.as_c_str() == name);
    let version = properties.api_version;
    let limits = &properties.limits;
    DeviceProbe {
        name: properties.device_name_as_c_str().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
        kind: match properties.device_type {
            vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
            vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
            vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
            vk::PhysicalDeviceType::CPU => "cpu",
            _ => "other",
        }
        .into(),
        api_version: format!(
            "{}.{}.{}",
            vk::api_version_major(version),
            vk::api_version_minor(version),
            vk::api_version_patch(version)
        ),
        driver_version: properties.driver_version,
        usable: version >= vk::API_VERSION_1_1,
        extensions: OPTIONAL
            .iter()
            .map(|extension| ExtensionProbe {
                name: extension.name.to_string_lossy().into_owned(),
                present: has(extension.name),
                cost: extension.cost.into(),
            })
            .collect(),
        limits: vec![
            ("largest 2D texture".into(), limits.max_image_dimension2_d.to_string()),
            ("colour attachments".into(), limits.max_color_attachments.to_string()),
            ("uniform buffers a stage".into(), limits.max_per_stage_descriptor_uniform_buffers.to_string()),
            ("samplers a stage".into(), limits.max_per_stage_descriptor_samplers.to_string()),
            ("descriptor sets".into(), limits.max_bound_descriptor_sets.to_string()),
            ("sample counts".into(), format!("{:?}", limits.framebuffer_color_sample_counts)),
        ],
    }
}
