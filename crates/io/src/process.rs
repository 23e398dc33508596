//! What the operating system knows of this process and of the machine's memory.

use std::fs::read_to_string;

/// The memory that the process holds now, in bytes.
pub fn current_memory_bytes() -> u64 {
    status_bytes("VmRSS:")
}

/// The most memory that the process ever held, in bytes.
pub fn peak_memory_bytes() -> u64 {
    status_bytes("VmHWM:")
}

/// The memory that the machine, or the cgroup that this process is in, has left, in bytes.
pub fn free_memory_bytes() -> u64 {
    let machine = read_to_string("/proc/meminfo").ok().and_then(|text| field_bytes(&text, "MemAvailable:"));
    let machine = machine.unwrap_or(1 << 30);
    cgroup_free_bytes().map_or(machine, |cgroup| cgroup.min(machine))
}

fn status_bytes(field: &str) -> u64 {
    read_to_string("/proc/self/status").ok().and_then(|text| field_bytes(&text, field)).unwrap_or(0)
}

/// A field of a file of lines like `VmRSS:    1234 kB`.
fn field_bytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}

/// What is left under the tightest limit of this process's cgroup and those above it.
fn cgroup_free_bytes() -> Option<u64> {
    let text = read_to_string("/proc/self/cgroup").ok()?;
    let mut least: Option<u64> = None;
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (root, limit_name, usage_name) = if controllers.is_empty() {
            ("/sys/fs/cgroup", "memory.max", "memory.current")
        } else if controllers.split(',').any(|name| name == "memory") {
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes")
        } else {
            continue;
        };
        let mut path = path.to_owned();
        loop {
            let number = |name: &str| -> Option<u64> {
                read_to_string(format!("{root}{path}/{name}")).ok()?.trim().parse().ok()
            };
            if let (Some(limit), Some(usage)) = (number(limit_name), number(usage_name)) {
                let free = limit.saturating_sub(usage);
                least = Some(least.map_or(free, |least| least.min(free)));
            }
            match path.rfind('/') {
                Some(0) if path.len() > 1 => path.truncate(1),
                Some(end) if end > 0 => path.truncate(end),
                _ => break,
            }
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_holds_memory_and_the_machine_has_some_left() {
        assert!(current_memory_bytes() > 100_000);
        assert!(peak_memory_bytes() >= current_memory_bytes() / 2);
        assert!(free_memory_bytes() > 1 << 20);
        assert_eq!(field_bytes("A: 1 kB\nVmRSS:\t  12 kB\n", "VmRSS:"), Some(12 * 1024));
    }
}
