//! The pipeline cache on disk: one file a device, written atomically, ignored when it is damaged.

use ash::vk;
use mgpipe_cache::{is_trusted, read_file, replace_file, user_folder};
use std::path::PathBuf;

/// Bytes of a file that are read at most.
const MAX_BYTES: u64 = 256 << 20;

/// Where the cache of a device lies, `None` when no cache folder is known or caches on disk are switched off.
fn path(properties: &vk::PhysicalDeviceProperties) -> Option<PathBuf> {
    let uuid: String = properties.pipeline_cache_uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    let name = format!("{:04x}-{:04x}-{uuid}.pipelines", properties.vendor_id, properties.device_id);
    Some(user_folder()?.join(name))
}

/// Whether bytes begin with the header that the specification defines (VkPipelineCacheHeaderVersionOne) for this device.
/// A driver checks that as well, but has been seen to crash on damaged data, so a mismatch never reaches it.
fn header_matches(bytes: &[u8], properties: &vk::PhysicalDeviceProperties) -> bool {
    let word = |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    word(0).is_some_and(|len| len >= 32 && len as usize <= bytes.len())
        && word(4) == Some(1)
        && word(8) == Some(properties.vendor_id)
        && word(12) == Some(properties.device_id)
        && bytes.get(16..32) == Some(&properties.pipeline_cache_uuid[..])
}

/// The payload of a cache file: a checksum of the rest comes first, so that a torn file is found out.
fn unwrap_file(bytes: &[u8]) -> Option<&[u8]> {
    let (sum, data) = bytes.split_first_chunk::<8>()?;
    (u64::from_le_bytes(*sum) == checksum(data)).then_some(data)
}

/// FNV-1a over 64 bits: guards against damage, not against malice.
fn checksum(data: &[u8]) -> u64 {
    data.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Creates the device's cache, filled from disk when there is a sound file. Null when the driver refuses.
pub(crate) fn load(device: &ash::Device, properties: &vk::PhysicalDeviceProperties) -> vk::PipelineCache {
    // A driver must not be given what somebody else made up.
    let path = path(properties).filter(|_| is_trusted());
    let file = path.and_then(|path| read_file(&path, MAX_BYTES)).unwrap_or_default();
    let data = unwrap_file(&file).filter(|data| header_matches(data, properties)).unwrap_or(&[]);
    let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
    // SAFETY: the data is empty or was written by this driver, as its header says.
    unsafe { device.create_pipeline_cache(&info, None) }.unwrap_or_else(|code| {
        log::warn!("no pipeline cache: {code}");
        vk::PipelineCache::null()
    })
}

/// Writes the cache to disk through a temporary file. A failure costs only time at the next start.
pub(crate) fn save(device: &ash::Device, properties: &vk::PhysicalDeviceProperties, cache: vk::PipelineCache) {
    if cache == vk::PipelineCache::null() {
        return;
    }
    // SAFETY: the cache belongs to the device; reading it needs no exclusion (only destroying and merging into it do).
    let Ok(data) = (unsafe { device.get_pipeline_cache_data(cache) }) else { return };
    let Some(path) = path(properties) else { return };
    let Some(folder) = path.parent() else { return };
    let temporary = path.with_extension(format!("tmp{}", std::process::id()));
    let mut bytes = checksum(&data).to_le_bytes().to_vec();
    bytes.extend_from_slice(&data);
    let written = std::fs::create_dir_all(folder).and_then(|()| replace_file(&path, &temporary, &bytes));
    if let Err(error) = written {
        log::debug!("pipeline cache not saved: {error}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_files_are_ignored() {
        let data = b"some cache data".to_vec();
        let mut file = checksum(&data).to_le_bytes().to_vec();
        file.extend_from_slice(&data);
        assert_eq!(unwrap_file(&file), Some(&data[..]));
        for cut in 0..file.len() {
            assert_eq!(unwrap_file(&file[..cut]), None);
        }
        file[12] ^= 1;
        assert_eq!(unwrap_file(&file), None);
    }

    #[test]
    fn a_header_of_another_device_is_refused() {
        let properties = vk::PhysicalDeviceProperties { vendor_id: 7, device_id: 9, ..Default::default() };
        let mut data = Vec::new();
        for word in [32u32, 1, 7, 9] {
            data.extend_from_slice(&word.to_le_bytes());
        }
        data.extend_from_slice(&[0; 16]);
        assert!(header_matches(&data, &properties));
        data[8] = 8;
        assert!(!header_matches(&data, &properties));
        assert!(!header_matches(&data[..20], &properties));
    }
}
