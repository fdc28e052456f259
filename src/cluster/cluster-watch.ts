export {
  type ClusterWatch,
  type KindWatchState,
  STALE_AFTER,
  type WatchedKind,
  type WatchObserver,
} from './ports/cluster-watch.ts'
