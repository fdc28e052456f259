import { invertEntries } from '../invert-entries.ts'

export const invertLabel = invertEntries('labels', 'set-label')
