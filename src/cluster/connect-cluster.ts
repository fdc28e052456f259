/** A connection to the API server that a kubeconfig names. */
export {
  type ConnectedCluster,
  type ConnectOptions,
  connectCluster,
  connectClusterWriter,
  connectDriftEvents,
  probeCluster,
} from './client/connect-cluster.ts'
