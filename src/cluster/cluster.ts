/** What is read from a cluster, and what a merged commit lets us write. */
export type {
  AccessRule,
  ApprovedWrite,
  ClusterAccessAnswer,
  ClusterIdentity,
  ClusterReader,
  ClusterWriter,
  DeployedRelease,
  Inventory,
  InventoryQuestion,
  ListedLocation,
  ObjectList,
  OpenedWriter,
  ServedKind,
} from './ports/cluster.ts'
