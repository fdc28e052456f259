export type { DriftEvent, OpenedDriftEvents } from './ports/drift-events.ts'
