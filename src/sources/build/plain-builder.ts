import type { SyncerBuilder } from './built-source.ts'

export const PLAIN_BUILDER: Omit<SyncerBuilder, 'tool' | 'way' | 'namespace'> = {
  fields: [],
  overrides: { names: [], field: '' },
  components: () => [],
  substitution: 'none',
  documents: (_build, _object, text) => [{ text }],
  finished: (built) => built,
}
