export { inferSchema } from './recording/inferred-schema.ts'
export { emptyCluster, openRecordedCluster, RecordedCluster } from './recording/recorded-cluster.ts'
export { computePredictionKey, RECORDING, type Recording } from './recording/recording.ts'
