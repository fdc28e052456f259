import { invertEntries } from '../invert-entries.ts'

export const invertLabels = invertEntries('labels')
