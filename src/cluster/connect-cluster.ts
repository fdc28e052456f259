export {
  type ConnectedCluster,
  type ConnectOptions,
  connectCluster,
  connectClusterWriter,
  connectDriftEvents,
  probeCluster,
} from './client/connect-cluster.ts'
