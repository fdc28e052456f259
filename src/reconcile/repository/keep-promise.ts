interface Kept<Key, Value> {
  get(key: Key): Promise<Value> | undefined
  set(key: Key, value: Promise<Value>): unknown
  delete(key: Key): unknown
}

/** Keeps no rejection: an interrupted read says nothing about the next one. */
export function keepPromise<Key, Value>(
  kept: Kept<Key, Value>,
  key: Key,
  start: () => Promise<Value>,
): Promise<Value> {
  const before = kept.get(key)
  if (before !== undefined) return before
  const started = start()
  kept.set(key, started)
  started.catch(() => kept.delete(key))
  return started
}
