export { inferredSchema } from './recording/inferred-schema.ts'
export { emptyCluster, openRecordedCluster, RecordedCluster } from './recording/recorded-cluster.ts'
export { predictionKey, RECORDING, type Recording } from './recording/recording.ts'
