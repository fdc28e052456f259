/**
 * Without process metrics. docs/guides/monitoring.md is generated from this table. `workqueue_`
 * names follow controller-runtime, so that dashboards for any controller work.
 */

interface Declaration {
  readonly type: 'gauge' | 'counter' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Names from the fleet, whose number is unbounded. */
  readonly open?: readonly string[]
  /** For gauges; counters and histograms use the sum. */
  readonly overflow?: 'sum' | 'min' | 'max'
  readonly buckets?: readonly number[]
}

const PACKAGE = ['cluster', 'package'] as const
/** From a changed field on the same machine to a slow polled fleet. */
const LATENCY = [0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const WORK = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
/** One minute to one month. */
const DECISION = [60, 300, 900, 3_600, 14_400, 28_800, 86_400, 259_200, 604_800, 2_592_000]
/** From controller-runtime. */
const QUEUE = [0.001, 0.01, 0.1, 1, 10, 100, 1_000]

const declareGauge = (
  help: string,
  labels: readonly string[] = [],
  more: Partial<Declaration> = {},
) => ({ type: 'gauge', help, labels, ...more }) as const
const declareCounter = (
  help: string,
  labels: readonly string[] = [],
  more: Partial<Declaration> = {},
) => ({ type: 'counter', help, labels, ...more }) as const
const declareHistogram = (
  help: string,
  buckets: readonly number[],
  labels: readonly string[] = [],
) => ({ type: 'histogram', help, labels, buckets }) as const

export const METRICS = {
  backporch_build_info: declareGauge('Always 1. The label has the version.', ['version']),
  backporch_package_info: declareGauge(
    'Always 1 for a package in a cluster. state Unknown: it could not be observed.',
    [...PACKAGE, 'mode', 'state', 'syncer'],
    { open: PACKAGE, overflow: 'sum' },
  ),
  backporch_objects: declareGauge(
    'Objects by verdict. A verdict without an object has no series.',
    ['cluster', 'verdict'],
    {
      open: ['cluster'],
      overflow: 'sum',
    },
  ),
  backporch_drifted_objects: declareGauge(
    'Drifted objects by their worst risk, without drift that a person decided to keep. A package without one has no series.',
    [...PACKAGE, 'risk'],
    { open: PACKAGE, overflow: 'sum' },
  ),
  backporch_unrecorded_drift_objects: declareGauge(
    'Drifted objects that a watch judged and no turn has recorded since, as while git cannot be reached. package is the path.',
    [...PACKAGE, 'risk'],
    { open: PACKAGE, overflow: 'sum' },
  ),
  backporch_oldest_drift_timestamp_seconds: declareGauge(
    'Start time of drift that waits for a decision.',
    PACKAGE,
    {
      open: PACKAGE,
      overflow: 'min',
    },
  ),
  backporch_restore_failed: declareGauge(
    '1 while the latest approved change did not reach the cluster in time.',
    PACKAGE,
    {
      open: PACKAGE,
      overflow: 'sum',
    },
  ),
  backporch_drift_detected_total: declareCounter(
    'Objects that drifted or drifted further, by the worst risk of the change and the class of its writer.',
    [...PACKAGE, 'risk', 'actor_class'],
    { open: PACKAGE },
  ),
  backporch_drift_resolved_total: declareCounter(
    'Drift that ended: by the plan that was approved, or Declined, Healed, ResolvedByGit.',
    [...PACKAGE, 'resolution'],
    { open: PACKAGE },
  ),
  backporch_drift_suppressed_total: declareCounter(
    'Differences that a rule began to ignore, by the kind of the rule.',
    ['rule_kind'],
  ),
  backporch_detection_latency_seconds: declareHistogram(
    'From the moment an event of a changed object was read to its verdict.',
    LATENCY,
  ),
  backporch_time_to_decision_seconds: declareHistogram(
    'From a proposal to the decision of a person.',
    DECISION,
    ['resolution'],
  ),
  backporch_time_to_restore_seconds: declareHistogram(
    'From an approved Restore to the observation that live agrees.',
    DECISION,
    ['syncer'],
  ),
  backporch_pull_requests: declareGauge(
    'Open pull requests, and recorded drafts that have none yet.',
    ['state', 'plan'],
  ),
  backporch_pull_request_info: declareGauge(
    'Always 1 for a package with an open pull request. The label url has its address.',
    [...PACKAGE, 'url'],
    { open: [...PACKAGE, 'url'], overflow: 'sum' },
  ),
  backporch_pull_requests_without_status: declareGauge(
    'Open pull requests of people, and merge groups, that wait for the status drift/fresh.',
  ),
  backporch_held: declareGauge('Packages whose record stays a draft, by reason.', ['reason']),
  backporch_storm: declareGauge(
    '1 while proposals are held back because too much drifted at once.',
  ),
  backporch_policy_unusable: declareGauge(
    'Repositories whose policy cannot be used, by the file and line of the first problem. An earlier policy decides.',
    ['where'],
    { open: ['where'], overflow: 'sum' },
  ),
  backporch_failures: declareGauge('Failures that last, by code (backporch explain CODE).', [
    'code',
  ]),
  backporch_cluster_last_observed_timestamp_seconds: declareGauge(
    'Last observation of a cluster. 0: never since the start.',
    ['cluster'],
    {
      open: ['cluster'],
      overflow: 'min',
    },
  ),
  backporch_turns_total: declareCounter('Turns that ended.', ['outcome']),
  backporch_reconcile_duration_seconds: declareHistogram(
    'Duration of a turn and of its phases.',
    WORK,
    ['phase'],
  ),
  workqueue_depth: declareGauge('Items that wait in the queue.', ['name']),
  workqueue_longest_running_processor_seconds: declareGauge(
    'How long the oldest unfinished work has run.',
    ['name'],
  ),
  workqueue_adds_total: declareCounter('Items that were added to the queue.', ['name']),
  workqueue_retries_total: declareCounter('Items that were added again after a failure.', ['name']),
  workqueue_queue_duration_seconds: declareHistogram(
    'How long an item waits in the queue.',
    QUEUE,
    ['name'],
  ),
  workqueue_work_duration_seconds: declareHistogram('How long the work on an item takes.', QUEUE, [
    'name',
  ]),
  backporch_watch_age_seconds: declareGauge(
    'Age of the oldest proof that a watch of the cluster missed nothing.',
    ['cluster'],
    {
      open: ['cluster'],
      overflow: 'max',
    },
  ),
  backporch_watch_stale: declareGauge(
    'Kinds of the cluster whose watch has no such proof for more than a minute.',
    ['cluster'],
    {
      open: ['cluster'],
      overflow: 'sum',
    },
  ),
  backporch_watch_lists_total: declareCounter(
    'Complete lists of the watches of a cluster.',
    ['cluster'],
    {
      open: ['cluster'],
    },
  ),
  backporch_watch_reopened_total: declareCounter(
    'Watches of a cluster that were opened again.',
    ['cluster'],
    { open: ['cluster'] },
  ),
  backporch_watch_events_total: declareCounter(
    'Events and bookmarks of the watches of a cluster.',
    ['cluster'],
    { open: ['cluster'] },
  ),
  backporch_api_requests_total: declareCounter(
    'Requests to API servers. code: 2xx, 4xx, …, or none without an answer.',
    ['cluster', 'verb', 'code'],
    { open: ['cluster'] },
  ),
  backporch_forge_requests_total: declareCounter(
    'Requests to the forge. code: none without an answer.',
    ['forge', 'code'],
  ),
  backporch_forge_rate_limit_remaining: declareGauge(
    'Requests that the forge still allows in its present window.',
    ['forge', 'limit'],
    {
      open: ['limit'],
      overflow: 'min',
    },
  ),
  backporch_git_fetch_total: declareCounter('Requests that read from the git server.', ['result']),
  backporch_git_push_total: declareCounter(
    'Requests that push to the git server. A refused push counts as answered.',
    ['result'],
  ),
  backporch_metrics_dropped_series_total: declareCounter(
    'Reported values that got no own series because of their labels.',
    ['metric'],
  ),
} as const satisfies Readonly<Record<string, Declaration>>

/**
 * Other process metrics cost more to read or have names that promtool rejects. Reading the user
 * time sets all three CPU times.
 */
export const PROCESS_METRICS: ReadonlySet<string> = new Set([
  'process_cpu_user_seconds_total',
  'process_cpu_system_seconds_total',
  'process_cpu_seconds_total',
  'process_start_time_seconds',
  'process_resident_memory_bytes',
  'process_virtual_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_eventloop_lag_seconds',
  'nodejs_eventloop_lag_p50_seconds',
  'nodejs_eventloop_lag_p99_seconds',
  'nodejs_heap_size_total_bytes',
  'nodejs_heap_size_used_bytes',
  'nodejs_external_memory_bytes',
  'nodejs_gc_duration_seconds',
  'nodejs_version_info',
])

export type MetricName = keyof typeof METRICS

export function getDeclaration(name: MetricName): Declaration {
  return METRICS[name]
}
