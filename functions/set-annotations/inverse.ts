import { invertEntries } from '../invert-entries.ts'

export const invertAnnotations = invertEntries('annotations')
