//! Memos of a context: small tables from what was decided about to the decision.

/// A direct-mapped table: a key has one place, and a newer key takes it. Looking up costs one comparison.
pub(crate) struct Memo<K, V> {
    places: Vec<Option<(K, V)>>,
}

impl<K: PartialEq, V> Memo<K, V> {
    /// A table of `1 << bits` places.
    pub(crate) fn new(bits: u32) -> Memo<K, V> {
        Memo { places: (0..1usize << bits.min(16)).map(|_| None).collect() }
    }

    /// The place of a spread number. Identities are counted up, so that a product with an odd constant spreads them.
    #[inline]
    fn place(&self, spread: u64) -> usize {
        (spread.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (self.places.len() - 1)
    }

    /// What was decided for a key.
    #[inline]
    pub(crate) fn get(&self, spread: u64, key: &K) -> Option<&V> {
        match self.places.get(self.place(spread)) {
            Some(Some((known, value))) if known == key => Some(value),
            _ => None,
        }
    }

    /// Remembers a decision.
    pub(crate) fn put(&mut self, spread: u64, key: K, value: V) {
        let place = self.place(spread);
        if let Some(slot) = self.places.get_mut(place) {
            *slot = Some((key, value));
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.places.fill_with(|| None);
    }

    /// Every decision that is remembered.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.places.iter().flatten().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::Memo;

    #[test]
    fn a_newer_key_takes_the_place_and_never_answers_for_another() {
        let mut memo = Memo::new(1);
        for key in 0u64..100 {
            memo.put(key, key, key * 3);
            assert_eq!(memo.get(key, &key), Some(&(key * 3)));
            let known = (0..=key).filter(|k| memo.get(*k, k).is_some()).count();
            assert!(known <= 2, "two places hold two keys");
            assert!((0..=key).all(|k| memo.get(k, &k).is_none_or(|v| *v == k * 3)));
        }
    }
}
