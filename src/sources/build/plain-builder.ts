import type { SyncerBuilder } from './built-source.ts'

/** A syncer that writes nothing into what it builds, and applies what is printed: a builder begins with it and says what differs. */
export const PLAIN_BUILDER: Omit<SyncerBuilder, 'tool' | 'way' | 'namespace'> = {
  fields: [],
  overrides: { names: [], field: '' },
  components: () => [],
  substitution: 'none',
  documents: (_build, _object, text) => [{ text }],
  finished: (built) => built,
}
